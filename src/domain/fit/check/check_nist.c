/* check_nist.c - regression sets from both starts, against their certified values. */
#include "domain/fit/check/programs.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 16 };

/* One set of the list. */
typedef struct {
    const json_t *json;
    const char *name;
    const char *folder;
    int n_params;
    double rss;
    int is_exact; /* data without error: nothing but rounding is left at the end */
} nist_set;

static double number_at(const nist_set *s, const char *list, int k)
{
    return json_number_value(json_array_get(json_object_get(s->json, list), (size_t)k));
}

/* A model speaks of columns by their names; in a residual they are those of the row `i`. */
static void add_model(qn_str *out, const char *model)
{
    for (const char *c = model; *c;) {
        size_t n = 0;

        while (isalnum((unsigned char)c[n]) || c[n] == '_' || c[n] == '.')
            n++;
        const int is_column = (n == 1 && (*c == 'x' || *c == 'y')) ||
                              (n == 2 && *c == 'x' && (c[1] == '1' || c[1] == '2'));

        if (is_column)
            qn_str_add(out, "i.");
        qn_str_add_n(out, c, n ? n : 1);
        c += n ? n : 1;
    }
}

static qn_status load(const nist_set *s, const char *start, qn_fit_text **out, qn_err *err)
{
    const char *response = json_string_value(json_object_get(s->json, "response"));
    const char *model = json_string_value(json_object_get(s->json, "model"));
    qn_str text = { 0 };

    qn_str_addf(&text, "fit 1;\ntable T = nist(\"%s.dat\");\n", s->name);
    for (int k = 0; k < s->n_params; k++)
        qn_str_addf(&text, "param b%d = %.17g;\n", k + 1, number_at(s, start, k));
    qn_str_add(&text, "residual r over i in T { yield ");
    add_model(&text, response ? response : "y");
    qn_str_add(&text, " - (");
    add_model(&text, model ? model : "0");
    qn_str_add(&text, "); }\nsolve lm { max_iterations = 2000; function_tolerance = 1e-18;\n"
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

/* BoxBOD has a plateau that its far start runs onto. */
static int may_fail(const nist_set *s, int start, const qn_fit_report *r)
{
    return !strcmp(s->name, "BoxBOD") && start == 1 && qn_fit_off(2 * r->final_cost, 9771.5) < 1e-4;
}

static qn_status check_solve(const nist_set *s, int start, qn_fit_findings *f, qn_err *err)
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
        qn_fit_skipped(f, "nist", s->name, "start 1 ends on its plateau, which is allowed");
        goto out;
    }
    qn_fit_found(f, "nist", s->n_params, worst_off(s, text->problem->x, "certified"), digits,
                 "%s from start %d: parameters, relative", s->name, start);
    if (s->is_exact)
        qn_fit_found(f, "nist", 1, 2 * r.final_cost, 1e-20, "%s from start %d: sum of squares",
                     s->name, start);
    else
        qn_fit_found(f, "nist", 1, qn_fit_off(2 * r.final_cost, s->rss), 1e-9,
                     "%s from start %d: sum of squares, relative", s->name, start);
    QN_TRY(qn_fit_covariance_new(text->problem, &c, err));
    qn_fit_found(
        f, "nist", s->n_params, c.rank < c.n ? INFINITY : worst_off(s, c.deviation, "stddev"),
        s->is_exact ? 1e-2 : 1e-4, "%s from start %d: deviations, relative", s->name, start);
out:
    qn_fit_covariance_free(&c);
    qn_fit_report_free(&r);
    qn_fit_text_free(text);
    return st;
}

/* At the certified parameters, on the device. */
static qn_status check_cost(qn_ctx *ctx, const nist_set *s, qn_fit_findings *f, qn_err *err)
{
    qn_fit_text *text = NULL;
    double cost, gradient[MAX_PARAMS];
    qn_status st = QN_OK;

    QN_TRY(load(s, "certified", &text, err));
    QN_TRY(qn_fit_evaluate(ctx, text->problem, text->problem->x, &cost, gradient, err));
    if (s->is_exact)
        qn_fit_found(f, "nist", 1, 2 * cost, 1e-20, "%s: sum of squares at the certified values",
                     s->name);
    else
        qn_fit_found(f, "nist", 1, qn_fit_off(2 * cost, s->rss), 1e-9,
                     "%s: sum of squares at the certified values, relative", s->name);
out:
    qn_fit_text_free(text);
    return st;
}

qn_status qn_fit_check_nist(qn_ctx *ctx, const char *folder, qn_fit_findings *f, qn_err *err)
{
    json_t *root, *list;
    char place[2048];
    qn_status st = QN_OK;

    snprintf(place, sizeof place, "%s/nist", folder);
    QN_TRY(qn_fit_golden_list(folder, "nist/nist.json", NULL, "nist", f, &root, &list, err));
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *one = json_array_get(list, k);
        nist_set s = { .json = one,
                       .name = json_string_value(json_object_get(one, "name")),
                       .folder = place,
                       .n_params = (int)json_array_size(json_object_get(one, "certified")),
                       .rss = qn_fit_json_number(one, "rss") };

        if (!s.name || s.n_params < 1 || s.n_params > MAX_PARAMS) {
            st = qn_fail(err, QN_ERR_INPUT, "%s/nist.json: set %zu has no name or parameters",
                         place, k + 1);
            goto out;
        }
        s.is_exact = s.rss < 1e-20;
        QN_TRY(check_cost(ctx, &s, f, err));
        QN_TRY(check_solve(&s, 1, f, err));
        QN_TRY(check_solve(&s, 2, f, err));
    }
out:
    json_decref(root);
    return st;
}
