/* man_page.h - the manual in section 1, made from the tables that parse the command line. */
#ifndef QN_CLI_MANUAL_MAN_PAGE_H
#define QN_CLI_MANUAL_MAN_PAGE_H

#include "cli/cli.h"

/* quern(1): commands, global options, variables, exit codes. */
void qn_man_program(const qn_command *const *commands, qn_str *out);

/* quern-NAME(1): a command, with its verbs. */
void qn_man_command(const qn_command *command, qn_str *out);

/* variables.c: environment variables without an option. */
typedef struct qn_variable {
    const char *name;    /* "QUERN_CACHE=0" where one value matters */
    const char *meaning; /* a phrase, small first letter, no period */
} qn_variable;

/* Ended by { 0 }. tests/cli/cli_variables.sh compares it with the sources. */
extern const qn_variable qn_variables[];

/* roff.c: appends `text` so that roff prints it unchanged: hyphens that can be pasted, straight
 * quotes, no line that looks like a request. */
void qn_roff_add(qn_str *out, const char *text);

/* Appends an indented paragraph whose lines are not reflowed. */
void qn_roff_add_lines(qn_str *out, const char *text);

/* Appends a macro with one quoted argument on its own line: .SH "GLOBAL OPTIONS". */
void qn_roff_add_macro(qn_str *out, const char *macro, const char *text);

#endif
