/* lex.h - the words of a program file, in logical lines.
 *
 * A newline inside brackets does not end a line. When the next line begins like a statement, the
 * bracket was forgotten: that is reported at the bracket, and the line ends there.
 */
#ifndef QN_ARC_LEX_H
#define QN_ARC_LEX_H

#include "notes.h"

enum {
    QN_ARC_MOST_SOURCE = 16 << 20, /* bytes of a file */
    QN_ARC_MOST_BRACKETS = 64      /* open at once: bounds how deep the parser calls itself */
};

typedef enum qn_arc_token_kind {
    QN_ARC_TOK_END, /* of the line, or of the file */
    QN_ARC_TOK_NAME,
    QN_ARC_TOK_INT,
    QN_ARC_TOK_STRING,
    QN_ARC_TOK_CHAR, /* one byte of punctuation */
    QN_ARC_TOK_BAD   /* a byte that belongs nowhere, or a text without an end */
} qn_arc_token_kind;

typedef struct qn_arc_token {
    uint32_t at, len; /* in the source; of a text, without its quotes */
    int line, col;
    uint8_t kind;
    char byte; /* of CHAR and BAD */
} qn_arc_token;

/* Tokens first .. first + n - 1, then an END. Empty lines are left out. */
typedef struct qn_arc_line {
    int first, n;
    int indent;    /* bytes in front of the first token */
    int is_broken; /* an error was reported while its words were found */
} qn_arc_line;

typedef struct qn_arc_words {
    const char *text;
    qn_arc_token *tokens;
    qn_arc_line *lines;
    int n_tokens, n_lines;
} qn_arc_words;

/* Any bytes will do, up to QN_ARC_MOST_SOURCE. `text` is borrowed. */
qn_status qn_arc_lex(const char *text, size_t bytes, qn_arc_notes *notes, qn_arc_words *out,
                     qn_err *err);
void qn_arc_words_free(qn_arc_words *words);

#endif
