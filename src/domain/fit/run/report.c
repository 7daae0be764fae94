/* report.c - a result as JSON: the last solve, earlier solves, parameters and deviations. */
#include "domain/fit/run/run.h"

#include "util/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One solve. */

typedef struct member {
    const char *name;
    double value;
} member;

static int set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

/* Leaves out times that nothing measured. */
static int set_times(json_t *object, const qn_fit_report *r)
{
    return isnan(r->evaluate_seconds) ||
           (set(object, "evaluate_seconds", qn_json_number(r->evaluate_seconds)) &&
            set(object, "linear_seconds", qn_json_number(r->linear_seconds)));
}

static int set_numbers(json_t *object, const member *members, size_t n)
{
    int is_whole = 1;

    for (size_t k = 0; k < n; k++)
        is_whole &= set(object, members[k].name, qn_json_number(members[k].value));
    return is_whole;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

static json_t *record_json(const qn_fit_iteration *r)
{
    const member members[] = {
        { "cost", r->cost },           { "change", r->change }, { "gradient_max", r->gradient_max },
        { "step_norm", r->step_norm }, { "rho", r->rho },       { "radius", r->radius },
        { "seconds", r->seconds },
    };
    json_t *object = json_object();

    set_numbers(object, members, COUNT(members));
    set(object, "linear_iterations", json_integer(r->linear_iterations));
    set(object, "accepted", json_boolean(r->is_accepted));
    return object;
}

static json_t *history_json(const qn_fit_report *r)
{
    json_t *list = json_array();

    for (int k = 0; k < r->n_history; k++)
        json_array_append_new(list, record_json(&r->history[k]));
    return list;
}

static json_t *groups_json(const qn_fit_problem *p, const qn_fit_report *r)
{
    json_t *list = json_array();

    for (int k = 0; k < r->n_groups; k++) {
        json_t *group = json_object();

        set(group, "name", qn_json_text(p->groups[k].name));
        set(group, "instances", json_integer(p->groups[k].n));
        set(group, "cost", qn_json_number(r->group_costs[k]));
        json_array_append_new(list, group);
    }
    return list;
}

qn_status qn_fit_report_json(const qn_fit_problem *problem, const qn_fit_report *report,
                             json_t **out, qn_err *err)
{
    const qn_fit_report *r = report;
    const member costs[] = {
        { "initial_cost", r->initial_cost },
        { "final_cost", r->final_cost },
        { "gradient_max", r->gradient_max },
        { "seconds", r->total_seconds },
    };
    const struct {
        const char *name;
        qn_i64 value;
    } counts[] = {
        { "accepted", r->n_accepted },     { "rejected", r->n_rejected },
        { "costs", r->n_costs },           { "jacobians", r->n_jacobians },
        { "gradients", r->n_gradients },   { "products", r->n_products },
        { "speculated", r->n_speculated }, { "dropped", r->n_dropped },
        { "waits", r->n_waits },           { "rows", r->n_rows },
        { "free_parameters", r->n_free },
    };
    json_t *root = json_object();
    int is_whole = set(root, "status", json_string(qn_fit_end_name(r->end)));

    is_whole &= set(root, "text", qn_json_text(r->text));
    is_whole &= set(root, "solver", qn_json_text(r->solver));
    is_whole &= set(root, "linear_solver", qn_json_text(r->linear));
    is_whole &= set(root, "note", qn_json_text(r->note));
    is_whole &= set_numbers(root, costs, COUNT(costs)) && set_times(root, r);
    for (size_t k = 0; k < COUNT(counts); k++)
        is_whole &= set(root, counts[k].name, json_integer(counts[k].value));
    if (r->rank >= 0)
        is_whole &= set(root, "rank", json_integer(r->rank));
    is_whole &= set(root, "underdetermined", json_boolean(r->is_underdetermined));
    is_whole &= set(root, "renumbered", json_boolean(r->is_renumbered));
    is_whole &= set(root, "accumulation", qn_json_text(r->accumulation));
    is_whole &= set(root, "jacobian", qn_json_text(r->jacobian));
    is_whole &= set(root, "storage", qn_json_text(r->storage));
    is_whole &= set(root, "jacobian_bytes", json_integer((json_int_t)r->jacobian_bytes));
    is_whole &= set(root, "reproducible", json_boolean(strcmp(r->accumulation, "atomic") != 0));
    is_whole &= set(root, "strict_fp", json_boolean(!r->may_contract));
    is_whole &= set(root, "groups", groups_json(problem, r));
    is_whole &= set(root, "history", history_json(r));
    if (!is_whole) {
        json_decref(root);
        return qn_fail(err, QN_ERR_NOMEM, "a report of %d iterations as JSON", r->n_history);
    }
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

            json_array_append_new(block ? block : list, number);
        }
        if (block)
            json_array_append_new(list, block);
    }
    return list;
}

static json_t *set_json(const qn_fit_problem *p, const qn_fit_set *set, const qn_fit_result *r)
{
    json_t *object = json_object();

    json_object_set_new(object, "name", qn_json_text(set->name));
    json_object_set_new(object, "count", json_integer(set->count));
    json_object_set_new(object, "dim", json_integer(set->dim));
    if ((uint64_t)set->count * set->dim > MAX_LISTED)
        return object;
    json_object_set_new(object, "values", blocks_json(set, p->x));
    json_object_set_new(object, "start", blocks_json(set, r->start));
    if (!r->no_covariance[0])
        json_object_set_new(object, "deviations", blocks_json(set, r->covariance.deviation));
    return object;
}

static json_t *matrix_json(const qn_fit_covariance *c)
{
    json_t *rows = json_array();

    for (int i = 0; i < c->n; i++) {
        json_t *row = json_array();

        for (int j = 0; j < c->n; j++)
            json_array_append_new(row,
                                  qn_json_number(c->matrix[(size_t)i * (size_t)c->n + (size_t)j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static qn_status fill(qn_ctx *ctx, const qn_fit_text *text, const qn_fit_result *r,
                      const qn_fit_options *options, json_t *root, qn_err *err)
{
    const qn_fit_problem *p = text->problem;
    const qn_fit_solved *last = &r->solves[r->n_solves - 1];
    json_t *sets = json_array(), *earlier = json_array();
    qn_status st = QN_OK;

    json_object_set_new(root, "program", qn_json_text(qn_fit_base_name(options)));
    json_object_set_new(root, "command", qn_json_text(options->command));
    json_object_set_new(root, "version", json_string(qn_version()));
    json_object_set_new(root, "device", json_string(last->device));
    for (int d = 0; d < qn_device_count(ctx); d++)
        if (!strcmp(qn_device_id(ctx, d), last->device))
            json_object_set_new(root, "device_name", qn_json_text(qn_device_get(ctx, d)->name));
    json_object_set_new(root, "precision", json_string(r->precision == QN_FIT_F64 ? "f64" : "f32"));
    json_object_set_new(root, "run_seconds", qn_json_number(r->seconds));
    for (int k = 0; k < p->n_sets; k++)
        if (!p->sets[k].is_hidden)
            json_array_append_new(sets, set_json(p, &p->sets[k], r));
    json_object_set_new(root, "parameters", sets);
    if (r->no_covariance[0]) {
        json_object_set_new(root, "no_deviations", qn_json_text(r->no_covariance));
    } else {
        json_object_set_new(root, "residual_deviation", qn_json_number(r->covariance.sigma));
        if (r->covariance.n <= MAX_MATRIX)
            json_object_set_new(root, "covariance", matrix_json(&r->covariance));
    }
    for (int k = 0; k + 1 < r->n_solves; k++) {
        json_t *one = NULL;

        QN_TRY(qn_fit_report_json(p, &r->solves[k].report, &one, err));
        json_object_set_new(one, "device", json_string(r->solves[k].device));
        json_array_append_new(earlier, one);
    }
    if (r->n_solves > 1)
        json_object_set(root, "earlier", earlier);
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
    QN_TRY(fill(ctx, text, result, options, root, err));
    /* 17 digits reproduce a double. */
    if (!(*out = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17))))
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for the report of %s", options->name);
out:
    json_decref(root);
    return st;
}
