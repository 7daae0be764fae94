/* roff.c - escapes text for man pages, for groff, mandoc and older programs. */
#include "cli/manual/man_page.h"

#include <string.h>

static const char *escape_of(char c)
{
    switch (c) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '`':
        return "\\(ga";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    case '"':
        return "\\(dq";
    default:
        return NULL;
    }
}

void qn_roff_add(qn_str *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        const int is_first = c == text || c[-1] == '\n';
        const char *escape = escape_of(*c);

        if (is_first && (*c == '.' || *c == ' '))
            qn_str_add(out, "\\&");
        if (escape)
            qn_str_add(out, escape);
        else
            qn_str_add_n(out, c, 1);
    }
}

void qn_roff_add_lines(qn_str *out, const char *text)
{
    qn_str_add(out, ".PP\n.nf\n");
    qn_roff_add(out, text);
    qn_str_add(out, "\n.fi\n");
}

void qn_roff_add_macro(qn_str *out, const char *macro, const char *text)
{
    qn_str_addf(out, "%s \"", macro);
    qn_roff_add(out, text);
    qn_str_add(out, "\"\n");
}
