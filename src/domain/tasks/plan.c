/* plan.c - makes arrays and one graph for a batch.
 *
 * Inputs are written directly into the host copies of the arrays, and only if they are not already
 * there. Tasks of a part are stored without gaps except for alignment, even in a padded plan:
 * elements after the last task are computed and ignored.
 */
#include "domain/tasks/task.h"

#include "engine/engine.h"
#include "trees.h"
#include "util/list.h"
#include "util/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_part(qn_task_part *part)
{
    for (int d = 0; d < QN_MAX_DEVICES; d++)
        qn_graph_free(part->graphs[d]);
    if (part->trees) { /* they own the arrays */
        qn_trees_free(part->trees);
        return;
    }
    if (part->out != part->x && part->out != part->y)
        qn_buf_free(part->out);
    qn_buf_free(part->x);
    qn_buf_free(part->y);
    qn_buf_free(part->table);
}

void qn_task_plan_free(qn_task_plan *plan)
{
    if (!plan)
        return;
    qn_graph_free(plan->graph);
    for (int p = 0; p < plan->n_parts; p++)
        free_part(&plan->parts[p]);
    free(plan->parts);
    free(plan->args);
    free(plan->specs);
    free(plan->order);
    free(plan->place);
    free(plan->slots);
    free(plan->at);
    free(plan);
}

qn_status qn_task_part_buf(qn_task_plan *plan, const qn_task_part *part, const char *role,
                           size_t bytes, qn_buf **out, qn_err *err)
{
    char name[64];
    qn_status st;

    if (*out)
        return QN_OK;
    snprintf(name, sizeof name, "%s.%d.%s", part->op->name, (int)(part - plan->parts), role);
    if ((st = qn_buf_new(plan->ctx, name, bytes, out, err)) == QN_OK)
        plan->bytes += bytes;
    return st;
}

static qn_status alloc_plan(qn_task_plan *plan, const qn_task_spec *specs, int n, qn_err *err)
{
    qn_status st = QN_OK;

    plan->n_tasks = n;
    QN_TRY(QN_NEW(plan->specs, n, "a plan", err));
    QN_TRY(QN_NEW(plan->order, n, "a plan", err));
    QN_TRY(QN_NEW(plan->place, n, "a plan", err));
    QN_TRY(QN_NEW(plan->at, n, "a plan", err));
    memcpy(plan->specs, specs, (size_t)n * sizeof *specs);
    for (int k = 0; k < n; k++)
        plan->n_groups += !k || !qn_group_is_same(&specs[k - 1], &specs[k]);
out:
    return st;
}

/* Copies the arguments of the parts, since the batch may be freed before the plan. */
static qn_status own_args(qn_task_plan *plan, qn_err *err)
{
    if (!(plan->args = calloc((size_t)plan->n_parts, sizeof *plan->args)))
        return qn_fail(err, QN_ERR_NOMEM, "plan of %d parts: out of host memory", plan->n_parts);
    for (int p = 0; p < plan->n_parts; p++) {
        plan->args[p] = *plan->parts[p].arg;
        plan->parts[p].arg = &plan->args[p];
    }
    return QN_OK;
}

/* Checks memory early: arrays are allocated when they are filled, so a batch that is too large
 * would fail halfway, or be killed if the system overcommits. */
static qn_status check_memory(const qn_task_plan *plan, qn_err *err)
{
    const uint64_t total = qn_device_get(plan->ctx, QN_CPU_SLOT)->mem_total;
    char need[32], has[32];

    if (!total || plan->bytes < total)
        return QN_OK;
    return qn_fail(err, QN_ERR_NOMEM, "batch of %d tasks: out of memory (need %s, host has %s)",
                   plan->n_tasks, qn_format_bytes((double)plan->bytes, need, sizeof need),
                   qn_format_bytes((double)total, has, sizeof has));
}

qn_status qn_task_plan_new(qn_ctx *ctx, const qn_task_spec *specs, int n, qn_i64 chunk_elems,
                           int is_padded, int n_shares, qn_task_plan **out, qn_err *err)
{
    qn_task_plan *plan = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(plan, 1, "a plan", err));
    plan->ctx = ctx;
    plan->is_padded = is_padded;
    QN_TRY(alloc_plan(plan, specs, n, err));
    QN_TRY(qn_group_cut(specs, n, chunk_elems, is_padded, n_shares, &plan->parts, &plan->n_parts,
                        &plan->slots, err));
    QN_TRY(own_args(plan, err));
    QN_TRY(qn_graph_new(ctx, "tasks", &plan->graph, err));
    for (int p = 0; p < plan->n_parts; p++) {
        qn_task_part *part = &plan->parts[p];

        part->stage = qn_graph_get_stats(plan->graph).n_stages;
        QN_TRY(part->op->build(plan, part, err));
        part->n_stages = qn_graph_get_stats(plan->graph).n_stages - part->stage;
        QN_TRY(qn_graph_output(plan->graph, part->out, err));
    }
    QN_TRY(check_memory(plan, err));
    *out = plan;
    plan = NULL;
out:
    qn_task_plan_free(plan);
    return st;
}

/* Content. */

static int holds(const qn_task_plan *plan, const qn_task_spec *specs)
{
    for (int k = 0; k < plan->n_tasks; k++)
        if (plan->specs[k].n != specs[k].n || plan->specs[k].seed != specs[k].seed)
            return 0;
    return 1;
}

/* Computes where each task begins in its part. */
static void place_tasks(qn_task_plan *plan)
{
    for (int p = 0; p < plan->n_parts; p++) {
        const qn_task_part *part = &plan->parts[p];
        qn_i64 at = 0;

        for (int k = part->first; k < part->first + part->n_tasks; k++) {
            plan->at[k] = at;
            at += qn_task_room(&plan->specs[k], 0);
        }
    }
}

void qn_task_plan_load(qn_task_plan *plan, const qn_task_spec *specs, const int *order)
{
    if (!holds(plan, specs))
        plan->is_filled = 0;
    for (int k = 0; k < plan->n_tasks; k++) {
        plan->specs[k] = specs[k];
        plan->specs[k].arg = plan->parts[plan->slots[k]].arg;
        plan->order[k] = order[k];
        plan->place[order[k]] = k;
    }
    place_tasks(plan);
}

qn_task_span qn_task_part_span(const qn_task_plan *plan, const qn_task_part *part, int k)
{
    const int position = part->first + k;
    const qn_task_spec *spec = &plan->specs[position];
    const qn_i64 n = spec->op->elems(spec) - part->from;
    const qn_i64 room = part->elems - plan->at[position];

    return (qn_task_span){ .spec = spec,
                           .from = part->from,
                           .at = plan->at[position],
                           .k = k,
                           .n = n < 0      ? 0
                                : n < room ? n
                                           : room };
}

double qn_task_part_cost(const qn_task_plan *plan, const qn_task_part *part, double *n_tasks)
{
    double cost = 0, n = 0;

    for (int k = 0; k < part->n_tasks; k++) {
        const qn_task_span span = qn_task_part_span(plan, part, k);
        const double share = (double)span.n / (double)part->op->elems(span.spec);

        cost += part->op->cost(span.spec) * share;
        n += share;
    }
    if (n_tasks)
        *n_tasks = n;
    return cost;
}

qn_status qn_task_part_random(const qn_task_plan *plan, const qn_task_part *part, qn_buf *buf,
                              uint64_t stream, qn_err *err)
{
    void *data;
    const qn_status st = qn_buf_host(buf, QN_HOST_DISCARD, &data, err);

    for (int k = 0; st == QN_OK && k < part->n_tasks; k++) {
        const qn_task_span span = qn_task_part_span(plan, part, k);

        qn_task_random((float *)data + span.at, span.spec->seed + stream, span.from, span.n);
    }
    return st;
}

qn_status qn_task_plan_fill(qn_task_plan *plan, qn_err *err)
{
    qn_status st = QN_OK;

    for (int p = 0; p < plan->n_parts; p++) {
        qn_task_part *part = &plan->parts[p];
        const unsigned gone = plan->has_run ? part->op->consumes : 0;
        const unsigned operands = plan->is_filled ? gone : QN_FILL_ALL;

        if (operands)
            QN_TRY(part->op->fill(plan, part, operands, err));
    }
    plan->is_filled = 1;
    plan->has_run = 0;
out:
    return st;
}

static qn_status touch(qn_buf *buf, qn_err *err)
{
    void *ignored;

    return buf ? qn_buf_host(buf, QN_HOST_DISCARD, &ignored, err) : QN_OK;
}

qn_status qn_task_plan_touch(qn_task_plan *plan, qn_err *err)
{
    qn_status st = QN_OK;

    for (int p = 0; p < plan->n_parts; p++) {
        const qn_task_part *part = &plan->parts[p];

        if (!(part->op->consumes & QN_FILL_X))
            QN_TRY(touch(part->x, err));
        if (!(part->op->consumes & QN_FILL_Y))
            QN_TRY(touch(part->y, err));
        QN_TRY(touch(part->table, err));
        if (part->trees)
            QN_TRY(qn_trees_touch(part->trees, err));
    }
out:
    return st;
}

qn_status qn_task_part_renew(qn_task_plan *plan, qn_task_part *part, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(part->op->fill(plan, part, QN_FILL_ALL, err));
    QN_TRY(touch(part->out, err));
    if (part->trees)
        QN_TRY(touch(part->trees->tree, err));
out:
    return st;
}

/* Results. */

/* Results are stored like the elements, or one per task. */
static qn_status piece_of(const qn_task_plan *plan, const qn_task_part *part, int k,
                          const char *data, qn_task_piece_fn fn, void *user, qn_err *err)
{
    const qn_task_span span = qn_task_part_span(plan, part, k);
    const size_t all = part->op->result_bytes(span.spec);
    const size_t each = all / (size_t)part->op->elems(span.spec);

    if (part->op->is_reduced)
        return fn(user, span.spec, 0, data + (size_t)k * all, all, err);
    return fn(user, span.spec, (size_t)span.from * each, data + (size_t)span.at * each,
              (size_t)span.n * each, err);
}

qn_status qn_task_plan_result(qn_task_plan *plan, int position, qn_task_piece_fn fn, void *user,
                              qn_err *err)
{
    const qn_i64 elems = plan->specs[position].op->elems(&plan->specs[position]);

    for (int p = plan->slots[position]; p < plan->n_parts; p++) {
        const qn_task_part *part = &plan->parts[p];
        void *data;
        qn_status st;

        if (part->first > position || part->from >= elems)
            break;
        if ((st = qn_buf_host(part->out, QN_HOST_READ, &data, err)) != QN_OK)
            return st;
        st = piece_of(plan, part, position - part->first, data, fn, user, err);
        if (st != QN_OK)
            return st;
    }
    return QN_OK;
}
