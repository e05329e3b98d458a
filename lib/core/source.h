/* CUDA source as text: made ready for the compiler, cut into tokens, and positions in it.  What the
 * tokens declare is source_scan.h; host code is set aside in source_host.h.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_SOURCE_H
#define GPUL_CORE_SOURCE_H

#include <gpulaunch/gpulaunch.h>

#include "base/alloc.h"

/* Source text ready for NVRTC: no byte order mark, no carriage return that stands alone, and no NUL
 * inside.  Line numbers are those of the original. */
typedef struct gpul__source {
    const char *name; /* in diagnostics */
    char *text;       /* owned; ends in NUL */
    size_t length;
    size_t *lines; /* offset of each line's start; owned */
    size_t line_count;
} gpul__source;

/* GL0508 for UTF-16, UTF-32, embedded NUL bytes and invalid UTF-8, with the line. */
gpul_status gpul__source_prepare(gpul__source *out, const char *name, const char *text,
                                 size_t length);
void gpul__source_free(gpul__source *source);

/* A copy of text that is taken as it is, without looking at its encoding.  False: out of memory. */
bool gpul__source_take(gpul__source *out, const char *name, const char *text, size_t length);

/* 1-based line of an offset; the line's text without its end; 1-based column in characters. */
uint32_t gpul__source_line(const gpul__source *source, size_t offset);
const char *gpul__source_line_text(const gpul__source *source, uint32_t line, size_t *length);
uint32_t gpul__source_column(const gpul__source *source, size_t offset);
uint32_t gpul__characters(const char *text, size_t bytes);

typedef enum gpul__token_kind {
    GPUL__TOKEN_END = 0,
    GPUL__TOKEN_WORD, /* identifier or keyword */
    GPUL__TOKEN_NUMBER,
    GPUL__TOKEN_STRING, /* with its prefix; raw strings too */
    GPUL__TOKEN_CHARACTER,
    GPUL__TOKEN_MARK,      /* punctuation: one character, or :: -> << <<< >>> ... */
    GPUL__TOKEN_DIRECTIVE, /* a whole preprocessor line with its continuations */
} gpul__token_kind;

typedef struct gpul__token {
    uint8_t kind;
    bool uncertain; /* under a condition whose value is not known here */
    uint32_t length;
    size_t offset;
} gpul__token;

typedef struct gpul__tokens {
    const char *text;
    gpul__token *items; /* ends with GPUL__TOKEN_END, which is not counted */
    size_t count, capacity;
} gpul__tokens;

/* Whether a macro is defined, as far as is known. */
typedef enum gpul__known { GPUL__KNOWN_NO = 0, GPUL__KNOWN_YES, GPUL__KNOWN_MAYBE } gpul__known;

/* The macros that conditions are judged by.  `defines` and `undefines` as in gpul_compile_opts. */
typedef struct gpul__macros {
    const char *const *defines, *const *undefines;
} gpul__macros;

/* Cuts the text into tokens, without comments and without what conditions surely leave out (#if 0,
 * #ifndef __CUDACC_RTC__).  False: out of memory. */
bool gpul__tokenize(gpul__tokens *out, const char *text, size_t length, const gpul__macros *macros);

/* The same for a part of a text, behind the tokens that are there already. */
bool gpul__tokenize_part(gpul__tokens *tokens, const char *text, size_t offset, size_t length,
                         const gpul__macros *macros);
void gpul__tokens_free(gpul__tokens *tokens);

static inline bool gpul__token_is(const gpul__tokens *tokens, size_t index, const char *word)
{
    const gpul__token *token = &tokens->items[index];
    const char *text = tokens->text + token->offset;
    uint32_t i = 0;
    while (i < token->length && word[i] && text[i] == word[i]) i++;
    return i == token->length && !word[i] && token->kind != GPUL__TOKEN_STRING &&
           token->kind != GPUL__TOKEN_END;
}

/* The word after '#', and where the rest of a directive starts: "include", "<stdio.h>". */
bool gpul__directive_is(const char *text, const gpul__token *token, const char *word,
                        const char **rest, size_t *rest_length);

/* The header that an #include names: its length without the marks, 0 when it is none. */
size_t gpul__include_of(const char *text, const gpul__token *token, const char **name,
                        bool *quoted);

#endif
