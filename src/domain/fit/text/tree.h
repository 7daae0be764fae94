/* tree.h - parses a program text into trees.
 *
 * Items are in the order of the text. Sums, products and logical chains are one node with many
 * operands, so that the depth of a tree is that of its parentheses. Everything is in one arena and
 * is freed with it.
 */
#ifndef QN_FIT_TEXT_TREE_H
#define QN_FIT_TEXT_TREE_H

#include "util/arena.h"
#include "util/status.h"
#include "util/str.h"

/* Faults of a program text, each with its position. */

enum { QN_FIT_MAX_DIAGNOSTICS = 20 };

typedef struct qn_fit_diagnostic {
    size_t at; /* byte of the text */
    char text[240];
} qn_fit_diagnostic;

typedef struct qn_fit_diagnostics {
    const char *file, *text;
    size_t bytes;
    qn_fit_diagnostic list[QN_FIT_MAX_DIAGNOSTICS];
    int n; /* faults past the limit are dropped */
    int is_out_of_memory;
} qn_fit_diagnostics;

/* Records a fault; at most one per position. */
void qn_fit_diagnose(qn_fit_diagnostics *c, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "unknown option momentum; did you mean eta?", where one of `names` (ended by NULL) is close. */
void qn_fit_diagnose_unknown(qn_fit_diagnostics *c, size_t at, const char *what, const char *name,
                             const char *const *names);

/* Records an error of a call; running out of memory is not a fault of the text. */
void qn_fit_diagnose_error(qn_fit_diagnostics *c, size_t at, const qn_err *why);

/* For each fault: FILE:LINE:COL: message, the source line, and a caret under the position. */
void qn_fit_diagnostics_print(const qn_fit_diagnostics *c, qn_str *out);

/* The first one as an error. */
qn_status qn_fit_diagnostics_fail(const qn_fit_diagnostics *c, qn_err *err);

enum {
    QN_FIT_MAX_TEXT = 16 << 20, /* bytes of a program */
    QN_FIT_MAX_NESTING = 200
};

typedef enum {
    QN_FIT_TREE_NUMBER,
    QN_FIT_TREE_NAME,
    QN_FIT_TREE_STRING, /* of sources only */
    QN_FIT_TREE_CALL,   /* name(kids) */
    QN_FIT_TREE_UNARY,  /* op of one kid: '-' or '!' */
    QN_FIT_TREE_CHAIN,  /* kids[0] ops[0] kids[1] ops[1] ..., from left to right */
    QN_FIT_TREE_POWER,
    QN_FIT_TREE_SELECT, /* kids: condition, then, else */
    QN_FIT_TREE_FIELD,  /* kid.name */
    QN_FIT_TREE_INDEX,  /* kids[0][kids[1]] */
    QN_FIT_TREE_VECTOR,
    QN_FIT_TREE_FOLD, /* name(variable in kids[0]: kids[1]) */
    QN_FIT_TREE_NAMED /* name = kid, in the arguments of sources */
} qn_fit_tree_kind;

/* Tokens of more than one character; chains use them as operators. */
enum {
    QN_FIT_TOK_EQ = 256,
    QN_FIT_TOK_NE,
    QN_FIT_TOK_LE,
    QN_FIT_TOK_GE,
    QN_FIT_TOK_AND,
    QN_FIT_TOK_OR,
    QN_FIT_TOK_ARROW,
    QN_FIT_TOK_NAME,
    QN_FIT_TOK_NUMBER,
    QN_FIT_TOK_STRING,
    QN_FIT_TOK_END,
    QN_FIT_TOK_BAD
};

typedef struct qn_fit_tree {
    qn_fit_tree_kind kind;
    size_t at;
    const char *name, *variable;
    double number;
    struct qn_fit_tree **kids;
    int *ops;
    int n_kids, op;
} qn_fit_tree;

typedef enum {
    QN_FIT_ITEM_INPUT, /* mesh, table, bal from a source */
    QN_FIT_ITEM_TABLE, /* numbers in the text */
    QN_FIT_ITEM_SET,
    QN_FIT_ITEM_CONST,
    QN_FIT_ITEM_PARAM,
    QN_FIT_ITEM_DATA,
    QN_FIT_ITEM_FUN,
    QN_FIT_ITEM_BLOCK, /* residual, energy */
    QN_FIT_ITEM_ELIMINATE,
    QN_FIT_ITEM_SOLVE,
    QN_FIT_ITEM_WRITE
} qn_fit_item_kind;

/* A name with its position; for a domain the member after the point, for a field its domain. */
typedef struct qn_fit_word {
    size_t at;
    const char *name, *member;
    int is_reference; /* field with -> */
    const char *to, *to_member;
    size_t to_at;
    qn_fit_tree *value; /* let, option, clause */
    const char *string; /* option */
} qn_fit_word;

typedef struct qn_fit_item {
    qn_fit_item_kind kind;
    size_t at;        /* of its keyword */
    qn_fit_word name; /* the declared name */
    const char *word; /* input: kind of source. block: "energy". solve, write: as named */
    qn_fit_word *domain;
    const char *loop;
    int dim; /* of a type, 0: none given */
    qn_fit_tree *value, *where;
    qn_fit_word *words; /* fields, columns, parameters of a function, options, clauses */
    int n_words;
    qn_fit_word *lets;
    int n_lets;
    qn_fit_tree **list; /* arguments, tuples (as vectors), yields */
    int n_list;
    double *numbers; /* of a table in the text, row by row */
    qn_i64 n_numbers;
    const char *string; /* write */
    size_t string_at;
} qn_fit_item;

typedef struct qn_fit_ast {
    qn_fit_item *items;
    int n_items;
    size_t item_room;
    qn_arena memory; /* of trees, words and names */
    int is_out_of_memory;
    qn_fit_tree nothing; /* replaces trees when memory is short */
} qn_fit_ast;

/* Zeroed memory of the arena; NULL when out of memory, which is_out_of_memory records. */
void *qn_fit_ast_alloc(qn_fit_ast *ast, size_t bytes);
void qn_fit_ast_free(qn_fit_ast *ast);

/* Parses all items; those with faults are in `diagnostics`. */
qn_status qn_fit_parse(qn_fit_diagnostics *diagnostics, qn_fit_ast *out, qn_err *err);

/* Lexer (parser.c). */

typedef struct qn_fit_token {
    int kind; /* a character, or a number of the list above */
    size_t at, end;
    double number;
} qn_fit_token;

/* The token at or after `at`. Reports bad characters. */
qn_fit_token qn_fit_next_token(qn_fit_diagnostics *c, size_t at);

/* "';'", "name", "the end" for messages. */
const char *qn_fit_token_name(int kind, char *out);

/* Shared by the two parsers. */

typedef struct qn_fit_parser {
    qn_fit_diagnostics *diagnostics;
    qn_fit_ast *ast;
    qn_fit_token token;
    size_t last_end; /* of the token before */
    int depth;
    int is_lost; /* a fault in this item has been reported */
} qn_fit_parser;

void qn_fit_advance(qn_fit_parser *p);
int qn_fit_is_word(const qn_fit_parser *p, const char *word);
int qn_fit_accept(qn_fit_parser *p, int kind);
int qn_fit_accept_word(qn_fit_parser *p, const char *word);
int qn_fit_expect(qn_fit_parser *p, int kind);
void qn_fit_unexpected(qn_fit_parser *p, const char *wanted);
const char *qn_fit_token_text(qn_fit_parser *p); /* of a name or a string, in the arena */

/* Words of the language cannot be declared, and most of them are not values. */
int qn_fit_is_among(const char *name, const char *const *words); /* ended by NULL */
int qn_fit_is_keyword(const char *name);
int qn_fit_is_no_value(const char *name);

/* Makes space for one more element of a list that grows in the arena. */
void *qn_fit_append(qn_fit_parser *p, void **list, int *n, size_t size);

/* parse_expr.c */
qn_fit_tree *qn_fit_parse_expr(qn_fit_parser *p);
/* Arguments up to ')'; with `is_source`, strings and NAME = value are allowed. */
void qn_fit_parse_args(qn_fit_parser *p, int is_source, qn_fit_tree ***list, int *n);

#endif
