/* The generators.  Only additions, multiplications, divisions and square roots of doubles are used, so
 * that every machine gives the same bits.  SPDX-License-Identifier: MIT */
#include "gen.h"

#include "gen_core.h"

uint64_t gen_key(uint64_t seed, const char *name)
{
    uint64_t key = gen_mix(seed + 0x9e3779b97f4a7c15u);
    for (; *name; name++) key = gen_mix(key ^ (unsigned char)*name) + 0x9e3779b97f4a7c15u;
    return key;
}

uint64_t gen_bits(uint64_t key, uint64_t index)
{
    return gen_core_bits(key, index);
}

double gen_unit(uint64_t key, uint64_t index)
{
    return gen_core_unit(key, index);
}

uint64_t gen_below(uint64_t key, uint64_t index, uint64_t limit)
{
    return gen_core_below(key, index, limit);
}

/* The natural logarithm of 0 < x < 1 by the series of atanh. */
static double natural_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1022;
    bits = (bits & 0xfffffffffffffu) | 0x3fe0000000000000u; /* 0.5 <= x < 1 */
    memcpy(&x, &bits, sizeof x);
    if (x < 0.70710678118654752) {
        x *= 2;
        exponent--;
    }
    double s = (x - 1) / (x + 1), square = s * s, sum = 0;
    for (int k = 25; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
    return 2 * s * sum + exponent * 0.69314718055994531;
}

static double ratio(const double *a, const double *b, double r)
{
    double top = a[7], bottom = b[7];
    for (int i = 6; i >= 0; i--) {
        top = top * r + a[i];
        bottom = bottom * r + b[i];
    }
    return top / bottom;
}

/* Wichura's AS 241 (1988): the normal deviate of a probability. */
double gen_normal(uint64_t key, uint64_t index)
{
    static const double a[] = { 3.3871328727963666080e0, 1.3314166789178437745e2,
                                1.9715909503065514427e3, 1.3731693765509461125e4,
                                4.5921953931549871457e4, 6.7265770927008700853e4,
                                3.3430575583588128105e4, 2.5090809287301226727e3 };
    static const double b[] = { 1.0,
                                4.2313330701600911252e1,
                                6.8718700749205790830e2,
                                5.3941960214247511077e3,
                                2.1213794301586595867e4,
                                3.9307895800092710610e4,
                                2.8729085735721942674e4,
                                5.2264952788528545610e3 };
    static const double c[] = { 1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4 };
    static const double d[] = { 1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9 };
    static const double e[] = { 6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7 };
    static const double f[] = { 1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15 };
    double p = gen_unit(key, index) + 0x1p-54, q = p - 0.5;
    if (fabs(q) <= 0.425) return q * ratio(a, b, 0.180625 - q * q);
    double r = sqrt(-natural_log(q < 0 ? p : 1 - p));
    double deviate = r <= 5 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5);
    return q < 0 ? -deviate : deviate;
}

/* A Feistel network over the next power of four, walked until it lands inside. */
uint64_t gen_permuted(uint64_t key, uint64_t index, uint64_t count)
{
    unsigned half = 1;
    while (half < 32 && (uint64_t)1 << 2 * half < count) half++;
    uint64_t mask = half == 32 ? 0xffffffffu : ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = index >> half, right = index & mask;
        for (unsigned round = 0; round < 6; round++) {
            uint64_t next = left ^ (gen_bits(key + round * 0x632be59bd9b4e019u, right) & mask);
            left = right;
            right = next;
        }
        index = left << half | right;
    } while (index >= count);
    return index;
}
