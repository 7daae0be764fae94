/* parse_words.c - steps through the words of a line and reports unexpected ones. */
#include "domain/arc/program/parse_impl.h"

#include <string.h>

enum { SHOWN_NAME = 60 };

void qn_arc_error(qn_arc_parser *p, const qn_arc_token *at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    qn_arc_note_addv(p->notes, QN_ARC_NOTE_ERROR, at->line, at->col, format, args);
    va_end(args);
    if (p->program)
        p->program->n_errors++;
}

void qn_arc_warning(qn_arc_parser *p, int line, int col, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    qn_arc_note_addv(p->notes, QN_ARC_NOTE_WARNING, line, col, format, args);
    va_end(args);
}

const char *qn_arc_text_of(const qn_arc_parser *p, const qn_arc_token *token)
{
    return p->words.text + token->at;
}

void qn_arc_unexpected(qn_arc_parser *p)
{
    const qn_arc_token *t = p->token;
    const int len = t->len < SHOWN_NAME ? (int)t->len : SHOWN_NAME;

    if (p->is_lost)
        return;
    p->is_lost = 1;
    switch (t->kind) {
    case QN_ARC_TOK_END:
        qn_arc_error(p, t, "unexpected end of line");
        break;
    case QN_ARC_TOK_STRING:
        qn_arc_error(p, t, "unexpected text");
        break;
    case QN_ARC_TOK_BAD:
        if (t->byte > ' ' && t->byte < 127)
            qn_arc_error(p, t, "unexpected '%c'", t->byte);
        else
            qn_arc_error(p, t, "unexpected byte 0x%02X", (unsigned)(unsigned char)t->byte);
        break;
    default:
        qn_arc_error(p, t, "unexpected '%.*s'", len, qn_arc_text_of(p, t));
    }
}

void qn_arc_start_line(qn_arc_parser *p, int line)
{
    p->line = line;
    p->token = &p->words.tokens[p->words.lines[line].first];
    p->is_lost = 0;
}

int qn_arc_is_char(const qn_arc_token *token, char byte)
{
    return token->kind == QN_ARC_TOK_CHAR && token->byte == byte;
}

int qn_arc_is_word(const qn_arc_parser *p, const qn_arc_token *token, const char *word)
{
    return token->kind == QN_ARC_TOK_NAME && token->len == strlen(word) &&
           memcmp(qn_arc_text_of(p, token), word, token->len) == 0;
}

int qn_arc_take_char(qn_arc_parser *p, char byte)
{
    if (p->is_lost || !qn_arc_is_char(p->token, byte))
        return 0;
    p->token++;
    return 1;
}

void qn_arc_want_char(qn_arc_parser *p, char byte)
{
    if (!qn_arc_take_char(p, byte))
        qn_arc_unexpected(p);
}

void qn_arc_want_word(qn_arc_parser *p, const char *word)
{
    if (!p->is_lost && qn_arc_is_word(p, p->token, word))
        p->token++;
    else
        qn_arc_unexpected(p);
}

void qn_arc_want_end(qn_arc_parser *p)
{
    if (p->token->kind != QN_ARC_TOK_END)
        qn_arc_unexpected(p);
}

const qn_arc_token *qn_arc_want(qn_arc_parser *p, qn_arc_token_kind kind)
{
    const qn_arc_token *token = p->token;

    if (!p->is_lost && token->kind == kind)
        p->token++;
    else
        qn_arc_unexpected(p);
    return token;
}

char *qn_arc_token_text(qn_arc_parser *p, const qn_arc_token *token)
{
    char *copy = strndup(qn_arc_text_of(p, token), token->len);

    if (!copy)
        p->no_memory = 1;
    return copy;
}
