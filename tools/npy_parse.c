/* Reading the header of a .npy file, hostile ones included.  SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "npy.h"
#include "values.h"

/* The header is a Python literal; this reads the part of that grammar that NumPy writes. */
typedef struct reader {
    const char *at, *end;
    int depth;
} reader;

static void blanks(reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
}

static bool take(reader *r, char c)
{
    blanks(r);
    if (r->at >= r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static const char *take_string(reader *r)
{
    blanks(r);
    if (r->at < r->end && (*r->at == 'u' || *r->at == 'b')) r->at++;
    if (r->at >= r->end || (*r->at != '\'' && *r->at != '"')) return NULL;
    char quote = *r->at++;
    const char *from = r->at;
    while (r->at < r->end && *r->at != quote) r->at++;
    if (r->at >= r->end) return NULL;
    return mem_copy(from, (size_t)(r->at++ - from));
}

static bool take_number(reader *r, uint64_t *out)
{
    blanks(r);
    const char *from = r->at;
    while (r->at < r->end && isdigit((unsigned char)*r->at)) r->at++;
    size_t length = (size_t)(r->at - from);
    if (r->at < r->end && *r->at == 'L') r->at++;
    return length && length < 21 && value_count(out, from, length) == VALUE_FINE;
}

/* (), (3,), (480, 640); slowest first as written. */
static bool take_shape(reader *r, uint64_t *dims, unsigned *rank)
{
    *rank = 0;
    if (!take(r, '(')) return take_number(r, &dims[(*rank)++]);
    while (!take(r, ')')) {
        if (*rank == MAX_RANK || !take_number(r, &dims[*rank])) return false;
        ++*rank;
        if (!take(r, ',')) return take(r, ')');
    }
    return true;
}

/* '<f4': adds leaves of the type at `offset`, and says how many bytes one has; 0: not a number type. */
static size_t scalar_code(const char *code, gpul_type *type, uint32_t *lanes, bool *swap)
{
    char order = *code;
    if (strchr("<>|=", order) && order) code++;
    else order = '=';
    char kind = *code;
    uint64_t size;
    if (!kind || value_count(&size, code + 1, strlen(code + 1)) != VALUE_FINE) return 0;
    *lanes = 1;
    *type = GPUL_TYPE_UNKNOWN;
    if (kind == 'c' && (size == 8 || size == 16)) {
        *lanes = 2;
        *type = size == 8 ? GPUL_F32 : GPUL_F64;
    } else if (kind == 'f') {
        *type = size == 2   ? GPUL_F16
                : size == 4 ? GPUL_F32
                : size == 8 ? GPUL_F64
                            : GPUL_TYPE_UNKNOWN;
    } else if (kind == 'b' && size == 1) {
        *type = GPUL_BOOL;
    } else if (kind == 'i' || kind == 'u') {
        int is_signed = kind == 'i';
        *type = size == 1   ? (is_signed ? GPUL_I8 : GPUL_U8)
                : size == 2 ? (is_signed ? GPUL_I16 : GPUL_U16)
                : size == 4 ? (is_signed ? GPUL_I32 : GPUL_U32)
                : size == 8 ? (is_signed ? GPUL_I64 : GPUL_U64)
                            : GPUL_TYPE_UNKNOWN;
    } else if (kind == 'V' && size && size < 1u << 20) { /* padding, or bytes of no type */
        *type = GPUL_OTHER;
        *lanes = (uint32_t)size;
        return size;
    }
    if (*type == GPUL_TYPE_UNKNOWN) return 0;
    *swap = order == '>';
    return type_size(*type) * *lanes;
}

/* One descr: a string, or a list of ('name', descr[, shape]).  Returns the bytes of it, 0 on failure. */
static size_t take_descr(reader *r, layout *l, const char *path, size_t offset, bool *swap)
{
    blanks(r);
    if (r->at < r->end && *r->at != '[') {
        const char *code = take_string(r);
        gpul_type type;
        uint32_t lanes;
        size_t size = code ? scalar_code(code, &type, &lanes, swap) : 0;
        if (size && type != GPUL_OTHER)
            *list_add(&l->leaves) = (leaf){
                .path = path, .type = type, .offset = offset, .count = lanes, .type_name = code
            };
        return size;
    }
    if (!take(r, '[') || ++r->depth > 8) return 0;
    size_t total = 0;
    while (!take(r, ']')) {
        if (!take(r, '(')) return 0;
        const char *name = take_string(r);
        if (!name || !take(r, ',')) return 0;
        size_t before = l->leaves.count;
        const char *inner = *path ? mem_format("%s.%s", path, name) : name;
        size_t one = take_descr(r, l, inner, offset + total, swap);
        if (!one) return 0;
        uint64_t repeat = 1;
        if (take(r, ',')) {
            uint64_t dims[MAX_RANK];
            unsigned rank;
            if (!take_shape(r, dims, &rank)) return 0;
            for (unsigned i = 0; i < rank; i++) repeat *= dims[i];
            if (!repeat || repeat > 1u << 20) return 0;
            if (l->leaves.count == before + 1 &&
                l->leaves.items[before].count * type_size(l->leaves.items[before].type) == one)
                l->leaves.items[before].count *= (uint32_t)repeat;
            else if (repeat > 1 && l->leaves.count > before)
                return 0; /* arrays of structs inside */
        }
        total += one * repeat;
        if (total > 1u << 24 || !take(r, ')')) return 0;
        take(r, ',');
    }
    r->depth--;
    l->is_struct = true;
    return total;
}

const char *npy_parse(npy_header *out, const unsigned char *data, size_t available, uint64_t size)
{
    *out = (npy_header){ .layout = mem_alloc(sizeof *out->layout) };
    if (available < 10 || memcmp(data, "\x93NUMPY", 6) != 0)
        return "it does not begin as a .npy file does";
    unsigned major = data[6];
    if (major < 1 || major > 3)
        return mem_format("its format version %u.%u is not known", major, data[7]);
    size_t start = major == 1 ? 10 : 12;
    if (available < start) return "it is cut off in the header";
    size_t length = (size_t)data[8] | (size_t)data[9] << 8;
    if (major > 1) length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length > size - start) return "it is cut off in the header";
    if (length > available - start) return "its header is longer than 64 KiB";
    reader r = { .at = (const char *)data + start, .end = (const char *)data + start + length };
    bool have_descr = false, have_order = false, have_shape = false;
    uint64_t dims[MAX_RANK];
    unsigned rank = 0;
    if (!take(&r, '{')) return "its header is no dictionary";
    while (!take(&r, '}')) {
        const char *key = take_string(&r);
        if (!key || !take(&r, ':')) return "its header cannot be read";
        blanks(&r);
        const char *from = r.at;
        if (same_text(key, "descr")) {
            out->layout->size = take_descr(&r, out->layout, "", 0, &out->swap);
            out->descr = mem_copy(from, (size_t)(r.at - from));
            if (!out->layout->size || !out->layout->leaves.count)
                return mem_format("its elements (%.60s) are not numbers", out->descr);
            have_descr = true;
        } else if (same_text(key, "fortran_order")) {
            bool yes = (size_t)(r.end - r.at) >= 4 && memcmp(r.at, "True", 4) == 0;
            r.at += yes ? 4 : 5;
            if (r.at > r.end) return "its header cannot be read";
            out->fortran = yes;
            have_order = true;
        } else if (same_text(key, "shape")) {
            if (!take_shape(&r, dims, &rank))
                return mem_format("its shape (%.60s) is not supported",
                                  mem_copy(from, (size_t)(r.end - from)));
            out->shape_text = mem_copy(from, (size_t)(r.at - from));
            have_shape = true;
        } else {
            return "its header cannot be read";
        }
        take(&r, ',');
    }
    if (!have_descr || !have_order || !have_shape) return "its header lacks an entry";
    out->layout->type_name = out->layout->is_struct ? "a structured type"
                                                    : type_numpy(out->layout->leaves.items[0].type);
    out->layout->align = 1;
    out->scalar = rank == 0;
    out->shape.rank = rank ? rank : 1;
    for (unsigned i = 0; i < rank; i++) out->shape.dim[i] = dims[rank - 1 - i];
    if (!rank) out->shape.dim[0] = 1;
    out->data_offset = start + length;
    uint64_t count = shape_count(&out->shape), bytes;
    if (count == UINT64_MAX || __builtin_mul_overflow(count, out->layout->size, &bytes) ||
        bytes > size - out->data_offset)
        return mem_format("shape %s of %s needs more bytes than the %llu that follow the header",
                          out->shape_text, out->descr,
                          (unsigned long long)(size - out->data_offset));
    return NULL;
}
