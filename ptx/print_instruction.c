/* Prints an instruction from its fields alone, in the order in which compilers write the words.
 * SPDX-License-Identifier: MIT */
#include "ptx/print.h"

#include <inttypes.h>

/* ------------------------------------------------------------------ operands */

static void print_register(const ptx_function *function, uint32_t index, gpul__str *out)
{
    const ptx_register *reg = &function->registers[index];
    const ptx_register_group *group = &function->groups[reg->group];
    uint32_t components = group->vector ? group->vector : 1;
    gpul__str_add(out, group->name);
    if (group->is_range) gpul__str_printf(out, "%u", reg->number / components);
    if (group->vector) gpul__str_printf(out, ".%c", "xyzw"[reg->number % components]);
}

static void print_integer(uint64_t bits, gpul__str *out)
{
    if (bits < 1u << 20) gpul__str_printf(out, "%u", (unsigned)bits);
    else if (bits >= UINT64_MAX - (1u << 20)) gpul__str_printf(out, "-%u", (unsigned)(0 - bits));
    else gpul__str_printf(out, "0x%" PRIX64, bits);
}

static void print_offset(int64_t offset, gpul__str *out)
{
    if (offset > 0) gpul__str_printf(out, "+%" PRId64, offset);
    else if (offset < 0) gpul__str_printf(out, "+-%" PRIu64, 0 - (uint64_t)offset);
}

static void print_address(const ptx_function *function, const ptx_operand *operand, gpul__str *out)
{
    gpul__str_add(out, "[");
    if (operand->base == PTX_BASE_NONE) {
        print_integer(operand->value.bits, out);
    } else {
        if (operand->base == PTX_BASE_REGISTER) print_register(function, operand->index, out);
        else gpul__str_add(out, operand->variable->name);
        print_offset(operand->value.offset, out);
    }
    gpul__str_add(out, "]");
}

static void print_items(const ptx_function *function, const ptx_operand *operand, const char *open,
                        const char *between, const char *close, gpul__str *out)
{
    uint32_t count = operand->kind == PTX_OPERAND_PAIR ? 2 : operand->index;
    gpul__str_add(out, open);
    for (uint32_t i = 0; i < count; i++) {
        const ptx_operand *item = &operand->items[i];
        if (i) gpul__str_add(out, between);
        /* The base of [a, {b, c}] stands inside the list's own brackets. */
        if (operand->kind == PTX_OPERAND_LIST && item->kind == PTX_OPERAND_ADDRESS && !i) {
            if (item->base == PTX_BASE_REGISTER) print_register(function, item->index, out);
            else gpul__str_add(out, item->variable->name);
            print_offset(item->value.offset, out);
        } else {
            ptx_print_operand(function, item, out);
        }
    }
    gpul__str_add(out, close);
}

void ptx_print_operand(const ptx_function *function, const ptx_operand *operand, gpul__str *out)
{
    if (operand->negated) gpul__str_add(out, "!");
    switch ((ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_NONE: break;
    case PTX_OPERAND_REGISTER:
        print_register(function, operand->index, out);
        if (operand->width)
            gpul__str_printf(out, ".%.2s", &"b0b1b2b3h0h1"[2 * (operand->width - 1)]);
        break;
    case PTX_OPERAND_INTEGER: print_integer(operand->value.bits, out); break;
    case PTX_OPERAND_FLOAT:
        if (operand->width == 32) gpul__str_printf(out, "0f%08X", (unsigned)operand->value.bits);
        else gpul__str_printf(out, "0d%016" PRIX64, operand->value.bits);
        break;
    case PTX_OPERAND_SPECIAL:
        gpul__str_add(out, ptx_special_name((ptx_special)operand->index));
        break;
    case PTX_OPERAND_SYMBOL:
        gpul__str_add(out, operand->variable->name);
        print_offset(operand->value.offset, out);
        break;
    case PTX_OPERAND_FUNCTION: gpul__str_add(out, operand->function->name); break;
    case PTX_OPERAND_ADDRESS: print_address(function, operand, out); break;
    case PTX_OPERAND_LABEL: gpul__str_add(out, function->labels[operand->index].name); break;
    case PTX_OPERAND_TABLE: gpul__str_add(out, function->tables[operand->index].name); break;
    case PTX_OPERAND_VECTOR: print_items(function, operand, "{", ", ", "}", out); break;
    case PTX_OPERAND_PAIR: print_items(function, operand, "", "|", "", out); break;
    case PTX_OPERAND_LIST: print_items(function, operand, "[", ", ", "]", out); break;
    case PTX_OPERAND_SINK: gpul__str_add(out, "_"); break;
    }
}

/* ------------------------------------------------------------------ modifiers */

static const char *const rounding_names[] = {
    [PTX_ROUND_NONE] = NULL,
#define PTX_ROUNDING(id, text) [PTX_ROUND_##id] = text,
#include "ptx/words.def"
};
static const char *const compare_names[] = {
    [PTX_COMPARE_NONE] = NULL,
#define PTX_COMPARE(id, text) [PTX_COMPARE_##id] = text,
#include "ptx/words.def"
};
static const char *const operation_names[] = {
    [PTX_OPERATION_NONE] = NULL,
#define PTX_OPERATION(id, text) [PTX_OPERATION_##id] = text,
#include "ptx/words.def"
};
static const char *const mode_names[] = {
    [PTX_MODE_NONE] = NULL,
#define PTX_MODE(id, text) [PTX_MODE_##id] = text,
#include "ptx/words.def"
};
static const char *const scope_names[] = {
    [PTX_SCOPE_NONE] = NULL,
#define PTX_SCOPE(id, text) [PTX_SCOPE_##id] = text,
#include "ptx/words.def"
};
static const char *const semantics_names[] = {
    [PTX_SEMANTICS_NONE] = NULL,
#define PTX_SEMANTICS(id, text) [PTX_SEMANTICS_##id] = text,
#include "ptx/words.def"
};
static const char *const cache_names[] = {
    [PTX_CACHE_NONE] = NULL,
#define PTX_CACHE(id, text) [PTX_CACHE_##id] = text,
#include "ptx/words.def"
};
static const char *const eviction_names[] = {
    [PTX_EVICTION_NONE] = NULL,
#define PTX_EVICTION(id, text) [PTX_EVICTION_##id] = text,
#include "ptx/words.def"
};
static const char *const prefetch_names[] = {
    [PTX_PREFETCH_NONE] = NULL,
#define PTX_PREFETCH(id, text) [PTX_PREFETCH_##id] = text,
#include "ptx/words.def"
};
static const char *const flag_names[] = {
#define PTX_FLAG(id, text) [PTX_FLAG_INDEX_##id] = text,
#include "ptx/words.def"
};

static void word(gpul__str *out, const char *text)
{
    if (text) gpul__str_printf(out, ".%s", text);
}

static void flags(gpul__str *out, uint32_t set)
{
    for (unsigned i = 0; i < PTX_FLAG_COUNT; i++)
        if (set >> i & 1) word(out, flag_names[i]);
}

/* The flags that stand in front of the space or the mode; all others follow the rounding. */
static uint32_t early_flags(ptx_opcode opcode)
{
    uint32_t set = PTX_FLAG_PROXY | PTX_FLAG_MMIO | PTX_FLAG_WARP | PTX_FLAG_TO | PTX_FLAG_ASYNC;
    bool sync_first = opcode == PTX_OP_SHFL || opcode == PTX_OP_VOTE || opcode == PTX_OP_REDUX;
    return sync_first ? set | PTX_FLAG_SYNC : set;
}

static void print_modifiers(ptx_opcode opcode, const ptx_modifiers *m, gpul__str *out)
{
    const uint32_t early = early_flags(opcode), cluster_late = opcode == PTX_OP_BARRIER;
    const uint32_t last = PTX_FLAG_CACHE_HINT;
    flags(out, m->flags & early);
    for (unsigned i = 0; i < m->word_count; i++) gpul__str_add(out, m->words[i]);
    if (!cluster_late) word(out, semantics_names[m->semantics]);
    word(out, opcode == PTX_OP_MEMBAR && m->scope == PTX_SCOPE_GPU ? "gl" : scope_names[m->scope]);
    if (m->space) word(out, ptx_space_name((ptx_space)m->space));
    word(out, cache_names[m->cache]);
    if (opcode != PTX_OP_PRMT) word(out, mode_names[m->mode]);
    word(out, compare_names[m->compare]);
    word(out, operation_names[m->operation]);
    if (cluster_late) word(out, semantics_names[m->semantics]);
    word(out, rounding_names[m->rounding]);
    flags(out, m->flags & ~early & ~last);
    word(out, eviction_names[m->eviction]);
    word(out, eviction_names[m->eviction2]);
    flags(out, m->flags & last);
    word(out, prefetch_names[m->prefetch]);
    if (m->vector) gpul__str_printf(out, ".v%u", m->vector);
    for (unsigned i = 0; i < m->type_count; i++) word(out, ptx_type_name((ptx_type)m->types[i]));
    if (opcode == PTX_OP_PRMT) word(out, mode_names[m->mode]);
}

/* ------------------------------------------------------------------ the instruction */

static void print_list(const ptx_function *function, const ptx_operand *operands, uint32_t count,
                       gpul__str *out)
{
    gpul__str_add(out, "(");
    for (uint32_t i = 0; i < count; i++) {
        if (i) gpul__str_add(out, ", ");
        ptx_print_operand(function, &operands[i], out);
    }
    gpul__str_add(out, ")");
}

static void print_call(const ptx_function *function, const ptx_call *call, gpul__str *out)
{
    gpul__str_add(out, " ");
    if (call->result_count) {
        print_list(function, call->results, call->result_count, out);
        gpul__str_add(out, ", ");
    }
    ptx_print_operand(function, &call->callee, out);
    /* An empty list holds the place before a prototype. */
    if (call->argument_count || call->prototype || call->table) {
        gpul__str_add(out, ", ");
        print_list(function, call->arguments, call->argument_count, out);
    }
    if (call->prototype)
        gpul__str_printf(out, ", %s", function->prototypes[call->prototype - 1].name);
    if (call->table) gpul__str_printf(out, ", %s", function->tables[call->table - 1].name);
}

void ptx_print_instruction(const ptx_function *function, const ptx_instruction *instruction,
                           gpul__str *out)
{
    ptx_opcode opcode = (ptx_opcode)instruction->opcode;
    if (instruction->guard != PTX_NO_REGISTER) {
        gpul__str_add(out, instruction->guard_negated ? "@!" : "@");
        print_register(function, instruction->guard, out);
        gpul__str_add(out, " ");
    }
    gpul__str_add(out, ptx_opcode_name(opcode));
    print_modifiers(opcode, &instruction->modifiers, out);
    if (instruction->call) print_call(function, instruction->call, out);
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        gpul__str_add(out, i ? ", " : " ");
        ptx_print_operand(function, &instruction->operands[i], out);
    }
    gpul__str_add(out, ";");
}
