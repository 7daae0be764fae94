/* spread.c - pieces of a list, and the stations they go to. */
#include "domain/arc/run/spread.h"

#include "domain/arc/run/station.h"
#include "engine/engine.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough pieces that the last ones to finish are small, each large enough to fill a device. */
enum { PIECES_PER_DEVICE = 8, LEAST_PIECE = 256 };

typedef struct piece {
    uint32_t first, n;
    int seat;
} piece;

struct qn_arc_spread {
    qn_ctx *ctx;
    qn_arc_limits limits, on_cpu;
    qn_split *split;
    qn_arc_station *stations[QN_MAX_DEVICES];
    uint64_t loaded[QN_MAX_DEVICES]; /* the state of the pool that the station has; 0: none */
    int set[QN_MAX_DEVICES], n_set;
    const qn_arc_spread_work *work; /* of the list that is run */
    piece *pieces;
    int n_pieces, pieces_room;
    char name[QN_MAX_DEVICES * 24];
};

/* The work of the split. */

static qn_arc_work work_of(const qn_arc_spread *spread, const piece *p)
{
    qn_arc_work work = spread->work->work;

    work.list += p->first;
    work.n = p->n;
    return work;
}

/* The station of a device with the pool of this list. One that missed a state gets all of it. */
static qn_status station_of(qn_arc_spread *spread, int device, qn_arc_station **out, qn_err *err)
{
    qn_arc_pooled pooled = spread->work->work.pool;
    const qn_arc_range whole = { .at = 0, .bytes = pooled.n };
    const qn_arc_limits *limits = device == QN_CPU_SLOT ? &spread->on_cpu : &spread->limits;
    qn_status st = QN_OK;

    if (!spread->stations[device])
        QN_TRY(qn_arc_station_new(spread->ctx, limits, device, &spread->stations[device], err));
    *out = spread->stations[device];
    if (spread->loaded[device] == spread->work->state)
        return QN_OK;
    if (spread->loaded[device] + 1 != spread->work->state) {
        pooled.fresh = &whole;
        pooled.n_fresh = pooled.n > 0;
    }
    QN_TRY(qn_arc_station_load(*out, &pooled, err));
    spread->loaded[device] = spread->work->state;
out:
    return st;
}

static qn_status graph_of(void *user, int device, qn_i64 first, qn_i64 count, qn_graph **out,
                          qn_err *err)
{
    qn_arc_spread *spread = user;
    piece *p = &spread->pieces[first];
    const qn_arc_work work = work_of(spread, p);
    qn_arc_station *station = NULL;
    qn_status st = QN_OK;

    (void)count;
    QN_TRY(station_of(spread, device, &station, err));
    QN_TRY(qn_arc_station_take(station, QN_ARC_TIER_MANY, &work, p->first, &p->seat, out, err));
out:
    return st;
}

/* All of it is done when the graph is asked for. */
static qn_status prepare(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err)
{
    (void)user;
    (void)device;
    (void)slot;
    (void)first;
    (void)count;
    (void)err;
    return QN_OK;
}

static qn_status deliver(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err)
{
    qn_arc_spread *spread = user;
    const qn_arc_spread_work *all = spread->work;
    const piece *p = &spread->pieces[first];
    const qn_arc_work work = work_of(spread, p);
    qn_arc_answer answer = { 0 };
    qn_status st = QN_OK;

    (void)slot;
    (void)count;
    QN_TRY(qn_arc_station_give(spread->stations[device], p->seat, &work, &answer, err));
    QN_TRY(all->deliver(all->user, p->first, p->n, &answer, device, err));
out:
    return st;
}

static double count_runs(void *user, qn_i64 first, qn_i64 count)
{
    const qn_arc_spread *spread = user;

    (void)count;
    return spread->pieces[first].n;
}

/* Making. */

static void look_at_set(qn_arc_spread *spread)
{
    spread->n_set = qn_split_count(spread->split);
    for (int i = 0; i < spread->n_set; i++) {
        const size_t len = strlen(spread->name);

        spread->set[i] = qn_split_get(spread->split, i).device;
        snprintf(spread->name + len, sizeof spread->name - len, "%s%s", i ? "+" : "",
                 qn_device_id(spread->ctx, spread->set[i]));
    }
}

qn_status qn_arc_spread_new(qn_ctx *ctx, const qn_arc_limits *limits, const qn_arc_limits *on_cpu,
                            const qn_split_options *options, qn_arc_spread **out, qn_err *err)
{
    qn_arc_spread *spread = NULL;
    qn_split_work work = { .chunk_items = 1,
                           .prepare = prepare,
                           .deliver = deliver,
                           .graph = graph_of,
                           .tasks = count_runs };
    qn_status st = QN_OK;

    *out = NULL;
    if (!qn_devices_shared(ctx, options->devices))
        return QN_OK;
    if (!(spread = work.user = calloc(1, sizeof *spread)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    spread->ctx = ctx;
    spread->limits = *limits;
    spread->on_cpu = *on_cpu;
    QN_TRY(qn_split_open(ctx, "arc", options, &work, &spread->split, err));
    look_at_set(spread);
    *out = spread;
    spread = NULL;
out:
    qn_arc_spread_free(spread);
    return st;
}

void qn_arc_spread_free(qn_arc_spread *spread)
{
    if (!spread)
        return;
    qn_split_close(spread->split);
    for (int d = 0; d < QN_MAX_DEVICES; d++)
        qn_arc_station_free(spread->stations[d]);
    free(spread->pieces);
    free(spread);
}

const char *qn_arc_spread_name(const qn_arc_spread *spread)
{
    return spread->name;
}

/* Running. */

static qn_status cut(qn_arc_spread *spread, qn_err *err)
{
    const uint32_t n = spread->work->work.n;
    const int most = spread->n_set * PIECES_PER_DEVICE;
    const uint32_t wanted = n / LEAST_PIECE > (uint32_t)most            ? (uint32_t)most
                            : n / LEAST_PIECE > (uint32_t)spread->n_set ? n / LEAST_PIECE
                                                                        : (uint32_t)spread->n_set;
    double total = 0, sum = 0;
    uint32_t first = 0;

    if ((int)wanted > spread->pieces_room) {
        free(spread->pieces);
        spread->pieces_room = 0;
        if (!(spread->pieces = malloc(wanted * sizeof *spread->pieces)))
            return qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %u pieces", wanted);
        spread->pieces_room = (int)wanted;
    }
    spread->n_pieces = 0;
    for (uint32_t k = 0; k < n; k++)
        total += spread->work->costs[k];
    for (uint32_t k = 0; k < n; k++) {
        const int is_last = k + 1 == n;

        sum += spread->work->costs[k];
        if (!is_last &&
            (sum < total * (spread->n_pieces + 1) / wanted || spread->n_pieces + 1 == (int)wanted))
            continue;
        spread->pieces[spread->n_pieces++] = (piece){ .first = first, .n = k + 1 - first };
        first = k + 1;
    }
    return QN_OK;
}

/* Ahead of the run, so that no device waits for another's upload. One that cannot is found again,
 * and dealt with, when it gets a piece. */
static void load_all(qn_arc_spread *spread)
{
    for (int i = 0; i < spread->n_set; i++) {
        qn_arc_station *station = NULL;
        qn_err ignored;

        if (spread->stations[spread->set[i]])
            qn_arc_station_rise(spread->stations[spread->set[i]]);
        if (!qn_ctx_has_faults(spread->ctx)) /* injected faults are meant for runs */
            (void)station_of(spread, spread->set[i], &station, &ignored);
    }
    if (spread->stations[QN_CPU_SLOT])
        qn_arc_station_rise(spread->stations[QN_CPU_SLOT]);
}

qn_status qn_arc_spread_run(qn_arc_spread *spread, const qn_arc_spread_work *work, qn_err *err)
{
    qn_status st = QN_OK;

    spread->work = work;
    QN_TRY(cut(spread, err));
    load_all(spread);
    st = qn_split_run(spread->split, spread->n_pieces, err);
out:
    spread->work = NULL;
    return st;
}
