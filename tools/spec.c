/* Reading buffer descriptions.  SPDX-License-Identifier: MIT */
#include "spec.h"

#include <ctype.h>
#include <unistd.h>

#include "values.h"

static const char *const source_names[] = { "zeros", "ones", "fill",   "iota",   "rand",
                                            "randn", "perm", "noinit", "poison", "null" };
static const source_kind source_kinds[] = { SOURCE_ZEROS,  SOURCE_ONES,  SOURCE_FILL, SOURCE_IOTA,
                                            SOURCE_RAND,   SOURCE_RANDN, SOURCE_PERM, SOURCE_NOINIT,
                                            SOURCE_POISON, SOURCE_NULL };
enum { SOURCES = sizeof source_names / sizeof *source_names };

static const char *const modifier_names[] = { "in",   "out",  "inout", "scratch", "cast",  "norm",
                                              "gray", "skip", "key",   "col",     "raw",   "npy",
                                              "csv",  "pnm",  "be",    "seed",    "align", "tsv" };
enum { MODIFIERS = sizeof modifier_names / sizeof *modifier_names };

static const struct format_row {
    const char *name;
    file_format format;
} format_rows[] = {
    { "raw", FORMAT_RAW }, { "bin", FORMAT_RAW }, { "npy", FORMAT_NPY },  { "npz", FORMAT_NPZ },
    { "csv", FORMAT_CSV }, { "tsv", FORMAT_TSV }, { "txt", FORMAT_TEXT }, { "pnm", FORMAT_PNM },
    { "pgm", FORMAT_PNM }, { "ppm", FORMAT_PNM }, { "pfm", FORMAT_PFM },  { "png", FORMAT_PNG },
};

bool format_from_name(file_format *out, const char *name)
{
    for (size_t i = 0; i < sizeof format_rows / sizeof *format_rows; i++)
        if (same_text(format_rows[i].name, name)) {
            *out = format_rows[i].format;
            return true;
        }
    return false;
}

file_format format_of_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    file_format format = FORMAT_AUTO;
    if (dot && !strchr(dot, '/')) {
        char *name = mem_dup(dot + 1);
        for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
        format_from_name(&format, name);
    }
    return format;
}

/* ---- Helpers ---- */

static const char *text_at(span s)
{
    return mem_copy(s.word->text + s.start, s.end - s.start);
}
static const char *begin(span s)
{
    return s.word->text + s.start;
}
static size_t length_of(span s)
{
    return s.end - s.start;
}
static bool is(span s, const char *literal)
{
    return length_of(s) == strlen(literal) && memcmp(begin(s), literal, length_of(s)) == 0;
}
static bool number(span s)
{
    return value_is_number(begin(s), length_of(s));
}

/* The part of `rest` up to the first `c`; *rest goes behind it.  False when there is no `c`. */
static bool cut(span *rest, char c, span *part)
{
    const char *found = memchr(begin(*rest), c, length_of(*rest));
    *part = *rest;
    if (!found) {
        rest->start = rest->end;
        return false;
    }
    part->end = (size_t)(found - rest->word->text);
    rest->start = part->end + 1;
    return true;
}

static message *spec_fail(const spec_context *context, span at, int code, const char *sentence)
{
    message *m = message_at_span(fail(code, "%s", sentence), at);
    if (context->declared.kind != PLACE_NONE)
        message_note_at(m, context->declared, "declared here");
    return m;
}

/* ---- Type and shape ---- */

/* TYPE is a short name, perhaps with x2 x3 x4. */
static bool parse_type(buffer_spec *out, span part)
{
    size_t length = length_of(part);
    const char *name = begin(part);
    out->lanes = 1;
    if (length > 2 && name[length - 2] == 'x' && name[length - 1] >= '2' &&
        name[length - 1] <= '4') {
        out->lanes = (unsigned)(name[length - 1] - '0');
        length -= 2;
    }
    return type_from_short(&out->type, name, length);
}

/* NAME.shape, NAME.len or numbers. */
static bool parse_shape(buffer_spec *out, span part, const char **fault)
{
    *fault = NULL;
    out->shape_span = part;
    const char *name = text_at(part), *dot = strrchr(name, '.');
    if (dot && dot > name && (isalpha((unsigned char)*name) || *name == '_')) {
        bool whole = same_text(dot, ".shape");
        if (whole || same_text(dot, ".len")) {
            out->shape_kind = whole ? SHAPE_OF : SHAPE_LENGTH_OF;
            out->shape_of = mem_copy(name, (size_t)(dot - name));
            return true;
        }
    }
    if (!shape_parse(&out->shape, begin(part), length_of(part), fault)) return false;
    out->shape_kind = SHAPE_GIVEN;
    return true;
}

/* ---- Source ---- */

/* LO..HI; the dots may touch a number: -1..1, 0.5..2. */
static bool parse_range(buffer_spec *out, span part)
{
    for (const char *c = begin(part); c + 1 < part.word->text + part.end; c++) {
        if (c[0] != '.' || c[1] != '.') continue;
        out->first = span_part(part.word, begin(part), c);
        out->second = span_part(part.word, c + 2, part.word->text + part.end);
        return number(out->first) && number(out->second);
    }
    return false;
}

static bool parse_pair(buffer_spec *out, span rest)
{
    bool more = cut(&rest, ':', &out->first);
    if (more) out->second = rest;
    return number(out->first) && (!more || number(out->second));
}

static bool unknown_source(span part, const spec_context *context)
{
    const char *given = text_at(part), *name = context->name;
    if (number(part)) {
        message *m =
            spec_fail(context, part, CODE_ARGS_BUFFER,
                      mem_format("%s is %s, and \"%s\" is neither a length nor a list", name,
                                 context->type_text ? context->type_text : "a buffer", given));
        message_hint(m, "%s=%s,  for one element; %s=1M:fill:%s  for many", name, given, name,
                     given);
        return false;
    }
    message *m = spec_fail(context, part, CODE_ARGS_BUFFER,
                           mem_format("\"%s\" is not a buffer description", given));
    char *head = mem_copy(given, strcspn(given, ":"));
    const char *near = nearest_name(head, source_names, SOURCES);
    if (access(given, R_OK) == 0) {
        message_note(m, "there is a file of that name here");
        message_hint(m, "files start with @; write %s=@%s", name, given);
    } else if (near) {
        message_hint(m, "%s=%s%s", name, near, given + strlen(head));
    } else if (strchr(given, '.') || strchr(given, '/')) {
        message_hint(m, "files start with @: %s=@%s", name, given);
    } else {
        message_hint(m, "%s=1M:rand, %s=1M, %s=1,2,3 or %s=@file.npy; see gpulaunch help buffers",
                     name, name, name, name);
    }
    return false;
}

static bool parse_source(buffer_spec *out, span part, const spec_context *context)
{
    out->source_span = part;
    if (!length_of(part)) return unknown_source(part, context);
    if (*begin(part) == '@') {
        out->source = SOURCE_FILE;
        out->path = mem_copy(begin(part) + 1, length_of(part) - 1);
        if (*out->path) return true;
        spec_fail(context, part, CODE_ARGS_BUFFER, "@ is followed by no file name");
        return false;
    }
    if (*begin(part) == '%') {
        out->source = SOURCE_STEP;
        out->step = mem_copy(begin(part) + 1, length_of(part) - 1);
        return true;
    }
    span rest = part, name;
    bool more = cut(&rest, ':', &name);
    out->source = SOURCE_NONE;
    for (size_t i = 0; i < SOURCES; i++)
        if (is(name, source_names[i])) out->source = source_kinds[i];
    const char *want = NULL;
    switch (out->source) {
    case SOURCE_NONE: return unknown_source(part, context);
    case SOURCE_FILL:
        if (!more || !number(rest)) want = "fill:V takes a number, as in fill:2.5";
        else *list_add(&out->values) = rest;
        break;
    case SOURCE_IOTA:
        if (more && !parse_pair(out, rest)) want = "iota takes iota:START or iota:START:STEP";
        break;
    case SOURCE_RAND:
        if (more && !parse_range(out, rest)) want = "rand takes a range, as in rand:0..10";
        break;
    case SOURCE_RANDN:
        if (more && (!parse_pair(out, rest) || !out->second.word))
            want = "randn takes randn:MEAN:SD";
        break;
    default:
        if (more) want = mem_format("'%s' takes nothing behind a colon", text_at(name));
    }
    if (!want) return true;
    message_hint(
        spec_fail(context, part, CODE_ARGS_BUFFER, mem_format("\"%s\": %s", text_at(part), want)),
        "gpulaunch help buffers");
    return false;
}

/* ---- Modifiers ---- */

static bool parse_count(uint64_t *out, span value, const spec_context *context)
{
    if (length_of(value) && value_count(out, begin(value), length_of(value)) == VALUE_FINE)
        return true;
    spec_fail(context, value, CODE_ARGS_BUFFER,
              mem_format("\"%s\" is not a whole number", text_at(value)));
    return false;
}

static bool parse_modifier(buffer_spec *out, span part, const spec_context *context)
{
    bool failed = false;
    if (context->extra && context->extra(context->user, part, &failed)) return !failed;
    span value = part, name;
    bool has_value = cut(&value, '=', &name);
    static const char *const directions[] = { "", "in", "out", "inout", "scratch" };
    for (int i = DIR_IN; i <= DIR_SCRATCH; i++)
        if (is(part, directions[i])) {
            out->direction = (direction)i;
            return true;
        }
    file_format format;
    if (is(part, "cast")) out->cast = true;
    else if (is(part, "norm")) out->norm = true;
    else if (is(part, "gray")) out->gray = true;
    else if (is(part, "be")) out->big_endian = true;
    else if (!has_value && format_from_name(&format, text_at(part))) out->format = format;
    else if (has_value && is(name, "skip")) return parse_count(&out->skip, value, context);
    else if (has_value && is(name, "align")) return parse_count(&out->align, value, context);
    else if (has_value && is(name, "col")) return parse_count(&out->column, value, context);
    else if (has_value && is(name, "key")) out->key = text_at(value);
    else if (has_value && is(name, "seed")) {
        out->has_seed = true;
        return parse_count(&out->seed, value, context);
    } else {
        message *m =
            spec_fail(context, part, CODE_ARGS_BUFFER,
                      mem_format("unknown modifier \"%s\" in a buffer description", text_at(part)));
        const char *near = nearest_name(text_at(name), modifier_names, MODIFIERS);
        if (near) message_hint(m, "%s", near);
        else message_hint(m, "gpulaunch help buffers  lists the modifiers");
        return false;
    }
    return true;
}

/* ---- The whole ---- */

static bool values_follow(span rest)
{
    span part;
    if (!length_of(rest)) return true; /* "5," */
    cut(&rest, ',', &part);
    return number(part);
}

bool spec_parse(buffer_spec *out, span value, const spec_context *context)
{
    *out = (buffer_spec){ .at = value };
    span rest = value, part;
    if (is(value, "null")) {
        out->source = SOURCE_NULL;
        out->source_span = value;
        return true;
    }
    span after = rest;
    if (cut(&after, '/', &part) && *begin(part) != '@' && parse_type(out, part)) rest = after;

    const char *fault = NULL;
    after = rest;
    bool has_source = cut(&after, ':', &part);
    if (has_source && !memchr(begin(part), ',', length_of(part)) &&
        parse_shape(out, part, &fault)) {
        rest = after;
    } else if (fault) {
        spec_fail(context, part, CODE_ARGS_BUFFER,
                  mem_format("\"%s\" is no shape: %s", text_at(part), fault));
        return false;
    } else {
        has_source = false;
    }

    bool comma = cut(&rest, ',', &part);
    if (number(part) && comma && values_follow(rest)) {
        out->source = SOURCE_VALUES;
        out->source_span = span_part(part.word, begin(part), part.word->text + value.end);
        *list_add(&out->values) = part;
        while (comma && length_of(rest)) {
            span next = rest;
            bool again = cut(&next, ',', &part);
            if (!number(part)) break;
            *list_add(&out->values) = part;
            comma = again;
            rest = next;
        }
    } else if (has_source || !parse_shape(out, part, &fault)) {
        if (fault && !number(part)) {
            spec_fail(context, part, CODE_ARGS_BUFFER,
                      mem_format("\"%s\" is no shape: %s", text_at(part), fault));
            return false;
        }
        if (fault && same_text(fault, "a dimension of 0")) {
            message_hint(
                spec_fail(context, part, CODE_ARGS_BUFFER,
                          mem_format("a length of 0: '%s' would have no elements", context->name)),
                "%s=null  passes a null pointer; %s=0,  is one element of value 0", context->name,
                context->name);
            return false;
        }
        if (!parse_source(out, part, context)) return false;
    }
    while (comma && length_of(rest)) {
        comma = cut(&rest, ',', &part);
        if (out->source == SOURCE_FILL && number(part)) *list_add(&out->values) = part;
        else if (!parse_modifier(out, part, context)) return false;
    }
    return true;
}

const char *spec_source_text(const buffer_spec *spec, uint64_t seed)
{
    text out = { 0 };
    switch (spec->source) {
    case SOURCE_NONE: return "";
    case SOURCE_ZEROS: return "zeros";
    case SOURCE_ONES: return "ones";
    case SOURCE_PERM: text_add(&out, "perm"); break;
    case SOURCE_NOINIT: return "not set";
    case SOURCE_POISON: return "poison";
    case SOURCE_NULL: return "null";
    case SOURCE_VALUES: return "given";
    case SOURCE_FILE: return spec->path;
    case SOURCE_STEP: return mem_format("from step, %%%s", spec->step);
    case SOURCE_FILL:
        text_add(&out, "fill ");
        for (size_t i = 0; i < spec->values.count; i++)
            text_format(&out, "%s%s", i ? "," : "", text_at(spec->values.items[i]));
        break;
    case SOURCE_IOTA:
        text_add(&out, "iota");
        if (spec->first.word) text_format(&out, " from %s", text_at(spec->first));
        if (spec->second.word) text_format(&out, " by %s", text_at(spec->second));
        break;
    case SOURCE_RAND:
        text_add(&out, "rand");
        if (spec->first.word)
            text_format(&out, " %s..%s", text_at(spec->first), text_at(spec->second));
        break;
    case SOURCE_RANDN:
        text_add(&out, "randn");
        if (spec->first.word)
            text_format(&out, " mean %s sd %s", text_at(spec->first), text_at(spec->second));
        break;
    }
    if (spec->source == SOURCE_RAND || spec->source == SOURCE_RANDN || spec->source == SOURCE_PERM)
        text_format(&out, ", seed %llu", (unsigned long long)(spec->has_seed ? spec->seed : seed));
    return text_of(&out);
}
