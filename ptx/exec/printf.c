/* printf of kernels: the format is read from device memory, the arguments from a buffer that the
 * compiler laid out, each aligned to its own size.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "ptx/exec/block.h"

enum { SPEC_LIMIT = 64, WIDTH_LIMIT = 1 << 16 };

typedef struct reader {
    warp *w;
    const insn *i;
    unsigned lane;
    uint64_t at;
    int count;
} reader;

static bool next_argument(reader *r, uint32_t size, uint64_t *value)
{
    r->at = (r->at + size - 1) & ~(uint64_t)(size - 1);
    *value = 0;
    if (!ptx_read_lane(r->w, r->i, r->lane, r->at, value, size)) return false;
    r->at += size;
    r->count++;
    return true;
}

/* One conversion, from behind the percent sign on; `spec` is rebuilt so that the host's printf gets
 * only what was understood. */
typedef struct conversion {
    char spec[SPEC_LIMIT]; /* flags, width and precision */
    size_t used;
    char letter;
    bool is_long, is_short, is_char;
} conversion;

static void keep(conversion *c, char letter)
{
    if (c->used < SPEC_LIMIT - 8) c->spec[c->used++] = letter;
}

/* A number or `*`, whose value then comes from the arguments. */
static bool read_number(reader *r, conversion *c, const char **at)
{
    if (**at == '*') {
        uint64_t value;
        (*at)++;
        if (!next_argument(r, 4, &value)) return false;
        int32_t width = (int32_t)value;
        if (width > WIDTH_LIMIT) width = WIDTH_LIMIT;
        if (width < -WIDTH_LIMIT) width = -WIDTH_LIMIT;
        char digits[16];
        int length = snprintf(digits, sizeof digits, "%" PRId32, width);
        for (int k = 0; k < length; k++) keep(c, digits[k]);
        return true;
    }
    int value = 0;
    size_t start = c->used;
    while (**at >= '0' && **at <= '9') {
        value = value * 10 + (**at - '0');
        if (value > WIDTH_LIMIT) {
            value = WIDTH_LIMIT;
            c->used = start;
            const char *limit = "65536";
            while (*limit) keep(c, *limit++);
            while (**at >= '0' && **at <= '9') (*at)++;
            return true;
        }
        keep(c, *(*at)++);
    }
    return true;
}

static bool read_conversion(reader *r, conversion *c, const char **at)
{
    *c = (conversion){ .spec = "%", .used = 1 };
    while (**at && strchr("-+ #0", **at)) keep(c, *(*at)++);
    if (!read_number(r, c, at)) return false;
    if (**at == '.') {
        keep(c, *(*at)++);
        if (!read_number(r, c, at)) return false;
    }
    for (;; (*at)++) {
        if (**at == 'h') {
            c->is_char = c->is_short;
            c->is_short = true;
        } else if (**at && strchr("lLqjzt", **at)) {
            c->is_long = true;
        } else {
            break;
        }
    }
    c->letter = **at;
    if (c->letter) (*at)++;
    return true;
}

static void put_spec(conversion *c, const char *tail)
{
    strcpy(c->spec + c->used, tail);
}

static bool convert(reader *r, conversion *c, gpul__str *out)
{
    uint64_t value;
    char tail[8];
    switch (c->letter) {
    case 'd':
    case 'i':
        if (!next_argument(r, c->is_long ? 8 : 4, &value)) return false;
        put_spec(c, PRId64);
        if (c->is_char) value = (uint64_t)(int8_t)value;
        else if (c->is_short) value = (uint64_t)(int16_t)value;
        else if (!c->is_long) value = (uint64_t)(int32_t)value;
        gpul__str_printf(out, c->spec, (int64_t)value);
        return true;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        if (!next_argument(r, c->is_long ? 8 : 4, &value)) return false;
        snprintf(tail, sizeof tail, "%.*s%c", (int)strlen(PRIu64) - 1, PRIu64, c->letter);
        put_spec(c, tail);
        if (c->is_char) value = (uint8_t)value;
        else if (c->is_short) value = (uint16_t)value;
        gpul__str_printf(out, c->spec, value);
        return true;
    case 'c':
        if (!next_argument(r, 4, &value)) return false;
        put_spec(c, "c");
        gpul__str_printf(out, c->spec, (int)(unsigned char)value);
        return true;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        double number;
        if (!next_argument(r, 8, &value)) return false;
        memcpy(&number, &value, sizeof number);
        snprintf(tail, sizeof tail, "%c", c->letter);
        put_spec(c, tail);
        gpul__str_printf(out, c->spec, number);
        return true;
    }
    case 'p':
        if (!next_argument(r, 8, &value)) return false;
        put_spec(c, "p");
        gpul__str_printf(out, c->spec, (void *)(uintptr_t)value);
        return true;
    case 's': {
        if (!next_argument(r, 8, &value)) return false;
        gpul__str text = { 0 };
        if (!value) {
            gpul__str_add(&text, "(null)");
        } else if (!ptx_read_string(r->w, r->i, r->lane, value, &text)) {
            gpul__str_free(&text);
            return false;
        }
        put_spec(c, "s");
        gpul__str_printf(out, c->spec, gpul__str_text(&text));
        if (text.failed) out->failed = true;
        gpul__str_free(&text);
        return true;
    }
    case '%': gpul__str_add(out, "%"); return true;
    default: {
        /* Not a conversion: the text appears as it stands. */
        put_spec(c, "");
        gpul__str_add(out, c->spec);
        if (c->letter) gpul__str_addn(out, &c->letter, 1);
        return true;
    }
    }
}

int ptx_format(warp *w, const insn *i, unsigned lane, uint64_t format, uint64_t arguments,
               gpul__str *out)
{
    if (!format) return -1;
    gpul__str text = { 0 };
    reader r = { w, i, lane, arguments, 0 };
    bool ok = ptx_read_string(w, i, lane, format, &text);
    /* Numbers look the same whatever the program's locale is. */
    locale_t before = uselocale(w->block->launch->engine->c_locale);
    for (const char *at = gpul__str_text(&text); ok && *at;) {
        size_t plain = strcspn(at, "%");
        gpul__str_addn(out, at, plain);
        at += plain;
        if (!*at) break;
        at++;
        conversion c;
        ok = read_conversion(&r, &c, &at) && convert(&r, &c, out);
    }
    uselocale(before);
    if (text.failed) out->failed = true;
    gpul__str_free(&text);
    return ok ? r.count : -1;
}
