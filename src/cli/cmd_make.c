/* cmd_make.c - `quern make`: the list of its verbs. */
#include "cli/cmd_make.h"

static const qn_command *const verbs[] = {
    &qn_verb_make_town,
    &qn_verb_make_programs,
    &qn_verb_make_mesh,
    NULL,
};

const qn_command qn_cmd_make = {
    .name = "make",
    .summary = "generate input files: a town, programs with tasks, a mesh",
    .verbs = verbs,
};
