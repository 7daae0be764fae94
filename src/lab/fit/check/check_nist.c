/* check_nist.c - solves regression sets from both starts and compares with their certified
 * values. */
#include "lab/fit/check/check_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PARAMS = 16 };

/* One set of the list. */
typedef struct {
    const json_t *json;
    const char *name;
    const char *folder;
    int n_params;
    double rss;
    int is_exact; /* data without error: only rounding remains at the end */
} nist_set;

static double number_at(const nist_set *s, const char *list, int k)
{
    return json_number_value(json_array_get(json_object_get(s->json, list), (size_t)k));
}

static int is_numbered(const char *word, size_t n, char letter)
{
    return n > 0 && *word == letter && strspn(word + 1, "0123456789") == n - 1;
}

/* A model names columns and parameters; in a residual, columns are those of the row `i`, and
 * parameters are prefixed with the number of the set. */
static void add_model(qn_str *out, const char *model, int number)
{
    for (const char *c = model; *c;) {
        size_t n = 0;

        while (isalnum((unsigned char)c[n]) || c[n] == '_' || c[n] == '.')
            n++;
        if ((n == 1 && *c == 'y') || is_numbered(c, n, 'x'))
            qn_str_add(out, "i.");
        if (n > 1 && is_numbered(c, n, 'b'))
            qn_str_addf(out, "s%d_", number);
        qn_str_add_n(out, c, n ? n : 1);
        c += n ? n : 1;
    }
}

static void add_set(qn_str *out, const nist_set *s, const char *start, int number)
{
    const char *response = json_string_value(json_object_get(s->json, "response"));
    const char *model = json_string_value(json_object_get(s->json, "model"));

    qn_str_addf(out, "table T%d = nist(\"%s.dat\");\n", number, s->name);
    for (int k = 0; k < s->n_params; k++)
        qn_str_addf(out, "param s%d_b%d = %.17g;\n", number, k + 1, number_at(s, start, k));
    qn_str_addf(out, "residual r%d over i in T%d { yield ", number, number);
    add_model(out, response ? response : "y", number);
    qn_str_add(out, " - (");
    add_model(out, model ? model : "0", number);
    qn_str_add(out, "); }\n");
}

static qn_status load(const nist_set *s, const char *start, qn_fit_text **out, qn_err *err)
{
    qn_str text = { 0 };

    qn_str_add(&text, "fit 1;\n");
    add_set(&text, s, start, 0);
    qn_str_add(&text, "solve lm { max_iterations = 2000; function_tolerance = 1e-18;\n"
                      "  parameter_tolerance = 1e-14; gradient_tolerance = 0;\n"
                      "  linear_solver = dense_qr; }\n");
    return qn_fit_program_load(s->name, &text, s->folder, out, err);
}

static double worst_off(const nist_set *s, const double *x, const char *list)
{
    double worst = 0;

    for (int k = 0; k < s->n_params; k++)
        worst = fmax(worst, qn_fit_off(x[k], number_at(s, list, k)));
    return worst;
}

/* Started from far away, BoxBOD may end on a plateau. */
static int may_fail(const nist_set *s, int start, const qn_fit_report *r)
{
    return !strcmp(s->name, "BoxBOD") && start == 1 && qn_fit_off(2 * r->final_cost, 9771.5) < 1e-4;
}

static qn_status check_solve(const nist_set *s, int start, qn_findings *f, qn_err *err)
{
    const char *level = json_string_value(json_object_get(s->json, "difficulty"));
    const double digits = level && !strcmp(level, "lower") ? 1e-8 : 1e-6;
    qn_fit_text *text = NULL;
    qn_fit_report r = { 0 };
    qn_fit_covariance c = { 0 };
    qn_status st = QN_OK;

    QN_TRY(load(s, start == 1 ? "start1" : "start2", &text, err));
    QN_TRY(qn_fit_program_solve(text, &r, err));
    if (may_fail(s, start, &r)) {
        qn_finding_note(f, "nist", QN_FINDING_SKIPPED, s->name,
                        "start 1 ends on its plateau, which is allowed");
        goto out;
    }
    qn_finding_below(f, "nist", s->n_params, worst_off(s, text->problem->x, "certified"), digits,
                     "%s from start %d: parameters, relative", s->name, start);
    if (s->is_exact)
        qn_finding_below(f, "nist", 1, 2 * r.final_cost, 1e-20, "%s from start %d: sum of squares",
                         s->name, start);
    else
        qn_finding_below(f, "nist", 1, qn_fit_off(2 * r.final_cost, s->rss), 1e-9,
                         "%s from start %d: sum of squares, relative", s->name, start);
    QN_TRY(qn_fit_covariance_new(text->problem, &c, err));
    qn_finding_below(
        f, "nist", s->n_params, c.rank < c.n ? INFINITY : worst_off(s, c.deviation, "stddev"),
        s->is_exact ? 1e-2 : 1e-4, "%s from start %d: deviations, relative", s->name, start);
out:
    qn_fit_covariance_free(&c);
    qn_fit_report_free(&r);
    qn_fit_text_free(text);
    return st;
}

/* All sets at their certified parameters, on the device. */
static qn_status check_costs(qn_golden *g, const nist_set *sets, int n, qn_err *err)
{
    qn_fit_text *text = NULL;
    qn_str program = { 0 };
    double *costs;
    qn_status st = QN_OK;

    qn_str_add(&program, "fit 1;\n");
    for (int k = 0; k < n; k++)
        add_set(&program, &sets[k], "certified", k);
    QN_TRY(qn_fit_program_load("nist", &program, sets[0].folder, &text, err));
    if (text->problem->n_groups != n)
        QN_FAIL(err, QN_ERR_INPUT, "%d sets gave %d groups", n, text->problem->n_groups);
    QN_TRY(qn_owned_memory(&g->owned, ((size_t)n + 1) * sizeof *costs, &costs, err));
    QN_TRY(qn_fit_evaluate_groups(g->ctx, text->problem, text->problem->x, costs, err));
    for (int k = 0; k < n; k++) {
        if (sets[k].is_exact)
            qn_finding_below(g->findings, "nist", 1, 2 * costs[1 + k], 1e-20,
                             "%s: sum of squares at the certified values", sets[k].name);
        else
            qn_finding_below(g->findings, "nist", 1, qn_fit_off(2 * costs[1 + k], sets[k].rss),
                             1e-9, "%s: sum of squares at the certified values, relative",
                             sets[k].name);
    }
out:
    qn_fit_text_free(text);
    return st;
}

/* The sets of the list. */
static qn_status read_sets(qn_golden *g, const json_t *list, const char *folder, nist_set **out,
                           qn_err *err)
{
    const size_t n = json_array_size(list);
    nist_set *sets = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&g->owned, n * sizeof *sets, &sets, err));
    for (size_t k = 0; k < n; k++) {
        const json_t *one = json_array_get(list, k);

        sets[k] = (nist_set){ .json = one,
                              .name = json_string_value(json_object_get(one, "name")),
                              .folder = folder,
                              .n_params = (int)json_array_size(json_object_get(one, "certified")),
                              .rss = qn_golden_member(one, "rss") };
        sets[k].is_exact = sets[k].rss < 1e-20;
        if (!sets[k].name || sets[k].n_params < 1 || sets[k].n_params > MAX_PARAMS)
            return qn_fail(err, QN_ERR_INPUT, "%s/nist.json: set %zu has no name or parameters",
                           folder, k + 1);
    }
    *out = sets;
out:
    return st;
}

qn_status qn_fit_check_nist(qn_golden *g, qn_err *err)
{
    char folder[QN_GOLDEN_PATH];
    nist_set *sets = NULL;
    json_t *list;
    int n;
    qn_status st = QN_OK;

    qn_golden_path(g, "nist", folder);
    QN_TRY(qn_fit_golden_list(g, "nist/nist.json", NULL, &list, err));
    n = (int)json_array_size(list);
    QN_TRY(read_sets(g, list, folder, &sets, err));
    if (n)
        QN_TRY(check_costs(g, sets, n, err));
    for (int k = 0; k < n; k++) {
        QN_TRY(check_solve(&sets[k], 1, g->findings, err));
        QN_TRY(check_solve(&sets[k], 2, g->findings, err));
    }
out:
    return st;
}
