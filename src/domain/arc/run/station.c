/* station.c - seats of a device: buffers and graphs of launches that overlap. */
#include "domain/arc/run/station.h"

#include "domain/arc/run/arena.h"
#include "domain/arc/run/load.h"
#include "engine/context.h"
#include "kernel/arc_reset.gen.h"
#include "kernel/arc_vm.gen.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGE_RESET, STAGE_RUN, ARG_PAR = 0, N_ARGS = 7 };
enum { HEAD_WORDS = ARC_HEAD_RESULTS * (int)sizeof(arc_result) / 4 };
enum { TEAMS_PER_UNIT = 16, CHUNK = 32, USUAL_LANES = 32, USUAL_FRAMES = 64 };
enum { N_SLOTS = 1024, USUAL_STEPS = 4000000, OUTPUT_PER_RUN = 1024, LEAST_OUTPUT = 1 << 20 };

typedef struct seat {
    int is_taken;
    qn_graph *graph;
    qn_buf *todo, *results, *out, *trace, *arenas;
    arc_result *host_results;
    unsigned char *host_out;
    uint64_t *host_trace;
    size_t results_room, out_room, trace_room;
} seat;

struct qn_arc_station {
    qn_ctx *ctx;
    qn_arc_limits limits;
    int device, lanes, n_teams;
    qn_kernel_module *variant; /* other lanes than the built-in kernel has, or NULL */
    const qn_kernel_info *kernel;
    qn_arc_load *load;
    qn_buf *pool; /* as graphs know it; the load's */
    arc_instance *list;
    size_t list_room;
    seat seats[QN_ARC_SEATS];
};

/* The failure of an engine's call, by its own status: a split tells lost devices by it. */
static qn_status told(const qn_arc_station *s, qn_status st, qn_err *err)
{
    return st == QN_OK ? st : qn_fail(err, st, "arc: %s", qn_error(s->ctx));
}

/* ---- the kernel ------------------------------------------------------------------------ */

/* As in vm.c: what computes on cores of the host runs a team as one item. */
static int is_host(const qn_arc_station *s)
{
    return qn_arc_is_host(qn_device_get(s->ctx, s->device));
}

static qn_status choose_kernel(qn_arc_station *s, qn_err *err)
{
    const int group = s->limits.group, is_cpu = is_host(s);
    char defines[64] = "";

    if (is_cpu && group)
        snprintf(defines, sizeof defines, "LANES=1 WIDTH=%d", group);
    else if (qn_device_get(s->ctx, s->device)->kind == QN_KIND_CPU && s->device > 0)
        snprintf(defines, sizeof defines, "LANES=1");
    else if (group && group != USUAL_LANES)
        snprintf(defines, sizeof defines, "LANES=%d", group);
    s->kernel = &qn_kernel_arc_run;
    if (*defines) {
        if (qn_kernels_with(s->ctx, qn_kernel_arc_run.module, defines, &s->variant) != QN_OK)
            return qn_fail(err, QN_ERR_COMPILE, "arc: %s", qn_error(s->ctx));
        s->kernel = qn_kernels_find(s->variant, "arc_run");
    }
    if (s->kernel->n_args != N_ARGS)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "arc: the kernel has %d arguments, not %d",
                       s->kernel->n_args, N_ARGS);
    return QN_OK;
}

qn_status qn_arc_station_new(qn_ctx *ctx, const qn_arc_limits *limits, int device,
                             qn_arc_station **out, qn_err *err)
{
    const qn_device_info *info = qn_device_get(ctx, device);
    const int units = info->units ? (int)info->units : 1;
    qn_arc_station *s = calloc(1, sizeof *s);
    qn_status st = QN_OK;

    if (!s)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    s->ctx = ctx;
    s->device = device;
    s->limits = *limits;
    s->limits.frames = limits->frames ? limits->frames : USUAL_FRAMES;
    s->limits.max_steps = limits->max_steps ? limits->max_steps : USUAL_STEPS;
    s->lanes = limits->group ? limits->group : USUAL_LANES;
    s->limits.arena = qn_arc_arena_bytes(info, limits->arena, s->limits.frames, s->lanes);
    s->n_teams =
        info->kind == QN_KIND_CPU ? units : units * TEAMS_PER_UNIT * USUAL_LANES / s->lanes;
    QN_TRY(choose_kernel(s, err));
    QN_TRY(qn_arc_load_new(ctx, qn_device_id(ctx, device), &s->load, err));
    *out = s;
    s = NULL;
out:
    qn_arc_station_free(s);
    return st;
}

static void free_seat(seat *at)
{
    qn_graph_free(at->graph);
    qn_buf_free(at->todo);
    qn_buf_free(at->results);
    qn_buf_free(at->out);
    qn_buf_free(at->trace);
    qn_buf_free(at->arenas);
    free(at->host_results);
    free(at->host_out);
    free(at->host_trace);
    *at = (seat){ 0 };
}

void qn_arc_station_free(qn_arc_station *s)
{
    if (!s)
        return;
    for (int i = 0; i < QN_ARC_SEATS; i++)
        free_seat(&s->seats[i]);
    qn_arc_load_free(s->load);
    qn_kernels_free(s->variant);
    free(s->list);
    free(s);
}

int qn_arc_station_device(const qn_arc_station *s)
{
    return s->device;
}

uint32_t qn_arc_station_arena(const qn_arc_station *s)
{
    return s->limits.arena;
}

/* A pool that had to grow is another buffer, which graphs must be built with. */
qn_status qn_arc_station_load(qn_arc_station *s, const qn_arc_pooled *pooled, qn_err *err)
{
    const qn_status st = qn_arc_load_run(s->load, pooled, err);
    qn_buf *pool = qn_arc_load_pool(s->load);

    for (int i = 0; pool != s->pool && i < QN_ARC_SEATS; i++) {
        qn_graph_free(s->seats[i].graph);
        s->seats[i].graph = NULL;
    }
    s->pool = pool;
    return st;
}

/* ---- room ------------------------------------------------------------------------------ */

static qn_status need_buf(qn_arc_station *s, seat *at, qn_buf **buf, const char *name, size_t bytes,
                          qn_err *err)
{
    size_t room = 4096;

    if (*buf && qn_buf_bytes(*buf) >= bytes)
        return QN_OK;
    while (room < bytes)
        room *= 2;
    qn_graph_free(at->graph);
    at->graph = NULL;
    qn_buf_free(*buf);
    *buf = NULL;
    return told(s, qn_buf_new(s->ctx, name, room, buf), err);
}

static qn_status need_host(void **p, size_t *room, size_t bytes, qn_err *err)
{
    void *grown;

    if (*room >= bytes)
        return QN_OK;
    if (!(grown = realloc(*p, bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu bytes", bytes);
    *p = grown;
    *room = bytes;
    return QN_OK;
}

static size_t output_bytes(const qn_arc_work *work)
{
    const size_t usual = (size_t)work->n * OUTPUT_PER_RUN + LEAST_OUTPUT;
    const size_t wanted = usual > work->output_bytes ? usual : work->output_bytes;
    const size_t most = (size_t)1 << 30;

    if (!(work->want & ARC_WANT_OUTPUT))
        return 8;
    return wanted < most ? wanted : most;
}

static qn_status need_room(qn_arc_station *s, seat *at, const qn_arc_work *work, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(need_buf(s, at, &at->todo, "arc.todo", work->n * sizeof(arc_instance), err));
    QN_TRY(need_buf(s, at, &at->results, "arc.results",
                    (work->n + ARC_HEAD_RESULTS) * sizeof(arc_result), err));
    QN_TRY(need_buf(s, at, &at->out, "arc.out", output_bytes(work), err));
    QN_TRY(need_buf(s, at, &at->trace, "arc.trace", (size_t)work->n * work->trace_stride * 8 + 8,
                    err));
out:
    return st;
}

/* Half as many teams where the device has no room for all arenas, down to one for each unit. */
static qn_status take_arenas(qn_arc_station *s, seat *at, qn_err *err)
{
    const qn_device_info *info = qn_device_get(s->ctx, s->device);
    const int least = info->units ? (int)info->units : 1;
    qn_status st = QN_OK;

    while (!at->arenas) {
        const size_t bytes = (size_t)s->n_teams * s->limits.arena;

        QN_TRY(told(s, qn_buf_new(s->ctx, "arc.arenas", bytes, &at->arenas), err));
        if (qn_buf_reserve(at->arenas, s->device) == QN_OK || s->n_teams / 2 < least)
            break;
        qn_buf_free(at->arenas);
        at->arenas = NULL;
        s->n_teams /= 2;
    }
out:
    return st;
}

static qn_status build(qn_arc_station *s, seat *at, qn_err *err)
{
    const char *device = qn_device_id(s->ctx, s->device);
    const arc_par par = { 0 };
    qn_status st = QN_OK;

    if (at->graph)
        return QN_OK;
    QN_TRY(take_arenas(s, at, err));
    QN_TRY(told(s, qn_graph_new(s->ctx, "arc", &at->graph), err));
    QN_TRY(told(s, stage_arc_reset(at->graph, "arc.reset", qn_range_1d(HEAD_WORDS), at->results),
                err));
    {
        const qn_arg args[N_ARGS] = { qn_arg_val(&par, sizeof par), qn_arg_buf(s->pool),
                                      qn_arg_buf(at->todo),         qn_arg_buf(at->arenas),
                                      qn_arg_buf(at->results),      qn_arg_buf(at->out),
                                      qn_arg_buf(at->trace) };
        const qn_i64 n_teams = (qn_i64)(qn_buf_bytes(at->arenas) / s->limits.arena);

        QN_TRY(told(s, qn_graph_stage(at->graph, "arc.vm", s->kernel, qn_range_1d(n_teams), args),
                    err));
    }
    QN_TRY(told(s, qn_graph_pin(at->graph, STAGE_RESET, device), err));
    QN_TRY(told(s, qn_graph_pin(at->graph, STAGE_RUN, device), err));
out:
    if (st != QN_OK) {
        qn_graph_free(at->graph);
        at->graph = NULL;
    }
    return st;
}

/* ---- a launch -------------------------------------------------------------------------- */

static arc_par par_of(const qn_arc_station *s, const qn_arc_work *work)
{
    arc_par par = { .n_instances = work->n,
                    .arena_bytes = s->limits.arena,
                    .n_frames = s->limits.frames,
                    .n_slots = N_SLOTS,
                    .max_steps = s->limits.max_steps,
                    .output_bytes = (uint32_t)output_bytes(work),
                    .flags = work->want,
                    .trace_stride = work->trace_stride,
                    .n_queues = 1,
                    .chunk = 1 };

    if (s->device > 0)
        memcpy(par.off, s->limits.off, sizeof par.off);
    if (!is_host(s)) {
        const uint32_t units = qn_device_get(s->ctx, s->device)->units;

        par.n_queues = units < ARC_MOST_QUEUES ? units : ARC_MOST_QUEUES;
        par.chunk = CHUNK;
    }
    return par;
}

static qn_status write_list(qn_arc_station *s, seat *at, const qn_arc_work *work, uint32_t first,
                            qn_err *err)
{
    const size_t bytes = work->n * sizeof *s->list;
    void *list = s->list;
    qn_status st = QN_OK;

    QN_TRY(need_host(&list, &s->list_room, bytes, err));
    s->list = list;
    memcpy(s->list, work->list, bytes);
    for (uint32_t k = 0; k < work->n; k++)
        s->list[k].number -= first;
    QN_TRY(told(s, qn_buf_write(at->todo, 0, s->list, bytes), err));
out:
    return st;
}

qn_status qn_arc_station_take(qn_arc_station *s, const qn_arc_work *work, uint32_t first,
                              int *seat_i, qn_graph **graph, qn_err *err)
{
    const arc_par par = par_of(s, work);
    qn_status st = QN_OK;
    seat *at;
    int i = 0;

    while (i < QN_ARC_SEATS && s->seats[i].is_taken)
        i++;
    if (i == QN_ARC_SEATS)
        return qn_fail(err, QN_ERR_LIMIT, "arc: more than %d launches on %s at a time",
                       QN_ARC_SEATS, qn_device_id(s->ctx, s->device));
    at = &s->seats[i];
    QN_TRY(need_room(s, at, work, err));
    QN_TRY(build(s, at, err));
    QN_TRY(write_list(s, at, work, first, err));
    QN_TRY(told(s, qn_graph_set(at->graph, STAGE_RUN, ARG_PAR, &par), err));
    at->is_taken = 1;
    *seat_i = i;
    *graph = at->graph;
out:
    return st;
}

/* Results first; their first record says how much of the output is used. */
qn_status qn_arc_station_give(qn_arc_station *s, int seat_i, const qn_arc_work *work,
                              qn_arc_answer *answer, qn_err *err)
{
    const size_t n_results = ((size_t)work->n + ARC_HEAD_RESULTS) * sizeof(arc_result);
    const size_t n_trace = (size_t)work->n * work->trace_stride * 8;
    seat *at = &s->seats[seat_i];
    qn_status st = QN_OK;

    at->is_taken = 0;
    QN_TRY(need_host((void **)&at->host_results, &at->results_room, n_results, err));
    QN_TRY(told(s, qn_buf_read(at->results, 0, at->host_results, n_results), err));
    *answer = (qn_arc_answer){ .results = at->host_results + ARC_HEAD_RESULTS };
    answer->n_out = (size_t)((const uint32_t *)(const void *)at->host_results)[ARC_COUNTER_OUT] * 8;
    if (answer->n_out > output_bytes(work))
        answer->n_out = output_bytes(work);
    QN_TRY(need_host((void **)&at->host_out, &at->out_room, answer->n_out, err));
    QN_TRY(need_host((void **)&at->host_trace, &at->trace_room, n_trace, err));
    if (answer->n_out)
        QN_TRY(told(s, qn_buf_read(at->out, 0, at->host_out, answer->n_out), err));
    if (n_trace)
        QN_TRY(told(s, qn_buf_read(at->trace, 0, at->host_trace, n_trace), err));
    answer->out = at->host_out;
    answer->trace = at->host_trace;
out:
    return st;
}

void qn_arc_station_rise(qn_arc_station *s)
{
    for (int i = 0; i < QN_ARC_SEATS; i++)
        s->seats[i].is_taken = 0;
}
