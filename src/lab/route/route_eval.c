/* route_eval.c - one op at one size on every device. */
#include "lab/route/route_eval.h"

#include "engine/engine.h"
#include "util/stats.h"

#include <math.h>

enum { MAX_SAMPLES = 32 };

static qn_status time_op(qn_ctx *ctx, int device, const qn_op *op, qn_i64 size, int n, double *out,
                         qn_err *err)
{
    double us[MAX_SAMPLES];
    const qn_status st = qn_op_time(ctx, device, op, size, n, us, err);

    if (st == QN_OK)
        *out = qn_stats_of(us, (size_t)n).median;
    return st;
}

qn_status qn_eval_op(qn_ctx *ctx, const char *name, qn_i64 size, int n_samples,
                     double us[QN_REGRET_DEVICES], qn_err *err)
{
    const int n = n_samples < 1 ? 1 : n_samples > MAX_SAMPLES ? MAX_SAMPLES : n_samples;
    const qn_op *op = qn_op_find(name);
    qn_status st = QN_OK;

    if (!op)
        return qn_fail(err, QN_ERR_INPUT, "unknown op '%s'", name);
    for (int d = 0; d < QN_REGRET_DEVICES; d++)
        us[d] = NAN;
    for (int d = 0; d < qn_device_count(ctx) && d < QN_REGRET_DEVICES; d++) {
        if (d != QN_CPU_SLOT && !qn_device_is_candidate(ctx, d))
            continue;
        st = time_op(ctx, d, op, size, n, &us[d], err);
        if (st != QN_OK && d == QN_CPU_SLOT)
            goto out;
        st = QN_OK; /* a device that cannot run it is no choice */
    }
out:
    return st;
}
