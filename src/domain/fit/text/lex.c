/* lex.c - characters to tokens. */
#include "domain/fit/text/tree.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t skip_blank(const qn_fit_diagnostics *c, size_t at)
{
    while (at < c->bytes) {
        if (c->text[at] == '#')
            while (at < c->bytes && c->text[at] != '\n')
                at++;
        else if (c->text[at] == ' ' || (c->text[at] >= '\t' && c->text[at] <= '\r'))
            at++;
        else
            break;
    }
    return at;
}

static int is_name(char ch)
{
    return isalnum((unsigned char)ch) || ch == '_';
}

static char char_at(const qn_fit_diagnostics *c, size_t at)
{
    return at < c->bytes ? c->text[at] : 0;
}

static size_t digits(const qn_fit_diagnostics *c, size_t at)
{
    while (isdigit((unsigned char)char_at(c, at)))
        at++;
    return at;
}

static void read_number(qn_fit_diagnostics *c, qn_fit_token *t)
{
    size_t at = digits(c, t->at);
    char text[512];

    if (char_at(c, at) == '.')
        at = digits(c, at + 1);
    if (char_at(c, at) == 'e' || char_at(c, at) == 'E') {
        size_t exponent = at + 1;

        exponent += char_at(c, exponent) == '+' || char_at(c, exponent) == '-';
        if (isdigit((unsigned char)char_at(c, exponent)))
            at = digits(c, exponent);
    }
    t->end = at;
    t->kind = QN_FIT_TOK_NUMBER;
    snprintf(text, sizeof text, "%.*s", at - t->at < 500 ? (int)(at - t->at) : 500,
             c->text + t->at);
    t->number = strtod(text, NULL);
    if (is_name(char_at(c, at))) {
        qn_fit_diagnose(c, t->at, "'%c' may not follow a number", char_at(c, at));
        t->kind = QN_FIT_TOK_BAD;
    } else if (!isfinite(t->number) || at - t->at >= 500) {
        qn_fit_diagnose(c, t->at, "number too large");
        t->kind = QN_FIT_TOK_BAD;
    }
}

static void read_string(qn_fit_diagnostics *c, qn_fit_token *t)
{
    size_t at = t->at + 1;

    while (at < c->bytes && c->text[at] != '"' && c->text[at] != '\n')
        at++;
    if (char_at(c, at) == '"') {
        t->kind = QN_FIT_TOK_STRING;
        t->end = at + 1;
        return;
    }
    qn_fit_diagnose(c, t->at, "string without its end on the same line");
    t->kind = QN_FIT_TOK_BAD;
    t->end = at;
}

static const struct {
    char text[3];
    int kind;
} PAIRS[] = { { "==", QN_FIT_TOK_EQ },   { "!=", QN_FIT_TOK_NE },  { "<=", QN_FIT_TOK_LE },
              { ">=", QN_FIT_TOK_GE },   { "&&", QN_FIT_TOK_AND }, { "||", QN_FIT_TOK_OR },
              { "->", QN_FIT_TOK_ARROW } };

static void read_sign(qn_fit_diagnostics *c, qn_fit_token *t)
{
    const unsigned char ch = (unsigned char)c->text[t->at];

    for (size_t k = 0; k < sizeof PAIRS / sizeof *PAIRS; k++)
        if (ch == (unsigned char)PAIRS[k].text[0] && char_at(c, t->at + 1) == PAIRS[k].text[1]) {
            t->kind = PAIRS[k].kind;
            t->end = t->at + 2;
            return;
        }
    t->end = t->at + 1;
    if (ch && strchr("(){}[],;:.=+-*/%^?<>!", ch)) {
        t->kind = ch;
        return;
    }
    if (ch > ' ' && ch < 127)
        qn_fit_diagnose(c, t->at, "'%c' has no meaning here", ch);
    else
        qn_fit_diagnose(c, t->at, "byte 0x%02x outside of comments and strings", ch);
    t->kind = QN_FIT_TOK_BAD;
}

qn_fit_token qn_fit_next_token(qn_fit_diagnostics *c, size_t at)
{
    qn_fit_token t = { .kind = QN_FIT_TOK_END };

    t.at = t.end = skip_blank(c, at);
    if (t.at >= c->bytes)
        return t;
    if (isdigit((unsigned char)c->text[t.at]) ||
        (c->text[t.at] == '.' && isdigit((unsigned char)char_at(c, t.at + 1)))) {
        read_number(c, &t);
    } else if (isalpha((unsigned char)c->text[t.at]) || c->text[t.at] == '_') {
        t.kind = QN_FIT_TOK_NAME;
        while (is_name(char_at(c, t.end)))
            t.end++;
    } else if (c->text[t.at] == '"') {
        read_string(c, &t);
    } else {
        read_sign(c, &t);
    }
    return t;
}

const char *qn_fit_token_name(int kind, char *out)
{
    static const char *const names[] = { "'=='",     "'!='",     "'<='",    "'>='",
                                         "'&&'",     "'||'",     "'->'",    "a name",
                                         "a number", "a string", "the end", "that" };

    if (kind >= 256)
        return names[kind - 256];
    sprintf(out, "'%c'", kind);
    return out;
}
