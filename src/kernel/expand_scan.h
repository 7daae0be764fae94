/* expand_scan.h - splits kernel text into tokens: names, numbers, marks and preprocessor lines.
 *
 * Comments and literals are skipped.
 */
#ifndef QN_KERNEL_EXPAND_SCAN_H
#define QN_KERNEL_EXPAND_SCAN_H

#include <stddef.h>

typedef enum {
    QN_TOKEN_END,
    QN_TOKEN_NAME,
    QN_TOKEN_NUMBER,
    QN_TOKEN_MARK, /* any other single character */
    QN_TOKEN_DIRECTIVE
} qn_token_kind;

typedef struct qn_token {
    qn_token_kind kind;
    size_t begin, end;
    int line;
    int at_margin; /* in the first column of its line */
} qn_token;

typedef struct qn_scan {
    const char *text;
    size_t at;
    int line;          /* from 1 */
    int line_is_fresh; /* only white space since the last newline */
} qn_scan;

/* A token as text for messages. */
typedef struct qn_token_text {
    char text[48];
} qn_token_text;

qn_scan qn_scan_open(const char *text);
qn_token qn_scan_next(qn_scan *s);
qn_token qn_scan_peek(const qn_scan *s);

int qn_token_is_word(const qn_scan *s, qn_token t, const char *word);
int qn_token_is_mark(const qn_scan *s, qn_token t, char mark);
qn_token_text qn_token_show(const qn_scan *s, qn_token t);

#endif
