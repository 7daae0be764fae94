/* parser.c - tokens, and what the parsers share: memory of trees, and errors about tokens. */
#include "domain/fit/text/tree.h"
#include "util/closest.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Faults, printed with their lines. */

void qn_fit_diagnose(qn_fit_diagnostics *c, size_t at, const char *format, ...)
{
    va_list list;

    if (c->n == QN_FIT_MAX_DIAGNOSTICS)
        return;
    for (int k = 0; k < c->n; k++)
        if (c->list[k].at == at)
            return;
    c->list[c->n].at = at < c->bytes ? at : c->bytes;
    va_start(list, format);
    vsnprintf(c->list[c->n].text, sizeof c->list[c->n].text, format, list);
    va_end(list);
    for (char *t = c->list[c->n].text; *t; t++)
        if ((unsigned char)*t < ' ')
            *t = ' ';
    c->n++;
}

void qn_fit_diagnose_error(qn_fit_diagnostics *c, size_t at, const qn_err *why)
{
    c->is_out_of_memory |= why->status == QN_ERR_NOMEM;
    qn_fit_diagnose(c, at, "%.220s", why->text);
}

void qn_fit_diagnose_unknown(qn_fit_diagnostics *c, size_t at, const char *what, const char *name,
                             const char *const *names)
{
    const char *hint = names ? qn_closest(name, names) : NULL;

    qn_fit_diagnose(c, at, hint ? "unknown %s %.80s; did you mean %.80s?" : "unknown %s %.80s",
                    what, name, hint);
}

static int is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static size_t line_start(const qn_fit_diagnostics *c, size_t at)
{
    while (at > 0 && c->text[at - 1] != '\n')
        at--;
    return at;
}

/* Line and column of a byte, from 1; columns count characters. */
static void line_of(const qn_fit_diagnostics *c, size_t at, int *line, int *column)
{
    *line = *column = 1;
    for (size_t k = 0; k < at && k < c->bytes; k++)
        *line += c->text[k] == '\n';
    for (size_t k = line_start(c, at); k < at && k < c->bytes; k++)
        *column += !is_continuation(c->text[k]);
}

static void print_source(const qn_fit_diagnostics *c, size_t at, qn_str *out)
{
    const size_t from = line_start(c, at);
    size_t to = from;

    while (to < c->bytes && c->text[to] != '\n' && c->text[to] != '\r')
        to++;
    /* Very long lines are not printed. */
    if (to - from > 400)
        return;
    qn_str_add(out, "    ");
    for (size_t k = from; k < to; k++)
        qn_str_add_n(out, (unsigned char)c->text[k] < ' ' ? " " : c->text + k, 1);
    qn_str_add(out, "\n    ");
    for (size_t k = from; k < at && k < to; k++)
        if (!is_continuation(c->text[k]))
            qn_str_add(out, " ");
    qn_str_add(out, "^\n");
}

void qn_fit_diagnostics_print(const qn_fit_diagnostics *c, qn_str *out)
{
    for (int k = 0; k < c->n; k++) {
        int line, column;

        line_of(c, c->list[k].at, &line, &column);
        qn_str_addf(out, "%s:%d:%d: %s\n", c->file, line, column, c->list[k].text);
        print_source(c, c->list[k].at, out);
    }
}

qn_status qn_fit_diagnostics_fail(const qn_fit_diagnostics *c, qn_err *err)
{
    int line, column;

    if (c->n == 0)
        return QN_OK;
    line_of(c, c->list[0].at, &line, &column);
    return qn_fail(err, QN_ERR_INPUT, "%s:%d:%d: %s", c->file, line, column, c->list[0].text);
}

/* Characters to tokens. */

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
        qn_fit_diagnose(c, t->at, "byte 0x%02x outside comments and strings", ch);
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

/* Memory. */

void *qn_fit_ast_alloc(qn_fit_ast *ast, size_t bytes)
{
    void *at = qn_arena_take(&ast->memory, bytes);

    if (!at)
        ast->is_out_of_memory = 1;
    return at ? memset(at, 0, bytes) : NULL;
}

void qn_fit_ast_free(qn_fit_ast *ast)
{
    qn_arena_clear(&ast->memory);
    free(ast->items);
    *ast = (qn_fit_ast){ 0 };
}

/* The list doubles when its length is a power of two, so no capacity is stored. */
void *qn_fit_append(qn_fit_parser *p, void **list, int *n, size_t size)
{
    if (p->ast->is_out_of_memory)
        return NULL;
    if ((*n & (*n - 1)) == 0) {
        void *more = qn_fit_ast_alloc(p->ast, (size_t)(*n ? 2 * *n : 1) * size);

        if (!more) {
            p->is_lost = 1;
            return NULL;
        }
        if (*n)
            memcpy(more, *list, (size_t)*n * size);
        *list = more;
    }
    return (char *)*list + (size_t)(*n)++ * size;
}

/* Tokens. */

void qn_fit_advance(qn_fit_parser *p)
{
    p->last_end = p->token.end;
    p->token = qn_fit_next_token(p->diagnostics, p->token.end);
    if (p->token.kind == QN_FIT_TOK_BAD)
        p->is_lost = 1;
}

const char *qn_fit_token_text(qn_fit_parser *p)
{
    const int is_string = p->token.kind == QN_FIT_TOK_STRING;
    const size_t from = p->token.at + (size_t)is_string,
                 n = p->token.end - from - (size_t)is_string;
    char *text = qn_fit_ast_alloc(p->ast, n + 1);

    if (!text) {
        p->is_lost = 1;
        return "";
    }
    memcpy(text, p->diagnostics->text + from, n);
    return text;
}

int qn_fit_is_word(const qn_fit_parser *p, const char *word)
{
    return p->token.kind == QN_FIT_TOK_NAME && p->token.end - p->token.at == strlen(word) &&
           !strncmp(p->diagnostics->text + p->token.at, word, strlen(word));
}

int qn_fit_accept(qn_fit_parser *p, int kind)
{
    if (p->is_lost || p->token.kind != kind)
        return 0;
    qn_fit_advance(p);
    return 1;
}

int qn_fit_accept_word(qn_fit_parser *p, const char *word)
{
    if (p->is_lost || !qn_fit_is_word(p, word))
        return 0;
    qn_fit_advance(p);
    return 1;
}

/* A token missing at the end of a line is reported there, not on the next line. */
void qn_fit_unexpected(qn_fit_parser *p, const char *wanted)
{
    const char *text = p->diagnostics->text;
    size_t at = p->token.at;
    char sign[8];

    if (p->is_lost)
        return;
    p->is_lost = 1;
    for (size_t k = p->last_end; k < p->token.at; k++)
        if (text[k] == '\n')
            at = p->last_end;
    if (at != p->token.at || p->token.kind == QN_FIT_TOK_END)
        qn_fit_diagnose(p->diagnostics, at, "expected %s", wanted);
    else if (p->token.kind == QN_FIT_TOK_NAME)
        qn_fit_diagnose(p->diagnostics, at, "expected %s, found %.*s", wanted,
                        (int)(p->token.end - p->token.at < 60 ? p->token.end - p->token.at : 60),
                        text + p->token.at);
    else
        qn_fit_diagnose(p->diagnostics, at, "expected %s, found %s", wanted,
                        qn_fit_token_name(p->token.kind, sign));
}

int qn_fit_expect(qn_fit_parser *p, int kind)
{
    char sign[8];

    if (qn_fit_accept(p, kind))
        return 1;
    qn_fit_unexpected(p, qn_fit_token_name(kind, sign));
    return 0;
}

/* Words of the language. */

static const char *const VALUES[] = { "pi", "self", "sum", "min", "max", NULL };
static const char *const OTHERS[] = { "fit",   "mesh",  "table", "bal",      "set",    "const",
                                      "param", "data",  "fun",   "residual", "energy", "eliminate",
                                      "solve", "write", "let",   "yield",    "return", "over",
                                      "in",    "where", "loss",  "weight",   "fixed",  "lower",
                                      "upper", "to",    "real",  "vec2",     "vec3",   "vec4",
                                      NULL };

int qn_fit_is_among(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(*words, name))
            return 1;
    return 0;
}

int qn_fit_is_keyword(const char *name)
{
    return qn_fit_is_among(name, VALUES) || qn_fit_is_among(name, OTHERS);
}

int qn_fit_is_no_value(const char *name)
{
    return qn_fit_is_among(name, OTHERS);
}
