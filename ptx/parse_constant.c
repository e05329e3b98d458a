/* Constant expressions: numbers with C's operators, in 64-bit integers or doubles.
 * SPDX-License-Identifier: MIT */
#include "ptx/parse.h"

#include <math.h>
#include <string.h>

static ptx_constant integer(uint64_t bits, bool is_unsigned)
{
    return (ptx_constant){ .bits = bits, .is_unsigned = is_unsigned };
}

static ptx_constant floating(double value)
{
    ptx_constant result = { .is_float = true, .width = 64 };
    memcpy(&result.bits, &value, sizeof value);
    return result;
}

double ptx_constant_double(const ptx_constant *value)
{
    if (!value->is_float)
        return value->is_unsigned ? (double)value->bits : (double)(int64_t)value->bits;
    if (value->width == 64) {
        double wide;
        memcpy(&wide, &value->bits, sizeof wide);
        return wide;
    }
    uint32_t bits = (uint32_t)value->bits;
    float narrow;
    memcpy(&narrow, &bits, sizeof narrow);
    return narrow;
}

uint16_t ptx_half_from_double(double value, bool brain)
{
    const int fraction = brain ? 7 : 10, lowest = brain ? -126 : -14, bias = brain ? 127 : 15;
    const uint16_t infinity = brain ? 0x7f80 : 0x7c00;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value)) return 0x7fff;
    if (isinf(value)) return sign | infinity;
    if (value == 0) return sign;
    int exponent;
    frexp(fabs(value), &exponent);
    exponent--;
    if (exponent < lowest) exponent = lowest;
    /* Units in the last place of the result, at most 2^(fraction + 1): exact in a double. */
    double units = nearbyint(ldexp(fabs(value), fraction - exponent));
    uint32_t rounded = (uint32_t)units;
    uint32_t bits = rounded;
    if (rounded >> fraction)
        bits = rounded - (1u << fraction) + ((uint32_t)(exponent + bias) << fraction);
    return sign | (bits >= infinity ? infinity : (uint16_t)bits);
}

bool ptx_starts_constant(const ptx_parser *parser)
{
    const ptx_token *token = &parser->token;
    if (token->kind == PTX_TOKEN_INTEGER || token->kind == PTX_TOKEN_FLOAT) return true;
    return token->kind == PTX_TOKEN_PUNCT && memchr("-+~(", token->punct, 4);
}

/* ------------------------------------------------------------------ operators */

/* The binary operators, loosest first; zero ends the search. */
typedef enum operator{
    NO_OPERATOR,
    OR_OR,
    AND_AND,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    EQUAL,
    NOT_EQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    PLUS,
    MINUS,
    TIMES,
    DIVIDE,
    REMAINDER,
}
operator;

static int strength(operator op)
{
    static const uint8_t strengths[] = {
        [OR_OR] = 1,         [AND_AND] = 2,    [BIT_OR] = 3,      [BIT_XOR] = 4,    [BIT_AND] = 5,
        [EQUAL] = 6,         [NOT_EQUAL] = 6,  [LESS] = 7,        [LESS_EQUAL] = 7, [GREATER] = 7,
        [GREATER_EQUAL] = 7, [SHIFT_LEFT] = 8, [SHIFT_RIGHT] = 8, [PLUS] = 9,       [MINUS] = 9,
        [TIMES] = 10,        [DIVIDE] = 10,    [REMAINDER] = 10,
    };
    return strengths[op];
}

/* Which operator stands here, and how many tokens it takes: `<<` is two. */
static operator operator_here(const ptx_parser *parser, int *tokens)
{
    *tokens = 1;
    if (parser->token.kind != PTX_TOKEN_PUNCT) return NO_OPERATOR;
    const char *at = parser->lexer.at;
    char next = at < parser->lexer.end ? *at : 0;
    switch (parser->token.punct) {
    case '+': return PLUS;
    case '-': return MINUS;
    case '*': return TIMES;
    case '/': return DIVIDE;
    case '%': return REMAINDER;
    case '^': return BIT_XOR;
    case '&': *tokens = next == '&' ? 2 : 1; return next == '&' ? AND_AND : BIT_AND;
    case '|': *tokens = next == '|' ? 2 : 1; return next == '|' ? OR_OR : BIT_OR;
    case '=': *tokens = 2; return next == '=' ? EQUAL : NO_OPERATOR;
    case '!': *tokens = 2; return next == '=' ? NOT_EQUAL : NO_OPERATOR;
    case '<':
        *tokens = next == '<' || next == '=' ? 2 : 1;
        return next == '<' ? SHIFT_LEFT : next == '=' ? LESS_EQUAL : LESS;
    case '>':
        *tokens = next == '>' || next == '=' ? 2 : 1;
        return next == '>' ? SHIFT_RIGHT : next == '=' ? GREATER_EQUAL : GREATER;
    default: return NO_OPERATOR;
    }
}

static bool apply_float(ptx_parser *parser, operator op, double a, double b, ptx_constant *out)
{
    switch (op) {
    case PLUS: *out = floating(a + b); return true;
    case MINUS: *out = floating(a - b); return true;
    case TIMES: *out = floating(a * b); return true;
    case DIVIDE: *out = floating(a / b); return true;
    case EQUAL: *out = integer(a == b, false); return true;
    case NOT_EQUAL: *out = integer(a != b, false); return true;
    case LESS: *out = integer(a < b, false); return true;
    case LESS_EQUAL: *out = integer(a <= b, false); return true;
    case GREATER: *out = integer(a > b, false); return true;
    case GREATER_EQUAL: *out = integer(a >= b, false); return true;
    default: return ptx_syntax(parser, "this operator takes integers");
    }
}

static uint64_t divide(operator op, uint64_t a, uint64_t b, bool is_unsigned)
{
    if (is_unsigned) return op == DIVIDE ? a / b : a % b;
    /* The one quotient that does not fit wraps around. */
    if (b == UINT64_MAX) return op == DIVIDE ? 0 - a : 0;
    int64_t x = (int64_t)a, y = (int64_t)b;
    return (uint64_t)(op == DIVIDE ? x / y : x % y);
}

static bool apply(ptx_parser *parser, operator op, const ptx_constant *left,
                  const ptx_constant *right, ptx_constant *out)
{
    if (left->is_float || right->is_float)
        return apply_float(parser, op, ptx_constant_double(left), ptx_constant_double(right), out);
    uint64_t a = left->bits, b = right->bits;
    int64_t x = (int64_t)a, y = (int64_t)b;
    bool is_unsigned = left->is_unsigned || right->is_unsigned;
    switch (op) {
    case OR_OR: *out = integer(a || b, false); return true;
    case AND_AND: *out = integer(a && b, false); return true;
    case BIT_OR: *out = integer(a | b, is_unsigned); return true;
    case BIT_XOR: *out = integer(a ^ b, is_unsigned); return true;
    case BIT_AND: *out = integer(a & b, is_unsigned); return true;
    case EQUAL: *out = integer(a == b, false); return true;
    case NOT_EQUAL: *out = integer(a != b, false); return true;
    case LESS: *out = integer(is_unsigned ? a < b : x < y, false); return true;
    case LESS_EQUAL: *out = integer(is_unsigned ? a <= b : x <= y, false); return true;
    case GREATER: *out = integer(is_unsigned ? a > b : x > y, false); return true;
    case GREATER_EQUAL: *out = integer(is_unsigned ? a >= b : x >= y, false); return true;
    case SHIFT_LEFT: *out = integer(b < 64 ? a << b : 0, left->is_unsigned); return true;
    case SHIFT_RIGHT:
        if (b > 63) b = 63, a = left->is_unsigned ? 0 : a;
        *out = integer(left->is_unsigned || x >= 0 ? a >> b : ~(~a >> b), left->is_unsigned);
        return true;
    case PLUS: *out = integer(a + b, is_unsigned); return true;
    case MINUS: *out = integer(a - b, is_unsigned); return true;
    case TIMES: *out = integer(a * b, is_unsigned); return true;
    case DIVIDE:
    case REMAINDER:
        if (!b) return ptx_syntax(parser, "division by zero in a constant");
        *out = integer(divide(op, a, b, is_unsigned), is_unsigned);
        return true;
    default: return ptx_syntax(parser, "expected an operator");
    }
}

/* ------------------------------------------------------------------ the grammar */

static bool parse_conditional(ptx_parser *parser, ptx_constant *value);

static bool deeper(ptx_parser *parser)
{
    if (++parser->expression_depth <= PTX_DEEPEST_EXPRESSION) return true;
    return ptx_syntax(parser, "the constant expression is nested too deeply");
}

/* (.s64) or (.u64) before an operand */
static bool cast_here(ptx_parser *parser, bool *to_unsigned)
{
    if (parser->token.kind != PTX_TOKEN_DOTTED) return false;
    const ptx_word *word =
        ptx_word_find(parser->token.text, parser->token.length, parser->token.hash);
    if (!word || (word->type != PTX_U64 && word->type != PTX_S64)) return false;
    *to_unsigned = word->type == PTX_U64;
    return true;
}

static bool parse_unary(ptx_parser *parser, ptx_constant *value);

static bool parse_primary(ptx_parser *parser, ptx_constant *value)
{
    const ptx_token token = parser->token;
    if (token.kind == PTX_TOKEN_INTEGER) {
        *value = integer(token.bits, token.is_unsigned || token.bits > INT64_MAX);
        ptx_next(parser);
        return true;
    }
    if (token.kind == PTX_TOKEN_FLOAT) {
        *value = (ptx_constant){ .is_float = true, .width = token.width, .bits = token.bits };
        ptx_next(parser);
        return true;
    }
    if (token.kind == PTX_TOKEN_NAME && token.length == 7 && !memcmp(token.text, "WARP_SZ", 7)) {
        *value = integer(32, false);
        ptx_next(parser);
        return true;
    }
    if (!ptx_accept(parser, '(')) return ptx_syntax(parser, "expected a number");
    bool to_unsigned;
    if (cast_here(parser, &to_unsigned)) {
        ptx_next(parser);
        if (!ptx_expect(parser, ')', "after the cast") || !parse_unary(parser, value)) return false;
        if (value->is_float) {
            double whole = trunc(ptx_constant_double(value));
            if (!(whole >= -9223372036854775808.0 && whole < 18446744073709551616.0))
                return ptx_syntax(parser, "the cast's operand does not fit into 64 bits");
            value->bits = whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole;
            value->is_float = false;
        }
        value->is_unsigned = to_unsigned;
        return true;
    }
    return parse_conditional(parser, value) && ptx_expect(parser, ')', "after the expression");
}

static bool parse_unary(ptx_parser *parser, ptx_constant *value)
{
    char sign = parser->token.kind == PTX_TOKEN_PUNCT ? parser->token.punct : 0;
    if (!deeper(parser)) return false;
    if (!sign || !memchr("-+~!", sign, 4)) {
        if (!parse_primary(parser, value)) return false;
        parser->expression_depth--;
        return true;
    }
    ptx_next(parser);
    if (!parse_unary(parser, value)) return false;
    if (value->is_float) {
        if (sign == '-') value->bits ^= (uint64_t)1 << (value->width - 1);
        else if (sign != '+') return ptx_syntax(parser, "this operator takes an integer");
    } else if (sign == '-') {
        /* -9223372036854775808 is a signed number again. */
        value->is_unsigned = value->is_unsigned && value->bits != (uint64_t)1 << 63;
        value->bits = 0 - value->bits;
    } else if (sign == '~') {
        value->bits = ~value->bits;
    } else if (sign == '!') {
        *value = integer(!value->bits, false);
    }
    parser->expression_depth--;
    return true;
}

static bool parse_binary(ptx_parser *parser, ptx_constant *value, int weakest)
{
    if (!deeper(parser) || !parse_unary(parser, value)) return false;
    int tokens;
    for (operator op;
         (op = operator_here(parser, &tokens)) != NO_OPERATOR && strength(op) >= weakest;) {
        for (int i = 0; i < tokens; i++) ptx_next(parser);
        ptx_constant right;
        if (!parse_binary(parser, &right, strength(op) + 1) ||
            !apply(parser, op, value, &right, value))
            return false;
    }
    parser->expression_depth--;
    return true;
}

static bool parse_conditional(ptx_parser *parser, ptx_constant *value)
{
    if (!deeper(parser) || !parse_binary(parser, value, 1)) return false;
    if (ptx_accept(parser, '?')) {
        ptx_constant yes, no;
        if (!parse_conditional(parser, &yes) ||
            !ptx_expect(parser, ':', "in the conditional expression") ||
            !parse_conditional(parser, &no))
            return false;
        bool condition = value->is_float ? ptx_constant_double(value) != 0 : value->bits != 0;
        *value = condition ? yes : no;
    }
    parser->expression_depth--;
    return true;
}

bool ptx_parse_constant(ptx_parser *parser, ptx_constant *value)
{
    parser->expression_depth = 0;
    return parse_conditional(parser, value);
}
