/* cmd_fit.h - verbs of `quern fit`, one file each. */
#ifndef QN_CLI_CMD_FIT_H
#define QN_CLI_CMD_FIT_H

#include "cli/cli.h"

extern const qn_command qn_verb_fit_run, qn_verb_fit_check, qn_verb_fit_new, qn_verb_fit_emit,
    qn_verb_fit_grad, qn_verb_fit_bench;

#endif
