/* check_examples.c - compares whole programs with their expected results. */
#include "lab/fit/check/check_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps by conjugate gradients are inexact, so a solve with the same tolerance ends earlier. */
static const double INEXACT = 1e-5;

/* The largest difference of a set's numbers from a list of them, relative or absolute. */
static double worst_of(const qn_fit_problem *p, const char *name, const json_t *want, double size)
{
    double worst = 0;
    int at = 0;

    while (at < p->n_sets && strcmp(p->sets[at].name, name))
        at++;
    if (at == p->n_sets)
        return INFINITY;
    const qn_fit_set *set = &p->sets[at];

    for (uint32_t k = 0; k < set->count * set->dim; k++) {
        const json_t *row = json_is_array(want) ? json_array_get(want, k / set->dim) : want;
        const json_t *number = json_is_array(row) ? json_array_get(row, k % set->dim) : row;
        const double w = json_number_value(number);

        worst = fmax(worst, fabs(p->x[set->first + k] - w) / (size > 0 ? size : fabs(w)));
    }
    return worst;
}

static void compare(const char *file, const qn_fit_text *text, const qn_fit_report *r,
                    const json_t *want, qn_findings *f)
{
    const json_t *params = json_object_get(want, "params"), *one;
    const double final = qn_golden_member(want, "final_cost");
    const double below = qn_golden_member(want, "final_cost_below");
    const char *name;

    qn_finding_below(f, "examples", 1, !qn_fit_end_is_converged(r->end), 0, "%s: converged", file);
    if (!isnan(qn_golden_member(want, "initial_cost")))
        qn_finding_below(f, "examples", 1,
                         qn_fit_off(r->initial_cost, qn_golden_member(want, "initial_cost")), 1e-9,
                         "%s: cost before, relative", file);
    if (!isnan(final))
        qn_finding_below(f, "examples", 1, qn_fit_off(r->final_cost, final),
                         fmax(qn_golden_member(want, "final_cost_rel_tol"),
                              strcmp(r->linear, "pcg") ? 0 : INEXACT),
                         "%s: cost after, relative", file);
    if (!isnan(below))
        qn_finding_below(f, "examples", 1, r->final_cost, below, "%s: cost after", file);
    json_object_foreach((json_t *)params, name, one)
        qn_finding_below(f, "examples", 1, worst_of(text->problem, name, one, 0), 1e-8,
                         "%s: %s, relative", file, name);
    if (json_object_get(want, "p"))
        qn_finding_below(f, "examples", 1,
                         worst_of(text->problem, "p", json_object_get(want, "p"), 1),
                         qn_golden_member(want, "abs_tol"), "%s: p", file);
}

static qn_status check_one(qn_golden *g, const char *file, const json_t *want, qn_err *err)
{
    qn_fit_options o;
    char name[320], path[QN_GOLDEN_PATH];
    qn_fit_text *text = NULL;
    qn_fit_result result = { 0 };
    qn_str faults = { 0 };
    qn_status st = QN_OK;

    snprintf(name, sizeof name, "examples/%.300s", file);
    qn_golden_path(g, name, path);
    QN_TRY(qn_fit_options_take(NULL, &o, err));
    o.name = path;
    o.threads = 1;
    QN_TRY(qn_fit_load_file(&o, &text, &faults, err));
    QN_TRY(qn_fit_run(g->ctx, text, &o, &result, err));
    compare(file, text, qn_fit_last_report(&result), want, g->findings);
out:
    qn_str_free(&faults);
    qn_fit_result_free(&result);
    qn_fit_text_free(text);
    return st;
}

qn_status qn_fit_check_examples(qn_golden *g, qn_err *err)
{
    json_t *files, *one;
    const char *name;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_golden_list(g, "examples/expected.json", NULL, &files, err));
    json_object_foreach(files, name, one) QN_TRY(check_one(g, name, one, err));
out:
    return st;
}
