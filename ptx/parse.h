/* The parser's state and the functions its files share.  Private to the front end.
 * SPDX-License-Identifier: MIT */
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include "ptx/symbols.h"

#define PTX_VECTOR(type)                                                                           \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/* A new last element, not initialised, or NULL with the parser stopped. */
#define PTX_PUSH(parser, vector)                                                                   \
    (gpul__grow(&(vector).items, &(vector).capacity, (vector).count, sizeof *(vector).items)       \
         ? &(vector).items[(vector).count++]                                                       \
         : ptx_no_memory(parser))

/* A label that was mentioned and is looked for when its scope closes. */
typedef struct ptx_pending_label {
    ptx_name *name;
    ptx_operand *operand;
    const char *at;
    uint32_t line, length;
    uint32_t next; /* of the same scope: index + 1 */
} ptx_pending_label;

typedef struct ptx_open_scope {
    uint32_t index;         /* in function->scopes */
    uint32_t pending_first; /* index + 1 into pending labels, or 0 */
    uint32_t pending_last;
} ptx_open_scope;

enum {
    PTX_DEEPEST_SCOPE = 200,
    PTX_DEEPEST_EXPRESSION = 256,
    PTX_DEEPEST_OPERAND = 4,
    PTX_MOST_OPERANDS = 200,
    PTX_MOST_ITEMS = 4096,
    PTX_MOST_WORDS = 24,
};

/* Who listens while bodies are skimmed: for signatures, no instruction is parsed. */
typedef struct ptx_skim {
    void *self;
    /* A special register; `component` is -1 when none or the whole register is named. */
    void (*special)(void *self, const ptx_function *function, const ptx_word *word, int component);
    /* A mention of a variable or function of the module; false: no memory. */
    bool (*symbol)(void *self, const ptx_function *function, const ptx_binding *binding);
    /* Shared memory declared in the body. */
    void (*shared)(void *self, const ptx_function *function, const ptx_variable *variable);
} ptx_skim;

struct ptx_parser;

/* How bodies are read.  Behind pointers, so that a library that only skims carries no instruction parser. */
typedef struct ptx_body_reader {
    bool (*read)(struct ptx_parser *parser); /* up to the brace that ends the body */
    bool (*done)(struct ptx_parser *parser, ptx_function *function); /* behind it */
} ptx_body_reader;
extern const ptx_body_reader ptx_parsed_bodies,
    ptx_skimmed_bodies; /* parse_function.c, parse_skim.c */

typedef struct ptx_parser {
    ptx_module *module;
    ptx_diags *diags;
    ptx_symbols symbols;
    ptx_lexer lexer;
    ptx_token token;       /* the one to be looked at */
    const char *token_end; /* where the token before it ended */
    bool stopped;          /* a syntax error or no memory: unwind */
    bool out_of_memory;
    bool version_too_new;
    uint32_t expression_depth;
    uint32_t location; /* the .loc in force: index + 1, or 0 */
    const ptx_body_reader *bodies;
    const ptx_skim *skim; /* who listens; NULL unless bodies are skimmed */

    PTX_VECTOR(ptx_variable *) globals;
    PTX_VECTOR(ptx_function *) functions;
    PTX_VECTOR(ptx_alias) aliases;
    PTX_VECTOR(ptx_file) files;
    PTX_VECTOR(ptx_location) locations;
    PTX_VECTOR(ptx_section) sections;
    PTX_VECTOR(ptx_pragma) pragmas;
    PTX_VECTOR(ptx_statement) items;

    /* The function being parsed, or NULL. */
    ptx_function *function;
    PTX_VECTOR(ptx_register_group) groups;
    PTX_VECTOR(ptx_register) registers;
    PTX_VECTOR(ptx_variable *) variables;
    PTX_VECTOR(ptx_label) labels;
    PTX_VECTOR(ptx_scope_range) scopes;
    PTX_VECTOR(ptx_prototype) prototypes;
    PTX_VECTOR(ptx_table) tables;
    PTX_VECTOR(ptx_pragma) body_pragmas;
    PTX_VECTOR(ptx_instruction) instructions;
    PTX_VECTOR(ptx_statement) statements;
    PTX_VECTOR(ptx_open_scope) open_scopes;
    PTX_VECTOR(ptx_pending_label) pending;
    /* The instruction being parsed: its spelling for messages, or length 0. */
    const char *spelling;
    uint32_t spelling_length;
    PTX_VECTOR(ptx_operand) operands; /* a stack */
    PTX_VECTOR(ptx_variable) variable_stack;
} ptx_parser;

/* parse.c: tokens, messages, memory; ptx_parse. */
ptx_status ptx_parse_with(ptx_module **out, const char *text, size_t length, ptx_diags *diags,
                          const ptx_body_reader *bodies, const ptx_skim *skim);
void *ptx_no_memory(ptx_parser *parser); /* stops the parser; NULL */
void *ptx_parser_alloc(ptx_parser *parser, size_t count, size_t size);
void *ptx_parser_copy(ptx_parser *parser, const void *items, size_t count, size_t size);
void ptx_next(ptx_parser *parser);
bool ptx_at(const ptx_parser *parser, char punct);
bool ptx_at_directive(const ptx_parser *parser, ptx_directive directive);
ptx_directive ptx_directive_here(const ptx_parser *parser);
bool ptx_accept(ptx_parser *parser, char punct);
bool ptx_expect(ptx_parser *parser, char punct, const char *where);
ptx_name *ptx_expect_name(ptx_parser *parser, const char *what);
bool ptx_expect_u32(ptx_parser *parser, uint32_t *value, const char *what);
/* Notes what stands next in the text: of the body that is open, else of the module. */
bool ptx_log(ptx_parser *parser, ptx_statement_kind kind, size_t index);
ptx_name *ptx_token_name(ptx_parser *parser); /* interns the current token */
/* A fault in the meaning: the parse goes on and fails at its end.  Always false. */
bool ptx_report(ptx_parser *parser, const char *at, uint32_t line, uint32_t width,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same for a fault in the form, at the current token: the parse stops. */
bool ptx_syntax(ptx_parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ptx_parser_diag(ptx_parser *parser, ptx_severity severity, const char *at, uint32_t line,
                     uint32_t width, const char *text);

/* parse_constant.c */
typedef struct ptx_constant {
    bool is_float, is_unsigned;
    uint8_t width; /* of a float: 32 or 64 */
    uint64_t bits;
} ptx_constant;
bool ptx_parse_constant(ptx_parser *parser, ptx_constant *value);
bool ptx_starts_constant(const ptx_parser *parser);
double ptx_constant_double(const ptx_constant *value);
uint16_t ptx_half_from_double(double value, bool brain); /* rounded to nearest even */

/* parse_variable.c: everything that is declared with a space and a type. */
bool ptx_parse_globals(ptx_parser *parser, ptx_linkage linkage);
bool ptx_parse_locals(ptx_parser *parser);
bool ptx_parse_registers(ptx_parser *parser);
bool ptx_parse_parameters(ptx_parser *parser, ptx_variable **params, uint32_t *count,
                          bool of_prototype);
bool ptx_bind_parameters(ptx_parser *parser, ptx_variable *params, uint32_t count);
uint32_t ptx_add_register(ptx_parser *parser, uint32_t group, uint32_t number);

/* parse_initialiser.c */
bool ptx_parse_initialiser(ptx_parser *parser, ptx_variable *variable);

/* parse_function.c */
bool ptx_parse_function(ptx_parser *parser, ptx_linkage linkage);
uint32_t ptx_scope_here(const ptx_parser *parser);

/* parse_instruction.c, parse_operand.c */
bool ptx_parse_instruction(ptx_parser *parser, const ptx_token *opcode, uint32_t guard,
                           bool guard_negated, const char *start, uint32_t line);
bool ptx_parse_operand(ptx_parser *parser, ptx_operand *operand);
bool ptx_parse_register(ptx_parser *parser, uint32_t *index); /* for guards */
bool ptx_parse_label(ptx_parser *parser, ptx_operand *operand);

/* parse_debug.c */
bool ptx_parse_file(ptx_parser *parser);
bool ptx_parse_loc(ptx_parser *parser);
bool ptx_parse_section(ptx_parser *parser);
void ptx_name_inlined_functions(ptx_parser *parser);

/* check.c: every instruction of a function whose body is complete.  False: no memory. */
bool ptx_check_function(ptx_parser *parser, ptx_function *function);

#endif
