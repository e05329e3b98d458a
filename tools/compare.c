/* Comparing elements with what they should be.  SPDX-License-Identifier: MIT */
#include <math.h>

#include "expect.h"
#include "half.h"
#include "values.h"

enum { MOST_RUNS = 4096, STRETCH = 1024 /* elements compared at once */ };

void compare_begin(comparison *c, size_t limit)
{
    *c = (comparison){ 0 };
    c->worst.error = -1;
    c->limit = limit;
}

/* Floats in an order in which neighbours differ by one. */
static int64_t ordered(gpul_type type, const unsigned char *bytes)
{
    uint64_t bits = 0;
    size_t size = type_size(type);
    memcpy(&bits, bytes, size);
    uint64_t sign = (uint64_t)1 << (size * 8 - 1);
    return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static uint64_t distance(gpul_type type, const unsigned char *a, const unsigned char *b)
{
    int64_t x, y;
    if (type_is_float(type)) {
        x = ordered(type, a);
        y = ordered(type, b);
    } else {
        x = value_to_int(type, a);
        y = value_to_int(type, b);
        if (type == GPUL_U64)
            return (uint64_t)x > (uint64_t)y ? (uint64_t)x - (uint64_t)y
                                             : (uint64_t)y - (uint64_t)x;
    }
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* Judges one scalar; fills in the error, and what was allowed. */
static bool near(comparison *c, const tolerance *t, mismatch *m, bool *is_nan)
{
    gpul_type type = m->type;
    double got = value_to_double(type, m->got), expected = value_to_double(type, m->expected);
    bool equal = memcmp(m->got, m->expected, type_size(type)) == 0;
    *is_nan = isnan(got) || isnan(expected);
    m->error = fabs(got - expected);
    m->allowed = t->exact ? 0 : t->atol + t->rtol * fabs(expected);
    if (*is_nan) return (t->nan_equal && isnan(got) && isnan(expected)) || (t->exact && equal);
    if (isinf(got) || isinf(expected)) return got == expected;
    uint64_t apart = distance(type, m->got, m->expected);
    if (!type_is_float(type)) m->error = (double)apart;
    if (m->error > c->largest_error) c->largest_error = m->error;
    if (apart > c->largest_ulp) c->largest_ulp = apart;
    double beyond = m->error - t->rtol * fabs(expected);
    if (beyond > c->needed_atol) c->needed_atol = beyond;
    c->squares += m->error * m->error;
    c->scalars++;
    if (t->exact) return equal;
    bool same =
        type_is_float(type) ? got == expected : equal; /* large integers are alike as doubles */
    if (equal || same || (m->error <= m->allowed && m->allowed > 0)) return true;
    return t->has_ulp && apart <= t->ulp;
}

static void add_run(comparison *c, uint64_t index)
{
    if (c->bad && c->last_bad + 1 == index) {
        if (c->runs.count && c->gaps <= MOST_RUNS) c->runs.items[c->runs.count - 1].length++;
    } else {
        if (c->gaps++ < MOST_RUNS) *list_add(&c->runs) = (bad_run){ index, 1 };
    }
    if (!c->bad) c->first_bad = index;
    c->last_bad = index;
    c->bad++;
}

/* ---- Stretches that are equal ---- */

/* Neither NaN nor infinite: the exponent is not all ones. */
static bool all_finite(gpul_type type, const unsigned char *bytes, size_t count)
{
    uint64_t bad = 0;
    if (type == GPUL_F64)
        for (size_t i = 0; i < count; i++) {
            uint64_t bits;
            memcpy(&bits, bytes + i * 8, 8);
            bad |= (bits & 0x7ff0000000000000u) == 0x7ff0000000000000u;
        }
    else if (type == GPUL_F32)
        for (size_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, bytes + i * 4, 4);
            bad |= (bits & 0x7f800000u) == 0x7f800000u;
        }
    else if (type_is_float(type))
        for (size_t i = 0; i < count; i++) {
            uint16_t bits, mask = type == GPUL_F16 ? 0x7c00 : 0x7f80;
            memcpy(&bits, bytes + i * 2, 2);
            bad |= (bits & mask) == mask;
        }
    return !bad;
}

/* Whether `count` elements are the same bits on all sides, which adds nothing but their number. */
static bool equal_stretch(comparison *c, const layout *l, size_t count, const unsigned char *got,
                          const unsigned char *expected, const unsigned char *second)
{
    gpul_type type;
    uint32_t lanes;
    size_t bytes = count * l->size;
    if (!layout_plain_type(l, &type, &lanes) || type_size(type) * lanes != l->size ||
        memcmp(got, expected, bytes) != 0 || (second && memcmp(got, second, bytes) != 0) ||
        !all_finite(type, got, count * lanes))
        return false;
    c->total += count;
    c->scalars += count * lanes;
    return true;
}

void compare_range(comparison *c, const expectation *e, uint64_t first, uint64_t count,
                   const unsigned char *got, const unsigned char *expected,
                   const unsigned char *initial, const unsigned char *second)
{
    const layout *l = e->buffer->layout;
    const tolerance *t = &e->tolerance;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t index = first + i;
        size_t at_once = count - i < STRETCH ? (size_t)(count - i) : STRETCH;
        if (i % STRETCH == 0 && !t->has_range &&
            equal_stretch(c, l, at_once, got + i * l->size, expected + i * l->size,
                          second ? second + i * l->size : NULL)) {
            i += at_once - 1;
            continue;
        }
        if (t->has_range && (index < t->range_from || index >= t->range_to)) continue;
        c->total++;
        bool bad = false;
        for (size_t f = 0; f < l->leaves.count; f++) {
            const leaf *one = &l->leaves.items[f];
            size_t size = type_size(one->type);
            if (!size) continue;
            for (uint32_t lane = 0; lane < one->count; lane++) {
                size_t at = i * l->size + one->offset + lane * size;
                mismatch m = { .index = index, .leaf = one, .lane = lane, .type = one->type };
                memcpy(m.got, got + at, size);
                memcpy(m.expected, expected + at, size);
                bool is_nan = false, unset = second && memcmp(got + at, second + at, size) != 0;
                if (near(c, t, &m, &is_nan) && !unset) continue;
                m.unset = unset;
                m.unchanged = initial && memcmp(got + at, initial + at, size) == 0;
                c->nans += is_nan && !bad;
                if (!bad) {
                    c->unset += unset;
                    c->unchanged += m.unchanged;
                    add_run(c, index);
                }
                bad = true;
                if (c->first.count < c->limit) *list_add(&c->first) = m;
                if (!is_nan && m.error > c->worst.error) c->worst = m;
            }
        }
    }
}

void compare_end(comparison *c, const expectation *e)
{
    const tolerance *t = &e->tolerance;
    c->rmse = c->scalars ? sqrt(c->squares / (double)c->scalars) : 0;
    if (t->has_rmse) c->passed = c->rmse <= t->rmse && !c->nans && !c->unset;
    else c->passed = c->bad <= t->fail;
}
