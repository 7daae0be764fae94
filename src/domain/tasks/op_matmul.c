/* op_matmul.c - products of square matrices; those of equal size share a launch. */
#include "domain/tasks/task.h"

#include "kernel/matmul.gen.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Three matrices of 256 MiB. */
enum { MAX_SIDE = 8192 };

static qn_i64 elems(const qn_task_spec *spec)
{
    return spec->n * spec->n;
}

static size_t result_bytes(const qn_task_spec *spec)
{
    return (size_t)elems(spec) * sizeof(float);
}

/* A device does about ten multiplications while one byte crosses the bus. */
static double cost(const qn_task_spec *spec)
{
    const double n = (double)spec->n;

    return 12 * n * n + 0.1 * n * n * n;
}

static qn_status build(qn_task_plan *plan, qn_task_part *part, qn_err *err)
{
    const qn_i64 n = plan->specs[part->first].n;
    const size_t bytes = (size_t)part->elems * sizeof(float);
    const matmul_par par = { .a_step = n * n,
                             .b_step = n * n,
                             .c_step = n * n,
                             .rows = (i32)n,
                             .cols = (i32)n,
                             .depth = (i32)n };
    const qn_range tiles =
        qn_range_3d((n + MATMUL_TILE_COLS - 1) / MATMUL_TILE_COLS,
                    (n + MATMUL_TILE_ROWS - 1) / MATMUL_TILE_ROWS, part->n_tasks);
    qn_status st = QN_OK;

    QN_TRY(qn_task_part_buf(plan, part, "a", bytes, &part->x, err));
    QN_TRY(qn_task_part_buf(plan, part, "b", bytes, &part->y, err));
    QN_TRY(qn_task_part_buf(plan, part, "c", bytes, &part->out, err));
    QN_TRY(stage_matmul(plan->graph, "matmul", tiles, par, part->x, part->y, part->out, err));
out:
    return st;
}

static qn_status fill(qn_task_plan *plan, qn_task_part *part, unsigned operands, qn_err *err)
{
    const qn_status st = qn_task_part_random(plan, part, part->x, 0, err);

    (void)operands; /* nothing is consumed, so always fill all */
    return st == QN_OK ? qn_task_part_random(plan, part, part->y, 1, err) : st;
}

/* Row by row, with the products of an element added in the order of k, each rounded once. */
static qn_status reference(const qn_task_spec *spec, QN_UNUSED qn_i64 from,
                           QN_UNUSED qn_i64 n_elems, void *want, qn_err *err)
{
    const qn_i64 n = spec->n;
    float *a = NULL, *b = NULL, *c = want;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(a, n * n, "a check of a product", err));
    QN_TRY(QN_NEW(b, n * n, "a check of a product", err));
    qn_task_random(a, spec->seed, 0, n * n);
    qn_task_random(b, spec->seed + 1, 0, n * n);
#pragma omp parallel for if (n * n > QN_TASK_ALONE / 8)
    for (qn_i64 i = 0; i < n; i++) {
        memset(c + i * n, 0, (size_t)n * sizeof *c);
        for (qn_i64 k = 0; k < n; k++)
            for (qn_i64 j = 0; j < n; j++)
                c[i * n + j] = fmaf(a[i * n + k], b[k * n + j], c[i * n + j]);
    }
out:
    free(a);
    free(b);
    return st;
}

const qn_task_op qn_task_matmul = {
    .name = "matmul",
    .module = "matmul",
    .type = "float",
    .max_n = MAX_SIDE,
    .align = 1,
    .same_n = 1,
    .parse = qn_task_parse_none,
    .elems = elems,
    .result_bytes = result_bytes,
    .cost = cost,
    .build = build,
    .fill = fill,
    .reference = reference,
};
