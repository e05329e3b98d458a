/* The lexer: from text to tokens, one at a time and without memory of its own.
 * SPDX-License-Identifier: MIT */
#include "ptx/lex.h"

#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/vocabulary.h"

enum { START = 1, FOLLOW = 2, DIGIT = 4, SPACE = 8, HEX = 16, MARK = 32 };

/* clang-format off */
#define LETTER (START | FOLLOW)
#define HEXLET (START | FOLLOW | HEX)
#define NUMBER (FOLLOW | DIGIT | HEX)
static const unsigned char classes[256] = {
    [' '] = SPACE, ['\t'] = SPACE, ['\r'] = SPACE, ['\n'] = SPACE, ['\f'] = SPACE, ['\v'] = SPACE,
    ['0'] = NUMBER, ['1'] = NUMBER, ['2'] = NUMBER, ['3'] = NUMBER, ['4'] = NUMBER, ['5'] = NUMBER,
    ['6'] = NUMBER, ['7'] = NUMBER, ['8'] = NUMBER, ['9'] = NUMBER,
    ['a'] = HEXLET, ['b'] = HEXLET, ['c'] = HEXLET, ['d'] = HEXLET, ['e'] = HEXLET, ['f'] = HEXLET,
    ['A'] = HEXLET, ['B'] = HEXLET, ['C'] = HEXLET, ['D'] = HEXLET, ['E'] = HEXLET, ['F'] = HEXLET,
    ['g'] = LETTER, ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER, ['l'] = LETTER,
    ['m'] = LETTER, ['n'] = LETTER, ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER,
    ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER, ['w'] = LETTER, ['x'] = LETTER,
    ['y'] = LETTER, ['z'] = LETTER, ['G'] = LETTER, ['H'] = LETTER, ['I'] = LETTER, ['J'] = LETTER,
    ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER, ['N'] = LETTER, ['O'] = LETTER, ['P'] = LETTER,
    ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER, ['U'] = LETTER, ['V'] = LETTER,
    ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER, ['Z'] = LETTER, ['_'] = LETTER, ['$'] = LETTER,
    ['%'] = START,
    ['('] = MARK, [')'] = MARK, ['{'] = MARK, ['}'] = MARK, ['['] = MARK, [']'] = MARK,
    ['<'] = MARK, ['>'] = MARK, [','] = MARK, [';'] = MARK, [':'] = MARK, ['|'] = MARK,
    ['!'] = MARK, ['@'] = MARK, ['+'] = MARK, ['-'] = MARK, ['*'] = MARK, ['/'] = MARK,
    ['~'] = MARK, ['&'] = MARK, ['^'] = MARK, ['='] = MARK, ['?'] = MARK, ['.'] = MARK,
};
#undef LETTER
#undef HEXLET
#undef NUMBER
/* clang-format on */

static bool is(char c, unsigned mask)
{
    return (classes[(unsigned char)c] & mask) != 0;
}

void ptx_lexer_init(ptx_lexer *lexer, const char *text, size_t length)
{
    while (length && text[length - 1] == 0) length--;
    *lexer = (ptx_lexer){ .start = text, .at = text, .end = text + length, .line = 1 };
}

uint32_t ptx_column(const char *start, const char *at)
{
    const char *line = at;
    while (line > start && line[-1] != '\n') line--;
    return (uint32_t)(at - line) + 1;
}

static void skip_line(ptx_lexer *lexer)
{
    const char *end = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
    lexer->at = end ? end : lexer->end;
}

static bool at_line_start(const ptx_lexer *lexer)
{
    const char *c = lexer->at;
    while (c > lexer->start && (c[-1] == ' ' || c[-1] == '\t')) c--;
    return c == lexer->start || c[-1] == '\n';
}

/* Skips white space, comments, `# line` marks and the @@DWARF lines of old compilers.  False: a
 * comment that does not end. */
static bool skip_blanks(ptx_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        size_t left = (size_t)(lexer->end - lexer->at);
        if (c == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (is(c, SPACE)) {
            lexer->at++;
        } else if (c == '/' && left > 1 && lexer->at[1] == '/') {
            skip_line(lexer);
        } else if (c == '/' && left > 1 && lexer->at[1] == '*') {
            const char *begin = lexer->at;
            uint32_t line = lexer->line;
            lexer->at += 2;
            for (;; lexer->at++) {
                if (lexer->end - lexer->at < 2) {
                    lexer->at = begin;
                    lexer->line = line;
                    return false;
                }
                if (*lexer->at == '\n') lexer->line++;
                if (lexer->at[0] == '*' && lexer->at[1] == '/') break;
            }
            lexer->at += 2;
        } else if ((c == '#' && at_line_start(lexer)) ||
                   (c == '@' && left > 6 && !memcmp(lexer->at, "@@DWARF", 7))) {
            skip_line(lexer);
        } else {
            return true;
        }
    }
    return true;
}

static void bad(ptx_token *token, const char *problem)
{
    token->kind = PTX_TOKEN_BAD;
    token->problem = problem;
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void open_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The decimal point is a point whatever the program's locale says. */
static bool decimal(const char *text, size_t length, double *value)
{
    char buffer[128];
    if (length >= sizeof buffer) return false;
    memcpy(buffer, text, length);
    buffer[length] = 0;
    pthread_once(&c_locale_once, open_c_locale);
    char *end;
    *value = c_locale ? strtod_l(buffer, &end, c_locale) : strtod(buffer, &end);
    return *end == 0;
}

/* Reads digits of a base into bits; false when they do not fit. */
static bool digits(const char *at, const char *end, unsigned base, uint64_t *bits)
{
    *bits = 0;
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        unsigned digit = c <= '9' ? c - (unsigned)'0' : (c | 0x20u) - 'a' + 10u;
        if (digit >= base) return false;
        uint64_t next;
        if (__builtin_mul_overflow(*bits, (uint64_t)base, &next) ||
            __builtin_add_overflow(next, (uint64_t)digit, bits))
            return false;
    }
    return true;
}

static const char *run(const char *at, const char *end, unsigned mask)
{
    while (at < end && is(*at, mask)) at++;
    return at;
}

static void lex_exact_float(ptx_lexer *lexer, ptx_token *token, uint8_t width)
{
    const char *first = lexer->at + 2, *last = run(first, lexer->end, HEX);
    if (last - first != width / 4 || (last < lexer->end && is(*last, FOLLOW))) {
        bad(token, width == 32 ? "a 0f constant has exactly 8 hexadecimal digits"
                               : "a 0d constant has exactly 16 hexadecimal digits");
        last = run(last, lexer->end, FOLLOW);
    } else {
        token->kind = PTX_TOKEN_FLOAT;
        token->width = width;
        token->exact = true;
        digits(first, last, 16, &token->bits);
    }
    lexer->at = last;
}

static void lex_number(ptx_lexer *lexer, ptx_token *token)
{
    const char *at = lexer->at, *end = lexer->end;
    char second = at[0] == '0' && end - at > 1 ? (char)(at[1] | 0x20) : 0;
    if (second == 'f' || second == 'd') {
        lex_exact_float(lexer, token, second == 'f' ? 32 : 64);
        return;
    }
    token->kind = PTX_TOKEN_INTEGER;
    unsigned base = 10;
    const char *first = at;
    if (second == 'x') {
        base = 16;
        first = at + 2;
    } else if (second == 'b') {
        base = 2;
        first = at + 2;
    } else if (second && is(at[1], DIGIT)) {
        base = 8;
        first = at + 1;
    }
    const char *last = run(first, end, base == 16 ? HEX : DIGIT);
    bool point = base != 16 && base != 2 && last < end && *last == '.' && last + 1 < end &&
                 is(last[1], DIGIT);
    bool exponent = base != 16 && base != 2 && last < end && (*last | 0x20) == 'e';
    if (point || exponent) {
        if (point) last = run(last + 1, end, DIGIT);
        if (last < end && (*last | 0x20) == 'e') {
            const char *power = last + 1;
            if (power < end && (*power == '+' || *power == '-')) power++;
            last = run(power, end, DIGIT);
        }
        double value;
        token->kind = PTX_TOKEN_FLOAT;
        token->width = 64;
        if ((last < end && is(*last, FOLLOW)) || !decimal(at, (size_t)(last - at), &value))
            bad(token, "not a correct floating-point constant");
        else memcpy(&token->bits, &value, sizeof value);
    } else {
        const char *behind = last;
        if (behind < end && *behind == 'U') {
            token->is_unsigned = true;
            behind++;
        }
        if (first == last && base != 8) bad(token, "a number without digits");
        else if (behind < end && is(*behind, FOLLOW)) bad(token, "not a correct number");
        else if (!digits(first, last, base, &token->bits))
            bad(token, "the number does not fit into 64 bits");
        last = behind;
    }
    lexer->at = run(last, end, FOLLOW);
}

static void lex_word(ptx_lexer *lexer, ptx_token *token, bool dotted)
{
    const char *at = lexer->at;
    uint32_t hash = ptx_hash_step(ptx_hash_start(), (unsigned char)*at++);
    for (; at < lexer->end; at++) {
        if (!is(*at, FOLLOW)) {
            /* `::` joins the parts of .shared::cta and the like. */
            bool joined =
                dotted && *at == ':' && lexer->end - at > 2 && at[1] == ':' && is(at[2], FOLLOW);
            if (!joined) break;
            hash = ptx_hash_step(hash, ':');
            at++;
        }
        hash = ptx_hash_step(hash, (unsigned char)*at);
    }
    token->kind = dotted ? PTX_TOKEN_DOTTED : PTX_TOKEN_NAME;
    token->hash = hash;
    lexer->at = at;
    if (at - token->text == 1 && *token->text == '%') {
        /* Alone it is the remainder operator of constant expressions. */
        token->kind = PTX_TOKEN_PUNCT;
        token->punct = '%';
    }
}

static void lex_string(ptx_lexer *lexer, ptx_token *token)
{
    const char *at = ++lexer->at;
    while (at < lexer->end && *at != '"' && *at != '\n') {
        if (*at == '\\' && lexer->end - at > 1 && at[1] != '\n') at++;
        at++;
    }
    token->text = lexer->at;
    token->length = (uint32_t)(at - lexer->at);
    token->kind = PTX_TOKEN_STRING;
    if (at < lexer->end && *at == '"') at++;
    else bad(token, "the string does not end");
    lexer->at = at;
}

void ptx_lex(ptx_lexer *lexer, ptx_token *token)
{
    *token = (ptx_token){ 0 };
    bool blanks = skip_blanks(lexer);
    token->line = lexer->line;
    token->text = lexer->at;
    if (!blanks) {
        bad(token, "the comment does not end");
        lexer->at = lexer->end;
        token->length = 2;
        return;
    }
    if (lexer->at >= lexer->end) return;
    char c = *lexer->at;
    if (is(c, START)) {
        lex_word(lexer, token, false);
    } else if (is(c, DIGIT)) {
        lex_number(lexer, token);
    } else if (c == '.' && lexer->end - lexer->at > 1 && is(lexer->at[1], FOLLOW)) {
        lex_word(lexer, token, true);
    } else if (c == '"') {
        lex_string(lexer, token);
        return;
    } else {
        lexer->at++;
        token->kind = PTX_TOKEN_PUNCT;
        token->punct = c;
        if (!is(c, MARK)) bad(token, "unexpected character");
    }
    token->length = (uint32_t)(lexer->at - token->text);
}

bool ptx_lex_skip_braces(ptx_lexer *lexer, const char **inside, size_t *length)
{
    *inside = lexer->at;
    for (size_t depth = 1; skip_blanks(lexer) && lexer->at < lexer->end;) {
        char c = *lexer->at;
        if (c == '"') {
            ptx_token token = { 0 };
            lex_string(lexer, &token);
            continue;
        }
        if (c == '{') depth++;
        if (c == '}' && --depth == 0) {
            *length = (size_t)(lexer->at - *inside);
            lexer->at++;
            return true;
        }
        lexer->at++;
    }
    return false;
}
