/* work.c - times one op of the tasks workload at one size, as a graph on one device.
 *
 * A plan of tasks with one part that holds one task. It is built here and not by qn_task_plan_new,
 * which always downloads results and cuts large tasks into overlapping parts: a scan measures the
 * op alone, with and without its copies.
 */
#include "lab/scan/work.h"

#include "domain/tasks/trees.h"
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_REPEATS = 100, SIM_REPEATS = 4 };
static const double sample_us = 1000; /* a sample of repeated runs takes at least this */

/* Making. */

static void fill_plan(qn_work *work)
{
    const qn_task_spec *spec = &work->list.specs[0];
    const qn_i64 room = qn_task_room(spec, 0);

    work->part = (qn_task_part){
        .op = spec->op, .arg = spec->arg, .n_tasks = 1, .elems = room, .largest = room
    };
    work->plan = (qn_task_plan){
        .ctx = work->ctx,
        .specs = work->list.specs,
        .slots = &work->zero_slot,
        .at = &work->zero_at,
        .n_tasks = 1,
        .n_groups = 1,
        .parts = &work->part,
        .n_parts = 1,
    };
}

static qn_status build(qn_work *work, qn_err *err)
{
    qn_task_plan *plan = &work->plan;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(work->ctx, "work", &plan->graph, err));
    QN_TRY(work->part.op->build(plan, &work->part, err));
    work->part.n_stages = qn_graph_get_stats(plan->graph).n_stages;
    for (int s = 0; s < work->part.n_stages; s++)
        QN_TRY(qn_graph_pin(plan->graph, s, qn_device_id(work->ctx, work->device), err));
    if (work->is_cold)
        QN_TRY(qn_graph_output(plan->graph, work->part.out, err));
    qn_graph_set_fallback(plan->graph, QN_FALLBACK_ERROR);
    QN_TRY(qn_task_plan_fill(plan, err));
out:
    return st;
}

qn_status qn_work_open(qn_ctx *ctx, int device, const char *op, qn_i64 n, uint64_t seed,
                       int is_cold, qn_work *out, qn_err *err)
{
    const qn_task task = { .id = 1, .op = op, .n = n, .seed = seed };
    const qn_tasks_options options = { .size = sizeof options, .bucket_min = QN_BUCKET_MIN };
    qn_status st = QN_OK;

    *out = (qn_work){ .ctx = ctx, .device = device, .is_cold = is_cold };
    QN_TRY(qn_task_list_read(&task, 1, &options, &out->list, err));
    fill_plan(out);
    QN_TRY(build(out, err));
out:
    if (st != QN_OK)
        qn_work_close(out);
    return st;
}

static void free_arrays(qn_task_part *part)
{
    if (part->trees) { /* these own the arrays */
        qn_trees_free(part->trees);
        return;
    }
    if (part->out != part->x && part->out != part->y)
        qn_buf_free(part->out);
    qn_buf_free(part->x);
    qn_buf_free(part->y);
    qn_buf_free(part->table);
}

void qn_work_close(qn_work *work)
{
    qn_graph_free(work->plan.graph);
    free_arrays(&work->part);
    qn_task_list_free(&work->list);
    *work = (qn_work){ 0 };
}

/* Running. */

static int is_simulated(const qn_work *work)
{
    return qn_device_get(work->ctx, work->device)->kind == QN_KIND_SIM;
}

qn_status qn_work_run(qn_work *work, int n, double *us, qn_err *err)
{
    qn_task_plan *plan = &work->plan;
    qn_status st = QN_OK;
    double start;

    if (work->is_cold && plan->has_run) {
        QN_TRY(qn_task_plan_touch(plan, err));
        QN_TRY(qn_task_plan_fill(plan, err));
    }
    plan->has_run = 1;
    start = qn_time_now_us(work->ctx, work->device);
    for (int i = 0; i < n; i++)
        QN_TRY(qn_graph_run(plan->graph, err));
    QN_TRY(qn_graph_wait(plan->graph, err));
    *us = (qn_time_now_us(work->ctx, work->device) - start) / n;
out:
    return st;
}

static int repeats_of(const qn_work *work, double us)
{
    const double wanted = us > 0 ? sample_us / us + 1 : MAX_REPEATS;
    /* A virtual clock is exact at once, while its runs take real time. */
    const int most = is_simulated(work) ? SIM_REPEATS : MAX_REPEATS;

    if (work->is_cold)
        return 1;
    return wanted < most ? (int)wanted : most;
}

qn_transfer_count qn_work_transfers(const qn_work *work)
{
    return qn_graph_get_stats(work->plan.graph).transfers;
}

/* Runs so far, the first `n_single` of them one by one. */
typedef struct sampler {
    qn_work *work;
    const void *want;
    int n_done, n_single, repeats;
    qn_transfer_count before; /* the samples */
} sampler;

static qn_status run_sample(void *user, double *us, qn_err *err)
{
    sampler *s = user;
    const int is_single = s->n_done < s->n_single;
    qn_status st = QN_OK;

    QN_TRY(qn_work_run(s->work, is_single ? 1 : s->repeats, us, err));
    if (s->n_done == 0 && s->want)
        QN_TRY(qn_work_compare(s->work, s->want, err));
    if (is_single)
        s->repeats = repeats_of(s->work, *us);
    if (++s->n_done == s->n_single)
        s->before = qn_work_transfers(s->work);
out:
    return st;
}

qn_status qn_work_time(qn_work *work, int n_warm, int n_samples, const void *want,
                       qn_work_times *out, qn_err *err)
{
    sampler s = { .work = work, .want = want, .n_single = 1 + n_warm };
    qn_transfer_count after;
    qn_status st = QN_OK;

    QN_TRY(qn_time(n_warm, n_samples, run_sample, &s, &out->timing, err));
    after = qn_work_transfers(work);
    out->h2d_bytes = (qn_i64)(after.h2d_bytes - s.before.h2d_bytes) / (n_samples * s.repeats);
    out->d2h_bytes = (qn_i64)(after.d2h_bytes - s.before.d2h_bytes) / (n_samples * s.repeats);
out:
    return st;
}

/* Results. */

size_t qn_work_result_bytes(const qn_work *work)
{
    return work->part.op->result_bytes(&work->list.specs[0]);
}

qn_status qn_work_read(qn_work *work, void *dst, qn_err *err)
{
    return qn_buf_read(work->part.out, 0, dst, qn_work_result_bytes(work), err);
}

static qn_status judge(const qn_work *work, const qn_diff *diff, const char *reference, qn_err *err)
{
    if (!diff->mismatched)
        return QN_OK;
    return qn_fail(err, QN_ERR_MISMATCH,
                   "%s of size %lld on %s: %zu of %zu values differ from %s, the first at %zu",
                   work->part.op->name, (long long)work->list.specs[0].n,
                   qn_device_id(work->ctx, work->device), diff->mismatched, diff->checked,
                   reference, diff->first);
}

qn_status qn_work_check(qn_work *work, qn_err *err)
{
    qn_status st = QN_OK;
    qn_diff diff;

    QN_TRY(qn_task_check(&work->plan, 0, &diff, err));
    QN_TRY(judge(work, &diff, "the plain computation", err));
out:
    return st;
}

/* Compares with the exactness that the registry gives for this op; if there is none, bit by bit. */
qn_status qn_work_compare(qn_work *work, const void *want, qn_err *err)
{
    const qn_task_op *op = work->part.op;
    const qn_op *promise = qn_op_find(op->name);
    const size_t bytes = qn_work_result_bytes(work);
    qn_status st = QN_OK;
    void *got;
    qn_diff diff;

    QN_TRY(qn_buf_host(work->part.out, QN_HOST_READ, &got, err));
    diff = promise ? qn_op_compare(promise, op->type, want, got, bytes)
                   : qn_compare_arrays(QN_EXACT_BITS, 0, op->type, want, got, bytes);
    QN_TRY(judge(work, &diff, "the CPU's", err));
out:
    return st;
}
