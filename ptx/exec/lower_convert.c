/* Conversions that have no row of their own: they are made of two or three that have one.  Every step but
 * one is exact, so that the result is rounded once.  SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"

#include <stdarg.h>
#include <stdio.h>

enum { STEPS = 3, NAME_ROOM = 48 };

typedef struct route {
    char names[STEPS][NAME_ROOM];
    int count;
} route;

static const char *rounding_name(ptx_rounding rounding)
{
    switch (rounding) {
    case PTX_ROUND_RNI: return "rni";
    case PTX_ROUND_RZI: return "rzi";
    case PTX_ROUND_RMI: return "rmi";
    case PTX_ROUND_RPI: return "rpi";
    case PTX_ROUND_RZ: return "rz";
    case PTX_ROUND_RM: return "rm";
    case PTX_ROUND_RP: return "rp";
    default: return "rn";
    }
}

static bool is_integer(ptx_type type)
{
    ptx_type_class c = ptx_type_class_of(type);
    return c == PTX_CLASS_SIGNED || c == PTX_CLASS_UNSIGNED;
}

__attribute__((format(printf, 2, 3))) static void step(route *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->names[r->count++], NAME_ROOM, format, args);
    va_end(args);
}

/* Into an integer: first as a float, then through 32 bits.  Out of one: through a float, which holds 16 bits
 * exactly, and what .sat makes of an integer, 0 or 1, too. */
static void find_route(route *r, ptx_type to, ptx_type from, ptx_rounding rounding, uint32_t flags)
{
    const char *mode = rounding_name(rounding), *from_name = ptx_type_name(from),
               *to_name = ptx_type_name(to);
    if (is_integer(to) && !is_integer(from)) {
        if (from == PTX_F16 || from == PTX_BF16) step(r, "cvt.f32.%s", from_name);
        else if (from == PTX_F32 && flags & PTX_FLAG_FTZ) step(r, "cvt.ftz.f32.f32");
        else if (from != PTX_F32) return;
        if (ptx_type_bits(to) < 32) {
            step(r, "cvt.%s.s32.f32", mode);
            step(r, "cvt.sat.%s.s32", to_name);
        } else {
            step(r, "cvt.%s.%s.f32", mode, to_name);
        }
    } else if (is_integer(from) && flags & PTX_FLAG_SAT) {
        step(r, "cvt.rn.sat.f32.%s", from_name);
        if (to == PTX_F64) step(r, "cvt.f64.f32");
        else step(r, "cvt.rn.%s.f32", to_name);
    } else if (is_integer(from) && ptx_type_bits(from) < 32) {
        step(r, "cvt.rn.f32.%s", from_name);
        step(r, "cvt.%s.%s.f32", mode, to_name);
    }
}

void lower_convert(lowering *l)
{
    const ptx_instruction *i = l->now;
    const ptx_type to = i->modifiers.types[0], from = i->modifiers.types[1];
    route r = { .count = 0 };
    if (i->modifiers.type_count == 2 && i->operand_count == 2)
        find_route(&r, to, from, (ptx_rounding)i->modifiers.rounding, i->modifiers.flags);
    if (!r.count) {
        lower_refuse(l, "the CPU device does not run this form");
        return;
    }
    value v = lower_typed_source(l, &i->operands[1], from);
    destination d = lower_destination(l, &i->operands[0], lower_type_width(to),
                                      ptx_type_class_of(to) == PTX_CLASS_SIGNED);
    for (int k = 0; k < r.count; k++) {
        value next = k == r.count - 1 ? d.v : lower_temporary(l, OPERAND_32);
        lower_add_named(l, r.names[k], next, v, NO_SLOT, NO_SLOT);
        v = next;
    }
    lower_finish(l, d);
}
