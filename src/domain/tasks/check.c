/* check.c - compares results with the plain computation of their op. */
#include "domain/tasks/task.h"

#include <stdlib.h>

static void add_diff(qn_diff *sum, const qn_diff *piece, size_t offset)
{
    if (!sum->mismatched && piece->mismatched)
        sum->first = offset + piece->first;
    sum->checked += piece->checked;
    sum->mismatched += piece->mismatched;
    sum->max_abs = piece->max_abs > sum->max_abs ? piece->max_abs : sum->max_abs;
    sum->max_rel = piece->max_rel > sum->max_rel ? piece->max_rel : sum->max_rel;
}

/* `data` is part of a result; long results are compared in stretches. */
static qn_status check_piece(void *user, const qn_task_spec *spec, size_t offset, const void *data,
                             size_t bytes, qn_err *err)
{
    const qn_task_op *op = spec->op;
    const qn_i64 n = op->is_reduced ? 1 : op->elems(spec);
    const size_t each = op->result_bytes(spec) / (size_t)n;
    const size_t step =
        op->check_elems && op->check_elems * each < bytes ? op->check_elems * each : bytes;
    const qn_exactness how = spec->arg->is_smooth ? QN_EXACT_REL : QN_EXACT_BITS;
    qn_diff *sum = user;
    void *want = malloc(step + 1);
    qn_status st = QN_OK;

    if (!want)
        return qn_fail(err, QN_ERR_NOMEM, "check of %zu bytes: out of host memory", step);
    for (size_t at = 0; at < bytes; at += step) {
        const size_t size = bytes - at < step ? bytes - at : step;
        qn_diff diff;

        QN_TRY(
            op->reference(spec, (qn_i64)((offset + at) / each), (qn_i64)(size / each), want, err));
        diff = qn_compare_arrays(how, 1e-6, op->type, want, (const char *)data + at, size);
        add_diff(sum, &diff, sum->checked);
    }
out:
    free(want);
    return st;
}

qn_status qn_task_check(qn_task_plan *plan, int position, qn_diff *diff, qn_err *err)
{
    *diff = (qn_diff){ .finite_pct = 100 };
    return qn_task_plan_result(plan, position, check_piece, diff, err);
}
