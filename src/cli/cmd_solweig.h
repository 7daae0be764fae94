/* cmd_solweig.h - the verbs of `quern solweig`. */
#ifndef QN_CLI_CMD_SOLWEIG_H
#define QN_CLI_CMD_SOLWEIG_H

#include "cli/cli.h"

extern const qn_command qn_verb_solweig_svf, qn_verb_solweig_shadow, qn_verb_solweig_walls,
    qn_verb_solweig_bench, qn_verb_solweig_run, qn_verb_solweig_check;

#endif
