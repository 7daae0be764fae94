/* cmd_arc.c - `quern arc`: the list of its verbs. */
#include "cli/cmd_arc.h"

static const qn_command *const verbs[] = {
    &qn_verb_arc_run, &qn_verb_arc_check, &qn_verb_arc_bench, &qn_verb_arc_dis,
    &qn_verb_arc_ops, &qn_verb_arc_show,  &qn_verb_arc_serve, NULL,
};

const qn_command qn_cmd_arc = {
    .name = "arc",
    .summary = "programs over small colour grids, many at once",
    .verbs = verbs,
};
