/* report_json.c - a report as JSON. */
#include "domain/fit/solve/report_json.h"

#include "util/json.h"

#include <string.h>

typedef struct member {
    const char *name;
    double value;
} member;

static int put(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

static int put_numbers(json_t *object, const member *members, size_t n)
{
    int is_whole = 1;

    for (size_t k = 0; k < n; k++)
        is_whole &= put(object, members[k].name, qn_json_number(members[k].value));
    return is_whole;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

static json_t *record_json(const qn_fit_record *r)
{
    const member members[] = {
        { "cost", r->cost },           { "change", r->change }, { "gradient_max", r->gradient_max },
        { "step_norm", r->step_norm }, { "rho", r->rho },       { "radius", r->radius },
        { "seconds", r->seconds },
    };
    json_t *object = json_object();

    put_numbers(object, members, COUNT(members));
    put(object, "linear_iterations", json_integer(r->linear_iterations));
    put(object, "accepted", json_boolean(r->is_accepted));
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

        put(group, "name", qn_json_text(p->groups[k].name));
        put(group, "instances", json_integer(p->groups[k].n));
        put(group, "cost", qn_json_number(r->group_costs[k]));
        json_array_append_new(list, group);
    }
    return list;
}

qn_status qn_fit_report_json(const qn_fit_problem *problem, const qn_fit_report *report,
                             json_t **out, qn_err *err)
{
    const qn_fit_report *r = report;
    const member costs[] = {
        { "initial_cost", r->initial_cost },         { "final_cost", r->final_cost },
        { "gradient_max", r->gradient_max },         { "seconds", r->total_seconds },
        { "evaluate_seconds", r->evaluate_seconds }, { "linear_seconds", r->linear_seconds },
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
        { "free_parameters", r->n_free },  { "rank", r->rank },
    };
    json_t *root = json_object();
    int is_whole = put(root, "status", json_string(qn_fit_end_name(r->end)));

    is_whole &= put(root, "text", qn_json_text(r->text));
    is_whole &= put(root, "solver", qn_json_text(r->solver));
    is_whole &= put(root, "linear_solver", qn_json_text(r->linear));
    is_whole &= put(root, "note", qn_json_text(r->note));
    is_whole &= put_numbers(root, costs, COUNT(costs));
    for (size_t k = 0; k < COUNT(counts); k++)
        is_whole &= put(root, counts[k].name, json_integer(counts[k].value));
    is_whole &= put(root, "underdetermined", json_boolean(r->is_underdetermined));
    is_whole &= put(root, "renumbered", json_boolean(r->is_renumbered));
    is_whole &= put(root, "accumulation", qn_json_text(r->accumulation));
    is_whole &= put(root, "jacobian", qn_json_text(r->jacobian));
    is_whole &= put(root, "storage", qn_json_text(r->storage));
    is_whole &= put(root, "jacobian_bytes", json_integer((json_int_t)r->jacobian_bytes));
    is_whole &= put(root, "reproducible", json_boolean(strcmp(r->accumulation, "atomic") != 0));
    is_whole &= put(root, "strict_fp", json_boolean(!r->may_contract));
    is_whole &= put(root, "groups", groups_json(problem, r));
    is_whole &= put(root, "history", history_json(r));
    if (!is_whole) {
        json_decref(root);
        return qn_fail(err, QN_ERR_NOMEM, "a report of %d iterations as JSON", r->n_history);
    }
    *out = root;
    return QN_OK;
}
