/* route_eval.c - one op at one size on every device. */
#include "lab/route/route_eval.h"

#include "engine/route/measure.h"
#include "util/stats.h"

#include <math.h>

enum { MAX_SAMPLES = 32 };

/* The smallest use of the op that has `items` work items or more. */
static qn_status sample_of(const qn_op *op, qn_i64 items, qn_op_sample *out, qn_err *err)
{
    qn_i64 low = 0, high = 1; /* low has too few, high enough */
    qn_status st = QN_OK;

    for (;; high *= 2) {
        QN_TRY(qn_op_sample_make(op, high, out, err));
        if (qn_op_sample_items(out) >= (double)items)
            break;
        low = high;
        if (high >= (qn_i64)1 << 40) {
            st = qn_fail(err, QN_ERR_LIMIT, "op %s: no use of it has %lld items", op->name,
                         (long long)items);
            goto out;
        }
    }
    while (high - low > 1) {
        const qn_i64 mid = low + (high - low) / 2;

        QN_TRY(qn_op_sample_make(op, mid, out, err));
        if (qn_op_sample_items(out) >= (double)items)
            high = mid;
        else
            low = mid;
    }
    QN_TRY(qn_op_sample_make(op, high, out, err));
out:
    return st;
}

static qn_status time_op(qn_device *device, const qn_op_sample *sample, int n, double *out,
                         qn_err *err)
{
    qn_measure m = { 0 };
    double us[MAX_SAMPLES];
    qn_status st = QN_OK;

    QN_TRY(qn_measure_open(device, sample, &m, err));
    for (int i = -2; i < n; i++) { /* the first two are warm-up */
        double one;

        QN_TRY(device->info.unified_memory ? qn_measure_resident(&m, &one, err)
                                           : qn_measure_cold(&m, &one, err));
        if (i >= 0)
            us[i] = one;
    }
    *out = qn_stats_of(us, (size_t)n).median;
out:
    qn_measure_close(&m);
    return st;
}

qn_status qn_eval_op(qn_ctx *ctx, const char *name, qn_i64 size, int n_samples,
                     double us[QN_REGRET_DEVICES], qn_err *err)
{
    const int n = n_samples < 1 ? 1 : n_samples > MAX_SAMPLES ? MAX_SAMPLES : n_samples;
    const qn_op *op = qn_op_find(name);
    qn_op_sample sample;
    qn_status st = QN_OK;

    if (!op)
        return qn_fail(err, QN_ERR_INPUT, "unknown op '%s'", name);
    QN_TRY(sample_of(op, size, &sample, err));
    for (int d = 0; d < QN_REGRET_DEVICES; d++)
        us[d] = NAN;
    for (int d = 0; d < ctx->n_devices && d < QN_REGRET_DEVICES; d++) {
        if (d != QN_CPU_SLOT && !(ctx->candidates >> d & 1))
            continue;
        st = time_op(&ctx->devices[d], &sample, n, &us[d], err);
        if (st != QN_OK && d == QN_CPU_SLOT)
            goto out;
        st = QN_OK; /* a device that cannot run it is no choice */
    }
out:
    return st;
}
