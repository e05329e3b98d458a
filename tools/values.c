/* Reading and writing single values.  SPDX-License-Identifier: MIT */
#include "values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "half.h"

typedef struct type_row {
    gpul_type type;
    unsigned char size;
    char kind; /* i u f b */
    const char *short_name, *numpy, *name, *lowest, *highest;
} type_row;

// clang-format off
static const type_row type_rows[] = {
    { GPUL_BOOL, 1, 'b', "bool", "bool",    "bool",               "0", "1" },
    { GPUL_I8,   1, 'i', "i8",   "int8",    "signed char",        "-128", "127" },
    { GPUL_U8,   1, 'u', "u8",   "uint8",   "unsigned char",      "0", "255" },
    { GPUL_I16,  2, 'i', "i16",  "int16",   "short",              "-32768", "32767" },
    { GPUL_U16,  2, 'u', "u16",  "uint16",  "unsigned short",     "0", "65535" },
    { GPUL_I32,  4, 'i', "i32",  "int32",   "int",                "-2147483648", "2147483647" },
    { GPUL_U32,  4, 'u', "u32",  "uint32",  "unsigned int",       "0", "4294967295" },
    { GPUL_I64,  8, 'i', "i64",  "int64",   "long long",          "-9223372036854775808", "9223372036854775807" },
    { GPUL_U64,  8, 'u', "u64",  "uint64",  "unsigned long long", "0", "18446744073709551615" },
    { GPUL_F16,  2, 'f', "f16",  "float16", "half",               NULL, NULL },
    { GPUL_BF16, 2, 'f', "bf16", "bfloat16","bfloat16",           NULL, NULL },
    { GPUL_F32,  4, 'f', "f32",  "float32", "float",              NULL, NULL },
    { GPUL_F64,  8, 'f', "f64",  "float64", "double",             NULL, NULL },
};
// clang-format on
enum { TYPE_ROWS = sizeof type_rows / sizeof *type_rows };

static const type_row *row_of(gpul_type type)
{
    for (size_t i = 0; i < TYPE_ROWS; i++)
        if (type_rows[i].type == type) return &type_rows[i];
    return NULL;
}

static char kind_of(gpul_type type)
{
    const type_row *row = row_of(type);
    return row ? row->kind : 0;
}

bool type_is_integer(gpul_type type)
{
    return kind_of(type) && kind_of(type) != 'f';
}
bool type_is_float(gpul_type type)
{
    return kind_of(type) == 'f';
}
bool type_is_signed(gpul_type type)
{
    return kind_of(type) == 'i' || kind_of(type) == 'f';
}

#define TYPE_FACT(field, missing) row_of(type) ? row_of(type)->field : (missing)
const char *type_lowest(gpul_type type)
{
    return TYPE_FACT(lowest, NULL);
}
const char *type_highest(gpul_type type)
{
    return TYPE_FACT(highest, NULL);
}
const char *type_name(gpul_type type)
{
    return TYPE_FACT(name, "unknown type");
}
const char *type_short(gpul_type type)
{
    return TYPE_FACT(short_name, "?");
}
const char *type_numpy(gpul_type type)
{
    return TYPE_FACT(numpy, "void");
}
size_t type_size(gpul_type type)
{
    return TYPE_FACT(size, 0);
}

bool type_from_short(gpul_type *out, const char *name, size_t length)
{
    for (size_t i = 0; i < TYPE_ROWS; i++)
        if (strlen(type_rows[i].short_name) == length &&
            memcmp(type_rows[i].short_name, name, length) == 0) {
            *out = type_rows[i].type;
            return true;
        }
    return false;
}

/* ---- Whole numbers ---- */

/* A magnitude of up to 128 bits is enough to say what did not fit. */
__extension__ typedef unsigned __int128 wide_int;

typedef struct whole {
    bool negative, octal, whole, huge;
    wide_int magnitude;
} whole;

#define WHOLE_LIMIT ((wide_int)1 << 120)

static void whole_step(whole *w, unsigned base, unsigned digit)
{
    if (w->magnitude > WHOLE_LIMIT / base) w->huge = true;
    else w->magnitude = w->magnitude * base + digit;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* False: not a number.  `whole` is false for 2.5 and 1e-3. */
static bool whole_parse(whole *w, const char *s, size_t length)
{
    *w = (whole){ .whole = true };
    size_t at = 0;
    if (at < length && (s[at] == '-' || s[at] == '+')) w->negative = s[at++] == '-';
    if (at >= length) return false;
    unsigned base = 10;
    if (s[at] == '0' && at + 1 < length) {
        char c = (char)tolower((unsigned char)s[at + 1]);
        if (c == 'x' || c == 'b') {
            base = c == 'x' ? 16 : 2;
            at += 2;
            if (at >= length) return false;
        }
    }
    size_t first = at, digits = 0;
    int fraction = 0; /* digits behind the point that were taken in */
    bool point = false;
    for (; at < length; at++) {
        if (s[at] == '_' && digits && at + 1 < length) continue;
        if (s[at] == '.' && base == 10 && !point) {
            point = true;
            continue;
        }
        if (digit_of(s[at]) >= (int)base) break;
        digits++;
        if (w->huge) continue;
        whole_step(w, base, (unsigned)digit_of(s[at]));
        fraction += point;
    }
    if (!digits) return false;
    w->octal = base == 10 && digits > 1 && s[first] == '0' && isdigit((unsigned char)s[first + 1]);
    long exponent = 0;
    if (base == 10 && at < length && (s[at] == 'e' || s[at] == 'E')) {
        char *end;
        char number[24] = { 0 };
        size_t rest = length - at - 1;
        if (!rest || rest >= sizeof number) return false;
        memcpy(number, s + at + 1, rest);
        if (!isdigit((unsigned char)number[0]) && number[0] != '-' && number[0] != '+')
            return false;
        exponent = strtol(number, &end, 10);
        if (*end || end == number) return false;
        at = length;
        w->octal = false;
    }
    exponent -= fraction;
    for (; exponent > 0 && !w->huge && w->magnitude; exponent--) whole_step(w, 10, 0);
    for (; exponent < 0 && w->magnitude; exponent++) {
        if (w->magnitude % 10) w->whole = false;
        w->magnitude /= 10;
    }
    if (at + 1 == length) {
        const char *suffixes = "KMGT", *suffix = strchr(suffixes, s[at]);
        if (!suffix || base == 16) return false;
        for (long i = 0; i <= suffix - suffixes; i++) whole_step(w, 1024, 0);
        at++;
        if (!w->whole) return true;
    }
    return at == length;
}

const char *value_whole_text(const char *source, size_t length)
{
    whole w;
    if (!whole_parse(&w, source, length) || !w.whole || w.huge) return NULL;
    char digits[48];
    size_t at = sizeof digits;
    digits[--at] = 0;
    do {
        digits[--at] = (char)('0' + (int)(w.magnitude % 10));
        w.magnitude /= 10;
    } while (w.magnitude);
    if (w.negative) digits[--at] = '-';
    return mem_dup(digits + at);
}

const char *count_text(uint64_t value)
{
    static const char suffixes[] = "GMK";
    for (int i = 0; i < 3; i++) {
        uint64_t unit = (uint64_t)1 << (30 - 10 * i);
        if (value >= unit && value % unit == 0)
            return mem_format("%llu%c", (unsigned long long)(value / unit), suffixes[i]);
    }
    return mem_format("%llu", (unsigned long long)value);
}

value_fault value_count(uint64_t *out, const char *source, size_t length)
{
    return value_parse(out, GPUL_U64, source, length);
}

static value_fault parse_integer(void *out, gpul_type type, const char *s, size_t length)
{
    if (length == 3 && s[0] == '\'' && s[2] == '\'' && type_size(type) == 1 && type != GPUL_BOOL) {
        memcpy(out, s + 1, 1);
        return VALUE_FINE;
    }
    if (type == GPUL_BOOL) {
        bool is_true = length == 4 && memcmp(s, "true", 4) == 0;
        if (is_true || (length == 5 && memcmp(s, "false", 5) == 0)) {
            memcpy(out, &is_true, 1);
            return VALUE_FINE;
        }
    }
    whole w;
    if (!whole_parse(&w, s, length)) return VALUE_NO_NUMBER;
    if (!w.whole) return VALUE_NOT_WHOLE;
    if (w.octal) return VALUE_OCTAL;
    if (w.huge) return VALUE_RANGE;
    unsigned bits = type == GPUL_BOOL ? 1 : (unsigned)type_size(type) * 8;
    wide_int limit = ((wide_int)1 << bits) - 1;
    if (kind_of(type) == 'i') limit = ((wide_int)1 << (bits - 1)) - (w.negative ? 0 : 1);
    else if (w.negative && w.magnitude) return VALUE_RANGE;
    if (w.magnitude > limit) return VALUE_RANGE;
    uint64_t value = (uint64_t)w.magnitude;
    if (w.negative) value = 0 - value;
    value_from_int(type, out, (int64_t)value);
    return VALUE_FINE;
}

/* ---- Floats ---- */

/* A clean copy for strtod: no blanks, no underscores; `scale` is 1024^n of a suffix. */
static bool float_text(char *out, size_t capacity, double *scale, const char *s, size_t length)
{
    *scale = 1;
    if (!length || length >= capacity || isspace((unsigned char)s[0])) return false;
    bool hex = length > 2 && strchr("xX", s[s[0] == '-' || s[0] == '+' ? 2 : 1]);
    const char *suffixes = "KMGT", *suffix = strchr(suffixes, s[length - 1]);
    if (suffix && !hex && length > 1 &&
        (isdigit((unsigned char)s[length - 2]) || s[length - 2] == '.')) {
        *scale = ldexp(1, 10 * (int)(suffix - suffixes + 1));
        length--;
    }
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        if (s[i] == '_' && i && isalnum((unsigned char)s[i - 1])) continue;
        if (!isalnum((unsigned char)s[i]) && !strchr("+-.", s[i])) return false;
        out[count++] = s[i];
    }
    out[count] = 0;
    return true;
}

static value_fault parse_float(void *out, gpul_type type, const char *s, size_t length)
{
    char number[400], *end;
    double scale;
    if (!float_text(number, sizeof number, &scale, s, length)) return VALUE_NO_NUMBER;
    double wide = strtod(number, &end);
    if (*end || end == number) return VALUE_NO_NUMBER;
    bool finite_text = !strpbrk(number, "nN"); /* inf and nan have one, no number has */
    wide *= scale;
    if (type == GPUL_F32) {
        float narrow = strtof(number, &end) * (float)scale;
        if (finite_text && isinf(narrow)) return VALUE_RANGE;
        memcpy(out, &narrow, sizeof narrow);
        return VALUE_FINE;
    }
    if (finite_text && isinf(wide)) return VALUE_RANGE;
    if (type == GPUL_F64) {
        memcpy(out, &wide, sizeof wide);
        return VALUE_FINE;
    }
    uint16_t bits = type == GPUL_F16 ? half_from_double(wide) : bfloat_from_double(wide);
    double back = type == GPUL_F16 ? half_to_double(bits) : bfloat_to_double(bits);
    if (finite_text && isinf(back)) return VALUE_RANGE;
    memcpy(out, &bits, sizeof bits);
    return VALUE_FINE;
}

value_fault value_parse(void *out, gpul_type type, const char *source, size_t length)
{
    return type_is_float(type) ? parse_float(out, type, source, length)
                               : parse_integer(out, type, source, length);
}

bool value_vanishes(gpul_type type, const void *value, const char *source, size_t length)
{
    static const unsigned char zero[8];
    if (!type_is_float(type) || length < 3) return false;
    unsigned char bits[8];
    size_t size = type_size(type);
    if (!size || size > sizeof bits) return false;
    memcpy(bits, value, size);
    bits[size - 1] &= 0x7f; /* the sign */
    if (memcmp(bits, zero, size) != 0) return false;
    bool hex = memchr(source, 'x', length) || memchr(source, 'X', length);
    for (size_t i = 0; i < length; i++) {
        char c = source[i];
        if (strchr(hex ? "pP" : "eE", c)) return false;
        if ((c >= '1' && c <= '9') || (hex && isxdigit((unsigned char)c) && c != '0')) return true;
    }
    return false;
}

bool value_is_number(const char *source, size_t length)
{
    double wide;
    uint64_t bits;
    if (length == 3 && source[0] == '\'' && source[2] == '\'') return true;
    value_fault fault = parse_integer(&bits, GPUL_BOOL, source, length);
    return fault != VALUE_NO_NUMBER ||
           parse_float(&wide, GPUL_F64, source, length) != VALUE_NO_NUMBER;
}

/* ---- Conversions ---- */

double value_to_double(gpul_type type, const void *bytes)
{
    float narrow;
    double wide;
    uint16_t bits;
    switch (type) {
    case GPUL_F64: memcpy(&wide, bytes, 8); return wide;
    case GPUL_F32: memcpy(&narrow, bytes, 4); return (double)narrow;
    case GPUL_F16: memcpy(&bits, bytes, 2); return half_to_double(bits);
    case GPUL_BF16: memcpy(&bits, bytes, 2); return bfloat_to_double(bits);
    case GPUL_U64: return (double)(uint64_t)value_to_int(type, bytes);
    default: return (double)value_to_int(type, bytes);
    }
}

int64_t value_to_int(gpul_type type, const void *bytes)
{
    uint64_t raw = 0;
    size_t size = type_size(type);
    memcpy(&raw, bytes, size); /* little-endian hosts only: x86-64 and AArch64 */
    if (kind_of(type) == 'i' && size < 8 && raw >> (size * 8 - 1)) raw |= ~0ull << (size * 8);
    return (int64_t)raw;
}

void value_from_int(gpul_type type, void *bytes, int64_t value)
{
    if (type_is_float(type)) {
        value_from_double(type, bytes, (double)value);
        return;
    }
    if (type == GPUL_BOOL) value = value != 0;
    memcpy(bytes, &value, type_size(type));
}

void value_from_double(gpul_type type, void *bytes, double value)
{
    float narrow = (float)value;
    uint16_t bits;
    switch (type) {
    case GPUL_F64: memcpy(bytes, &value, 8); return;
    case GPUL_F32: memcpy(bytes, &narrow, 4); return;
    case GPUL_F16:
        bits = half_from_double(value);
        memcpy(bytes, &bits, 2);
        return;
    case GPUL_BF16:
        bits = bfloat_from_double(value);
        memcpy(bytes, &bits, 2);
        return;
    default: break;
    }
    double low = strtod(type_lowest(type), NULL), high = strtod(type_highest(type), NULL);
    if (isnan(value)) value = 0;
    value = nearbyint(value);
    if (value <= low) {
        value_parse(bytes, type, type_lowest(type), strlen(type_lowest(type)));
    } else if (value >= high) {
        value_parse(bytes, type, type_highest(type), strlen(type_highest(type)));
    } else {
        value_from_int(type, bytes, type == GPUL_U64 ? (int64_t)(uint64_t)value : (int64_t)value);
    }
}

/* ---- Printing ---- */

static void print_float(text *out, gpul_type type, const void *bytes, int digits)
{
    double value = value_to_double(type, bytes);
    if (isnan(value)) {
        text_add(out, "nan");
        return;
    }
    if (isinf(value)) {
        text_add(out, value < 0 ? "-inf" : "inf");
        return;
    }
    char number[330]; /* the largest double, written out */
    int most = type == GPUL_F64 ? 17 : type == GPUL_F32 ? 9 : type == GPUL_F16 ? 5 : 4;
    int used = digits ? digits : most;
    for (int n = 1; !digits && n < most; n++) {
        unsigned char again[8] = { 0 };
        snprintf(number, sizeof number, "%.*g", n, value);
        if (value_parse(again, type, number, strlen(number)) != VALUE_FINE ||
            memcmp(again, bytes, type_size(type)) != 0)
            continue;
        used = n;
        break;
    }
    snprintf(number, sizeof number, "%.*e", used - 1, value);
    int exponent = atoi(strchr(number, 'e') + 1);
    bool plain = exponent >= used && exponent < 15 && !digits; /* 40, not 4e+01 */
    if (plain) snprintf(number, sizeof number, "%.0f", value);
    else snprintf(number, sizeof number, "%.*g", used, value);
    text_add(out, number);
}

void value_print(text *out, gpul_type type, const void *bytes, int digits)
{
    if (type_is_float(type)) print_float(out, type, bytes, digits);
    else if (type == GPUL_U64)
        text_format(out, "%llu", (unsigned long long)value_to_int(type, bytes));
    else if (type_is_integer(type)) text_format(out, "%lld", (long long)value_to_int(type, bytes));
    else text_add(out, "?");
}
