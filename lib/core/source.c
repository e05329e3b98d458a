/* CUDA source made ready for the compiler, and positions in it.  SPDX-License-Identifier: MIT */
#include "core/source.h"

#include "base/error.h"

#include <string.h>

static gpul_status fail_encoding(const char *name, size_t line, const char *what, const char *hint)
{
    gpul__fail(GPUL__COMPILE_ENCODING, (.call = "gpul_compile", .hint = hint), "%s %s", name, what);
    return gpul__detail(&(gpul_detail){
        .severity = GPUL_ERROR, .file = name, .line = (uint32_t)line, .text = what });
}

/* The byte at which UTF-8 is broken, or `length`. */
static size_t first_invalid(const unsigned char *s, size_t length)
{
    size_t i = 0;
    while (i < length) {
        if (s[i] < 0x80) {
            i++;
            continue;
        }
        int more = s[i] >= 0xc2 && s[i] <= 0xdf   ? 1
                   : s[i] >= 0xe0 && s[i] <= 0xef ? 2
                   : s[i] >= 0xf0 && s[i] <= 0xf4 ? 3
                                                  : 0;
        if (!more || length - i <= (size_t)more) return i;
        for (int k = 1; k <= more; k++)
            if ((s[i + (size_t)k] & 0xc0) != 0x80) return i;
        bool overlong = (s[i] == 0xe0 && s[i + 1] < 0xa0) || (s[i] == 0xf0 && s[i + 1] < 0x90);
        bool surrogate = s[i] == 0xed && s[i + 1] > 0x9f;
        bool too_large = s[i] == 0xf4 && s[i + 1] > 0x8f;
        if (overlong || surrogate || too_large) return i;
        i += (size_t)more + 1;
    }
    return length;
}

static size_t line_of(const char *text, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset; i++)
        if (text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n')) line++;
    return line;
}

/* UTF-16 and UTF-32 show as a byte order mark or as every other byte being NUL. */
static const char *wide_encoding(const unsigned char *s, size_t length)
{
    static const char *const utf16 = "is UTF-16 text; the compiler would see nothing of it";
    static const char *const utf32 = "is UTF-32 text; the compiler would see nothing of it";
    if (length >= 4 && s[0] == 0xff && s[1] == 0xfe && s[2] == 0 && s[3] == 0) return utf32;
    if (length >= 4 && s[0] == 0 && s[1] == 0 && s[2] == 0xfe && s[3] == 0xff) return utf32;
    if (length >= 2 && ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff)))
        return utf16;
    if (length >= 4 && ((s[0] && !s[1] && s[2] && !s[3]) || (!s[0] && s[1] && !s[2] && s[3])))
        return utf16;
    return NULL;
}

static bool index_lines(gpul__source *source)
{
    size_t capacity = 0;
    for (size_t at = 0;;) {
        if (!gpul__grow(&source->lines, &capacity, source->line_count, sizeof *source->lines))
            return false;
        source->lines[source->line_count++] = at;
        const char *end = memchr(source->text + at, '\n', source->length - at);
        if (!end) return true;
        at = (size_t)(end - source->text) + 1;
    }
}

gpul_status gpul__source_prepare(gpul__source *out, const char *name, const char *text,
                                 size_t length)
{
    *out = (gpul__source){ .name = name };
    if (length == GPUL_TEXT) length = strlen(text);
    const unsigned char *bytes = (const unsigned char *)text;
    const char *wide = wide_encoding(bytes, length);
    if (wide) return fail_encoding(name, 1, wide, "save it as UTF-8: iconv -f UTF-16 -t UTF-8");
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        bytes += 3;
        length -= 3;
    }
    const char *zero = memchr(text, 0, length);
    if (zero)
        return fail_encoding(name, line_of(text, (size_t)(zero - text)),
                             "has a NUL byte inside; the compiler would see nothing after it",
                             "remove the byte, or give the length of the text without it");
    size_t invalid = first_invalid(bytes, length);
    if (invalid < length)
        return fail_encoding(name, line_of(text, invalid), "is not valid UTF-8 text",
                             "save it as UTF-8: iconv -f LATIN1 -t UTF-8");

    return gpul__source_take(out, name, text, length) ? GPUL_OK : gpul__no_memory();
}

bool gpul__source_take(gpul__source *out, const char *name, const char *text, size_t length)
{
    *out = (gpul__source){ .name = name };
    out->text = gpul__malloc(length + 1);
    if (!out->text) return false;
    for (size_t i = 0; i < length; i++) {
        bool alone = text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n');
        out->text[out->length++] = alone ? '\n' : text[i];
    }
    out->text[out->length] = 0;
    if (index_lines(out)) return true;
    gpul__source_free(out);
    return false;
}

void gpul__source_free(gpul__source *source)
{
    gpul__free(source->text);
    gpul__free(source->lines);
    *source = (gpul__source){ 0 };
}

uint32_t gpul__source_line(const gpul__source *source, size_t offset)
{
    size_t low = 0, high = source->line_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (source->lines[middle] <= offset) low = middle;
        else high = middle;
    }
    return (uint32_t)low + 1;
}

const char *gpul__source_line_text(const gpul__source *source, uint32_t line, size_t *length)
{
    if (line == 0 || line > source->line_count) {
        *length = 0;
        return NULL;
    }
    size_t start = source->lines[line - 1];
    size_t end = line < source->line_count ? source->lines[line] - 1 : source->length;
    while (end > start && (source->text[end - 1] == '\r' || source->text[end - 1] == '\n')) end--;
    *length = end - start;
    return source->text + start;
}

uint32_t gpul__characters(const char *text, size_t bytes)
{
    uint32_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

uint32_t gpul__source_column(const gpul__source *source, size_t offset)
{
    size_t start = source->lines[gpul__source_line(source, offset) - 1];
    return gpul__characters(source->text + start, offset - start) + 1;
}
