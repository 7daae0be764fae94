/* cmd_les.h - the verbs of `quern les`. */
#ifndef QN_CLI_CMD_LES_H
#define QN_CLI_CMD_LES_H

#include "cli/cli.h"

extern const qn_command qn_verb_les_run, qn_verb_les_bench, qn_verb_les_check;

#endif
