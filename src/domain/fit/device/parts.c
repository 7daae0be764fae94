/* parts.c - dispatches of a limited number of instances.
 *
 * A part is a range of the same launch, so every instance and every sum is computed as in a single
 * launch: results do not depend on the cuts. This is for devices that stop long kernels, or that
 * drive a screen between two of them.
 */
#include "domain/fit/device/device_impl.h"

/* Stages of one kernel: each costs the host a few microseconds and a kilobyte. */
enum { MOST_PARTS = 1 << 16 };

qn_status qn_fit_device_set_batch_size(qn_fit_device *device, qn_i64 most, qn_err *err)
{
    const qn_fit_problem *p = device->problem;

    for (int k = 0; most > 0 && k < p->n_groups; k++)
        if (p->groups[k].n / most >= MOST_PARTS)
            return qn_fail(err, QN_ERR_LIMIT,
                           "batch_size = %lld: %lld instances of %s are more than %d dispatches",
                           (long long)most, (long long)p->groups[k].n, p->groups[k].name,
                           MOST_PARTS);
    device->batch_size = most;
    return QN_OK;
}

qn_status qn_fit_dev_stage_parts(qn_graph *graph, const char *name, const qn_kernel_info *kernel,
                                 qn_i64 n, qn_i64 most, const qn_arg *args, qn_err *err)
{
    const qn_i64 step = most > 0 ? most : n;
    qn_status st = QN_OK;

    for (qn_i64 at = 0; st == QN_OK && at < n; at += step)
        st = qn_graph_stage(graph, name, kernel,
                            (qn_range){ at, at + step < n ? at + step : n, 0, 1, 0, 1 }, args, err);
    return st;
}

/* The end of a dispatch that begins at block `first`: at least one block, and otherwise no more
 * terms than the limit. */
static uint32_t end_of_part(const qn_fit_device *d, const qn_fit_set *set, uint32_t first)
{
    const qn_i64 *start = d->problem->inverse.start + set->first_block;
    uint32_t end = first + 1;

    if (!d->batch_size)
        return set->count;
    while (end < set->count && start[end + 1] - start[first] <= d->batch_size)
        end++;
    return end;
}

qn_status qn_fit_dev_stage_blocks(qn_fit_device *device, qn_graph *graph, const char *name,
                                  const qn_kernel_info *kernel, int set, const qn_arg *args,
                                  qn_err *err)
{
    const qn_fit_set *s = &device->problem->sets[set];
    qn_status st = QN_OK;
    uint32_t end;

    for (uint32_t at = 0; st == QN_OK && at < s->count; at = end) {
        end = end_of_part(device, s, at);
        st = qn_graph_stage(graph, name, kernel, (qn_range){ at, end, 0, 1, 0, 1 }, args, err);
    }
    return st;
}
