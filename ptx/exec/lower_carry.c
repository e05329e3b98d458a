/* Carry chains: add, sub and mad that write or read the carry flag.  The flag is a predicate value of the
 * function that no register of the text has; the chains are made of plain operations.
 *
 * A difference is the sum with the complement: the flag says that nothing was borrowed, and subc subtracts
 * one more when it does not hold.  So ptxas assembles it; chains of one kind come out the same when the flag
 * is the borrow, as the ISA's text has it, and those that mix both kinds do not.  SPDX-License-Identifier: MIT */
#include "ptx/exec/lower.h"

/* A step that has a predicate on one side: its slots must not overlap. */
static void add_apart(lowering *l, const char *name, value to, value a, value b, value c)
{
    lower_add_named(l, name, to, a, b, c)->apart = true;
}

static bool reads_carry(const ptx_instruction *i)
{
    return i->opcode == PTX_OP_ADDC || i->opcode == PTX_OP_SUBC || i->opcode == PTX_OP_MADC;
}

bool lower_is_carry(const ptx_instruction *i)
{
    return reads_carry(i) || i->modifiers.flags & PTX_FLAG_CC;
}

static const char *product_name(const ptx_modifiers *m)
{
    bool high = m->mode == PTX_MODE_HI;
    switch ((ptx_type)m->types[0]) {
    case PTX_U32: return high ? "mul.hi.u32" : "mul.lo.u32";
    case PTX_S32: return high ? "mul.hi.s32" : "mul.lo.s32";
    case PTX_U64: return high ? "mul.hi.u64" : "mul.lo.u64";
    default: return high ? "mul.hi.s64" : "mul.lo.s64";
    }
}

void lower_carry(lowering *l)
{
    const ptx_instruction *i = l->now;
    const bool multiplies = i->opcode == PTX_OP_MAD || i->opcode == PTX_OP_MADC;
    const bool subtracts = i->opcode == PTX_OP_SUB || i->opcode == PTX_OP_SUBC;
    const bool writes = i->modifiers.flags & PTX_FLAG_CC;
    const operand_kind width = lower_type_width(i->modifiers.types[0]);
    const bool wide = width == OPERAND_64;
    const char *sum_name =
        subtracts ? (wide ? "sub.u64" : "sub.u32") : (wide ? "add.u64" : "add.u32");
    const char *carries =
        subtracts ? (wide ? "setp.ge.u64" : "setp.ge.u32") : (wide ? "setp.lt.u64" : "setp.lt.u32");
    if (l->carry == NO_SLOT) l->carry = lower_temporary(l, OPERAND_PREDICATE);

    value a = lower_source(l, &i->operands[1], width), b = lower_source(l, &i->operands[2], width);
    if (multiplies) {
        value product = lower_temporary(l, width);
        lower_add_named(l, product_name(&i->modifiers), product, a, b, NO_SLOT);
        a = product;
        b = lower_source(l, &i->operands[3], width);
    }
    value sum = lower_temporary(l, width), carry = lower_temporary(l, OPERAND_PREDICATE);
    lower_add_named(l, sum_name, sum, a, b, NO_SLOT);
    add_apart(l, carries, carry, subtracts ? a : sum, subtracts ? b : a, NO_SLOT);
    if (reads_carry(i)) {
        value step = lower_temporary(l, width), total = lower_temporary(l, width);
        value second = lower_temporary(l, OPERAND_PREDICATE);
        add_apart(l, wide ? "selp.b64" : "selp.b32", step, lower_bits(l, width, !subtracts),
                  lower_bits(l, width, subtracts), l->carry);
        lower_add_named(l, sum_name, total, sum, step, NO_SLOT);
        add_apart(l, carries, second, subtracts ? sum : total, subtracts ? step : sum, NO_SLOT);
        if (writes)
            lower_add_named(l, subtracts ? "and.pred" : "or.pred", l->carry, carry, second,
                            NO_SLOT);
        sum = total;
    } else {
        lower_add_named(l, "mov.pred", l->carry, carry, NO_SLOT, NO_SLOT);
    }
    destination d = lower_destination(l, &i->operands[0], width, false);
    lower_add_named(l, wide ? "mov.b64" : "mov.b32", d.v, sum, NO_SLOT, NO_SLOT);
    lower_finish(l, d);
}
