/* C++ types by their text.  SPDX-License-Identifier: MIT */
#include "core/signature_types.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *gpul_type_name(gpul_type type)
{
    static const char *const names[] = {
        [GPUL_TYPE_UNKNOWN] = "unknown",
        [GPUL_BOOL] = "bool",
        [GPUL_I8] = "signed char",
        [GPUL_U8] = "unsigned char",
        [GPUL_I16] = "short",
        [GPUL_U16] = "unsigned short",
        [GPUL_I32] = "int",
        [GPUL_U32] = "unsigned int",
        [GPUL_I64] = "long long",
        [GPUL_U64] = "unsigned long long",
        [GPUL_F16] = "half",
        [GPUL_BF16] = "bfloat16",
        [GPUL_F32] = "float",
        [GPUL_F64] = "double",
        [GPUL_STRUCT] = "struct",
        [GPUL_POINTER] = "pointer",
        [GPUL_VOID] = "void",
        [GPUL_OTHER] = "other",
    };
    size_t index = (size_t)type;
    return index < sizeof names / sizeof *names ? names[index] : names[GPUL_TYPE_UNKNOWN];
}

size_t gpul_type_size(gpul_type type)
{
    switch (type) {
    case GPUL_BOOL:
    case GPUL_I8:
    case GPUL_U8: return 1;
    case GPUL_I16:
    case GPUL_U16:
    case GPUL_F16:
    case GPUL_BF16: return 2;
    case GPUL_I32:
    case GPUL_U32:
    case GPUL_F32: return 4;
    case GPUL_I64:
    case GPUL_U64:
    case GPUL_F64:
    case GPUL_POINTER: return 8;
    default: return 0;
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void trim(const char **text, size_t *length)
{
    while (*length && **text == ' ') ++*text, --*length;
    while (*length && (*text)[*length - 1] == ' ') --*length;
}

/* Takes a word away at the front or the back; true when it was there. */
static bool take_front(const char **text, size_t *length, const char *word)
{
    size_t size = strlen(word);
    if (*length < size || memcmp(*text, word, size) != 0 ||
        (*length > size && is_word((*text)[size])))
        return false;
    *text += size;
    *length -= size;
    trim(text, length);
    return true;
}

static bool take_back(const char **text, size_t *length, const char *word)
{
    size_t size = strlen(word);
    if (*length < size || memcmp(*text + *length - size, word, size) != 0 ||
        (*length > size && is_word((*text)[*length - size - 1])))
        return false;
    *length -= size;
    trim(text, length);
    return true;
}

static bool strip_qualifiers(const char **text, size_t *length)
{
    bool is_const = false, again = true;
    while (again) {
        again = false;
        if (take_front(text, length, "const") || take_back(text, length, "const"))
            is_const = again = true;
        if (take_front(text, length, "volatile") || take_back(text, length, "volatile") ||
            take_back(text, length, "__restrict__") || take_back(text, length, "__restrict") ||
            take_front(text, length, "struct") || take_front(text, length, "enum") ||
            take_front(text, length, "class") || take_front(text, length, "union"))
            again = true;
    }
    return is_const;
}

/* Only what stands behind the last star: `const float *const` is a const pointer. */
static bool strip_back(const char **text, size_t *length)
{
    bool is_const = false, again = true;
    while (again) {
        again = false;
        if (take_back(text, length, "const")) is_const = again = true;
        if (take_back(text, length, "volatile") || take_back(text, length, "__restrict__") ||
            take_back(text, length, "__restrict"))
            again = true;
    }
    return is_const;
}

bool gpul__type_text_read(gpul__type_text *out, gpul__arena *arena, const char *text)
{
    *out = (gpul__type_text){ .count = 1 };
    size_t length = strlen(text);
    trim(&text, &length);
    const char *group = memmem(text, length, "(*)", 3);
    if (!group) group = memmem(text, length, "(*const)", 8);
    if (group || memchr(text, '&', length) || memmem(text, length, "::*", 3)) {
        const char *behind = group ? memchr(group, ')', (size_t)(text + length - group)) : NULL;
        out->base = gpul__arena_strndup(arena, text, length);
        if (!out->base) return false;
        if (behind && behind + 1 < text + length && behind[1] == '[') {
            out->pointee = gpul__arena_printf(arena, "%.*s%.*s", (int)(group - text), text,
                                              (int)(text + length - behind - 1), behind + 1);
            return out->pointee != NULL;
        }
        out->is_function = true;
        return true;
    }
    /* Dimensions. */
    const char *open = NULL;
    if (length && text[length - 1] == ']') {
        long depth = 0;
        for (const char *c = text; c < text + length && !open; c++) {
            if (*c == '<') depth++;
            if (*c == '>') depth--;
            if (*c == '[' && depth <= 0) open = c;
        }
    }
    if (open) {
        uint64_t count = 1;
        for (const char *c = open; c < text + length; c++)
            if (*c == '[') {
                uint64_t dimension = strtoull(c + 1, NULL, 0);
                count = dimension && count < UINT32_MAX ? count * dimension : 0;
            }
        out->count = count > UINT32_MAX ? 0 : (uint32_t)count;
        length = (size_t)(open - text);
        trim(&text, &length);
    }
    const char *before = text;
    size_t before_length = length;
    bool pointer_const = strip_back(&before, &before_length);
    if (before_length && before[before_length - 1] == '*') {
        out->is_const = pointer_const;
        before_length--;
        trim(&before, &before_length);
        out->pointee = gpul__arena_strndup(arena, before, before_length);
        while (before_length && strchr("* ", before[before_length - 1])) before_length--;
        text = before;
        length = before_length;
        if (!out->pointee) return false;
        strip_qualifiers(&text, &length);
    } else {
        out->is_const = strip_qualifiers(&text, &length);
    }
    out->base = gpul__arena_strndup(arena, text, length);
    return out->base != NULL;
}

/* ---- Names of types ---- */

struct known {
    const char *name;
    uint8_t type, lanes, align, size; /* type: of a lane; size 0: lanes times the lane's */
};

static const struct known named[] = {
#define X(code, name, element, lanes, align) { #name, GPUL_##element, lanes, align, 0 },
    GPUL__TYPE_CODES(X)
#undef X
        { "__nv_bool", GPUL_BOOL, 1, 1, 0 },
    { "int8_t", GPUL_I8, 1, 1, 0 },
    { "uint8_t", GPUL_U8, 1, 1, 0 },
    { "int16_t", GPUL_I16, 1, 2, 0 },
    { "uint16_t", GPUL_U16, 1, 2, 0 },
    { "int32_t", GPUL_I32, 1, 4, 0 },
    { "uint32_t", GPUL_U32, 1, 4, 0 },
    { "int64_t", GPUL_I64, 1, 8, 0 },
    { "uint64_t", GPUL_U64, 1, 8, 0 },
    { "size_t", GPUL_U64, 1, 8, 0 },
    { "ptrdiff_t", GPUL_I64, 1, 8, 0 },
    { "intptr_t", GPUL_I64, 1, 8, 0 },
    { "uintptr_t", GPUL_U64, 1, 8, 0 },
    { "ssize_t", GPUL_I64, 1, 8, 0 },
    { "clock_t", GPUL_I64, 1, 8, 0 },
    { "wchar_t", GPUL_I32, 1, 4, 0 },
    { "char16_t", GPUL_U16, 1, 2, 0 },
    { "char32_t", GPUL_U32, 1, 4, 0 },
    { "uint", GPUL_U32, 1, 4, 0 },
    { "ushort", GPUL_U16, 1, 2, 0 },
    { "ulong", GPUL_U64, 1, 8, 0 },
    { "CUdeviceptr", GPUL_U64, 1, 8, 0 },
    { "half", GPUL_F16, 1, 2, 0 },
    { "__half", GPUL_F16, 1, 2, 0 },
    { "half2", GPUL_F16, 2, 4, 0 },
    { "__half2", GPUL_F16, 2, 4, 0 },
    { "nv_bfloat16", GPUL_BF16, 1, 2, 0 },
    { "__nv_bfloat16", GPUL_BF16, 1, 2, 0 },
    { "nv_bfloat162", GPUL_BF16, 2, 4, 0 },
    { "__nv_bfloat162", GPUL_BF16, 2, 4, 0 },
    { "cuComplex", GPUL_F32, 2, 8, 0 },
    { "cuFloatComplex", GPUL_F32, 2, 8, 0 },
    { "cuDoubleComplex", GPUL_F64, 2, 16, 0 },
    { "dim3", GPUL_U32, 3, 4, 0 },
    { "longlong3", GPUL_I64, 3, 8, 0 },
    { "ulonglong3", GPUL_U64, 3, 8, 0 },
    { "long3", GPUL_I64, 3, 8, 0 },
    { "ulong3", GPUL_U64, 3, 8, 0 },
    { "double3", GPUL_F64, 3, 8, 0 },
    { "longlong4", GPUL_I64, 4, 16, 0 },
    { "ulonglong4", GPUL_U64, 4, 16, 0 },
    { "long4", GPUL_I64, 4, 16, 0 },
    { "ulong4", GPUL_U64, 4, 16, 0 },
    { "double4", GPUL_F64, 4, 16, 0 },
    { "longlong4_16a", GPUL_I64, 4, 16, 0 },
    { "longlong4_32a", GPUL_I64, 4, 32, 0 },
    { "ulonglong4_16a", GPUL_U64, 4, 16, 0 },
    { "ulonglong4_32a", GPUL_U64, 4, 32, 0 },
    { "long4_16a", GPUL_I64, 4, 16, 0 },
    { "long4_32a", GPUL_I64, 4, 32, 0 },
    { "ulong4_16a", GPUL_U64, 4, 16, 0 },
    { "ulong4_32a", GPUL_U64, 4, 32, 0 },
    { "double4_16a", GPUL_F64, 4, 16, 0 },
    { "double4_32a", GPUL_F64, 4, 32, 0 },
    { "void", GPUL_VOID, 1, 0, 0 },
    { "cudaTextureObject_t", GPUL_OTHER, 1, 8, 8 },
    { "cudaSurfaceObject_t", GPUL_OTHER, 1, 8, 8 },
    { "CUtexObject", GPUL_OTHER, 1, 8, 8 },
    { "CUsurfObject", GPUL_OTHER, 1, 8, 8 },
    { "CUtensorMap", GPUL_OTHER, 1, 64, 128 },
    { "__int128", GPUL_OTHER, 1, 16, 16 },
    { "unsigned __int128", GPUL_OTHER, 1, 16, 16 },
};

static const struct known *find_named(const char *name)
{
    if (gpul__starts(name, "std::")) name += 5;
    if (gpul__starts(name, "::")) name += 2;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].name, name) == 0) return &named[i];
    return NULL;
}

/* "long unsigned int" and its like: words in any order. */
static const struct known *find_words(const char *name)
{
    int longs = 0, shorts = 0, chars = 0, others = 0;
    bool is_unsigned = false, is_signed = false;
    for (const char *at = name; *at;) {
        size_t length = strcspn(at, " ");
        if (length == 4 && memcmp(at, "long", 4) == 0) longs++;
        else if (length == 5 && memcmp(at, "short", 5) == 0) shorts++;
        else if (length == 4 && memcmp(at, "char", 4) == 0) chars++;
        else if (length == 8 && memcmp(at, "unsigned", 8) == 0) is_unsigned = true;
        else if (length == 6 && memcmp(at, "signed", 6) == 0) is_signed = true;
        else if (length == 3 && memcmp(at, "int", 3) == 0)
            ;
        else others++;
        at += length;
        while (*at == ' ') at++;
    }
    if (others || (!longs && !shorts && !chars && !is_unsigned && !is_signed)) return NULL;
    const char *plain = chars    ? (is_unsigned ? "unsigned char"
                                    : is_signed ? "signed char"
                                                : "char")
                        : shorts ? (is_unsigned ? "unsigned short" : "short")
                        : longs  ? (is_unsigned ? "unsigned long" : "long")
                                 : (is_unsigned ? "unsigned int" : "int");
    return find_named(plain);
}

static const struct known *find_known(const char *name)
{
    const struct known *known = find_named(name);
    return known ? known : find_words(name);
}

const char *gpul__last_part(const char *name, size_t *length)
{
    const char *last = name, *stop = NULL;
    long depth = 0;
    for (const char *c = name; *c; c++) {
        if (*c == '<' && depth++ == 0) stop = c;
        if (*c == '>') depth--;
        if (depth == 0 && c[0] == ':' && c[1] == ':') {
            last = c + 2;
            stop = NULL;
        }
    }
    *length = stop ? (size_t)(stop - last) : strlen(last);
    return last;
}

const gpul__struct *gpul__struct_find(const gpul__type_book *book, const char *name)
{
    if (gpul__starts(name, "::")) name += 2;
    for (size_t i = 0; i < book->struct_count; i++)
        if (strcmp(book->structs[i].name, name) == 0) return &book->structs[i];
    if (strchr(name, '<')) return NULL;
    size_t length, other_length;
    const char *last = gpul__last_part(name, &length);
    const gpul__struct *only = NULL;
    for (size_t i = 0; i < book->struct_count; i++) {
        const char *other = gpul__last_part(book->structs[i].name, &other_length);
        if (strchr(book->structs[i].name, '<') || other_length != length ||
            memcmp(other, last, length) != 0)
            continue;
        if (only) return NULL;
        only = &book->structs[i];
    }
    return only;
}

/* The one typedef of that name, its text in *alias; an enumeration gives the underlying type. */
enum found { FOUND_NOTHING, FOUND_ALIAS, FOUND_ENUM, FOUND_SEVERAL, FOUND_CLASS };
static enum found find_in_source(const gpul__scan *scan, gpul__arena *arena, const char *name,
                                 const char **alias)
{
    if (!scan) return FOUND_NOTHING;
    size_t length, from = 0;
    const char *last = gpul__last_part(name, &length);
    char plain[256];
    if (length >= sizeof plain) return FOUND_NOTHING;
    memcpy(plain, last, length);
    plain[length] = 0;
    enum found found = FOUND_NOTHING;
    *alias = NULL;
    for (const gpul__decl *decl; (decl = gpul__scan_type(scan, plain, &from));) {
        if (decl->kind == GPUL__DECLARED_CLASS) {
            if (found != FOUND_NOTHING && found != FOUND_CLASS) return FOUND_SEVERAL;
            found = FOUND_CLASS;
        } else if (decl->kind == GPUL__DECLARED_ENUM) {
            if (found != FOUND_NOTHING) return FOUND_SEVERAL;
            found = FOUND_ENUM;
            size_t colon = decl->name;
            while (colon < decl->body && !gpul__token_is(scan->tokens, colon, ":") &&
                   !gpul__token_is(scan->tokens, colon, "{"))
                colon++;
            *alias =
                colon < decl->body && gpul__token_is(scan->tokens, colon, ":")
                    ? gpul__spell(arena, scan->tokens, colon + 1, decl->body - 1, GPUL__NO_TOKEN)
                    : "int";
        } else {
            if (found == FOUND_ALIAS && *alias && strcmp(*alias, decl->alias) == 0) continue;
            if (found != FOUND_NOTHING || decl->uncertain) return FOUND_SEVERAL;
            found = FOUND_ALIAS;
            *alias = decl->alias;
        }
    }
    return found;
}

const char *gpul__type_alias(const gpul__scan *scan, gpul__arena *arena, const char *name)
{
    const char *alias = NULL;
    if (find_known(name) || find_in_source(scan, arena, name, &alias) != FOUND_ALIAS) return NULL;
    return alias && *alias ? alias : NULL;
}

bool gpul__type_needs_code(const gpul__scan *scan, const char *base)
{
    if (!*base || strchr(base, '(') || find_known(base)) return false;
    gpul__arena scratch = { 0 };
    const char *alias;
    bool needs = true, known = false;
    for (int depth = 0; depth < 8 && !known; depth++) {
        enum found found = find_in_source(scan, &scratch, base, &alias);
        if (found == FOUND_CLASS || found == FOUND_ENUM) {
            needs = false;
            break;
        }
        gpul__type_text text;
        if (found != FOUND_ALIAS || !alias || !*alias ||
            !gpul__type_text_read(&text, &scratch, alias))
            break;
        base = text.base;
        known = text.pointee || find_known(base);
    }
    gpul__arena_free(&scratch);
    return needs && !known;
}

static bool add_lanes(gpul_member *out, gpul__arena *arena)
{
    static const char *const names[] = { "x", "y", "z", "w" };
    uint32_t size = (uint32_t)gpul_type_size(out->element);
    gpul_member *lanes = gpul__arena_alloc(arena, out->lanes * sizeof *lanes);
    if (!lanes) return false;
    for (uint32_t i = 0; i < out->lanes; i++)
        lanes[i] = (gpul_member){ .name = names[i],
                                  .type_name = gpul_type_name(out->element),
                                  .type = out->element,
                                  .element = out->element,
                                  .lanes = 1,
                                  .size = size,
                                  .align = size,
                                  .offset = i * size,
                                  .count = 1 };
    out->members = lanes;
    out->member_count = out->lanes;
    return true;
}

static bool is_one_lane_vector(const char *name)
{
    size_t length = strlen(name);
    return length > 1 && name[length - 1] == '1' && isalpha((unsigned char)name[length - 2]);
}

static bool fill_known(gpul_member *out, const struct known *known, gpul__arena *arena)
{
    bool vector = known->lanes > 1 || is_one_lane_vector(known->name);
    out->element = (gpul_type)known->type;
    out->lanes = known->lanes;
    out->type = vector ? GPUL_STRUCT : out->element;
    out->size = known->size ? known->size : (uint32_t)gpul_type_size(out->element) * known->lanes;
    out->align = known->align;
    return !vector || add_lanes(out, arena);
}

static bool fill_code(gpul_member *out, gpul__arena *arena, int code)
{
    if (code & GPUL__TYPE_CODE_ENUM) {
        out->is_enum = true;
        out->type = out->element = GPUL_I32;
        out->size = out->align = 4;
        return true;
    }
    static const struct {
        int code;
        const char *name;
    } codes[] = {
#define X(code, name, element, lanes, align) { code, #name },
        GPUL__TYPE_CODES(X)
#undef X
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code) return fill_known(out, find_named(codes[i].name), arena);
    return true;
}

static bool fill(gpul_member *out, const gpul__type_book *book, const char *text, int code,
                 int depth)
{
    gpul__type_text parts;
    if (!gpul__type_text_read(&parts, book->arena, text)) return false;
    uint32_t dimension = parts.count;
    out->count = dimension;
    if (parts.is_function) {
        out->type = out->element = GPUL_OTHER;
        out->size = out->align = 8;
    } else if (parts.pointee) {
        out->type = out->element = GPUL_POINTER;
        out->size = out->align = 8;
    } else {
        const struct known *known = find_known(parts.base);
        const gpul__struct *found = known ? NULL : gpul__struct_find(book, parts.base);
        const char *alias = NULL;
        enum found in_source = known || found
                                   ? FOUND_NOTHING
                                   : find_in_source(book->scan, book->arena, parts.base, &alias);
        if (known) {
            if (!fill_known(out, known, book->arena)) return false;
        } else if (found) {
            out->type = out->element = GPUL_STRUCT;
            out->size = found->size;
            out->align = found->align;
            out->members = found->members;
            out->member_count = found->member_count;
        } else if (code > GPUL__TYPE_CODE_NONE) {
            if (!fill_code(out, book->arena, code)) return false;
        } else if (in_source == FOUND_CLASS) {
            out->type = out->element = GPUL_STRUCT;
        } else if ((in_source == FOUND_ALIAS || in_source == FOUND_ENUM) && alias && *alias &&
                   depth < 8) {
            if (in_source == FOUND_ENUM) out->is_enum = true;
            /* The alias may itself be an array. */
            if (!fill(out, book, alias, 0, depth + 1)) return false;
            out->count = (uint64_t)out->count * dimension > UINT32_MAX ? 0 : out->count * dimension;
        }
    }
    out->size = (uint64_t)out->size * dimension > UINT32_MAX ? 0 : out->size * dimension;
    return true;
}

bool gpul__type_fill(gpul_member *out, const gpul__type_book *book, const char *text, int code)
{
    out->type = out->element = GPUL_TYPE_UNKNOWN;
    out->lanes = out->count = 1;
    out->size = out->align = 0;
    out->members = NULL;
    out->member_count = 0;
    out->is_enum = false;
    return fill(out, book, text, code, 0);
}
