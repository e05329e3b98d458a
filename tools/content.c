/* Contents of buffers: from a description to bytes.  SPDX-License-Identifier: MIT */
#include "content.h"

#include <math.h>
#include <stdlib.h>

#include "gen.h"

static const char *begin(span s)
{
    return s.word->text + s.start;
}
static size_t length_of(span s)
{
    return s.end - s.start;
}

/* Spellings of C and of others that are nearly right. */
static void hint_at_value(message *m, value_fault fault, const char *name, gpul_type type,
                          const char *given)
{
    size_t length = strlen(given);
    unsigned char bytes[16];
    if (fault == VALUE_RANGE && starts_with(given, "0x") && type_is_signed(type)) {
        uint64_t bits = strtoull(given, NULL, 16);
        size_t size = type_size(type);
        if (size < 8 && bits >> (size * 8) == 0)
            message_hint(m, "as the bits of %s it is %lld: write %s=%lld", type_name(type),
                         (long long)(bits << (64 - size * 8)) >> (64 - size * 8), name,
                         (long long)(bits << (64 - size * 8)) >> (64 - size * 8));
    } else if (fault == VALUE_NO_NUMBER && length > 1 && strchr("fFuUlL", given[length - 1]) &&
               value_parse(bytes, type, given, length - 1) == VALUE_FINE) {
        message_hint(m, "write %s=%s, without the suffix", name, mem_copy(given, length - 1));
    } else if (fault == VALUE_NO_NUMBER && length == 1 && type_size(type) == 1) {
        message_hint(m, "write %s=%d, or %s=\"'%s'\" for the character", name, *given, name, given);
    }
}

message *value_message(value_fault fault, span at, const char *name, const char *type_text,
                       gpul_type type, place declared)
{
    const char *given = mem_copy(begin(at), length_of(at));
    const char *kind = with_article(type_text);
    const char *whole = value_whole_text(given, strlen(given));
    message *m;
    if (fault == VALUE_RANGE && type_highest(type)) {
        m = fail(CODE_ARGS_RANGE, "%s does not fit in '%s', %s (%s to %s)", whole ? whole : given,
                 name, kind, type_lowest(type), type_highest(type));
    } else if (fault == VALUE_RANGE) {
        m = fail(CODE_ARGS_RANGE, "%s is too large for '%s', %s", given, name, kind);
    } else if (fault == VALUE_OCTAL) {
        m = fail(CODE_ARGS_TYPE, "'%s' is %s, and \"%s\" can be read as ten or eight: no leading 0",
                 name, type_text, given);
    } else if (fault == VALUE_NOT_WHOLE) {
        m = fail(CODE_ARGS_TYPE, "'%s' is %s, but \"%s\" is not a whole number", name, type_text,
                 given);
    } else {
        m = fail(CODE_ARGS_TYPE, "'%s' is %s, but \"%s\" is not a number", name, type_text, given);
    }
    message_at_span(m, at);
    const char *suffix = length_of(at) > 1 ? strchr("KMGT", given[length_of(at) - 1]) : NULL;
    if (fault == VALUE_RANGE && suffix && *suffix) {
        text factors = { 0 };
        for (const char *s = "KMGT";; s++) {
            text_add(&factors, " x 1024");
            if (*s == *suffix) break;
        }
        message_note(m, "%s means %s%s", given, mem_copy(given, length_of(at) - 1),
                     text_of(&factors));
    }
    if (declared.kind != PLACE_NONE) message_note_at(m, declared, "declared here");
    if (fault == VALUE_RANGE && !type_highest(type))
        message_hint(m, "a %s reaches to %s; inf is infinity", type_name(type),
                     type_size(type) == 2 && type != GPUL_BF16 ? "65504"
                     : type_size(type) == 8                    ? "1.797693134862315e308"
                                                               : "3.402823e38");
    hint_at_value(m, fault, name, type, given);
    if (fault == VALUE_OCTAL) message_hint(m, "%s=%s", name, given + strspn(given, "0"));
    return m;
}

/* ---- Building ---- */

static gpul_type first_type(const content *c)
{
    return c->leaf ? c->leaf->type : c->layout->leaves.items[0].type;
}

static bool one_value(const content *c, gpul_type type, span at, void *out)
{
    value_fault fault = value_parse(out, type, begin(at), length_of(at));
    if (!fault) return true;
    value_message(fault, at, c->owner.name, type_name(type), type, c->owner.declared);
    return false;
}

static bool refuse(const content *c, span at, const char *sentence, const char *hint)
{
    message *m = message_at_span(fail(CODE_ARGS_BUFFER, "%s", sentence), at);
    if (c->owner.declared.kind != PLACE_NONE)
        message_note_at(m, c->owner.declared, "declared here");
    if (hint) message_hint(m, "%s", hint);
    return false;
}

static bool build_values(content *c)
{
    const buffer_spec *spec = c->spec;
    gpul_type type = first_type(c);
    uint32_t lanes = c->leaf ? c->leaf->count : c->layout->leaves.items[0].count;
    size_t size = type_size(type);
    bool plain = c->leaf || (c->layout->leaves.count == 1 && !c->layout->is_struct);
    bool fill = spec->source == SOURCE_FILL;
    if (!plain && (!fill || spec->values.count > 1))
        return refuse(c, spec->source_span,
                      mem_format("'%s' is an array of %s; a list cannot say which member is meant",
                                 c->owner.name, c->layout->type_name),
                      mem_format("%s=N:zeros %s.%s=...", c->owner.name, c->owner.name,
                                 c->layout->leaves.items[0].path));
    if (!fill && spec->values.count % lanes)
        return refuse(c, spec->source_span,
                      mem_format("%zu values for '%s', but each element (%s) takes %u",
                                 spec->values.count, c->owner.name,
                                 c->leaf ? c->leaf->type_name : c->layout->type_name, lanes),
                      NULL);
    if (fill && spec->values.count > 1 && spec->values.count != lanes)
        return refuse(c, spec->source_span,
                      mem_format("fill gives %zu values, but each element of '%s' takes %u",
                                 spec->values.count, c->owner.name, lanes),
                      NULL);
    if (fill && !plain) { /* each leaf reads the text by its own type */
        c->values = data_alloc(c->layout->leaves.count * 8);
        for (size_t i = 0; i < c->layout->leaves.count; i++) {
            gpul_type each = c->layout->leaves.items[i].type;
            if (type_size(each) && !one_value(c, each, spec->values.items[0], c->values + i * 8))
                return false;
        }
        return true;
    }
    size_t count = fill ? lanes : spec->values.count;
    c->values = data_alloc(count * size);
    for (size_t i = 0; i < count; i++) {
        size_t from = fill && spec->values.count == 1 ? 0 : i;
        if (!one_value(c, type, spec->values.items[from], c->values + i * size)) return false;
    }
    if (!fill) c->count = count / lanes;
    return true;
}

/* A bound of rand or iota: checked against the type, kept as integer or double. */
static bool build_bound(const content *c, span at, gpul_type type, double *real, int64_t *whole)
{
    if (!at.word) return true;
    unsigned char value[8];
    gpul_type as = type_is_float(type) ? GPUL_F64 : type;
    if (c->spec->source == SOURCE_IOTA && !type_is_float(type))
        as = GPUL_I64; /* a step may be negative */
    if (!one_value(c, as, at, value)) return false;
    *real = value_to_double(as, value);
    *whole = type_is_float(as) ? 0 : value_to_int(as, value);
    return true;
}

static bool build_numbers(content *c)
{
    const buffer_spec *spec = c->spec;
    gpul_type type = first_type(c);
    bool is_float = type_is_float(type);
    c->first = spec->source == SOURCE_RAND ? -1 : 0;
    c->second = 1;
    c->from = 0;
    c->step = spec->source == SOURCE_IOTA ? 1 : type == GPUL_BOOL ? 2 : 128;
    if (!build_bound(c, spec->first, type, &c->first, &c->from) ||
        !build_bound(c, spec->second, type, &c->second, &c->step))
        return false;
    bool rising = is_float           ? c->first < c->second
                  : type == GPUL_U64 ? (uint64_t)c->from < (uint64_t)c->step
                                     : c->from < c->step;
    if (spec->source == SOURCE_RAND && !rising)
        return refuse(c, spec->source_span, "the range of rand is empty: LO..HI needs LO below HI",
                      NULL);
    if (spec->source == SOURCE_RAND && is_float && !isfinite(c->second - c->first))
        return refuse(c, spec->source_span, "the range of rand must be finite", NULL);
    return true;
}

static bool build(content *c)
{
    const buffer_spec *spec = c->spec;
    const content_owner *owner = &c->owner;
    switch (spec->source) {
    case SOURCE_FILL:
    case SOURCE_VALUES: return build_values(c);
    case SOURCE_RAND:
    case SOURCE_IOTA: return build_numbers(c);
    case SOURCE_RANDN:
        if (!type_is_float(first_type(c)))
            return refuse(
                c, spec->source_span,
                mem_format("randn gives fractions, and '%s' holds whole numbers", owner->name),
                "rand:LO..HI");
        c->second = 1;
        return build_bound(c, spec->first, GPUL_F64, &c->first, &c->from) &&
               build_bound(c, spec->second, GPUL_F64, &c->second, &c->step);
    case SOURCE_FILE: {
        file_request request = { .path = spec->path,
                                 .at = spec->source_span,
                                 .declared = owner->declared,
                                 .name = owner->name,
                                 .type_text = owner->type_text,
                                 .spec = spec,
                                 .layout = c->leaf ? layout_plain(c->leaf->type, c->leaf->count)
                                                   : c->layout };
        if (!file_load(&c->file, &request)) return false;
        c->count = shape_count(&c->file.shape);
        return true;
    }
    default: return true;
    }
}

content *content_new(const buffer_spec *spec, const layout *l, const leaf *only,
                     const content_owner *owner)
{
    content *c = mem_alloc(sizeof *c);
    *c =
        (content){ .layout = l, .leaf = only, .spec = spec, .owner = *owner, .file = { .fd = -1 } };
    if (build(c)) return c;
    content_free(c);
    return NULL;
}

shape content_shape(const content *c)
{
    if (c->spec->source == SOURCE_FILE) return c->file.shape;
    if (c->spec->source == SOURCE_VALUES) return shape_flat(c->count);
    return (shape){ 0 };
}

bool content_resize(content *c, uint64_t count)
{
    const buffer_spec *spec = c->spec;
    gpul_type type = first_type(c);
    if ((spec->source == SOURCE_FILE || spec->source == SOURCE_VALUES) && count > c->count) {
        bool file = spec->source == SOURCE_FILE;
        message *m = message_at_span(fail(file ? CODE_FILE_SIZE : CODE_ARGS_LENGTH,
                                          "%s has %llu elements, but %llu are wanted",
                                          file ? spec->path : "the list",
                                          (unsigned long long)c->count, (unsigned long long)count),
                                     spec->source_span);
        message_hint(m, "leave the length out: %s=%s", c->owner.name,
                     mem_copy(begin(spec->source_span), length_of(spec->source_span)));
        return false;
    }
    c->count = count;
    if (!type_is_integer(type) || (spec->source != SOURCE_IOTA && spec->source != SOURCE_PERM))
        return true;
    uint32_t lanes = c->leaf ? c->leaf->count : c->layout->leaves.items[0].count;
    int64_t last = 0, from = spec->source == SOURCE_IOTA ? c->from : 0,
            step = spec->source == SOURCE_IOTA ? c->step : 1;
    bool over = __builtin_mul_overflow((int64_t)(count * lanes - 1), step, &last) ||
                __builtin_add_overflow(last, from, &last);
    unsigned char value[8];
    const char *digits = mem_format("%lld", (long long)last);
    if (!over && value_parse(value, type, digits, strlen(digits)) == VALUE_FINE) return true;
    message *m = message_at_span(
        fail(CODE_ARGS_RANGE, "%s up to %s does not fit in '%s', an array of %s (%s to %s)",
             spec->source == SOURCE_IOTA ? "iota" : "perm", over ? "2^63" : digits, c->owner.name,
             type_name(type), type_lowest(type), type_highest(type)),
        spec->source_span);
    message_hint(m, "rand, or a smaller length");
    return false;
}

void content_free(content *c)
{
    if (!c) return;
    file_content_free(&c->file);
    data_free(c->values);
    c->values = NULL;
    for (size_t i = 0; i < c->overlays.count; i++) content_free(c->overlays.items[i]);
}

/* ---- Making bytes ---- */

static void rand_scalar(const content *c, gpul_type type, uint64_t key, uint64_t index, void *out)
{
    if (!type_is_float(type)) {
        int64_t value = (int64_t)((uint64_t)c->from +
                                  gen_below(key, index, (uint64_t)c->step - (uint64_t)c->from));
        value_from_int(type, out, value);
        return;
    }
    double value = c->first + gen_unit(key, index) * (c->second - c->first);
    value_from_double(type, out, value);
    if (value_to_double(type, out) >= c->second) value_from_double(type, out, c->first);
}

/* The scalars of one leaf in a range of elements. */
static void make_leaf(const content *c, const leaf *f, size_t which, uint64_t key,
                      unsigned char *out, uint64_t first, uint64_t count)
{
    size_t size = type_size(f->type), stride = c->layout->size;
    if (!size) return; /* pointers and the like stay zero */
    unsigned char one[8];
    value_from_int(f->type, one, 1);
    for (uint64_t e = 0; e < count; e++) {
        unsigned char *at = out + e * stride + f->offset;
        for (uint32_t lane = 0; lane < f->count; lane++, at += size) {
            uint64_t index = (first + e) * f->count + lane;
            switch (c->spec->source) {
            case SOURCE_ONES: memcpy(at, one, size); break;
            case SOURCE_FILL:
                memcpy(at, c->values + (c->leaf || !c->layout->is_struct ? lane * size : which * 8),
                       size);
                break;
            case SOURCE_VALUES: memcpy(at, c->values + index * size, size); break;
            case SOURCE_RAND: rand_scalar(c, f->type, key, index, at); break;
            case SOURCE_RANDN:
                value_from_double(f->type, at, c->first + c->second * gen_normal(key, index));
                break;
            case SOURCE_IOTA:
                if (type_is_float(f->type))
                    value_from_double(f->type, at, c->first + (double)index * c->second);
                else value_from_int(f->type, at, c->from + (int64_t)index * c->step);
                break;
            case SOURCE_PERM:
                value_from_int(f->type, at, (int64_t)gen_permuted(key, index, c->count * f->count));
                break;
            default: memset(at, 0, size); break;
            }
        }
    }
}

static uint64_t key_of(const content *c, const leaf *f)
{
    uint64_t seed = c->spec->has_seed ? c->spec->seed : c->owner.seed;
    const char *name = c->owner.name;
    if (!c->leaf && *f->path) name = mem_format("%s.%s", name, f->path);
    return gen_key(seed, name);
}

uint64_t content_key(const content *c)
{
    return key_of(c, c->leaf ? c->leaf : &c->layout->leaves.items[0]);
}

bool content_read(const content *c, void *out, uint64_t first, uint64_t count)
{
    size_t size = c->layout->size;
    if (c->spec->source == SOURCE_FILE) {
        if (!c->leaf) {
            if (!file_content_read(&c->file, out, first * size, count * size)) return false;
        } else { /* a file for one member */
            size_t width = type_size(c->leaf->type) * c->leaf->count;
            unsigned char *packed = data_alloc(count * width);
            bool good = file_content_read(&c->file, packed, first * width, count * width);
            for (uint64_t e = 0; good && e < count; e++)
                memcpy((char *)out + e * size + c->leaf->offset, packed + e * width, width);
            data_free(packed);
            if (!good) return false;
        }
    } else if (c->leaf) {
        make_leaf(c, c->leaf, 0, key_of(c, c->leaf), out, first, count);
    } else {
        memset(out, 0, count * size);
        if (c->spec->source != SOURCE_NONE && c->spec->source != SOURCE_ZEROS)
            for (size_t i = 0; i < c->layout->leaves.count; i++)
                make_leaf(c, &c->layout->leaves.items[i], i, key_of(c, &c->layout->leaves.items[i]),
                          out, first, count);
    }
    for (size_t i = 0; i < c->overlays.count; i++)
        if (!content_read(c->overlays.items[i], out, first, count)) return false;
    return true;
}
