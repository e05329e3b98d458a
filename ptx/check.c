/* The checker: finds the rule that fits an instruction's words and holds its operands against it.
 * What instructions there are is in check_rules.c, single operands in check_operand.c.
 *
 * The words of a rule's `operands`, one per operand:
 *   dT      a register of type T that is written, or _      DT  wider registers too
 *   sT      a register or number of type T that is read     ST  wider registers too
 *   q       a predicate that is written     Q  the same, or a pair p|q
 *   PT      dT, or a pair d|p               2T  always a pair
 *   p       a predicate that is read        b  the same, there when an operation was given
 *   a       an address                      A  a register or symbol to be classified
 *   yT      sT, or the address of a variable
 *   h       a cache policy, there with .L2::cache_hint
 *   i       a whole number                  l  a label          t  a table of labels
 *   L       what a load fills               W  what a store takes
 *   T is 0, 1, 2 (that type word), w (.b32), u (.u32), l (.b64) or x (twice the width of the first type); a ?
 *   behind it makes the operand optional.  `*` alone: the instruction has its own check; `~` alone:
 *   operands are not looked at, because the instruction is refused anyway.
 * SPDX-License-Identifier: MIT */
#include "ptx/check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ptx_check_fail(ptx_checker *checker, const char *format, ...)
{
    ptx_parser *parser = checker->parser;
    const ptx_instruction *instruction = checker->instruction;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length;
    const char *at = ptx_instruction_spelling(parser->module, instruction, &length);
    parser->spelling = at;
    parser->spelling_length = (uint32_t)length;
    ptx_parser_diag(parser, PTX_ERROR, at, instruction->line, (uint32_t)length, text);
    parser->spelling_length = 0;
    return false;
}

/* ------------------------------------------------------------------ finding the rule */

static uint16_t first_rule[PTX_OP_COUNT + 1];
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

/* Rules of one opcode need not stand together: a chain links them, in order. */
static uint16_t next_rule[1024];

static void index_rules(void)
{
    for (size_t i = ptx_rule_count; i-- > 0;) {
        uint16_t *head = &first_rule[ptx_rules[i].opcode];
        next_rule[i] = *head;
        *head = (uint16_t)(i + 1);
    }
}

static bool in(uint64_t set, unsigned value)
{
    return ((set ? set : 1) >> value & 1) != 0;
}

static bool types_fit(const ptx_rule *rule, const ptx_modifiers *m)
{
    unsigned count = 0;
    while (count < 3 && rule->types[count]) count++;
    if (count != m->type_count) return false;
    for (unsigned i = 0; i < count; i++)
        if (!(rule->types[i] >> m->types[i] & 1)) return false;
    return true;
}

static bool flags_fit(const ptx_rule *rule, const ptx_modifiers *m)
{
    return (m->flags & rule->must) == rule->must && !(m->flags & ~(rule->must | rule->may));
}

static bool words_fit(const ptx_rule *rule, const ptx_modifiers *m)
{
    return in(rule->roundings, m->rounding) && in(rule->modes, m->mode) &&
           in(rule->compares, m->compare) && in(rule->operations, m->operation) &&
           in(rule->spaces, m->space) && in(rule->scopes, m->scope) &&
           in(rule->semantics, m->semantics) && in(rule->caches, m->cache) &&
           in(rule->vectors, m->vector) &&
           (rule->hints || !(m->eviction | m->eviction2 | m->prefetch));
}

/* Why no rule fits: the closest to what the driver says. */
static bool explain(ptx_checker *checker)
{
    const ptx_instruction *instruction = checker->instruction;
    const ptx_modifiers *m = &instruction->modifiers;
    const char *name = ptx_opcode_name((ptx_opcode)instruction->opcode);
    bool any_type = false, rounding_wanted = m->rounding == 0, compare_wanted = m->compare == 0;
    bool flags_wrong = true, rounding_wrong = true, compare_wrong = true, space_wrong = true;
    for (uint16_t i = first_rule[instruction->opcode]; i; i = next_rule[i - 1]) {
        const ptx_rule *rule = &ptx_rules[i - 1];
        if (!types_fit(rule, m)) continue;
        any_type = true;
        rounding_wanted = rounding_wanted && rule->roundings && !(rule->roundings & 1);
        compare_wanted = compare_wanted && rule->compares && !(rule->compares & 1);
        if (flags_fit(rule, m)) flags_wrong = false;
        if (in(rule->roundings, m->rounding)) rounding_wrong = false;
        if (in(rule->compares, m->compare)) compare_wrong = false;
        if (in(rule->spaces, m->space)) space_wrong = false;
    }
    if (!any_type)
        return ptx_check_fail(checker, "Unexpected instruction types specified for '%s'", name);
    if (rounding_wanted)
        return ptx_check_fail(checker, "Rounding modifier required for instruction '%s'", name);
    if (compare_wanted)
        return ptx_check_fail(checker, "Comparison modifier required for instruction '%s'", name);
    if (rounding_wrong)
        return ptx_check_fail(checker, "Illegal rounding modifier for instruction '%s'", name);
    if (compare_wrong)
        return ptx_check_fail(checker,
                              "Mismatch between instruction type and comparison qualifier");
    if (space_wrong)
        return ptx_check_fail(checker, "State space incorrect for instruction '%s'", name);
    if (flags_wrong)
        return ptx_check_fail(checker, "Illegal or missing modifier for instruction '%s'", name);
    return ptx_check_fail(checker, "Illegal combination of modifiers for instruction '%s'", name);
}

static const ptx_rule *find_rule(ptx_checker *checker)
{
    const ptx_modifiers *m = &checker->instruction->modifiers;
    pthread_once(&indexed, index_rules);
    for (uint16_t i = first_rule[checker->instruction->opcode]; i; i = next_rule[i - 1]) {
        const ptx_rule *rule = &ptx_rules[i - 1];
        if (types_fit(rule, m) && flags_fit(rule, m) && words_fit(rule, m)) return rule;
    }
    explain(checker);
    return NULL;
}

/* ------------------------------------------------------------------ refusing at load */

static void refuse(ptx_checker *checker)
{
    ptx_parser *parser = checker->parser;
    ptx_function *function = checker->function;
    ptx_instruction *instruction = checker->instruction;
    instruction->refused = true;
    /* One message for each opcode of a function is enough. */
    if (checker->refused[instruction->opcode]) return;
    checker->refused[instruction->opcode] = true;
    size_t length;
    const char *at = ptx_instruction_spelling(parser->module, instruction, &length);
    char *reason = gpul__arena_printf(&parser->module->arena, "unsupported by the CPU device: %.*s",
                                      (int)(length < 200 ? length : 200), at);
    if (!reason) {
        ptx_no_memory(parser);
        return;
    }
    if (!function->unsupported) {
        function->unsupported = instruction;
        function->unsupported_reason = reason;
        parser->module->has_unsupported = true;
    }
    parser->spelling = at;
    parser->spelling_length = (uint32_t)length;
    ptx_parser_diag(parser, PTX_UNSUPPORTED, at, instruction->line, (uint32_t)length, reason);
    parser->spelling_length = 0;
}

/* Words that belong to forms which are refused anyway, by how they begin. */
static bool belongs_to_later_form(const ptx_instruction *instruction, const char *word)
{
    static const char *const known[] = {
        ".mbarrier", ".tensormap", ".sync_restrict", ".scaled::", ".complete_tx",
        ".async::",  ".gather4",   ".unified",       ".proxy",    ".b4x16",
        ".b6x16",    ".b8x16",     ".multimem",
    };
    if (instruction->modifiers.flags & (PTX_FLAG_ASYNC | PTX_FLAG_BULK)) return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(word, known[i], strlen(known[i]))) return true;
    return false;
}

/* What the words say that no typed field holds; false when the instruction is done with. */
static bool check_raw_words(ptx_checker *checker)
{
    ptx_instruction *instruction = checker->instruction;
    const ptx_modifiers *m = &instruction->modifiers;
    bool fence = instruction->opcode == PTX_OP_FENCE || instruction->opcode == PTX_OP_MEMBAR;
    for (unsigned i = 0; i < m->word_count; i++) {
        if (fence && !strcmp(m->words[i], ".alias")) continue;
        if (belongs_to_later_form(instruction, m->words[i])) {
            refuse(checker);
            return false;
        }
        return ptx_check_fail(checker, "Unknown modifier '%s'", m->words[i]);
    }
    if (!fence &&
        (m->flags & (PTX_FLAG_ASYNC | PTX_FLAG_BULK | PTX_FLAG_UNIFIED | PTX_FLAG_PROXY))) {
        refuse(checker);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ rules between words */

static const char *semantics_name(uint8_t semantics)
{
    static const char *const names[] = {
        [PTX_SEMANTICS_NONE] = "",
#define PTX_SEMANTICS(id, text) [PTX_SEMANTICS_##id] = text,
#include "ptx/words.def"
    };
    return names[semantics];
}

/* 128 bits at once, and from sm_100 on 256 bits of global memory. */
static bool check_memory_width(ptx_checker *checker)
{
    const ptx_modifiers *m = &checker->instruction->modifiers;
    uint32_t element = ptx_type_bits((ptx_type)m->types[0]);
    uint32_t bits = element * (m->vector ? m->vector : 1);
    if (bits > 256 || (element == 128 && m->vector))
        return ptx_check_fail(checker, "Vector type too large, exceeds %u bit limit",
                              element == 128 ? 128u : 256u);
    if (m->vector == 8 && element != 32)
        return ptx_check_fail(checker, "Vectors of 8 need elements of 32 bits");
    if (bits <= 128) return true;
    if (checker->function->module->target_sm < 100)
        return ptx_check_fail(checker, "Feature '256 bit wide load/store' requires .target sm_100 "
                                       "or higher");
    return m->space == PTX_SPACE_GLOBAL || m->space == PTX_SPACE_GENERIC ||
           ptx_check_fail(checker, "256 bit wide load/store requires .global or generic space");
}

static bool check_memory_words(ptx_checker *checker)
{
    const ptx_instruction *instruction = checker->instruction;
    const ptx_modifiers *m = &instruction->modifiers;
    const char *name = ptx_opcode_name((ptx_opcode)instruction->opcode);
    bool ordered = m->semantics == PTX_SEMANTICS_RELAXED || m->semantics == PTX_SEMANTICS_ACQUIRE ||
                   m->semantics == PTX_SEMANTICS_RELEASE;
    if (ordered && !m->scope)
        return ptx_check_fail(checker, "Modifier '.%s' requires scope with '%s' instruction",
                              semantics_name(m->semantics), name);
    if (!ordered && m->scope)
        return ptx_check_fail(checker,
                              "A scope needs '.relaxed', '.acquire' or '.release' with "
                              "'%s' instruction",
                              name);
    if (m->semantics > PTX_SEMANTICS_WEAK && m->cache)
        return ptx_check_fail(checker, "Modifier '.%s' cannot be combined with a cache operator",
                              semantics_name(m->semantics));
    if ((m->flags & PTX_FLAG_MMIO) && m->semantics != PTX_SEMANTICS_RELAXED)
        return ptx_check_fail(checker, "Modifier '.mmio' requires '.relaxed'");
    bool apart =
        m->space == PTX_SPACE_CONST || m->space == PTX_SPACE_LOCAL || m->space == PTX_SPACE_PARAM;
    if (m->semantics > PTX_SEMANTICS_WEAK && apart)
        return ptx_check_fail(checker, "Modifier '.%s' cannot be applied to '.%s' space",
                              semantics_name(m->semantics), ptx_space_name((ptx_space)m->space));
    return check_memory_width(checker);
}

/* bar and barrier have sixteen barriers. */
static bool check_barrier(ptx_checker *checker)
{
    const ptx_instruction *instruction = checker->instruction;
    const ptx_modifiers *m = &instruction->modifiers;
    if (m->scope == PTX_SCOPE_CLUSTER || (m->flags & PTX_FLAG_WARP)) return true;
    const ptx_operand *id = &instruction->operands[m->mode == PTX_MODE_RED];
    if (id->kind == PTX_OPERAND_INTEGER && id->value.bits > 15)
        return ptx_check_fail(checker,
                              "Barrier number '%llu' out of range, expected to be in range [0..15]",
                              (unsigned long long)id->value.bits);
    return true;
}

/* The forms without .sync are gone since sm_70 (PTX 6.4). */
static bool check_sync(ptx_checker *checker)
{
    const ptx_module *module = checker->function->module;
    bool newer =
        module->version_major > 6 || (module->version_major == 6 && module->version_minor >= 4);
    if ((checker->instruction->modifiers.flags & PTX_FLAG_SYNC) || module->target_sm < 70 || !newer)
        return true;
    return ptx_check_fail(checker,
                          "Instruction '%s' without '.sync' is not supported on .target sm_70 and "
                          "higher from PTX ISA version 6.4",
                          ptx_opcode_name((ptx_opcode)checker->instruction->opcode));
}

static bool check_relations(ptx_checker *checker)
{
    switch (checker->instruction->opcode) {
    case PTX_OP_LD:
    case PTX_OP_ST: return check_memory_words(checker);
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: return check_barrier(checker);
    case PTX_OP_SHFL:
    case PTX_OP_VOTE: return check_sync(checker);
    case PTX_OP_PREFETCH:
    case PTX_OP_APPLYPRIORITY:
        return checker->instruction->modifiers.mode || checker->instruction->modifiers.eviction ||
               ptx_check_fail(checker, "Cache level modifier required for instruction '%s'",
                              ptx_opcode_name((ptx_opcode)checker->instruction->opcode));
    default: return true;
    }
}

/* ------------------------------------------------------------------ operands */

/* How many operands the words from `spec` on must have. */
static uint32_t mandatory(const char *spec, const ptx_modifiers *m)
{
    uint32_t count = 0;
    while (*spec) {
        size_t length = strcspn(spec, " ");
        bool optional = spec[length - 1] == '?' || (*spec == 'b' && !m->operation) ||
                        (*spec == 'h' && !(m->flags & PTX_FLAG_CACHE_HINT));
        count += !optional;
        spec += length;
        spec += *spec == ' ';
    }
    return count;
}

static bool check_operands(ptx_checker *checker, const char *spec)
{
    ptx_instruction *instruction = checker->instruction;
    const ptx_modifiers *m = &instruction->modifiers;
    const char *name = ptx_opcode_name((ptx_opcode)instruction->opcode);
    uint32_t at = 0, count = instruction->operand_count;
    while (*spec) {
        size_t length = strcspn(spec, " ");
        const char *behind = spec + length + (spec[length] == ' ');
        bool optional = spec[length - 1] == '?';
        bool absent = (*spec == 'b' && !m->operation) ||
                      (*spec == 'h' && !(m->flags & PTX_FLAG_CACHE_HINT)) ||
                      (optional && count - at <= mandatory(behind, m));
        if (!absent) {
            if (at == count)
                return ptx_check_fail(checker,
                                      "Arguments mismatch for instruction '%s': it has %u operands "
                                      "and needs more",
                                      name, count);
            if (!ptx_check_operand(checker, at, &instruction->operands[at], spec,
                                   length - optional))
                return false;
            at++;
        }
        spec = behind;
    }
    if (at < count)
        return ptx_check_fail(checker,
                              "Arguments mismatch for instruction '%s': it has %u operands and "
                              "takes %u",
                              name, count, at);
    return true;
}

static bool check_guard(ptx_checker *checker)
{
    uint32_t guard = checker->instruction->guard;
    if (guard == PTX_NO_REGISTER || checker->function->registers[guard].bits == 1) return true;
    return ptx_check_fail(checker, "Predicate expression expected");
}

static bool check_instruction(ptx_checker *checker)
{
    ptx_instruction *instruction = checker->instruction;
    if (!check_guard(checker)) return false;
    if (!ptx_opcode_runs((ptx_opcode)instruction->opcode)) {
        refuse(checker);
        return true;
    }
    if (!check_raw_words(checker)) return false;
    const ptx_rule *rule = find_rule(checker);
    if (!rule) return false;
    if (rule->later) {
        refuse(checker);
        return true;
    }
    bool fine = true;
    if (instruction->opcode == PTX_OP_MOV) fine = ptx_check_move(checker);
    else if (instruction->opcode == PTX_OP_CALL) fine = ptx_check_call(checker);
    else fine = check_operands(checker, rule->operands);
    return fine && check_relations(checker);
}

bool ptx_check_function(ptx_parser *parser, ptx_function *function)
{
    ptx_checker checker = { .parser = parser, .function = function };
    for (uint32_t i = 0; i < function->instruction_count && !parser->stopped; i++) {
        checker.instruction = &function->instructions[i];
        check_instruction(&checker);
    }
    return !parser->stopped;
}
