/* The tokens of PTX.  Private to the front end.  SPDX-License-Identifier: MIT */
#ifndef PTX_LEX_H
#define PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,    /* foo, %r1, $L__BB0_1, _ */
    PTX_TOKEN_DOTTED,  /* .u32, .L2::128B: the text includes the dot */
    PTX_TOKEN_INTEGER, /* bits */
    PTX_TOKEN_FLOAT,   /* bits, width: 0f..., 0d..., 1.5 */
    PTX_TOKEN_STRING,  /* the text between the quotes, escapes as they are */
    PTX_TOKEN_PUNCT,   /* punct */
    PTX_TOKEN_BAD,     /* problem says why */
} ptx_token_kind;

typedef struct ptx_token {
    uint8_t kind;
    char punct;
    uint8_t width;    /* of a FLOAT: 32 or 64 */
    bool exact;       /* of a FLOAT: given by its bits */
    bool is_unsigned; /* of an INTEGER: suffix U */
    uint32_t length;
    uint32_t line;
    uint32_t hash; /* of NAME and DOTTED */
    const char *text;
    union {
        uint64_t bits;
        const char *problem;
    };
} ptx_token;

typedef struct ptx_lexer {
    const char *start, *at, *end;
    uint32_t line;
} ptx_lexer;

/* The text need not end in NUL.  NUL bytes at its very end are not part of it. */
void ptx_lexer_init(ptx_lexer *lexer, const char *text, size_t length);
void ptx_lex(ptx_lexer *lexer, ptx_token *token);

/* Where in its line `at` stands, from 1, and the line itself. */
uint32_t ptx_column(const char *start, const char *at);

/* Skips what stands between braces (the first is already read), strings and comments respected.
 * The lexer then stands behind the closing one; false when there is none. */
bool ptx_lex_skip_braces(ptx_lexer *lexer, const char **inside, size_t *length);

#endif
