/* parse_impl.h - shared by the parts of the parser.
 *
 * The parser reads logical lines one after the other and appends nodes as it goes: names refer to
 * earlier assignments, so one pass is enough. A statement that breaks the grammar is abandoned at
 * its first fault; its variable then exists without a node (QN_ARC_NO_NODE), which suppresses
 * further errors about it.
 */
#ifndef QN_ARC_PARSE_IMPL_H
#define QN_ARC_PARSE_IMPL_H

#include "domain/arc/program/program.h"
#include "domain/arc/value/value.h"
#include "util/map.h"

/* The words of a program file, in logical lines.
 *
 * A newline inside brackets does not end a line. If the next line begins like a statement, the
 * closing bracket was forgotten: this is reported at the open bracket, and the line ends there.
 */

enum {
    QN_ARC_MOST_SOURCE = 16 << 20, /* bytes of a file */
    QN_ARC_MOST_BRACKETS = 64      /* open at once: bounds the parser's recursion */
};

typedef enum qn_arc_token_kind {
    QN_ARC_TOK_END, /* of the line, or of the file */
    QN_ARC_TOK_NAME,
    QN_ARC_TOK_INT,
    QN_ARC_TOK_STRING,
    QN_ARC_TOK_CHAR, /* one byte of punctuation */
    QN_ARC_TOK_BAD   /* a byte that belongs nowhere, or an unterminated text */
} qn_arc_token_kind;

typedef struct qn_arc_token {
    uint32_t at, len; /* in the source; of a text, without its quotes */
    int line, col;
    uint8_t kind;
    char byte; /* of CHAR and BAD */
} qn_arc_token;

/* Tokens first .. first + n - 1, then an END. Empty lines are omitted. */
typedef struct qn_arc_line {
    int first, n;
    int indent;    /* bytes in front of the first token */
    int is_broken; /* an error in its words was reported */
} qn_arc_line;

typedef struct qn_arc_words {
    const char *text;
    qn_arc_token *tokens;
    qn_arc_line *lines;
    int n_tokens, n_lines;
} qn_arc_words;

/* Accepts any bytes, up to QN_ARC_MOST_SOURCE. `text` is borrowed. */
qn_status qn_arc_lex(const char *text, size_t bytes, qn_arc_notes *notes, qn_arc_words *out,
                     qn_err *err);
void qn_arc_words_free(qn_arc_words *words);

enum {
    QN_ARC_NO_NODE = -1,
    QN_ARC_MOST_NAME = 255,    /* bytes of a name */
    QN_ARC_MOST_SUGGEST = 100, /* unknown names per file for which a similar one is suggested */
    QN_ARC_MOST_TEXT = 1024,   /* bytes of a text in a record */
    QN_ARC_MOST_NEEDS = 1024,  /* steps that a step waits for, besides its operands */
    QN_ARC_MOST_PROGRAMS = 1 << 16
};

typedef struct qn_arc_variable {
    int is_assigned; /* already; otherwise only further down */
    int is_used;     /* since its last assignment */
    int is_list;     /* o or s of a batt program */
    int node;
    int line, col; /* of the last assignment, or of the first one further down */
} qn_arc_variable;

typedef struct qn_arc_parser {
    qn_arc_words words;
    qn_arc_file *file;
    qn_arc_notes *notes;
    const qn_arc_binding *bindings;
    int n_bindings;
    int n_suggested;
    int no_memory;

    /* the line */
    int line;                  /* number in words.lines */
    const qn_arc_token *token; /* the next one */
    int is_lost;               /* a fault of grammar was reported: skip the line */

    /* the program */
    qn_arc_source *program;
    qn_map names; /* to index + 1 in variables */
    qn_arc_variable *variables;
    int n_variables;
    size_t variable_room;
    int has_return;
    int n_calls; /* written so far */
    int body;    /* line that gives the indentation, -1 before it is known */

    int *stack; /* of operands, while their call or tuple is being read */
    int n_stack;
    size_t stack_room;
} qn_arc_parser;

/* Words (parse_words.c). */

__attribute__((format(printf, 3, 4))) void qn_arc_error(qn_arc_parser *p, const qn_arc_token *at,
                                                        const char *format, ...);
__attribute__((format(printf, 4, 5))) void qn_arc_warning(qn_arc_parser *p, int line, int col,
                                                          const char *format, ...);
void qn_arc_unexpected(qn_arc_parser *p); /* reports the next token; the line is skipped */
void qn_arc_start_line(qn_arc_parser *p, int line);
int qn_arc_is_char(const qn_arc_token *token, char byte);
int qn_arc_is_word(const qn_arc_parser *p, const qn_arc_token *token, const char *word);
int qn_arc_take_char(qn_arc_parser *p, char byte);  /* 1 if it was next */
void qn_arc_want_char(qn_arc_parser *p, char byte); /* reports anything else */
void qn_arc_want_word(qn_arc_parser *p, const char *word);
void qn_arc_want_end(qn_arc_parser *p);
const qn_arc_token *qn_arc_want(qn_arc_parser *p, qn_arc_token_kind kind); /* never NULL */
char *qn_arc_token_text(qn_arc_parser *p, const qn_arc_token *token);      /* a copy */
const char *qn_arc_text_of(const qn_arc_parser *p, const qn_arc_token *token);

/* Names (parse_names.c). */

void qn_arc_forget_names(qn_arc_parser *p);
/* Registers the names assigned in lines from .. to - 1 as defined further down. */
void qn_arc_foresee(qn_arc_parser *p, int from, int to);
qn_arc_variable *qn_arc_variable_of(qn_arc_parser *p, const qn_arc_token *name); /* or NULL */
void qn_arc_assign(qn_arc_parser *p, const qn_arc_token *name, int node);
void qn_arc_assign_param(qn_arc_parser *p, const char *name, int node);
void qn_arc_warn_unused(qn_arc_parser *p);
const qn_arc_value *qn_arc_bound(const qn_arc_parser *p, const qn_arc_token *name); /* or NULL */
void qn_arc_unknown(qn_arc_parser *p, const qn_arc_token *name, const char *what);

/* Expressions (parse_expr.c): each returns a node or QN_ARC_NO_NODE. */

int qn_arc_parse_arg(qn_arc_parser *p);
int qn_arc_parse_call(qn_arc_parser *p); /* NAME ( arguments ) */
int qn_arc_add_node(qn_arc_parser *p, const qn_arc_node *node);
int qn_arc_parse_number(qn_arc_parser *p, int64_t *out); /* 1 if there was one */

/* Arguments up to the bracket `close`, then the call of `callee` on them. */
int qn_arc_call_until(qn_arc_parser *p, const qn_arc_token *callee, char close);

/* Statements of batt programs (parse_batt.c). */

void qn_arc_parse_list(qn_arc_parser *p, const qn_arc_token *name);   /* NAME = [] */
int qn_arc_parse_pile(qn_arc_parser *p, const qn_arc_token *name);    /* env.do_pile(...) */
void qn_arc_parse_append(qn_arc_parser *p, const qn_arc_token *name); /* o.append((...)) */
void qn_arc_parse_guarded(qn_arc_parser *p, int end); /* try: ...; moves p->line to its last line */

#endif
