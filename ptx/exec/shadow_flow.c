/* Which rows of the operation tables only move bits.  SPDX-License-Identifier: MIT */
#include <string.h>

#include "ptx/exec/shadow.h"

enum { B = 1 << 3, C = 1 << 4, F = 1 << 5 };

static const struct {
    const char *start; /* of the row's first name */
    uint8_t kind, controls;
} rows[] = {
    { "mov.", FLOW_MOVES, 0 },
    { "selp.", FLOW_MOVES, C },
    { "lower.narrow", FLOW_MOVES, 0 },
    { "lower.widen.", FLOW_MOVES, 0 },
    { "lower.pack.", FLOW_MOVES, 0 },
    { "lower.part.", FLOW_MOVES, 0 },
    { "lower.or", FLOW_OR, 0 },
    { "lower.check.", FLOW_IGNORED, 0 },
    { "lower.nothing", FLOW_IGNORED, 0 },
    { "lower.fence", FLOW_IGNORED, 0 },
    { "lower.chain", FLOW_CHAINS, 0 },
    { "and.", FLOW_AND, 0 },
    { "or.", FLOW_OR, 0 },
    { "xor.", FLOW_JOINS, 0 },
    { "not.", FLOW_JOINS, 0 },
    { "lop3.", FLOW_JOINS, 0 },
    { "shl.", FLOW_MOVES, B },
    { "shr.", FLOW_MOVES, B },
    { "shf.", FLOW_MOVES, C },
    { "bfe.", FLOW_MOVES, B | C },
    { "bfi.", FLOW_MOVES, C | F },
    { "brev.", FLOW_MOVES, 0 },
    { "prmt.", FLOW_MOVES, C },
};

static bool is_integer(const char *type)
{
    return (type[0] == 'u' || type[0] == 's') && type[1] >= '1' && type[1] <= '9';
}

/* cvt.<integer>.<integer>, without saturation. */
static bool is_plain_conversion(const char *names)
{
    if (strncmp(names, "cvt.", 4) || !is_integer(names + 4)) return false;
    const char *from = strchr(names + 4, '.');
    return from && is_integer(from + 1);
}

void ptx_flow_of_row(const char *names, insn_flow *out)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (!strncmp(names, rows[k].start, strlen(rows[k].start))) {
            out->kind = rows[k].kind;
            out->controls = rows[k].controls;
            return;
        }
    out->kind = is_plain_conversion(names) ? FLOW_MOVES : FLOW_USES;
}
