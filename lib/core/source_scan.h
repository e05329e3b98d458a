/* What CUDA source declares, read without a compiler: kernels with their parameters, structs with their
 * members, typedefs, functions, includes.  Good enough to name things and to place probes that the
 * compiler then answers; never the last word on a type.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_SOURCE_SCAN_H
#define GPUL_CORE_SOURCE_SCAN_H

#include "core/source.h"

typedef enum gpul__declared {
    GPUL__DECLARED_OTHER = 0, /* macros, assertions, namespace aliases: left alone */
    GPUL__DECLARED_FUNCTION,
    GPUL__DECLARED_VARIABLE,
    GPUL__DECLARED_CLASS, /* also union */
    GPUL__DECLARED_ENUM,
    GPUL__DECLARED_TYPE, /* typedef, using X = */
    GPUL__DECLARED_USING /* using namespace, using a::b */
} gpul__declared;

#define GPUL__NO_TOKEN SIZE_MAX

/* A declaration at namespace scope, or a class inside a class.  Token ranges are [first, end). */
typedef struct gpul__decl {
    gpul__declared kind;
    size_t first, end;
    size_t name;                         /* token, GPUL__NO_TOKEN when there is none */
    size_t params, params_end;           /* between the parentheses */
    size_t body, body_end;               /* between the braces; equal when there is none */
    size_t bases, bases_end;             /* of a class */
    size_t arguments, arguments_end;     /* of an instantiated template's name: between < and > */
    size_t template_first, template_end; /* between the < and > of `template <...>` */
    bool has_body;
    bool is_template, is_instantiation, is_extern_c, is_class_member;
    bool is_global, is_device, is_host, is_constant, is_constexpr, is_static, is_const;
    bool has_type;     /* words that can be a type stand before the name */
    bool has_macro;    /* an unknown word in capitals among its specifiers: it may be anything */
    bool uncertain;    /* under a condition that is not known */
    uint32_t file;     /* 0: the source itself, else one of its headers */
    const char *scope; /* "demo::inner::", "" at file scope; "(anonymous namespace)::" */
    const char *alias; /* of a TYPE: what it stands for, as spelled */
} gpul__decl;

typedef struct gpul__scan {
    gpul__arena arena;
    const gpul__tokens *tokens;
    gpul__decl *decls; /* in the order of the text */
    size_t count, capacity;
    bool has_launches; /* a <<< was seen */
} gpul__scan;

/* Reads the declarations among tokens [first, end), which are those of one file.  False: out of memory.
 * The tokens must outlive the scan. */
void gpul__scan_begin(gpul__scan *out, const gpul__tokens *tokens);
bool gpul__scan_part(gpul__scan *scan, size_t first, size_t end, uint32_t file);
void gpul__scan_free(gpul__scan *scan);

/* The text of a token, in the arena. */
const char *gpul__token_text(gpul__arena *arena, const gpul__tokens *tokens, size_t index);

/* "demo::poly<float, 1>" for `template <typename T, int N>` in demo: something for each parameter that has no
 * default; "" when the list has something else in it.  NULL: out of memory. */
const char *gpul__template_example(gpul__arena *arena, const gpul__tokens *tokens,
                                   const gpul__decl *decl);

/* After the group that opens at `index` with ( [ or {; after `<` up to its `>`. */
size_t gpul__after_group(const gpul__tokens *tokens, size_t index, size_t end);
size_t gpul__after_angles(const gpul__tokens *tokens, size_t index, size_t end);

/* A class or typedef by the last part of its name: the first at or after index *from, which is moved
 * behind it; NULL when there is no further one. */
const gpul__decl *gpul__scan_type(const gpul__scan *scan, const char *name, size_t *from);

/* A parameter or member as the source declares it. */
typedef struct gpul__declarator {
    const char *name;  /* "" when unnamed */
    const char *type;  /* normal spelling: "const float *", "float[2]", without __restrict__ */
    size_t first, end; /* tokens of the declaration, without a default value */
    size_t name_token;
    bool is_bits;   /* a bit-field */
    bool is_hidden; /* private or protected */
    size_t nested;  /* of a member whose struct is defined in place: its body's first token; 0 */
    size_t nested_end;
} gpul__declarator;

typedef struct gpul__declarators {
    gpul__declarator *items;
    size_t count, capacity;
    bool uncertain; /* conditions that are not known, or text that was not understood */
} gpul__declarators;

/* The parameters of a function.  Freed by gpul__free(items); strings live in the arena. */
bool gpul__scan_params(gpul__declarators *out, gpul__arena *arena, const gpul__tokens *tokens,
                       const gpul__decl *function);

/* The data members between two tokens of a class body; those of anonymous structs and unions inside
 * are listed as its own. */
bool gpul__scan_members(gpul__declarators *out, gpul__arena *arena, const gpul__tokens *tokens,
                        size_t first, size_t end, bool hidden);

/* The normal spelling of tokens as a type, leaving out token `skip`. */
const char *gpul__spell(gpul__arena *arena, const gpul__tokens *tokens, size_t first, size_t end,
                        size_t skip);

/* Words that are types by themselves, or parts of one. */
bool gpul__is_type_word(const char *word, size_t length);

#endif
