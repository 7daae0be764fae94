/* op_reduce.c - sum, dot and max: one number per task.
 *
 * The tasks of a part are stored without gaps and a table has their starts, so one launch works for
 * all sizes up to the largest it was made for.
 */
#include "domain/tasks/task.h"

#include "kernel/reduce.gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ELEMS ((qn_i64)1 << 30)

typedef enum { SUM, DOT, MAX_OF } reduction;

static reduction kind_of(const qn_task_op *op)
{
    return op == &qn_task_sum ? SUM : op == &qn_task_dot ? DOT : MAX_OF;
}

static size_t result_bytes(QN_UNUSED const qn_task_spec *spec)
{
    return sizeof(float);
}

static double cost_one(const qn_task_spec *spec)
{
    return 4.0 * (double)spec->n;
}

static double cost_two(const qn_task_spec *spec)
{
    return 8.0 * (double)spec->n;
}

/* On a device. */

static qn_status build(qn_task_plan *plan, qn_task_part *part, qn_err *err)
{
    const reduction kind = kind_of(part->op);
    const size_t bytes = (size_t)part->elems * sizeof(float);
    const int32_t pitch = (int32_t)((part->largest + REDUCE_CHUNK - 1) / REDUCE_CHUNK);
    const qn_range chunks = qn_range_2d(pitch, part->n_tasks), tasks = qn_range_1d(part->n_tasks);
    const size_t count = (size_t)part->n_tasks;
    const char *name = part->op->name;
    qn_graph *g = plan->graph;
    qn_buf *work;
    qn_status st = QN_OK;

    QN_TRY(qn_task_part_buf(plan, part, "x", bytes, &part->x, err));
    if (kind == DOT)
        QN_TRY(qn_task_part_buf(plan, part, "y", bytes, &part->y, err));
    QN_TRY(qn_task_part_buf(plan, part, "start", (count + 1) * sizeof(i64), &part->table, err));
    QN_TRY(qn_task_part_buf(plan, part, "out", count * sizeof(float), &part->out, err));
    QN_TRY(qn_graph_temp(g, "partial", count * (size_t)pitch * sizeof(float), &work, err));
    switch (kind) {
    case SUM:
        QN_TRY(stage_sum_part(g, name, chunks, pitch, part->table, part->x, work, err));
        break;
    case DOT:
        QN_TRY(stage_dot_part(g, name, chunks, pitch, part->table, part->x, part->y, work, err));
        break;
    case MAX_OF:
        QN_TRY(stage_max_part(g, name, chunks, pitch, part->table, part->x, work, err));
        QN_TRY(stage_max_join(g, name, tasks, pitch, part->table, work, part->out, err));
        return QN_OK;
    }
    QN_TRY(stage_sum_join(g, name, tasks, pitch, part->table, work, part->out, err));
out:
    return st;
}

static qn_status fill(qn_task_plan *plan, qn_task_part *part, unsigned operands, qn_err *err)
{
    qn_status st = QN_OK;
    void *start;

    (void)operands; /* nothing is consumed, so always fill all */
    QN_TRY(qn_task_part_random(plan, part, part->x, 0, err));
    if (part->y)
        QN_TRY(qn_task_part_random(plan, part, part->y, 1, err));
    QN_TRY(qn_buf_host(part->table, QN_HOST_DISCARD, &start, err));
    for (int k = 0; k < part->n_tasks; k++) {
        const qn_task_span span = qn_task_part_span(plan, part, k);

        ((i64 *)start)[k] = span.at;
        ((i64 *)start)[k + 1] = span.at + span.n;
    }
out:
    return st;
}

/* The plain computation. */

static float item(const qn_task_spec *spec, reduction kind, qn_i64 i)
{
    const float x = qn_random_float(spec->seed, (uint64_t)i);

    return kind == DOT ? x * qn_random_float(spec->seed + 1, (uint64_t)i) : x;
}

static float joined(reduction kind, float a, float b)
{
    if (kind == MAX_OF)
        return a > b ? a : b;
    return a + b;
}

/* The order of operations is part of the op: lane l takes every `lanes`-th number, then the lanes
 * are joined by halves until one is left. */
static float joined_tree(reduction kind, float *lane, int lanes)
{
    for (int width = lanes / 2; width > 0; width /= 2)
        for (int l = 0; l < width; l++)
            lane[l] = joined(kind, lane[l], lane[l + width]);
    return lane[0];
}

static qn_status reference(const qn_task_spec *spec, QN_UNUSED qn_i64 first, QN_UNUSED qn_i64 n,
                           void *want, qn_err *err)
{
    enum { MAX_LANES = 1024 };
    const reduction kind = kind_of(spec->op);
    const int lanes = qn_kernel_sum_part.lanes;
    const float nothing = kind == MAX_OF ? -INFINITY : 0.0f;
    const qn_i64 n_chunks = (spec->n + REDUCE_CHUNK - 1) / REDUCE_CHUNK;
    float *part = malloc((size_t)n_chunks * sizeof *part);
    float all[MAX_LANES], result;

    if (!part || lanes > MAX_LANES) {
        free(part);
        return qn_fail(err, QN_ERR_NOMEM, "check of %lld elements: out of host memory",
                       (long long)spec->n);
    }
#pragma omp parallel for if (spec->n > QN_TASK_ALONE)
    for (qn_i64 c = 0; c < n_chunks; c++) {
        const qn_i64 from = c * REDUCE_CHUNK, left = spec->n - from;
        float lane[MAX_LANES];

        for (int l = 0; l < lanes; l++)
            lane[l] = nothing;
        for (qn_i64 j = 0; j < REDUCE_CHUNK && j < left; j++)
            lane[j % lanes] = joined(kind, lane[j % lanes], item(spec, kind, from + j));
        part[c] = joined_tree(kind, lane, lanes);
    }
    for (int l = 0; l < lanes; l++)
        all[l] = nothing;
    for (qn_i64 c = 0; c < n_chunks; c++)
        all[c % lanes] = joined(kind, all[c % lanes], part[c]);
    result = joined_tree(kind, all, lanes);
    memcpy(want, &result, sizeof result);
    free(part);
    return QN_OK;
}

#define REDUCE_OP(op, cost_)                                                                       \
    const qn_task_op qn_task_##op = {                                                              \
        .name = #op,                                                                               \
        .module = "reduce",                                                                        \
        .type = "float",                                                                           \
        .max_n = MAX_ELEMS,                                                                        \
        .align = 1,                                                                                \
        .is_padded = 1,                                                                            \
        .is_reduced = 1,                                                                           \
        .parse = qn_task_parse_none,                                                               \
        .elems = qn_task_elems_n,                                                                  \
        .result_bytes = result_bytes,                                                              \
        .cost = cost_,                                                                             \
        .build = build,                                                                            \
        .fill = fill,                                                                              \
        .reference = reference,                                                                    \
    }

REDUCE_OP(sum, cost_one);
REDUCE_OP(dot, cost_two);
REDUCE_OP(max, cost_one);
