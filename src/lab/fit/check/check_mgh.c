/* check_mgh.c - counts the test problems of the literature that are solved from near and far
 * starts. */
#include "lab/fit/check/mgh.h"
#include "lab/fit/check/programs.h"

#include <math.h>
#include <stdio.h>

enum { MAX_N = 16 };

typedef struct {
    int id, n, m;
    double start[MAX_N];
    const double *lower, *upper; /* NULL: none */
} task;

static qn_status load(const task *t, qn_fit_text **out, qn_err *err)
{
    const struct {
        const char *word;
        const double *at;
    } lists[] = { { "", t->start }, { " lower ", t->lower }, { " upper ", t->upper } };
    qn_str text = { 0 };
    char name[24];

    snprintf(name, sizeof name, "problem %d", t->id);
    qn_str_addf(&text, "fit 1;\nparam x : real[%d] = ", t->n);
    for (int l = 0; l < 3; l++) {
        if (!lists[l].at)
            continue;
        qn_str_add(&text, lists[l].word);
        for (int k = 0; k < t->n; k++)
            qn_str_addf(&text, "%s%.17g", k ? ", " : "[", lists[l].at[k]);
        qn_str_add(&text, "]");
    }
    qn_str_add(&text, ";\n");
    if (!qn_fit_mgh_print(t->id, t->n, t->m, &text)) {
        qn_str_free(&text);
        return qn_fail(err, QN_ERR_INPUT, "mgh.json: problem %d is unknown", t->id);
    }
    qn_str_add(&text, "solve lm { max_iterations = 2000; function_tolerance = 1e-16;\n"
                      "  gradient_tolerance = 1e-14; parameter_tolerance = 1e-14;\n"
                      "  linear_solver = dense_qr; }\n");
    return qn_fit_program_load(name, &text, ".", out, err);
}

static int is_finite(const qn_fit_problem *p)
{
    for (uint32_t k = 0; k < p->n_scalars; k++)
        if (!isfinite(p->x[k]))
            return 0;
    return 1;
}

typedef struct {
    double before, after; /* sums of squares */
    int is_wild;          /* a parameter is not finite, or the cost has grown */
} outcome;

static qn_status solve(const task *t, outcome *out, qn_err *err)
{
    qn_fit_text *text = NULL;
    qn_fit_report r = { 0 };
    qn_status st = QN_OK;

    QN_TRY(load(t, &text, err));
    QN_TRY(qn_fit_program_solve(text, &r, err));
    *out = (outcome){ .before = 2 * r.initial_cost,
                      .after = 2 * r.final_cost,
                      .is_wild = !is_finite(text->problem) || r.final_cost > r.initial_cost };
out:
    qn_fit_report_free(&r);
    qn_fit_text_free(text);
    return st;
}

static int agrees(double got, double want)
{
    return want == 0 ? got <= 1e-8 : fabs(got - want) <= 1e-4 * want;
}

static qn_status check_starts(const json_t *list, double factor, int enough, qn_findings *f,
                              qn_err *err)
{
    const int n_list = (int)json_array_size(list);
    int n_solved = 0, n_wild = 0;
    qn_status st = QN_OK;

    for (int k = 0; k < n_list; k++) {
        const json_t *one = json_array_get(list, (size_t)k);
        task t = { .id = (int)qn_golden_member(one, "id"),
                   .n = (int)qn_golden_member(one, "n"),
                   .m = (int)qn_golden_member(one, "m") };
        outcome end;

        if (t.n < 1 || t.n > MAX_N)
            return qn_fail(err, QN_ERR_INPUT, "mgh.json: problem %d has %d parameters", t.id, t.n);
        for (int j = 0; j < t.n; j++)
            t.start[j] =
                factor * json_number_value(json_array_get(json_object_get(one, "x0"), (size_t)j));
        QN_TRY(solve(&t, &end, err));
        if (factor == 1)
            qn_finding_below(f, "mgh", 1,
                             qn_fit_off(end.before, qn_golden_member(one, "sum_sq_at_x0")), 1e-12,
                             "%s: sum of squares at the start, relative",
                             json_string_value(json_object_get(one, "name")));
        n_solved += agrees(end.after, qn_golden_member(one, "min_sum_sq"));
        n_wild += end.is_wild;
    }
    qn_finding_below(f, "mgh", n_list, n_list - n_solved, n_list - enough,
                     "starts times %g: problems not solved of %d", factor, n_list);
    qn_finding_below(f, "mgh", n_list, n_wild, 0, "starts times %g: not finite or grown", factor);
out:
    return st;
}

/* Known minima inside boxes. */
static const struct bounded {
    int id, n, m;
    double start[6], lower[6], upper[6], want;
} boxes[] = {
    { 3, 2, 2, { 0, 1 }, { 0, 1 }, { 1, 9 }, 0.15125900e-9 },
    { 4, 2, 3, { 1, 1 }, { 0, 0.00003 }, { 1e6, 100 }, 784.0 },
    { 5, 2, 3, { 1, 1 }, { 0.6, 0.5 }, { 10, 100 }, 0 },
    { 7, 3, 3, { -1, 0, 0 }, { -100, -1, -1 }, { 0.8, 1, 1 }, 0.99042212 },
    { 9, 3, 15, { 0.4, 1, 0 }, { 0.398, 1, -0.5 }, { 4.2, 2, 0.1 }, 0.11279300e-7 },
    { 12, 3, 3, { 0, 10, 20 }, { 0, 5, 0 }, { 2, 9.5, 20 }, 0.30998153e-5 },
    { 14, 4, 6, { -3, -1, -3, -1 }, { -100, -100, -100, -100 }, { 0, 10, 100, 100 }, 1.5567008 },
    { 16, 4, 20, { 25, 5, -5, -1 }, { -10, 0, -100, -20 }, { 100, 15, 0, 0.2 }, 88860.479 },
    { 18, 6, 13, { 1, 2, 1, 1, 1, 1 }, { 0, 0, 0, 1, 0, 0 }, { 2, 8, 1, 7, 5, 5 }, 0.53209865e-3 },
};

static qn_status check_boxes(qn_findings *f, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        task t = { .id = boxes[k].id,
                   .n = boxes[k].n,
                   .m = boxes[k].m,
                   .lower = boxes[k].lower,
                   .upper = boxes[k].upper };
        outcome end;

        for (int j = 0; j < t.n; j++)
            t.start[j] = boxes[k].start[j];
        QN_TRY(solve(&t, &end, err));
        qn_finding_below(f, "mgh", 1, agrees(end.after, boxes[k].want) ? 0 : end.after, 0,
                         "problem %d in its box", t.id);
    }
out:
    return st;
}

qn_status qn_fit_check_mgh(qn_ctx *ctx, const char *folder, qn_findings *f, qn_err *err)
{
    json_t *root, *list;
    qn_status st = QN_OK;

    (void)ctx;
    QN_TRY(qn_fit_golden_list(folder, "mgh/mgh.json", NULL, "mgh", f, &root, &list, err));
    if (!root)
        goto out;
    QN_TRY(check_starts(list, 1, 32, f, err));
    QN_TRY(check_starts(list, 10, 26, f, err));
    QN_TRY(check_starts(list, 100, 23, f, err));
    QN_TRY(check_boxes(f, err));
out:
    json_decref(root);
    return st;
}
