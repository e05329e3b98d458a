/* Sweeps: lists and ranges of values, and what they replace.  SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>

#include "bench.h"
#include "values.h"

static bool bad_sweep(const option_use *use, const char *why)
{
    message *m = message_at(fail(CODE_BENCH_OPTION, "--sweep: %s", why), place_of_option(use));
    message_hint(m, "--sweep block=64,128,256  or  --sweep x=1K..64M:x4  or  --sweep n=1..10:+1");
    return false;
}

/* LO..HI:xF multiplies, LO..HI:+N adds. */
static bool parse_range(sweep *s, const option_use *use, const char *values, const char *dots)
{
    const char *colon = strchr(dots, ':');
    uint64_t low, high, by = 2;
    bool add = colon && colon[1] == '+';
    if (colon && colon[1] != 'x' && !add)
        return bad_sweep(use, "a range ends in :xFACTOR or :+STEP");
    size_t length = colon ? (size_t)(colon - dots - 2) : strlen(dots + 2);
    if (value_count(&low, values, (size_t)(dots - values)) ||
        value_count(&high, dots + 2, length) || low > high || !low)
        return bad_sweep(use, mem_format("\"%s\" is no range", values));
    if (colon && (value_count(&by, colon + 2, strlen(colon + 2)) || by < (add ? 1u : 2u)))
        return bad_sweep(use, mem_format("\"%s\" is no factor or step", colon + 1));
    for (uint64_t v = low; v <= high;) {
        if (s->values.count == 1000) return bad_sweep(use, "more than 1000 values");
        *list_add(&s->values) = count_text(v);
        if (add ? v > UINT64_MAX - by : v > UINT64_MAX / by) break;
        v = add ? v + by : v * by;
    }
    return true;
}

bool sweep_parse(sweep_list *out, const option_use *use)
{
    const char *equals = strchr(use->text, '=');
    if (!equals || equals == use->text || !equals[1])
        return bad_sweep(use, mem_format("\"%s\" is not NAME=VALUES", use->text));
    sweep s = { .name = mem_copy(use->text, (size_t)(equals - use->text)), .at = use->value };
    for (size_t i = 0; i < out->count; i++)
        if (same_text(out->items[i].name, s.name))
            return bad_sweep(use, mem_format("'%s' is swept twice", s.name));
    const char *values = equals + 1, *dots = strstr(values, "..");
    if (dots) {
        if (!parse_range(&s, use, values, dots)) return false;
    } else {
        while (*values) { /* commas inside <> and () belong to a template's name */
            int depth = 0;
            const char *end = values;
            for (; *end && (*end != ',' || depth); end++)
                depth += (*end == '<' || *end == '(') - (*end == '>' || *end == ')');
            if (end == values) return bad_sweep(use, "a value is empty");
            *list_add(&s.values) = mem_copy(values, (size_t)(end - values));
            values = *end ? end + 1 : end;
        }
    }
    *list_add(out) = s;
    return true;
}

/* A word that was not typed; messages show it by itself. */
static const word *made_word(const char *made)
{
    word *w = mem_alloc(sizeof *w);
    unsigned *offset = mem_array(strlen(made) + 2, sizeof *offset);
    for (size_t i = 0; i <= strlen(made); i++) offset[i] = (unsigned)i;
    *w = (word){ .text = made,
                 .origin = WORD_FILE,
                 .file = "--sweep",
                 .line_text = made,
                 .line = 1,
                 .offset = offset };
    return w;
}

static bool is_source_name(const char *value)
{
    static const char *const names[] = { "zeros", "ones", "fill", "iota", "rand", "perm" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (starts_with(value, names[i])) return true;
    return false;
}

/* The new value of a parameter that has one: a buffer keeps its source and gets another length. */
static const char *replaced(const sweep *s, const assignment *old, const char *value)
{
    const char *text_now = old->value_at.word->text + old->value_at.start;
    const char *colon = strchr(text_now, ':'), *fault;
    shape ignored;
    if (colon && shape_parse(&ignored, text_now, (size_t)(colon - text_now), &fault))
        return mem_format("%s=%s%s", s->name, value, colon);
    if (is_source_name(text_now)) return mem_format("%s=%s:%s", s->name, value, text_now);
    const char *comma = strchr(text_now, ',');
    size_t length = comma ? (size_t)(comma - text_now) : strlen(text_now);
    if (value_is_number(text_now, length) &&
        !(comma && (!comma[1] || value_is_number(comma + 1, strcspn(comma + 1, ",")))))
        return mem_format("%s=%s%s", s->name, value, comma ? comma : "");
    if (shape_parse(&ignored, text_now, length, &fault))
        return mem_format("%s=%s%s", s->name, value, comma ? comma : "");
    message *m = message_at_span(
        fail(CODE_BENCH_OPTION, "'%s' cannot be swept: it is %s", s->name, text_now), s->at);
    const char *dot = strchr(text_now, '.');
    if (dot && (isalpha((unsigned char)*text_now) || *text_now == '_'))
        message_hint(m, "it follows from %s; sweep that: --sweep %s=...",
                     mem_copy(text_now, (size_t)(dot - text_now)),
                     mem_copy(text_now, (size_t)(dot - text_now)));
    return NULL;
}

bool sweep_apply(run_request *request, element_list *more, const sweep *s, const char *value)
{
    const char *option = same_text(s->name, "block")  ? mem_format("--block=%s", value)
                         : same_text(s->name, "grid") ? mem_format("--grid=%s", value)
                         : same_text(s->name, "k")    ? mem_format("--kernel=%s", value)
                         : starts_with(s->name, "D.") ? mem_format("-D%s=%s", s->name + 2, value)
                                                      : NULL;
    const char *text_now = option;
    if (!text_now) {
        const assignment *old =
            request->steps.count ? request_find(&request->steps.items[0], s->name) : NULL;
        text_now = old ? replaced(s, old, value) : mem_format("%s=%s", s->name, value);
        if (!text_now) return false;
    }
    const word *w = made_word(text_now);
    return options_parse(more, &w, 1, CMD_BENCH);
}

const char *point_name(const point *p)
{
    text out = { 0 };
    for (size_t i = 0; i < p->settings.count; i++)
        text_format(&out, "%s%s=%s", i ? " " : "", p->settings.items[i].name,
                    p->settings.items[i].value);
    return text_of(&out);
}
