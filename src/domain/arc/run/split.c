/* split.c - runs a launch on several devices.
 *
 * The list is cut into pieces of about equal cost. The engine's split gives each device a block of
 * them, or the next piece whenever a device becomes free. Each device has an executor with a copy
 * of the pool. If a device fails, the others take its pieces; if none is left, the CPU runs the
 * rest and logs that. The result of an instance does not depend on the device.
 */
#include "domain/arc/run/cut.h"
#include "domain/arc/run/session_impl.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qn_arc_split {
    qn_arc_session *s;
    qn_split *split;
    int set[QN_MAX_DEVICES], n_set;
    qn_arc_batch *batch; /* of the current launch */
    const qn_arc_launch *launch;
    qn_arc_piece *pieces;
    int n_pieces, pieces_room;
    char name[QN_MAX_DEVICES * 24];
};

/* The work of the engine's split, with one item per piece. */

static qn_arc_launch launch_of(const qn_arc_split *split, const qn_arc_piece *p)
{
    qn_arc_launch launch = *split->launch;

    launch.list += p->first;
    launch.first = p->first;
    launch.n = p->n;
    return launch;
}

/* The executor of a device, with the pool of this batch. */
static qn_status executor_of(qn_arc_split *split, int device, qn_arc_executor **out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_arc_session_executor(split->s, device, out, err));
    QN_TRY(qn_arc_executor_update(*out, split->batch->home->pool, err));
out:
    return st;
}

static qn_status graph_of(void *user, int device, qn_i64 first, QN_UNUSED qn_i64 count,
                          qn_graph **out, qn_err *err)
{
    qn_arc_split *split = user;
    qn_arc_piece *p = &split->pieces[first];
    const qn_arc_launch launch = launch_of(split, p);
    qn_arc_executor *x = NULL;
    qn_status st = QN_OK;

    QN_TRY(executor_of(split, device, &x, err));
    QN_TRY(qn_arc_executor_prepare(x, QN_ARC_RUNG_MANY, &launch, &p->slot, out, err));
out:
    return st;
}

static qn_status deliver(void *user, int device, QN_UNUSED int slot, qn_i64 first,
                         QN_UNUSED qn_i64 count, qn_err *err)
{
    qn_arc_split *split = user;
    const qn_arc_piece *p = &split->pieces[first];
    const qn_arc_launch launch = launch_of(split, p);
    qn_arc_executor *x = split->s->executors[device];
    qn_arc_answer answer = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_executor_collect(x, p->slot, &launch, &answer, err));
    QN_TRY(qn_arc_take_results(split->batch, p->first, p->n, &answer, device, err));
out:
    return st;
}

static double count_runs(void *user, qn_i64 first, QN_UNUSED qn_i64 count)
{
    const qn_arc_split *split = user;

    return split->pieces[first].n;
}

/* Opening and closing. */

static void read_set(qn_arc_split *split)
{
    split->n_set = qn_split_count(split->split);
    for (int i = 0; i < split->n_set; i++) {
        const size_t len = strlen(split->name);

        split->set[i] = qn_split_get(split->split, i).device;
        snprintf(split->name + len, sizeof split->name - len, "%s%s", i ? "+" : "",
                 qn_device_id(split->s->ctx, split->set[i]));
    }
}

qn_status qn_arc_split_new(qn_arc_session *s, const qn_split_options *options, qn_arc_split **out,
                           qn_err *err)
{
    qn_split_options own = *options;
    qn_arc_split *split = NULL;
    qn_split_work work = {
        .chunk_items = 1, .deliver = deliver, .graph = graph_of, .tasks = count_runs
    };
    qn_status st = QN_OK;

    *out = NULL;
    own.size = sizeof own;
    if (!qn_devices_shared(s->ctx, options->devices))
        return QN_OK;
    if (!(split = work.user = calloc(1, sizeof *split)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    split->s = s;
    QN_TRY(qn_split_open(s->ctx, "arc", &own, &work, &split->split, err));
    read_set(split);
    *out = split;
    split = NULL;
out:
    qn_arc_split_free(split);
    return st;
}

void qn_arc_split_free(qn_arc_split *split)
{
    if (!split)
        return;
    qn_split_close(split->split);
    free(split->pieces);
    free(split);
}

const char *qn_arc_split_name(const qn_arc_split *split)
{
    return split->name;
}

/* Running. */

static qn_status cut(qn_arc_split *split, const float *costs, qn_err *err)
{
    const int most = qn_arc_most_pieces(split->launch->n, split->n_set);

    if (most > split->pieces_room) {
        free(split->pieces);
        split->pieces_room = 0;
        if (!(split->pieces = malloc((size_t)most * sizeof *split->pieces)))
            return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %d pieces", most);
        split->pieces_room = most;
    }
    split->n_pieces = qn_arc_cut_pieces(costs, split->launch->n, split->n_set, split->pieces);
    return QN_OK;
}

/* Updates all pools ahead of the run, so that no device waits for another's upload. A device where
 * this fails is dealt with when it gets a piece. */
static void update_all(qn_arc_split *split)
{
    for (int d = 0; d < QN_MAX_DEVICES; d++)
        if (split->s->executors[d])
            qn_arc_executor_reset(split->s->executors[d]);
    for (int i = 0; i < split->n_set; i++) {
        qn_arc_executor *x = NULL;
        qn_err ignored;

        if (!qn_ctx_has_faults(split->s->ctx)) /* injected faults are meant for runs */
            (void)executor_of(split, split->set[i], &x, &ignored);
    }
}

qn_status qn_arc_split_run(qn_arc_split *split, qn_arc_batch *b, const qn_arc_launch *launch,
                           qn_err *err)
{
    qn_status st = QN_OK;

    split->batch = b;
    split->launch = launch;
    QN_TRY(cut(split, b->listed, err));
    update_all(split);
    st = qn_split_run(split->split, split->n_pieces, err);
out:
    split->batch = NULL;
    split->launch = NULL;
    return st;
}
