/* check_bal.c - bundle adjustment problems: costs before and after. */
#include "lab/fit/check/check_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static qn_status load(const char *folder, const char *file, const char *loss, qn_fit_text **out,
                      qn_err *err)
{
    const int is_none = !strcmp(loss, "none");
    qn_str text = { 0 };

    qn_str_addf(&text,
                "fit 1;\nbal B = bal(\"%s\");\n"
                "param cam[B.cameras] : real[9] = B.camera;\n"
                "param pt[B.points] : vec3 = B.point;\n"
                "residual reproj over o in B.obs %s%s {\n"
                "  let c = cam[o.cam];\n"
                "  let p = rotate_aa([c[0],c[1],c[2]], pt[o.pt]) + [c[3],c[4],c[5]];\n"
                "  let q = [-p.x/p.z, -p.y/p.z];\n"
                "  let r2 = dot(q,q);\n"
                "  yield c[6]*(1 + r2*(c[7] + c[8]*r2))*q - [o.u, o.v];\n"
                "}\n"
                "eliminate pt;\n"
                "solve lm { linear_solver = schur; max_iterations = 300;\n"
                "  function_tolerance = 1e-14; gradient_tolerance = 1e-12;\n"
                "  parameter_tolerance = 1e-12; }\n",
                file, is_none ? "" : "loss ", is_none ? "" : loss);
    return qn_fit_program_load(file, &text, folder, out, err);
}

static qn_status check_one(qn_golden *g, const char *folder, const json_t *one, qn_err *err)
{
    const char *file = json_string_value(json_object_get(one, "file"));
    const char *loss = json_string_value(json_object_get(one, "loss"));
    const double below = qn_golden_member(one, "final_cost_below");
    const double want = qn_golden_member(one, "final_cost");
    const double tolerance = qn_golden_member(one, "final_cost_rel_tol");
    qn_fit_text *text = NULL;
    qn_fit_report r = { 0 };
    double cost;
    qn_status st = QN_OK;

    if (!file || !loss)
        return qn_fail(err, QN_ERR_INPUT, "%s/bal.json: a problem without file or loss", folder);
    QN_TRY(load(folder, file, loss, &text, err));
    QN_TRY(qn_fit_evaluate(g->ctx, text->problem, text->problem->x, &cost, NULL, err));
    qn_finding_below(g->findings, "bal", 1, qn_fit_off(cost, qn_golden_member(one, "initial_cost")),
                     1e-9, "%s, loss %s: cost before, relative", file, loss);
    QN_TRY(qn_fit_program_solve(text, &r, err));
    if (!isnan(below))
        qn_finding_below(g->findings, "bal", 1, r.final_cost, below, "%s, loss %s: cost after",
                         file, loss);
    else /* a lower cost is fine too */
        qn_finding_below(g->findings, "bal", 1, (r.final_cost - want) / want, tolerance,
                         "%s, loss %s: cost after, relative", file, loss);
out:
    qn_fit_report_free(&r);
    qn_fit_text_free(text);
    return st;
}

qn_status qn_fit_check_bal(qn_golden *g, qn_err *err)
{
    char folder[QN_GOLDEN_PATH];
    json_t *list;
    qn_status st = QN_OK;

    qn_golden_path(g, "bal", folder);
    QN_TRY(qn_fit_golden_list(g, "bal/bal.json", "problems", &list, err));
    for (size_t k = 0; k < json_array_size(list); k++)
        QN_TRY(check_one(g, folder, json_array_get(list, k), err));
out:
    return st;
}
