/* cmd_arc.h - verbs of `quern arc`, one file each. */
#ifndef QN_CLI_CMD_ARC_H
#define QN_CLI_CMD_ARC_H

#include "cli/cli.h"

extern const qn_command qn_verb_arc_run, qn_verb_arc_check, qn_verb_arc_bench, qn_verb_arc_dis,
    qn_verb_arc_ops, qn_verb_arc_show, qn_verb_arc_serve;

#endif
