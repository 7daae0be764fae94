/* cmd_fit.c - `quern fit`: the list of its verbs. */
#include "cli/cmd_fit.h"

static const qn_command *const verbs[] = {
    &qn_verb_fit_run,
    &qn_verb_fit_check,
    &qn_verb_fit_new,
    &qn_verb_fit_emit,
    &qn_verb_fit_grad,
    &qn_verb_fit_bench,
    NULL,
};

const qn_command qn_cmd_fit = {
    .name = "fit",
    .summary = "nonlinear least squares: curves, meshes, cameras, sketches",
    .verbs = verbs,
};
