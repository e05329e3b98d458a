/* Logic, shifts and bit fields, PTX ISA 9.7.1 and 9.7.8: bit by bit, as the ISA's own pseudo-code goes.
 * SPDX-License-Identifier: MIT */
#include "ref.h"

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}
static unsigned bit(uint64_t x, unsigned i)
{
    return x >> i & 1;
}

static uint64_t shift(const form *f, uint64_t a, uint64_t amount)
{
    const form_type t = f->types[0];
    const unsigned width = form_bits(t);
    const bool left = form_is(f, "shl");
    const unsigned fill = !left && form_is_signed(t) ? bit(a, width - 1) : 0;
    uint64_t r = 0;
    for (unsigned i = 0; i < width; i++) {
        unsigned b = fill;
        if (left) b = i >= amount ? bit(a, (unsigned)(i - amount)) : 0;
        else if (amount < width && i + amount < width) b = bit(a, (unsigned)(i + amount));
        r |= (uint64_t)b << i;
    }
    return r;
}

static uint64_t funnel(const form *f, uint64_t a, uint64_t b, uint64_t c)
{
    const unsigned n = form_has(f, "clamp") ? (unsigned)(c > 32 ? 32 : c) : (unsigned)(c & 31);
    const wide both = (wide)(b << 32 | a);
    return (uint64_t)(form_has(f, "l") ? both << n >> 32 : both >> n) & 0xffffffff;
}

static uint64_t permute(const form *f, uint64_t a, uint64_t b, uint64_t c)
{
    static const struct {
        const char *mode;
        uint8_t from[4][4]; /* by selector, then byte 0 to 3 of the result */
    } modes[] = {
        { "f4e", { { 0, 1, 2, 3 }, { 1, 2, 3, 4 }, { 2, 3, 4, 5 }, { 3, 4, 5, 6 } } },
        { "b4e", { { 0, 7, 6, 5 }, { 1, 0, 7, 6 }, { 2, 1, 0, 7 }, { 3, 2, 1, 0 } } },
        { "rc8", { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 2, 2, 2, 2 }, { 3, 3, 3, 3 } } },
        { "ecl", { { 0, 1, 2, 3 }, { 1, 1, 2, 3 }, { 2, 2, 2, 3 }, { 3, 3, 3, 3 } } },
        { "ecr", { { 0, 0, 0, 0 }, { 0, 1, 1, 1 }, { 0, 1, 2, 2 }, { 0, 1, 2, 3 } } },
        { "rc16", { { 0, 1, 0, 1 }, { 2, 3, 2, 3 }, { 0, 1, 0, 1 }, { 2, 3, 2, 3 } } },
    };
    const uint64_t both = b << 32 | a;
    uint64_t r = 0;
    for (unsigned m = 0; m < sizeof modes / sizeof modes[0]; m++)
        if (form_has(f, modes[m].mode)) {
            for (unsigned i = 0; i < 4; i++)
                r |= (both >> 8 * modes[m].from[c & 3][i] & 0xff) << 8 * i;
            return r;
        }
    for (unsigned i = 0; i < 4; i++) {
        const unsigned selector = c >> 4 * i & 15;
        uint64_t byte = both >> 8 * (selector & 7) & 0xff;
        if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * i;
    }
    return r;
}

static uint64_t extract(form_type t, uint64_t a, uint64_t b, uint64_t c)
{
    /* The 64-bit forms of an H200 take all 32 bits of position and length. */
    const uint64_t mask = form_bits(t) == 64 ? UINT32_MAX : 0xff, msb = form_bits(t) - 1,
                   pos = b & mask, len = c & mask;
    unsigned sign = 0;
    if (form_is_signed(t) && len != 0) sign = bit(a, pos + len - 1 < msb ? pos + len - 1 : msb);
    uint64_t d = 0;
    for (uint64_t i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? bit(a, pos + i) : sign) << i;
    return d;
}

static uint64_t insert(form_type t, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const uint64_t mask = form_bits(t) == 64 ? UINT32_MAX : 0xff, msb = form_bits(t) - 1,
                   pos = c & mask, len = d & mask;
    for (uint64_t i = 0; i < len && pos + i <= msb; i++)
        b = (b & ~(1ull << (pos + i))) | (uint64_t)bit(a, i) << (pos + i);
    return b;
}

static uint64_t find(const form *f, uint64_t a)
{
    const form_type t = f->types[0];
    const unsigned msb = form_bits(t) - 1;
    if (form_is_signed(t) && bit(a, msb)) a = ~a & mask_of(msb + 1);
    for (unsigned i = msb + 1; i-- > 0;)
        if (bit(a, i)) return form_has(f, "shiftamt") ? msb - i : i;
    return 0xffffffff;
}

static uint64_t bit_mask(const form *f, uint64_t a, uint64_t b)
{
    const unsigned a1 = a & 31, b1 = b & 31, sum = a1 + b1;
    const bool clamp = form_has(f, "clamp");
    uint64_t mask0 = 0xffffffffull << a1 & 0xffffffff, mask1 = 0xffffffffull << sum & 0xffffffff;
    if (clamp && a >= 32) mask0 = 0;
    if (sum >= 32 || (clamp && (a >= 32 || b >= 32))) mask1 = 0;
    else if (b1 == 0) mask1 = 0xffffffff;
    return mask0 & ~mask1;
}

static uint64_t extend(const form *f, uint64_t a, uint64_t b)
{
    const unsigned b1 = b & 31;
    const bool too_large = b >= 32 && form_has(f, "clamp");
    const uint64_t mask = too_large ? 0 : 0xffffffffull << b1 & 0xffffffff;
    bool sign = false;
    if (b1 != 0 && !too_large && f->types[0] == TYPE_S32) sign = bit(a, (b1 - 1) & 31);
    return (a & ~mask) | (sign ? mask : 0);
}

static uint64_t nth_set(uint64_t mask, uint64_t base, int32_t offset)
{
    if (offset == 0) return bit(mask, (unsigned)base) ? base : 0xffffffff;
    int pos = (int)base;
    int64_t count = (offset > 0 ? (int64_t)offset : -(int64_t)offset) - 1;
    for (; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
        if (bit(mask, (unsigned)pos) && count-- == 0) return (uint64_t)pos;
    return 0xffffffff;
}

static uint64_t table(uint64_t a, uint64_t b, uint64_t c, uint32_t lut)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (uint64_t)bit(lut, bit(a, i) << 2 | bit(b, i) << 1 | bit(c, i)) << i;
    return r;
}

bool ref_bits(const form *f, const uint64_t in[4], uint64_t *out)
{
    const form_type t = f->types[0];
    if (f->type_count != 1 || t > TYPE_S64) return false;
    uint64_t v[4] = { 0 };
    for (unsigned i = 0; i < f->source_count; i++) v[i] = in[i] & mask_of(form_bits(f->source[i]));
    const uint64_t a = v[0], b = v[1], c = v[2], all = mask_of(form_bits(t));
    if (form_is(f, "and")) *out = a & b;
    else if (form_is(f, "or")) *out = a | b;
    else if (form_is(f, "xor")) *out = a ^ b;
    else if (form_is(f, "not")) *out = ~a & all;
    else if (form_is(f, "cnot")) *out = a == 0;
    else if (form_is(f, "shl") || form_is(f, "shr")) *out = shift(f, a, b);
    else if (form_is(f, "shf")) *out = funnel(f, a, b, c);
    else if (form_is(f, "prmt")) *out = permute(f, a, b, c);
    else if (form_is(f, "bfe")) *out = extract(t, a, b, c);
    else if (form_is(f, "bfi")) *out = insert(t, a, b, c, v[3]);
    else if (form_is(f, "bfind")) *out = find(f, a);
    else if (form_is(f, "bmsk")) *out = bit_mask(f, a, b);
    else if (form_is(f, "szext")) *out = extend(f, a, b);
    else if (form_is(f, "fns")) *out = nth_set(a, b, (int32_t)c);
    else if (form_is(f, "lop3")) *out = table(a, b, c, f->constant);
    else if (form_is(f, "popc") || form_is(f, "clz") || form_is(f, "brev")) {
        const unsigned width = form_bits(t);
        uint64_t ones = 0, zeros = 0, reversed = 0;
        bool leading = true;
        for (unsigned i = 0; i < width; i++) {
            const unsigned top = bit(a, width - 1 - i);
            ones += top;
            leading = leading && !top;
            zeros += leading;
            reversed |= (uint64_t)top << i;
        }
        *out = form_is(f, "popc") ? ones : form_is(f, "clz") ? zeros : reversed;
    } else return false;
    return true;
}
