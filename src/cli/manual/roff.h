/* roff.h - text for man pages. */
#ifndef QN_CLI_MANUAL_ROFF_H
#define QN_CLI_MANUAL_ROFF_H

#include "util/str.h"

/* Appends `text` so that roff prints it as it stands: hyphens that can be pasted, straight quotes,
 * no line that looks like a request. */
void qn_roff_add(qn_str *out, const char *text);

/* A paragraph of lines that stay as they are, indented. */
void qn_roff_add_lines(qn_str *out, const char *text);

/* A macro with one quoted argument, on a line of its own: .SH "GLOBAL OPTIONS". */
void qn_roff_add_macro(qn_str *out, const char *macro, const char *text);

#endif
