/* The instructions that the arithmetic tables must have: the products of operation, type and
 * modifiers that PTX ISA 9.0 allows, as far as the CPU device runs them.  SPDX-License-Identifier: MIT */
#include "form.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool push(form_list *list, const form *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 1024;
        form *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *item;
    return true;
}

static bool failed;

__attribute__((format(printf, 2, 3))) static void add(form_list *list, const char *format, ...)
{
    char name[FORM_NAME];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    form item;
    if (length < 0 || length >= (int)sizeof name || !form_parse(&item, name) || !push(list, &item))
        failed = true;
}

/* The lists below are written as arrays that end in NULL; "" stands for no modifier. */
typedef const char *const *words;
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define EACH(word, ...)                                                                            \
    for (words word##_at = WORDS(__VA_ARGS__); *word##_at != NULL; word##_at++)                    \
        for (const char *word = *word##_at; word != NULL; word = NULL)

#define INTEGERS  "u16", "u32", "u64", "s16", "s32", "s64"
#define ROUNDINGS ".rn", ".rz", ".rm", ".rp"
#define INTEGRALS ".rni", ".rzi", ".rmi", ".rpi"
#define FLOAT_COMPARES                                                                             \
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"

static void integer(form_list *l)
{
    EACH(t, INTEGERS)
    {
        bool wide = strcmp(t + 1, "64") != 0;
        EACH(op, "add", "sub", "div", "rem", "min", "max", "sad") add(l, "%s.%s", op, t);
        EACH(mode, "lo", "hi", "wide") EACH(op, "mul", "mad")
        {
            if (wide || strcmp(mode, "wide") != 0) add(l, "%s.%s.%s", op, mode, t);
        }
    }
    EACH(op, "add.sat", "sub.sat", "mad.hi.sat", "mad24.hi.sat") add(l, "%s.s32", op);
    EACH(t, "u32", "s32")
    EACH(mode, "lo", "hi") EACH(op, "mul24", "mad24") add(l, "%s.%s.%s", op, mode, t);
    EACH(t, "s16", "s32", "s64") EACH(op, "neg", "abs") add(l, "%s.%s", op, t);
    EACH(t, "u16x2", "s16x2") EACH(op, "add", "min", "max") add(l, "%s.%s", op, t);
    EACH(t, "s16x2", "s32") EACH(op, "min", "max") add(l, "%s.relu.%s", op, t);
    EACH(a, "u32", "s32") EACH(b, "u32", "s32")
    {
        add(l, "dp4a.%s.%s", a, b);
        add(l, "dp2a.lo.%s.%s", a, b);
        add(l, "dp2a.hi.%s.%s", a, b);
    }
}

static void bits(form_list *l)
{
    EACH(t, "b16", "b32", "b64")
    EACH(op, "and", "or", "xor", "not", "cnot", "shl", "shr") add(l, "%s.%s", op, t);
    EACH(t, INTEGERS) add(l, "shr.%s", t);
    EACH(t, "b32", "b64") EACH(op, "popc", "clz", "brev", "bfi") add(l, "%s.%s", op, t);
    EACH(t, "u32", "u64", "s32", "s64")
    EACH(op, "bfind", "bfind.shiftamt", "bfe") add(l, "%s.%s", op, t);
    EACH(mode, "clamp", "wrap")
    {
        EACH(side, "l", "r") add(l, "shf.%s.%s.b32", side, mode);
        add(l, "bmsk.%s.b32", mode);
        EACH(t, "u32", "s32") add(l, "szext.%s.%s", mode, t);
    }
    add(l, "fns.b32");
    EACH(mode, "", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16") add(l, "prmt.b32%s", mode);
    /* Two of the tables are each an input, the others are common or have no symmetry. */
    static const uint8_t tables[] = { 0x00, 0xff, 0xf0, 0xcc, 0xaa, 0x80, 0xfe,
                                      0x96, 0xe8, 0xca, 0x1a, 0x2d, 0x78, 0xb1 };
    for (size_t i = 0; i < sizeof tables; i++) {
        add(l, "lop3.b32");
        if (l->count != 0) l->items[l->count - 1].constant = tables[i];
    }
}

static void compares_of(form_list *l, const char *compare, const char *t, const char *ftz)
{
    add(l, "setp.%s%s.%s", compare, ftz, t);
    EACH(d, "u32", "s32", "f32", "f16", "bf16")
    {
        bool half = d[1] == '1' || d[0] == 'b';
        /* A half is compared into f16, bf16 and integers, a bfloat16 into bf16 and integers. */
        if (strcmp(d, "f32") == 0 && (strcmp(t, "f16") == 0 || strcmp(t, "bf16") == 0)) continue;
        if (strcmp(d, "f16") == 0 && strcmp(t, "bf16") == 0) continue;
        /* set.bf16 takes no .ftz, and both half forms want .ftz only with f16 and f32 sources. */
        if (ftz[0] && (d[0] == 'b' || (half && strcmp(t, "f16") != 0 && strcmp(t, "f32") != 0)))
            continue;
        add(l, "set.%s%s.%s.%s", compare, ftz, d, t);
    }
}

static void compares(form_list *l)
{
    EACH(t, "b16", "b32", "b64") EACH(c, "eq", "ne") compares_of(l, c, t, "");
    EACH(t, "s16", "s32", "s64")
    EACH(c, "eq", "ne", "lt", "le", "gt", "ge") compares_of(l, c, t, "");
    EACH(t, "u16", "u32", "u64")
    EACH(c, "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs") compares_of(l, c, t, "");
    EACH(c, FLOAT_COMPARES)
    {
        compares_of(l, c, "f32", "");
        compares_of(l, c, "f32", ".ftz");
        compares_of(l, c, "f64", "");
        compares_of(l, c, "f16", "");
        compares_of(l, c, "f16", ".ftz");
        compares_of(l, c, "bf16", "");
        EACH(t, "f16", "f16.ftz", "bf16")
        {
            const char *ftz = strlen(t) > 4 ? ".ftz" : "", *base = t[0] == 'f' ? "f16" : "bf16";
            EACH(d, "u16", "s16") add(l, "set.%s%s.%s.%s", c, ftz, d, base);
            add(l, "setp.%s%s.%sx2", c, ftz, base);
            add(l, "set.%s%s.%sx2.%sx2", c, ftz, base, base);
            EACH(d, "u32", "s32") add(l, "set.%s%s.%s.%sx2", c, ftz, d, base);
        }
    }
    EACH(t, "b16", "b32", "b64", INTEGERS, "f32", "f64")
    {
        add(l, "slct.%s.s32", t);
        add(l, "slct.%s.f32", t);
        add(l, "slct.ftz.%s.f32", t);
    }
    EACH(t, "f32", "f64")
    {
        EACH(m, "finite", "infinite", "number", "notanumber", "normal", "subnormal")
        add(l, "testp.%s.%s", m, t);
        add(l, "copysign.%s", t);
    }
}

static void single(form_list *l)
{
    EACH(ftz, "", ".ftz")
    {
        EACH(r, "", ROUNDINGS)
        EACH(sat, "", ".sat") EACH(op, "add", "sub", "mul") add(l, "%s%s%s%s.f32", op, r, ftz, sat);
        EACH(r, ROUNDINGS)
        EACH(sat, "", ".sat") EACH(op, "fma", "mad") add(l, "%s%s%s%s.f32", op, r, ftz, sat);
        EACH(r, ROUNDINGS) EACH(op, "div", "rcp", "sqrt") add(l, "%s%s%s.f32", op, r, ftz);
        EACH(op, "neg", "abs") add(l, "%s%s.f32", op, ftz);
        EACH(nan, "", ".NaN") EACH(op, "min", "max")
        {
            EACH(sign, "", ".xorsign.abs") add(l, "%s%s%s%s.f32", op, ftz, nan, sign);
            EACH(sign, "", ".abs") add(l, "%s3%s%s%s.f32", op, ftz, nan, sign);
        }
        EACH(op, "rcp.approx", "sqrt.approx", "rsqrt.approx", "sin.approx", "cos.approx",
             "lg2.approx", "ex2.approx", "div.approx", "div.full")
        add(l, "%s%s.f32", op, ftz);
    }
    add(l, "tanh.approx.f32");
    EACH(ftz, "", ".ftz")
    {
        EACH(r, "", ROUNDINGS) EACH(op, "add", "sub", "mul") add(l, "%s%s%s.f32x2", op, r, ftz);
        EACH(r, ROUNDINGS) add(l, "fma%s%s.f32x2", r, ftz);
    }
    EACH(t, "f16", "bf16") EACH(r, "", ROUNDINGS) EACH(sat, "", ".sat")
    {
        EACH(op, "add", "sub") add(l, "%s%s%s.f32.%s", op, r, sat, t);
        if (r[0]) add(l, "fma%s%s.f32.%s", r, sat, t);
    }
}

static void double_precision(form_list *l)
{
    EACH(r, "", ROUNDINGS) EACH(op, "add", "sub", "mul") add(l, "%s%s.f64", op, r);
    EACH(r, ROUNDINGS) EACH(op, "fma", "mad", "div", "rcp", "sqrt") add(l, "%s%s.f64", op, r);
    EACH(op, "neg", "abs", "min", "max", "rcp.approx.ftz", "rsqrt.approx", "rsqrt.approx.ftz")
    add(l, "%s.f64", op);
}

static void half(form_list *l)
{
    EACH(t, "f16", "f16x2")
    {
        EACH(ftz, "", ".ftz")
        {
            EACH(sat, "", ".sat")
            {
                EACH(op, "add", "sub", "mul", "add.rn", "sub.rn", "mul.rn", "fma.rn")
                add(l, "%s%s%s.%s", op, ftz, sat, t);
            }
            add(l, "fma.rn%s.relu.%s", ftz, t);
            EACH(op, "neg", "abs") add(l, "%s%s.%s", op, ftz, t);
            EACH(nan, "", ".NaN")
            EACH(sign, "", ".xorsign.abs")
            EACH(op, "min", "max") add(l, "%s%s%s%s.%s", op, ftz, nan, sign, t);
        }
        add(l, "tanh.approx.%s", t);
        add(l, "ex2.approx.%s", t);
    }
    EACH(t, "bf16", "bf16x2")
    {
        EACH(op, "add", "sub", "mul", "add.rn", "sub.rn", "mul.rn", "fma.rn", "fma.rn.relu", "neg",
             "abs", "tanh.approx", "ex2.approx.ftz")
        add(l, "%s.%s", op, t);
        EACH(nan, "", ".NaN")
        EACH(sign, "", ".xorsign.abs") EACH(op, "min", "max") add(l, "%s%s%s.%s", op, nan, sign, t);
    }
}

/* Whether an integer type cannot hold all values of another. */
static bool loses(const char *d, const char *s)
{
    int db = atoi(d + 1), sb = atoi(s + 1);
    if (d[0] == s[0]) return db < sb;
    return d[0] == 'u' || db <= sb;
}

static void conversions(form_list *l)
{
    EACH(d, "u8", "s8", INTEGERS)
    {
        EACH(s, "u8", "s8", INTEGERS)
        {
            add(l, "cvt.%s.%s", d, s);
            if (loses(d, s)) add(l, "cvt.sat.%s.%s", d, s);
        }
        EACH(r, INTEGRALS)
        {
            EACH(s, "f16", "f32", "f64")
            EACH(sat, "", ".sat") add(l, "cvt%s%s.%s.%s", r, sat, d, s);
            add(l, "cvt%s.%s.bf16", r, d);
            EACH(sat, "", ".sat") add(l, "cvt%s.ftz%s.%s.f32", r, sat, d);
        }
        EACH(r, ROUNDINGS)
        {
            EACH(f, "f16", "bf16", "f32", "f64") add(l, "cvt%s.%s.%s", r, f, d);
            EACH(f, "f16", "f32", "f64") add(l, "cvt%s.sat.%s.%s", r, f, d);
            EACH(sat, "", ".sat") add(l, "cvt%s.ftz%s.f32.%s", r, sat, d);
        }
    }
    EACH(r, INTEGRALS)
    {
        EACH(f, "f16", "f32", "f64")
        {
            add(l, "cvt%s.%s.%s", r, f, f);
            add(l, "cvt%s.sat.%s.%s", r, f, f);
        }
        add(l, "cvt%s.bf16.bf16", r);
        add(l, "cvt%s.ftz.f32.f32", r);
        add(l, "cvt%s.ftz.sat.f32.f32", r);
    }
    EACH(sat, "", ".sat")
    {
        EACH(pair, "f16.f16", "f32.f32", "f64.f64", "f32.f16", "f64.f16", "f64.f32")
        add(l, "cvt%s.%s", sat, pair);
        EACH(pair, "f32.f32", "f32.f16", "f64.f32") add(l, "cvt.ftz%s.%s", sat, pair);
        EACH(r, ROUNDINGS)
        {
            EACH(pair, "f16.f32", "f32.f64", "f16.f64") add(l, "cvt%s%s.%s", r, sat, pair);
            EACH(pair, "f16.f32", "f32.f64") add(l, "cvt%s.ftz%s.%s", r, sat, pair);
        }
    }
    EACH(pair, "bf16.bf16", "f32.bf16", "f16.bf16", "bf16.f16", "f64.bf16") add(l, "cvt.%s", pair);
    add(l, "cvt.ftz.f32.bf16");
    EACH(r, ROUNDINGS)
    {
        EACH(ftz, "", ".ftz") add(l, "cvt%s%s.f32.bf16", r, ftz);
        add(l, "cvt%s.ftz.bf16.f32", r);
    }
    EACH(r, ROUNDINGS)
    EACH(pair, "bf16.f32", "bf16.f64", "bf16.f16", "f16.bf16", "f64.bf16")
    add(l, "cvt%s.%s", r, pair);
    EACH(relu, "", ".relu") EACH(finite, "", ".satfinite")
    {
        EACH(r, ".rn", ".rz")
        {
            EACH(d, "f16x2", "bf16x2") add(l, "cvt%s%s%s.%s.f32", r, relu, finite, d);
            EACH(d, "f16", "bf16")
            {
                if (relu[0] || finite[0]) add(l, "cvt%s%s%s.%s.f32", r, relu, finite, d);
            }
            add(l, "cvt%s%s%s.tf32.f32", r, relu, finite);
        }
    }
    add(l, "cvt.rna.tf32.f32");
    add(l, "cvt.rna.satfinite.tf32.f32");
    EACH(relu, "", ".relu") EACH(d, "e4m3x2", "e5m2x2")
    {
        EACH(s, "f32", "f16x2") add(l, "cvt.rn.satfinite%s.%s.%s", relu, d, s);
        add(l, "cvt.rn%s.f16x2.%s", relu, d);
    }
    EACH(d, "u16", "s16") add(l, "cvt.pack.sat.%s.s32", d);
    EACH(d, "u8", "s8", "u4", "s4", "u2", "s2") add(l, "cvt.pack.sat.%s.s32.b32", d);
}

bool form_list_make(form_list *out)
{
    *out = (form_list){ 0 };
    failed = false;
    integer(out);
    bits(out);
    compares(out);
    single(out);
    double_precision(out);
    half(out);
    conversions(out);
    if (failed) form_list_free(out);
    return !failed;
}

void form_list_free(form_list *list)
{
    free(list->items);
    *list = (form_list){ 0 };
}
