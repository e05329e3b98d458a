/* Integer arithmetic, PTX ISA 9.7.1 and 9.7.9.22 (cvt.pack).  SPDX-License-Identifier: MIT */
#include "ref.h"

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

/* The mathematical value of an operand. */
static signed_wide value(form_type t, uint64_t bits)
{
    const unsigned width = form_bits(t);
    bits &= mask_of(width);
    if (form_is_signed(t) && bits >> (width - 1) & 1)
        return (signed_wide)bits - ((signed_wide)1 << width);
    return (signed_wide)bits;
}

static signed_wide clamp(signed_wide x, unsigned width, bool is_signed)
{
    const signed_wide most =
        is_signed ? ((signed_wide)1 << (width - 1)) - 1 : ((signed_wide)1 << width) - 1;
    const signed_wide least = is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

static signed_wide half(form_type t, uint64_t bits, unsigned index)
{
    return value(t == TYPE_S16X2 ? TYPE_S16 : TYPE_U16, bits >> 16 * index);
}

static bool packed(const form *f, const uint64_t in[4], uint64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < 2; i++) {
        const signed_wide a = half(f->types[0], in[0], i), b = half(f->types[0], in[1], i);
        signed_wide r;
        if (form_is(f, "add")) r = a + b;
        else if (form_is(f, "min")) r = a < b ? a : b;
        else if (form_is(f, "max")) r = a > b ? a : b;
        else return false;
        if (form_has(f, "relu") && r < 0) r = 0;
        *out |= ((uint64_t)r & 0xffff) << 16 * i;
    }
    return true;
}

static bool dot_product(const form *f, const uint64_t in[4], uint64_t *out)
{
    const bool four = form_is(f, "dp4a"), high = form_has(f, "hi");
    const form_type byte_a = f->types[0] == TYPE_S32 ? TYPE_S8 : TYPE_U8;
    const form_type byte_b = f->types[1] == TYPE_S32 ? TYPE_S8 : TYPE_U8;
    const form_type half_a = f->types[0] == TYPE_S32 ? TYPE_S16 : TYPE_U16;
    signed_wide sum = value(f->d, in[2]);
    for (unsigned i = 0; i < (four ? 4 : 2); i++) {
        const unsigned j = four ? i : high ? i + 2 : i;
        const signed_wide a = four ? value(byte_a, in[0] >> 8 * i) : value(half_a, in[0] >> 16 * i);
        sum += a * value(byte_b, in[1] >> 8 * j);
    }
    *out = (uint64_t)sum & 0xffffffff;
    return true;
}

static bool pack(const form *f, const uint64_t in[4], uint64_t *out)
{
    const form_type to = f->types[0];
    const unsigned size = form_bits(to);
    const uint64_t a = (uint64_t)clamp(value(TYPE_S32, in[0]), size, form_is_signed(to));
    const uint64_t b = (uint64_t)clamp(value(TYPE_S32, in[1]), size, form_is_signed(to));
    *out = (b & mask_of(size)) | (a & mask_of(size)) << size;
    if (size < 16) *out |= in[2] << 2 * size;
    *out &= 0xffffffff;
    return true;
}

/* The product of the lower 24 bits, PTX ISA 9.7.1.5. */
static signed_wide product24(form_type t, uint64_t a, uint64_t b)
{
    a &= 0xffffff;
    b &= 0xffffff;
    signed_wide x = (signed_wide)a, y = (signed_wide)b;
    if (t == TYPE_S32 && a >> 23) x -= 1 << 24;
    if (t == TYPE_S32 && b >> 23) y -= 1 << 24;
    return x * y;
}

static bool multiply(const form *f, const uint64_t in[4], uint64_t *out)
{
    const form_type t = f->types[0];
    const unsigned width = form_bits(t);
    const bool short_form = form_is(f, "mul24") || form_is(f, "mad24");
    const bool adds = form_is(f, "mad") || form_is(f, "mad24");
    const form_type sum_type = f->d;
    signed_wide part;
    wide product;
    if (short_form) product = (wide)product24(t, in[0], in[1]);
    else if (form_is_signed(t)) product = (wide)(value(t, in[0]) * value(t, in[1]));
    else product = (wide)value(t, in[0]) * (wide)value(t, in[1]);
    if (form_has(f, "wide")) part = value(sum_type, (uint64_t)product);
    else if (form_has(f, "lo")) part = value(sum_type, (uint64_t)product);
    else part = value(sum_type, (uint64_t)(product >> (short_form ? 16 : width)));
    if (adds) part += value(sum_type, in[2]);
    if (form_has(f, "sat")) part = clamp(part, width, true);
    *out = (uint64_t)part & mask_of(form_bits(sum_type));
    return true;
}

/* Division by zero is left open by the ISA (9.7.1.8, 9.7.1.9): "yields an unspecified, machine-specific
 * value".  An H200 gives all ones for both (h200.rec). */
static uint64_t divide(form_type t, uint64_t a, uint64_t b, bool remainder)
{
    const signed_wide x = value(t, a), y = value(t, b);
    if (y == 0) return ~0ull;
    return (uint64_t)(remainder ? x % y : x / y);
}

bool ref_integer(const form *f, const uint64_t in[4], uint64_t *out)
{
    if (form_is(f, "dp4a") || form_is(f, "dp2a")) return dot_product(f, in, out);
    if (form_is(f, "cvt") && form_has(f, "pack")) return pack(f, in, out);
    const form_type t = f->types[0];
    if (t == TYPE_U16X2 || t == TYPE_S16X2) return packed(f, in, out);
    if (f->type_count != 1 || t < TYPE_U8 || t > TYPE_S64) return false;
    if (form_is(f, "mul") || form_is(f, "mad") || form_is(f, "mul24") || form_is(f, "mad24"))
        return multiply(f, in, out);
    const signed_wide a = value(t, in[0]), b = value(t, in[1]), c = value(t, in[2]);
    signed_wide r;
    if (form_is(f, "add")) r = a + b;
    else if (form_is(f, "sub")) r = a - b;
    else if (form_is(f, "div")) r = (signed_wide)divide(t, in[0], in[1], false);
    else if (form_is(f, "rem")) r = (signed_wide)divide(t, in[0], in[1], true);
    else if (form_is(f, "neg")) r = -a;
    else if (form_is(f, "abs")) r = a < 0 ? -a : a;
    else if (form_is(f, "min")) r = a < b ? a : b;
    else if (form_is(f, "max")) r = a > b ? a : b;
    else if (form_is(f, "sad")) r = c + (a < b ? b - a : a - b);
    else return false;
    if (form_has(f, "relu") && r < 0) r = 0;
    if (form_has(f, "sat")) r = clamp(r, form_bits(t), true);
    *out = (uint64_t)r & mask_of(form_bits(t));
    return true;
}
