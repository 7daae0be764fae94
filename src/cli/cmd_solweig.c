/* cmd_solweig.c - `quern solweig`: the verbs. */
#include "cli/cmd_solweig.h"

static const qn_command *const verbs[] = { &qn_verb_solweig_run,
                                           &qn_verb_solweig_svf,
                                           &qn_verb_solweig_shadow,
                                           &qn_verb_solweig_walls,
                                           &qn_verb_solweig_check,
                                           &qn_verb_solweig_bench,
                                           NULL };

const qn_command qn_cmd_solweig = {
    .name = "solweig",
    .summary = "how hot it feels across a city, pixel by pixel",
    .verbs = verbs,
};
