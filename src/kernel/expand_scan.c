/* expand_scan.c - splits kernel text into tokens. */
#include "kernel/expand_scan.h"

#include <ctype.h>
#include <string.h>

static int is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static int is_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void step(qn_scan *s)
{
    if (s->text[s->at] == '\n') {
        s->line++;
        s->line_is_fresh = 1;
    }
    s->at++;
}

/* Skips a comment if there is one here; line_is_fresh does not change. */
static int skip_comment(qn_scan *s)
{
    const char *here = s->text + s->at;

    if (here[0] == '/' && here[1] == '/') {
        while (s->text[s->at] && s->text[s->at] != '\n') {
            if (s->text[s->at] == '\\' && s->text[s->at + 1])
                step(s);
            step(s);
        }
        return 1;
    }
    if (here[0] == '/' && here[1] == '*') {
        s->at += 2;
        while (s->text[s->at] && !(s->text[s->at] == '*' && s->text[s->at + 1] == '/'))
            step(s);
        if (s->text[s->at])
            s->at += 2;
        return 1;
    }
    return 0;
}

/* A string or character literal ends at its quote, or at the end of a line that lacks it. */
static void skip_literal(qn_scan *s)
{
    const char quote = s->text[s->at];

    step(s);
    while (s->text[s->at] && s->text[s->at] != quote && s->text[s->at] != '\n') {
        if (s->text[s->at] == '\\' && s->text[s->at + 1])
            step(s);
        step(s);
    }
    if (s->text[s->at] == quote)
        step(s);
}

static void skip_space(qn_scan *s)
{
    while (s->text[s->at]) {
        if (isspace((unsigned char)s->text[s->at]))
            step(s);
        else if (!skip_comment(s))
            return;
    }
}

/* Skips to the end of the logical line, before its newline. */
static void skip_directive(qn_scan *s)
{
    while (s->text[s->at] && s->text[s->at] != '\n') {
        if (skip_comment(s))
            continue;
        if (s->text[s->at] == '\\' && s->text[s->at + 1] == '\n')
            step(s);
        else if (s->text[s->at] == '\\' && s->text[s->at + 1] == '\r' && s->text[s->at + 2] == '\n')
            s->at++, step(s);
        step(s);
    }
}

qn_scan qn_scan_open(const char *text)
{
    const qn_scan s = { text, 0, 1, 1 };

    return s;
}

qn_token qn_scan_next(qn_scan *s)
{
    qn_token t = { QN_TOKEN_END, 0, 0, 0, 0 };
    char c;

    do {
        skip_space(s);
        t.begin = s->at;
        t.line = s->line;
        t.at_margin = t.begin == 0 || s->text[t.begin - 1] == '\n';
        c = s->text[s->at];
        if (c == '"' || c == '\'') {
            skip_literal(s);
            s->line_is_fresh = 0;
        }
    } while (c == '"' || c == '\'');

    if (!c) {
        t.kind = QN_TOKEN_END;
    } else if (c == '#' && s->line_is_fresh) {
        t.kind = QN_TOKEN_DIRECTIVE;
        skip_directive(s);
    } else if (is_name_start(c)) {
        t.kind = QN_TOKEN_NAME;
        while (is_name_part(s->text[s->at]))
            s->at++;
    } else if (isdigit((unsigned char)c)) {
        t.kind = QN_TOKEN_NUMBER;
        while (is_name_part(s->text[s->at]) || s->text[s->at] == '.')
            s->at++;
    } else {
        t.kind = QN_TOKEN_MARK;
        s->at++;
    }
    if (t.kind != QN_TOKEN_DIRECTIVE)
        s->line_is_fresh = 0;
    t.end = s->at;
    return t;
}

qn_token qn_scan_peek(const qn_scan *s)
{
    qn_scan ahead = *s;

    return qn_scan_next(&ahead);
}

int qn_token_is_word(const qn_scan *s, qn_token t, const char *word)
{
    const size_t n = strlen(word);

    return t.kind == QN_TOKEN_NAME && t.end - t.begin == n && !memcmp(s->text + t.begin, word, n);
}

int qn_token_is_mark(const qn_scan *s, qn_token t, char mark)
{
    return t.kind == QN_TOKEN_MARK && s->text[t.begin] == mark;
}

qn_token_text qn_token_show(const qn_scan *s, qn_token t)
{
    qn_token_text out = { "end of text" };
    size_t n = t.end - t.begin;

    if (t.kind == QN_TOKEN_END)
        return out;
    if (n > sizeof out.text - 3)
        n = sizeof out.text - 3;
    out.text[0] = '\'';
    memcpy(out.text + 1, s->text + t.begin, n);
    out.text[n + 1] = '\'';
    out.text[n + 2] = '\0';
    return out;
}
