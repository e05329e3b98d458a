/* Names of instructions taken apart: operands, their types, and the kind of comparison.
 * SPDX-License-Identifier: MIT */
#include "form.h"

#include <stdlib.h>

static const struct {
    const char *text;
    unsigned bits;
} types[] = { { "", 0 },
#define X(id, text, bits) { text, bits },
              FORM_TYPES(X)
#undef X
};

unsigned form_bits(form_type type)
{
    return types[type].bits;
}
const char *form_type_name(form_type type)
{
    return types[type].text;
}

bool form_is_float(form_type t)
{
    return t == TYPE_F16 || t == TYPE_BF16 || t == TYPE_F32 || t == TYPE_F64 || t == TYPE_TF32;
}

bool form_is_signed(form_type t)
{
    return t == TYPE_S8 || t == TYPE_S16 || t == TYPE_S32 || t == TYPE_S64 || t == TYPE_S2 ||
           t == TYPE_S4;
}

bool form_is_packed(form_type t)
{
    return t == TYPE_U16X2 || t == TYPE_S16X2 || t == TYPE_F16X2 || t == TYPE_BF16X2 ||
           t == TYPE_E4M3X2 || t == TYPE_E5M2X2;
}

bool form_has(const form *f, const char *word)
{
    for (unsigned i = 1; i < f->word_count; i++)
        if (strcmp(f->words[i], word) == 0) return true;
    return false;
}

static form_type type_of(const char *word)
{
    for (unsigned i = 1; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].text, word) == 0) return (form_type)i;
    return TYPE_NONE;
}

static bool split(form *f, const char *name)
{
    if (strlen(name) >= FORM_NAME) return false;
    strcpy(f->name, name);
    const char *at = name;
    for (;;) {
        size_t length = strcspn(at, ".");
        if (f->word_count == FORM_WORDS || length == 0 || length >= sizeof f->words[0])
            return false;
        memcpy(f->words[f->word_count], at, length);
        f->words[f->word_count][length] = 0;
        form_type t = f->word_count > 0 ? type_of(f->words[f->word_count]) : TYPE_NONE;
        if (t != TYPE_NONE) {
            if (f->type_count == 4) return false;
            f->types[f->type_count++] = t;
        }
        f->word_count++;
        if (at[length] == 0) return true;
        at += length + 1;
    }
}

static bool same(form *f, form_type d, unsigned sources, form_type t)
{
    f->d = d;
    f->source_count = sources;
    for (unsigned i = 0; i < sources; i++) f->source[i] = t;
    return true;
}

static bool sources(form *f, form_type d, form_type a, form_type b, form_type c, form_type e)
{
    const form_type list[4] = { a, b, c, e };
    f->d = d;
    while (f->source_count < 4 && list[f->source_count] != TYPE_NONE) {
        f->source[f->source_count] = list[f->source_count];
        f->source_count++;
    }
    return true;
}

static form_type doubled(form_type t)
{
    switch (t) {
    case TYPE_U16: return TYPE_U32;
    case TYPE_S16: return TYPE_S32;
    case TYPE_U32: return TYPE_U64;
    case TYPE_S32: return TYPE_S64;
    default: return TYPE_NONE;
    }
}

static bool one_of(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
    return false;
}

static bool operands(form *f)
{
    const char *op = f->words[0];
    const form_type t = f->types[0], u = f->types[1];
    if (f->type_count == 0) return false;
    if (one_of(op, "add sub") && f->type_count == 2) { /* add.f32.f16 */
        f->arch = 100;
        return sources(f, TYPE_F32, u, TYPE_F32, TYPE_NONE, TYPE_NONE);
    }
    if (one_of(op, "fma") && f->type_count == 2) {
        f->arch = 100;
        return sources(f, TYPE_F32, u, u, TYPE_F32, TYPE_NONE);
    }
    if (one_of(op, "min3 max3")) { /* our spelling for the forms of three sources */
        f->arch = 100;
        return same(f, t, 3, t);
    }
    if (one_of(op, "mul mul24") && form_has(f, "wide")) return same(f, doubled(t), 2, t);
    if (one_of(op, "mad") && form_has(f, "wide"))
        return sources(f, doubled(t), t, t, doubled(t), TYPE_NONE);
    if (one_of(op, "add sub mul mul24 div rem min max and or xor")) return same(f, t, 2, t);
    if (one_of(op, "copysign")) return same(f, t, 2, t);
    if (one_of(op, "mad mad24 sad fma")) return same(f, t, 3, t);
    if (one_of(op, "neg abs not cnot brev rcp sqrt rsqrt ex2 lg2 sin cos tanh"))
        return same(f, t, 1, t);
    if (one_of(op, "popc clz bfind")) return same(f, TYPE_U32, 1, t);
    if (one_of(op, "shl shr")) return sources(f, t, t, TYPE_U32, TYPE_NONE, TYPE_NONE);
    if (one_of(op, "shf prmt")) return same(f, t, 3, t);
    if (one_of(op, "bmsk szext")) return sources(f, t, t, TYPE_U32, TYPE_NONE, TYPE_NONE);
    if (one_of(op, "fns")) return sources(f, TYPE_U32, TYPE_B32, TYPE_U32, TYPE_S32, TYPE_NONE);
    if (one_of(op, "bfe")) return sources(f, t, t, TYPE_U32, TYPE_U32, TYPE_NONE);
    if (one_of(op, "bfi")) return sources(f, t, t, t, TYPE_U32, TYPE_U32);
    if (one_of(op, "lop3")) {
        f->immediate = true;
        return same(f, t, 3, t);
    }
    if (one_of(op, "dp4a dp2a")) {
        form_type d = t == TYPE_U32 && u == TYPE_U32 ? TYPE_U32 : TYPE_S32;
        return sources(f, d, t, u, d, TYPE_NONE);
    }
    if (one_of(op, "setp")) {
        f->pair = form_is_packed(t);
        return same(f, TYPE_PRED, 2, t);
    }
    if (one_of(op, "set") && f->type_count == 2) return same(f, t, 2, u);
    if (one_of(op, "testp")) return same(f, TYPE_PRED, 1, t);
    if (one_of(op, "slct") && f->type_count == 2) return sources(f, t, t, t, u, TYPE_NONE);
    if (one_of(op, "cvt") && form_has(f, "pack")) {
        bool third = f->type_count == 3;
        return sources(f, TYPE_B32, TYPE_S32, TYPE_S32, third ? TYPE_B32 : TYPE_NONE, TYPE_NONE);
    }
    if (one_of(op, "cvt") && f->type_count == 2) {
        bool two = form_is_packed(t) && u == TYPE_F32;
        return sources(f, t, u, two ? u : TYPE_NONE, TYPE_NONE, TYPE_NONE);
    }
    return false;
}

/* Single and half precision arithmetic gives one NaN, and what passes NaNs on is the same on all hardware that was
 * recorded; arithmetic on doubles keeps the payload of one of its sources, which the ISA leaves open. */
static form_check check_of(const form *f)
{
    if (form_has(f, "approx") || form_has(f, "full")) return CHECK_BOUND;
    const bool passed_on = one_of(f->words[0], "cvt neg abs min max copysign slct");
    if (f->d == TYPE_F64 && !passed_on) return CHECK_NUMBER;
    return CHECK_EXACT;
}

bool form_parse(form *out, const char *name)
{
    *out = (form){ .arch = 90 };
    if (!split(out, name) || !operands(out)) return false;
    out->check = check_of(out);
    const bool tf32 = out->d == TYPE_TF32 && form_has(out, "satfinite") && !form_has(out, "rna");
    if (out->d == TYPE_F32X2 || tf32) out->arch = 100;
    return true;
}
