/* Tables of numbers: CSV, TSV and plain text.  SPDX-License-Identifier: MIT */
#include <ctype.h>

#include "files.h"
#include "values.h"

typedef struct table {
    const file_request *request;
    char separator; /* 0: blanks */
    gpul_type type;
    size_t size;
    unsigned char *data;
    size_t used, capacity;
    uint64_t columns, rows, line;
    bool failed;
} table;

static void push(table *t, const void *value)
{
    if (t->used + t->size > t->capacity) {
        size_t larger = t->capacity ? t->capacity * 2 : 65536;
        unsigned char *fresh = data_alloc(larger);
        if (t->used) memcpy(fresh, t->data, t->used);
        data_free(t->data);
        t->data = fresh;
        t->capacity = larger;
    }
    memcpy(t->data + t->used, value, t->size);
    t->used += t->size;
}

/* The next field of a line; quotes around a number are dropped. */
static bool next_field(const table *t, const char **at, const char *end, const char **field,
                       size_t *length)
{
    const char *c = *at;
    if (!t->separator)
        while (c < end && isspace((unsigned char)*c)) c++;
    if (c >= end && (!t->separator || c > end)) return false;
    const char *stop = c;
    while (stop < end && (t->separator ? *stop != t->separator : !isspace((unsigned char)*stop)))
        stop++;
    *at = stop + 1;
    while (c < stop && (isspace((unsigned char)*c) || *c == '"')) c++;
    const char *last = stop;
    while (last > c && (isspace((unsigned char)last[-1]) || last[-1] == '"')) last--;
    *field = c;
    *length = (size_t)(last - c);
    return true;
}

static bool is_header(const table *t, const char *line, const char *end)
{
    const char *field;
    size_t length;
    for (const char *at = line; next_field(t, &at, end, &field, &length);)
        if (length && !value_is_number(field, length)) return true;
    return false;
}

static void read_line(table *t, const char *line, const char *end)
{
    const file_request *request = t->request;
    const char *field;
    size_t length;
    uint64_t column = 0, wanted = request->spec->column;
    for (const char *at = line; next_field(t, &at, end, &field, &length);) {
        column++;
        if (wanted && column != wanted) continue;
        unsigned char value[8];
        value_fault fault = value_parse(value, t->type, field, length);
        if (fault) {
            static const char *const words[] = { "", "is not a number", "is not a whole number",
                                                 "does not fit", "has a leading 0" };
            file_fail(request, fault == VALUE_NO_NUMBER ? CODE_FILE_FORMAT : CODE_FILE_TYPE,
                      "%s, line %llu, column %llu: \"%.40s\" %s (%s)", request->path,
                      (unsigned long long)t->line, (unsigned long long)column,
                      mem_copy(field, length), words[fault], type_name(t->type));
            t->failed = true;
            return;
        }
        push(t, value);
    }
    if (!t->rows) t->columns = column;
    if (column != t->columns) {
        file_fail(request, CODE_FILE_SHAPE,
                  "%s, line %llu: %llu numbers, but the first row has %llu", request->path,
                  (unsigned long long)t->line, (unsigned long long)column,
                  (unsigned long long)t->columns);
        t->failed = true;
    } else if (wanted > column) {
        file_fail(request, CODE_FILE_SHAPE, "%s has %llu columns; there is no column %llu",
                  request->path, (unsigned long long)column, (unsigned long long)wanted);
        t->failed = true;
    }
    t->rows++;
}

bool read_csv(file_content *out, const file_request *request, const unsigned char *data,
              size_t size, file_format format)
{
    gpul_type type;
    uint32_t lanes;
    if (!layout_plain_type(request->layout, &type, &lanes) || !type_size(type)) {
        file_fail(request, CODE_FILE_TYPE, "%s is a table of numbers, and '%s' is an array of %s",
                  request->path, request->name, request->layout->type_name);
        return false;
    }
    table t = { .request = request,
                .type = type,
                .size = type_size(type),
                .separator = format == FORMAT_CSV   ? ','
                             : format == FORMAT_TSV ? '\t'
                                                    : 0 };
    const char *at = (const char *)data, *end = at + size;
    if (size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    bool first = true;
    while (at < end && !t.failed) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *line = at;
        if (!stop) stop = end;
        at = stop + 1;
        t.line++;
        while (stop > line && isspace((unsigned char)stop[-1])) stop--;
        while (line < stop && *line == ' ') line++;
        if (line == stop || *line == '#') continue;
        if (!first || !is_header(&t, line, stop)) read_line(&t, line, stop);
        first = false;
    }
    uint64_t columns = request->spec->column ? 1 : t.columns;
    if (!t.failed && !t.used) {
        file_fail(request, CODE_FILE_SIZE, "%s holds no numbers", request->path);
        t.failed = true;
    }
    if (!t.failed && lanes > 1 && columns != lanes) {
        file_fail(request, CODE_FILE_SHAPE,
                  "%s has %llu columns, and an element of '%s' takes %u numbers", request->path,
                  (unsigned long long)columns, request->name, lanes);
        t.failed = true;
    }
    if (t.failed) {
        data_free(t.data);
        return false;
    }
    if (lanes > 1 || columns == 1) out->shape = shape_flat(t.rows);
    else if (t.rows == 1) out->shape = shape_flat(columns);
    else out->shape = (shape){ .rank = 2, .dim = { columns, t.rows } };
    out->memory = t.data;
    return true;
}
