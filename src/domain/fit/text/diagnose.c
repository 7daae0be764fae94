/* diagnose.c - a list of faults, printed with their lines. */
#include "domain/fit/text/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void qn_fit_line_of(const qn_fit_diagnostics *c, size_t at, int *line, int *column)
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

        qn_fit_line_of(c, c->list[k].at, &line, &column);
        qn_str_addf(out, "%s:%d:%d: %s\n", c->file, line, column, c->list[k].text);
        print_source(c, c->list[k].at, out);
    }
}

qn_status qn_fit_diagnostics_fail(const qn_fit_diagnostics *c, qn_err *err)
{
    int line, column;

    if (c->n == 0)
        return QN_OK;
    qn_fit_line_of(c, c->list[0].at, &line, &column);
    return qn_fail(err, QN_ERR_INPUT, "%s:%d:%d: %s", c->file, line, column, c->list[0].text);
}
