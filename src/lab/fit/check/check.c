/* check.c - the list of checks. */
#include "lab/fit/check/check_impl.h"

#include "util/closest.h"

const qn_check qn_fit_checks[] = {
    { "ops", "every operation: values and partial derivatives", qn_fit_check_ops, NULL },
    { "composites", "vectors, geometry, eigenvalues, cameras: values and Jacobians",
      qn_fit_check_composites, NULL },
    { "nist", "regression sets from both starts, to certified digits", qn_fit_check_nist, NULL },
    { "mgh", "the More-Garbow-Hillstrom problems, also in boxes", qn_fit_check_mgh, NULL },
    { "bal", "bundle adjustment: costs before and after", qn_fit_check_bal, NULL },
    { "mesh", "terms of meshes: costs, energies, gradients", qn_fit_check_mesh, NULL },
    { "mesh", NULL, qn_fit_check_mesh_gradients, NULL },
    { "examples", "whole programs", qn_fit_check_examples, NULL },
    { NULL, NULL, NULL, NULL },
};

qn_status qn_fit_check_golden(qn_ctx *ctx, const char *folder, const char *list,
                              qn_findings *findings, qn_err *err)
{
    static const char *const names[] = { "all", "ops",  "composites", "nist", "mgh",
                                         "bal", "mesh", "examples",   NULL };
    char word[32];

    if (qn_checks_unknown(qn_fit_checks, list, word)) {
        const char *close = qn_closest(word, names);

        return qn_fail(err, QN_ERR_USAGE, "'%s' is no part%s%s%s", word,
                       close ? "; did you mean " : "", close ? close : "", close ? "?" : "");
    }
    return qn_checks_run(qn_fit_checks, list, ctx, folder, findings, err);
}
