/* cmd_make.h - verbs of `quern make`, one file each. */
#ifndef QN_CLI_CMD_MAKE_H
#define QN_CLI_CMD_MAKE_H

#include "cli/cli.h"

extern const qn_command qn_verb_make_town, qn_verb_make_programs, qn_verb_make_mesh;

#endif
