/* report.c - a result as JSON: the last solve, earlier solves, parameters and deviations. */
#include "domain/fit/run/run.h"

#include "util/json.h"

#include <math.h>
#include <string.h>

/* One solve. */

static json_t *record_json(const qn_fit_iteration *r)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:b}", "cost",
                     qn_json_number(r->cost), "change", qn_json_number(r->change), "gradient_max",
                     qn_json_number(r->gradient_max), "step_norm", qn_json_number(r->step_norm),
                     "rho", qn_json_number(r->rho), "radius", qn_json_number(r->radius), "seconds",
                     qn_json_number(r->seconds), "linear_iterations", r->linear_iterations,
                     "accepted", r->is_accepted);
}

static json_t *history_json(const qn_fit_report *r)
{
    json_t *list = json_array();

    for (int k = 0; k < r->n_history; k++)
        qn_json_push(&list, record_json(&r->history[k]));
    return list;
}

static json_t *groups_json(const qn_fit_problem *p, const qn_fit_report *r)
{
    json_t *list = json_array();

    for (int k = 0; k < r->n_groups; k++)
        qn_json_push(&list, json_pack("{s:o, s:I, s:o}", "name", qn_json_text(p->groups[k].name),
                                      "instances", (json_int_t)p->groups[k].n, "cost",
                                      qn_json_number(r->group_costs[k])));
    return list;
}

qn_status qn_fit_report_json(const qn_fit_problem *problem, const qn_fit_report *r, json_t **out,
                             qn_err *err)
{
    json_t *root =
        json_pack("{s:s, s:o, s:o, s:o, s:o}", "status", qn_fit_end_name(r->end), "text",
                  qn_json_text(r->text), "solver", qn_json_text(r->solver), "linear_solver",
                  qn_json_text(r->linear), "note", qn_json_text(r->note));

    qn_json_merge(&root,
                  json_pack("{s:o, s:o, s:o, s:o}", "initial_cost", qn_json_number(r->initial_cost),
                            "final_cost", qn_json_number(r->final_cost), "gradient_max",
                            qn_json_number(r->gradient_max), "seconds",
                            qn_json_number(r->total_seconds)));
    if (!isnan(r->evaluate_seconds))
        qn_json_merge(&root, json_pack("{s:o, s:o}", "evaluate_seconds",
                                       qn_json_number(r->evaluate_seconds), "linear_seconds",
                                       qn_json_number(r->linear_seconds)));
    qn_json_merge(&root,
                  json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i}", "accepted",
                            r->n_accepted, "rejected", r->n_rejected, "costs",
                            (json_int_t)r->n_costs, "jacobians", (json_int_t)r->n_jacobians,
                            "gradients", (json_int_t)r->n_gradients, "products",
                            (json_int_t)r->n_products, "speculated", (json_int_t)r->n_speculated,
                            "dropped", (json_int_t)r->n_dropped, "waits", (json_int_t)r->n_waits,
                            "rows", (json_int_t)r->n_rows, "free_parameters", r->n_free));
    if (r->rank >= 0)
        qn_json_merge(&root, json_pack("{s:i}", "rank", r->rank));
    qn_json_merge(&root,
                  json_pack("{s:b, s:b, s:o, s:o, s:o, s:I, s:b, s:b, s:o, s:o}", "underdetermined",
                            r->is_underdetermined, "renumbered", r->is_renumbered, "accumulation",
                            qn_json_text(r->accumulation), "jacobian", qn_json_text(r->jacobian),
                            "storage", qn_json_text(r->storage), "jacobian_bytes",
                            (json_int_t)r->jacobian_bytes, "reproducible",
                            strcmp(r->accumulation, "atomic") != 0, "strict_fp", !r->may_contract,
                            "groups", groups_json(problem, r), "history", history_json(r)));
    if (!root)
        return qn_fail(err, QN_ERR_NOMEM, "a report of %d iterations as JSON", r->n_history);
    *out = root;
    return QN_OK;
}

/* A run. */

/* Larger parameters are left to `write`. */
enum { MAX_LISTED = 100000, MAX_MATRIX = 200 };

static json_t *blocks_json(const qn_fit_set *set, const double *x)
{
    json_t *list = json_array();

    for (uint32_t b = 0; b < set->count; b++) {
        json_t *block = set->dim == 1 ? NULL : json_array();

        for (uint32_t c = 0; c < set->dim; c++) {
            json_t *number = qn_json_number(x[set->first + (size_t)b * set->dim + c]);

            qn_json_push(set->dim == 1 ? &list : &block, number);
        }
        if (set->dim != 1)
            qn_json_push(&list, block);
    }
    return list;
}

static json_t *set_json(const qn_fit_problem *p, const qn_fit_set *set, const qn_fit_result *r)
{
    json_t *object = json_pack("{s:o, s:i, s:i}", "name", qn_json_text(set->name), "count",
                               (int)set->count, "dim", (int)set->dim);

    if ((uint64_t)set->count * set->dim > MAX_LISTED)
        return object;
    qn_json_merge(&object, json_pack("{s:o, s:o}", "values", blocks_json(set, p->x), "start",
                                     blocks_json(set, r->start)));
    if (!r->no_covariance[0])
        qn_json_put(&object, "deviations", blocks_json(set, r->covariance.deviation));
    return object;
}

static json_t *matrix_json(const qn_fit_covariance *c)
{
    json_t *rows = json_array();

    for (int i = 0; i < c->n; i++) {
        json_t *row = json_array();

        for (int j = 0; j < c->n; j++)
            qn_json_push(&row, qn_json_number(c->matrix[(size_t)i * (size_t)c->n + (size_t)j]));
        qn_json_push(&rows, row);
    }
    return rows;
}

static qn_status fill(qn_ctx *ctx, const qn_fit_text *text, const qn_fit_result *r,
                      const qn_fit_options *options, json_t **root, qn_err *err)
{
    const qn_fit_problem *p = text->problem;
    const qn_fit_solved *last = &r->solves[r->n_solves - 1];
    json_t *sets = json_array(), *earlier = json_array();
    qn_status st = QN_OK;

    qn_json_merge(root, json_pack("{s:o, s:o, s:s, s:s, s:o, s:s, s:o}", "program",
                                  qn_json_text(qn_fit_base_name(options)), "command",
                                  qn_json_text(options->command), "version", qn_version(), "device",
                                  last->device, "device_name",
                                  qn_json_text(qn_fit_device_name(ctx, last)), "precision",
                                  r->precision == QN_FIT_F64 ? "f64" : "f32", "run_seconds",
                                  qn_json_number(r->seconds)));
    for (int k = 0; k < p->n_sets; k++)
        if (!p->sets[k].is_hidden)
            qn_json_push(&sets, set_json(p, &p->sets[k], r));
    qn_json_put(root, "parameters", sets);
    if (r->no_covariance[0]) {
        qn_json_put(root, "no_deviations", qn_json_text(r->no_covariance));
    } else {
        qn_json_put(root, "residual_deviation", qn_json_number(r->covariance.sigma));
        if (r->covariance.n <= MAX_MATRIX)
            qn_json_put(root, "covariance", matrix_json(&r->covariance));
    }
    for (int k = 0; k + 1 < r->n_solves; k++) {
        json_t *one = NULL;

        QN_TRY(qn_fit_report_json(p, &r->solves[k].report, &one, err));
        qn_json_put(&one, "device", json_string(r->solves[k].device));
        qn_json_push(&earlier, one);
    }
    if (r->n_solves > 1)
        qn_json_put(root, "earlier", json_incref(earlier));
out:
    json_decref(earlier);
    return st;
}

qn_status qn_fit_report_text(qn_ctx *ctx, const qn_fit_text *text, const qn_fit_result *result,
                             const qn_fit_options *options, char **out, qn_err *err)
{
    qn_status st = QN_OK;
    json_t *root = NULL;

    QN_TRY(qn_fit_report_json(text->problem, qn_fit_last_report(result), &root, err));
    QN_TRY(fill(ctx, text, result, options, &root, err));
    /* 17 digits reproduce a double. */
    if (!(*out = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17))))
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for the report of %s", options->name);
out:
    json_decref(root);
    return st;
}
