/* check.c - runs the parts of a check. */
#include "lab/fit/check/check.h"

#include "util/closest.h"
#include "util/str.h"

#include <stdio.h>
#include <string.h>

const qn_fit_part qn_fit_parts[] = {
    { "ops", "every operation: values and partial derivatives", qn_fit_check_ops },
    { "composites", "vectors, geometry, eigenvalues, cameras: values and Jacobians",
      qn_fit_check_composites },
    { "nist", "regression sets from both starts, to certified digits", qn_fit_check_nist },
    { "mgh", "the More-Garbow-Hillstrom problems, also in boxes", qn_fit_check_mgh },
    { "bal", "bundle adjustment: costs before and after", qn_fit_check_bal },
    { "mesh", "terms of meshes: costs, energies, gradients", qn_fit_check_mesh },
    { "examples", "whole programs", qn_fit_check_examples },
    { NULL, NULL, NULL },
};

static qn_status check_list(const char *list, qn_err *err)
{
    const char *names[16] = { "all" };
    char word[32];
    int n = 1;

    for (; qn_fit_parts[n - 1].name; n++)
        names[n] = qn_fit_parts[n - 1].name;
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        int is_known = 0;

        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        for (int k = 0; k < n; k++)
            is_known |= !strcmp(names[k], word);
        if (!is_known) {
            const char *close = qn_closest(word, names);

            return qn_fail(err, QN_ERR_USAGE, "'%s' is no part%s%s%s", word,
                           close ? "; did you mean " : "", close ? close : "", close ? "?" : "");
        }
    }
    return QN_OK;
}

qn_status qn_fit_check_golden(qn_ctx *ctx, const char *folder, const char *list,
                              qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(check_list(list, err));
    for (const qn_fit_part *part = qn_fit_parts; part->name; part++)
        if (qn_list_has(list, "all") || qn_list_has(list, part->name))
            QN_TRY(part->run(ctx, folder, findings, err));
    QN_TRY(qn_findings_complete(findings, err));
out:
    return st;
}
