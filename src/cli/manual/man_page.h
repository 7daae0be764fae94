/* man_page.h - the manual in section 1, made from the tables that parse the command line. */
#ifndef QN_CLI_MANUAL_MAN_PAGE_H
#define QN_CLI_MANUAL_MAN_PAGE_H

#include "cli/cli.h"

/* quern(1): commands, global options, variables, exit codes. */
void qn_man_program(const qn_command *const *commands, qn_str *out);

/* quern-NAME(1): a command, with its verbs. */
void qn_man_command(const qn_command *command, qn_str *out);

#endif
