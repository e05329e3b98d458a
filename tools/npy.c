/* .npy files as buffers, and the header of those that are written.  SPDX-License-Identifier: MIT */
#include "npy.h"

#include <unistd.h>

#include "values.h"

/* ---- Reading ---- */

static message *type_differs(const file_request *request, const npy_header *h)
{
    message *m =
        file_fail(request, CODE_FILE_TYPE, "%s holds %s, but '%s' is %s (%s)", request->path,
                  h->layout->type_name, request->name, request->type_text,
                  request->layout->is_struct ? "a struct"
                                             : type_numpy(request->layout->leaves.items[0].type));
    message_note(m, "%s: shape %s, descr %s, %s order, %llu bytes of data", request->path,
                 h->shape_text, h->descr, h->fortran ? "Fortran" : "C",
                 (unsigned long long)(shape_count(&h->shape) * h->layout->size));
    return m;
}

/* C order from Fortran order: in the file the first index runs fastest. */
static void transpose(unsigned char *out, const unsigned char *in, const shape *s, size_t size)
{
    uint64_t count = shape_count(s), index[MAX_RANK] = { 0 }, stride[MAX_RANK];
    uint64_t step = 1;
    for (unsigned i = s->rank;
         i-- > 0;) { /* dim[rank-1] is the slowest of C order: the first index */
        stride[i] = step;
        step *= s->dim[i];
    }
    for (uint64_t at = 0; at < count; at++) {
        uint64_t from = 0;
        for (unsigned i = 0; i < s->rank; i++) from += index[i] * stride[i];
        memcpy(out + at * size, in + from * size, size);
        for (unsigned i = 0; i < s->rank && ++index[i] == s->dim[i]; i++) index[i] = 0;
    }
}

/* The file's elements as the parameter's: plain to vector when the fastest dimension has its lanes. */
static bool fit_lanes(shape *s, uint32_t file_lanes, uint32_t lanes)
{
    if (file_lanes == lanes) return true;
    if (lanes == 1) { /* complex into plain: twice as many */
        if (s->rank == MAX_RANK) return false;
        memmove(s->dim + 1, s->dim, s->rank * sizeof *s->dim);
        s->dim[0] = file_lanes;
        s->rank++;
        return true;
    }
    if (file_lanes != 1) return false;
    if (s->rank > 1 && s->dim[0] == lanes) {
        memmove(s->dim, s->dim + 1, (s->rank - 1) * sizeof *s->dim);
        s->rank--;
        return true;
    }
    if (s->dim[0] % lanes) return false;
    s->dim[0] /= lanes;
    return true;
}

bool read_npy(file_content *out, const file_request *request, const unsigned char *data,
              size_t size, int fd)
{
    npy_header h;
    size_t available = fd >= 0 && size > 65536 ? 65536 : size;
    const char *wrong = npy_parse(&h, data, available, size);
    if (wrong) {
        message *m = file_fail(request, CODE_FILE_FORMAT, "%s: %s", request->path, wrong);
        if (size < 6 || memcmp(data, "\x93NUMPY", 6) != 0)
            message_hint(m, "%s=@%s,raw  reads its bytes as they are", request->name,
                         request->path);
        return false;
    }
    gpul_type type = GPUL_STRUCT, from = GPUL_STRUCT;
    uint32_t lanes = 1, file_lanes = 1;
    bool plain = layout_plain_type(request->layout, &type, &lanes) && type_size(type) &&
                 layout_plain_type(h.layout, &from, &file_lanes);
    bool bits = plain && type == GPUL_BF16 && from == GPUL_U16; /* bfloat16 as NumPy keeps it */
    bool same = plain ? type == from || bits : layout_same(request->layout, h.layout);
    const buffer_spec *spec = request->spec;
    if (!same && !(plain && (spec->cast || spec->norm))) {
        message *m = type_differs(request, &h);
        if (plain)
            message_hint(
                m,
                "%s=@%s,cast  converts while loading; or save it with  numpy.save(f, a.astype('%s'))",
                request->name, request->path, type_numpy(type));
        return false;
    }
    if (!same && !plain) return false;
    if (h.swap && !plain) {
        file_fail(request, CODE_FILE_TYPE, "%s: big-endian structured data is not supported",
                  request->path);
        return false;
    }
    out->shape = h.shape;
    uint64_t scalars = shape_count(&h.shape) * file_lanes;
    size_t bytes = shape_count(&h.shape) * h.layout->size;
    if (!bytes) {
        file_fail(request, CODE_FILE_SIZE, "%s holds no elements (shape %s)", request->path,
                  h.shape_text);
        return false;
    }
    bool order = h.fortran && h.shape.rank > 1;
    if (plain && !fit_lanes(&out->shape, file_lanes, lanes)) {
        file_fail(request, CODE_FILE_SHAPE,
                  "%s has shape %s, and an element of '%s' takes %u numbers", request->path,
                  h.shape_text, request->name, lanes);
        return false;
    }
    out->offset = h.data_offset;
    if (same && !order && !h.swap && !spec->norm && fd >= 0) {
        out->fd = fd;
        return true;
    }
    unsigned char *raw = data_alloc(bytes);
    file_content source = { .fd = fd, .offset = h.data_offset };
    if (fd < 0) memcpy(raw, data + h.data_offset, bytes);
    else if (!file_content_read(&source, raw, 0, bytes)) {
        file_fail(request, CODE_FILE_OPEN, "%s cannot be read", request->path);
        data_free(raw);
        return false;
    }
    if (order) {
        unsigned char *turned = data_alloc(bytes);
        transpose(turned, raw, &h.shape, h.layout->size);
        data_free(raw);
        raw = turned;
        out->remark = "transposed from Fortran order";
    }
    if (plain && (type != from || h.swap || spec->norm) && !bits) {
        unsigned char *made = data_alloc(scalars * type_size(type));
        convert_scalars(type, made, from, raw, scalars, spec->norm, h.swap);
        data_free(raw);
        raw = made;
        if (type != from) out->remark = mem_format("cast from %s", type_numpy(from));
    }
    out->memory = raw;
    return true;
}

/* ---- Writing ---- */

static const char *code_of(gpul_type type)
{
    switch (type) {
    case GPUL_BOOL: return "|b1";
    case GPUL_I8: return "|i1";
    case GPUL_U8: return "|u1";
    case GPUL_I16: return "<i2";
    case GPUL_U16:
    case GPUL_BF16: return "<u2"; /* NumPy has no bfloat16: its bits */
    case GPUL_I32: return "<i4";
    case GPUL_U32: return "<u4";
    case GPUL_I64: return "<i8";
    case GPUL_U64: return "<u8";
    case GPUL_F16: return "<f2";
    case GPUL_F32: return "<f4";
    case GPUL_F64: return "<f8";
    default: return NULL;
    }
}

static void add_padding(text *out, size_t *at, size_t to)
{
    if (to > *at) text_format(out, "('_pad%zu', '|V%zu'), ", *at, to - *at);
    *at = to;
}

/* A structured dtype names the leaves by their path; what lies between them is padding. */
static void add_descr(text *out, const layout *l)
{
    size_t at = 0;
    text_char(out, '[');
    for (size_t i = 0; i < l->leaves.count; i++) {
        const leaf *f = &l->leaves.items[i];
        size_t one = type_size(f->type) ? type_size(f->type) : 8;
        if (f->offset < at) continue; /* a union: the first member stands for all */
        add_padding(out, &at, f->offset);
        const char *code = code_of(f->type);
        text_format(out, "('%s', '%s'", *f->path ? f->path : "value", code ? code : "|V8");
        if (f->count > 1) text_format(out, ", (%u,)", f->count);
        text_add(out, "), ");
        at += one * f->count;
    }
    add_padding(out, &at, l->size);
    text_char(out, ']');
}

const char *npy_header_text(const layout *l, const shape *s, size_t *length)
{
    text dict = { 0 };
    gpul_type type;
    uint32_t lanes = 1;
    bool plain = layout_plain_type(l, &type, &lanes) && code_of(type) && !l->is_struct;
    text_add(&dict, "{'descr': ");
    if (plain) text_format(&dict, "'%s'", code_of(type));
    else add_descr(&dict, l);
    text_add(&dict, ", 'fortran_order': False, 'shape': (");
    for (unsigned i = s->rank; i-- > 0;)
        text_format(&dict, "%llu, ", (unsigned long long)s->dim[i]);
    if (plain && lanes > 1) text_format(&dict, "%u, ", lanes);
    if (s->rank > 1 || (plain && lanes > 1)) dict.length -= 2;
    else dict.length -= 1;
    text_add(&dict, "), }");
    bool large = dict.length + 64 > 65000;
    size_t head = large ? 12 : 10;
    size_t padded = (head + dict.length + 1 + 63) / 64 * 64;
    text_repeat(&dict, ' ', padded - head - dict.length - 1);
    text_char(&dict, '\n');
    text out = { 0 };
    text_addn(&out, "\x93NUMPY", 6);
    text_char(&out, large ? 2 : 1);
    text_char(&out, 0);
    for (unsigned i = 0; i < head - 8; i++) text_char(&out, (char)(dict.length >> 8 * i & 255));
    text_addn(&out, text_of(&dict), dict.length);
    *length = out.length;
    return text_of(&out);
}
