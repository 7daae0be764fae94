/* lex.c - splits bytes into words and logical lines. */
#include "domain/arc/program/parse_impl.h"

#include <stdlib.h>
#include <string.h>

#include "util/list.h"
#include "util/status.h"

typedef struct {
    const char *text;
    size_t n, at;
    size_t line_start; /* of the physical line */
    int line;          /* of the file */
    qn_arc_notes *notes;
    qn_arc_words *out;
    size_t token_room, line_room;
    int first;                      /* token of the logical line, -1 before it has one */
    int is_broken;                  /* of the logical line */
    int open[QN_ARC_MOST_BRACKETS]; /* tokens of the open brackets */
    int n_open;
} lexer;

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static char peek(const lexer *l, size_t ahead)
{
    return l->at + ahead < l->n ? l->text[l->at + ahead] : '\0';
}

/* Output. */

static int add_token(lexer *l, qn_arc_token_kind kind, size_t at, size_t len, int col)
{
    qn_arc_words *w = l->out;

    if (QN_GROW(w->tokens, w->n_tokens, &l->token_room, "words", NULL) != QN_OK)
        return 0;
    if (l->first < 0 && kind != QN_ARC_TOK_END)
        l->first = w->n_tokens;
    w->tokens[w->n_tokens++] = (qn_arc_token){ .at = (uint32_t)at,
                                               .len = (uint32_t)len,
                                               .line = l->line,
                                               .col = col,
                                               .kind = (uint8_t)kind,
                                               .byte = at < l->n ? l->text[at] : '\0' };
    return 1;
}

static int column(const lexer *l)
{
    return (int)(l->at - l->line_start) + 1;
}

/* Ends the logical line, if it has any words. */
static int end_line(lexer *l)
{
    qn_arc_words *w = l->out;

    if (l->first >= 0) {
        const qn_arc_token last = w->tokens[w->n_tokens - 1];
        const int n = w->n_tokens - l->first;

        if (!add_token(l, QN_ARC_TOK_END, last.at, 0, last.col + (int)last.len) ||
            QN_GROW(w->lines, w->n_lines, &l->line_room, "lines", NULL) != QN_OK)
            return 0;
        w->tokens[w->n_tokens - 1].line = last.line;
        w->lines[w->n_lines++] = (qn_arc_line){ .first = l->first,
                                                .n = n,
                                                .indent = w->tokens[l->first].col - 1,
                                                .is_broken = l->is_broken };
    }
    l->first = -1;
    l->is_broken = 0;
    l->n_open = 0;
    return 1;
}

/* Brackets. */

static int starts_with_word(const char *text, size_t n, const char *word)
{
    const size_t len = strlen(word);

    return n >= len && memcmp(text, word, len) == 0 &&
           (n == len || !(is_letter(text[len]) || is_digit(text[len])));
}

/* Whether the physical line at l->at begins like a statement, as no argument does. */
static int is_statement_ahead(const lexer *l)
{
    static const char *const words[] = { "def", "return", "try", "except", "from", "import" };
    size_t at = l->at, name;

    while (at < l->n && is_blank(l->text[at]))
        at++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (starts_with_word(l->text + at, l->n - at, words[i]))
            return 1;
    if (starts_with_word(l->text + at, l->n - at, "o.append") ||
        starts_with_word(l->text + at, l->n - at, "s.append"))
        return 1;
    name = at;
    while (at < l->n && (is_letter(l->text[at]) || is_digit(l->text[at])))
        at++;
    if (at == name)
        return 0;
    while (at < l->n && is_blank(l->text[at]))
        at++;
    return at < l->n && l->text[at] == '=';
}

static void report_open_bracket(lexer *l)
{
    const qn_arc_token *t = &l->out->tokens[l->open[l->n_open - 1]];

    qn_arc_note_add(l->notes, QN_ARC_NOTE_ERROR, t->line, t->col, "'%c' is never closed", t->byte);
    l->is_broken = 1;
}

static int next_line(lexer *l)
{
    l->at++;
    l->line++;
    l->line_start = l->at;
    if (l->n_open > 0) {
        if (!is_statement_ahead(l))
            return 1;
        report_open_bracket(l);
    }
    return end_line(l);
}

static int punctuation(lexer *l, char c)
{
    const int token = l->out->n_tokens;

    if (!add_token(l, QN_ARC_TOK_CHAR, l->at, 1, column(l)))
        return 0;
    if (c == '(' || c == '[') {
        if (l->n_open < QN_ARC_MOST_BRACKETS) {
            l->open[l->n_open++] = token;
        } else {
            if (!l->is_broken)
                qn_arc_note_add(l->notes, QN_ARC_NOTE_ERROR, l->line, column(l),
                                "brackets are nested deeper than %d", QN_ARC_MOST_BRACKETS);
            l->is_broken = 1;
        }
    } else if ((c == ')' || c == ']') && l->n_open > 0) {
        l->n_open--;
    }
    l->at++;
    return 1;
}

/* A text in quotes; in triple quotes it may span lines. */
static int quoted(lexer *l)
{
    const char quote = l->text[l->at];
    const int is_long = peek(l, 1) == quote && peek(l, 2) == quote;
    const size_t edge = is_long ? 3 : 1, start = l->at, content = start + edge;
    const int col = column(l), line = l->line;
    size_t at = content, line_start = l->line_start;
    int newlines = 0;

    for (; at < l->n; at++) {
        const char c = l->text[at];

        if (c == '\n') {
            if (!is_long)
                break;
            newlines++;
            line_start = at + 1;
        } else if (c == '\\' && at + 1 < l->n && l->text[at + 1] != '\n') {
            at++;
        } else if (c == quote && (!is_long || (at + 2 < l->n && l->text[at + 1] == quote &&
                                               l->text[at + 2] == quote))) {
            if (!add_token(l, QN_ARC_TOK_STRING, content, at - content, col))
                return 0;
            l->at = at + edge;
            l->line = line + newlines;
            l->line_start = line_start;
            return 1;
        }
    }
    /* Never closed: the rest of the physical line is dropped, and the next one starts afresh. */
    qn_arc_note_add(l->notes, QN_ARC_NOTE_ERROR, line, col, "text is never closed");
    if (!add_token(l, QN_ARC_TOK_BAD, start, 1, col))
        return 0;
    l->is_broken = 1;
    l->n_open = 0;
    while (l->at < l->n && l->text[l->at] != '\n')
        l->at++;
    return 1;
}

/* All. */

static int run(lexer *l, int (*is_part)(char), qn_arc_token_kind kind)
{
    const size_t start = l->at;
    const int col = column(l);

    while (l->at < l->n && is_part(l->text[l->at]))
        l->at++;
    return add_token(l, kind, start, l->at - start, col);
}

static int is_letter_or_digit(char c)
{
    return is_letter(c) || is_digit(c);
}

static int next(lexer *l)
{
    const char c = l->text[l->at];

    if (c == '\n')
        return next_line(l);
    if (is_blank(c)) {
        l->at++;
        return 1;
    }
    if (c == '#') {
        while (l->at < l->n && l->text[l->at] != '\n')
            l->at++;
        return 1;
    }
    if (c == '\\' && (peek(l, 1) == '\n' || (peek(l, 1) == '\r' && peek(l, 2) == '\n'))) {
        l->at += peek(l, 1) == '\n' ? 2 : 3;
        l->line++;
        l->line_start = l->at;
        return 1;
    }
    if (is_letter(c))
        return run(l, is_letter_or_digit, QN_ARC_TOK_NAME);
    if (is_digit(c))
        return run(l, is_letter_or_digit, QN_ARC_TOK_INT);
    if (c == '\'' || c == '"')
        return quoted(l);
    if (c && strchr("()[],=.:-", c))
        return punctuation(l, c);
    if (!add_token(l, QN_ARC_TOK_BAD, l->at, 1, column(l)))
        return 0;
    l->at++;
    return 1;
}

qn_status qn_arc_lex(const char *text, size_t bytes, qn_arc_notes *notes, qn_arc_words *out,
                     qn_err *err)
{
    lexer l = { .text = text, .n = bytes, .line = 1, .notes = notes, .out = out, .first = -1 };
    int ok = 1;

    *out = (qn_arc_words){ .text = text };
    /* Skips a byte order mark. */
    if (bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        l.at = l.line_start = 3;
    while (ok && l.at < l.n)
        ok = next(&l);
    if (ok && l.n_open > 0)
        report_open_bracket(&l);
    if (ok)
        ok = end_line(&l);
    if (ok)
        return QN_OK;
    qn_arc_words_free(out);
    return qn_fail(err, QN_ERR_NOMEM, "no memory for the words of a program text of %zu bytes",
                   bytes);
}

void qn_arc_words_free(qn_arc_words *words)
{
    free(words->tokens);
    free(words->lines);
    *words = (qn_arc_words){ 0 };
}
