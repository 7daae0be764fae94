/* seats.c - buffers and graphs of launches that overlap. */
#include "domain/arc/run/arena.h"
#include "domain/arc/run/in_step.h"
#include "domain/arc/run/station_impl.h"
#include "kernel/arc_reset.gen.h"
#include "kernel/arc_vm.gen.h"
#include "kernel/arc_wide.gen.h"
#include "util/clock.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_RESET, STAGE_RUN, ARG_PAR = 0 };
enum { HEAD_WORDS = ARC_HEAD_RESULTS * (int)sizeof(arc_result) / 4 };
/* A list begins with what takes longest: that part of it, one in SINGLY, is not dealt in chunks, of
 * which one alone could outlast the others. */
enum { CHUNKS_PER_QUEUE = 8, MOST_CHUNK = 32, SINGLY = 4 };
enum { OUTPUT_PER_RUN = 1024, LEAST_OUTPUT = 1 << 20 };

void qn_arc_seat_free_graphs(qn_arc_seat *at)
{
    for (int t = 0; t < QN_ARC_N_TIERS; t++) {
        qn_graph_free(at->graphs[t]);
        at->graphs[t] = NULL;
    }
}

void qn_arc_seat_free(qn_arc_seat *at)
{
    qn_arc_seat_free_graphs(at);
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        qn_buf_free(at->arenas[t]);
    qn_buf_free(at->todo);
    qn_buf_free(at->results);
    qn_buf_free(at->out);
    qn_buf_free(at->trace);
    free(at->host_results);
    free(at->host_out);
    free(at->host_trace);
}

/* Room. */

/* A buffer of at least `bytes`; a larger one replaces it, and graphs are built anew. */
static qn_status need_buf(qn_arc_station *s, qn_arc_seat *at, qn_buf **buf, const char *name,
                          size_t bytes, qn_err *err)
{
    size_t size = 4096;

    if (*buf && qn_buf_bytes(*buf) >= bytes)
        return QN_OK;
    while (size < bytes)
        size *= 2;
    qn_arc_seat_free_graphs(at);
    qn_buf_free(*buf);
    *buf = NULL;
    return qn_buf_new(s->ctx, name, size, buf, err);
}

static qn_status need_host(void **p, size_t *size, size_t bytes, qn_err *err)
{
    void *grown;

    if (*size >= bytes)
        return QN_OK;
    if (!(grown = realloc(*p, bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu bytes", bytes);
    *p = grown;
    *size = bytes;
    return QN_OK;
}

/* Outputs are a few hundred bytes each; where they are more, those that found no room are run
 * again. */
static size_t output_bytes(const qn_arc_work *work)
{
    const size_t usual = (size_t)work->n * OUTPUT_PER_RUN + LEAST_OUTPUT;
    const size_t wanted = usual > work->output_bytes ? usual : work->output_bytes;
    const size_t most = (size_t)1 << 30;

    if (!(work->want & ARC_WANT_OUTPUT))
        return 8;
    return wanted < most ? wanted : most;
}

static qn_status need_room(qn_arc_station *s, qn_arc_seat *at, const qn_arc_work *work,
                           uint32_t n_list, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(need_buf(s, at, &at->todo, "arc.todo", n_list * sizeof(arc_instance), err));
    QN_TRY(need_buf(s, at, &at->results, "arc.results",
                    (work->n + ARC_HEAD_RESULTS) * sizeof(arc_result), err));
    QN_TRY(need_buf(s, at, &at->out, "arc.out", output_bytes(work), err));
    QN_TRY(need_buf(s, at, &at->trace, "arc.trace", (size_t)work->n * work->trace_stride * 8 + 8,
                    err));
out:
    return st;
}

/* Memory of the host that is touched only as far as programs need it. Where not even addresses can
 * be had for all teams there are fewer. */
static qn_status take_wide_arenas(qn_arc_station *s, qn_buf **arenas, qn_err *err)
{
    qn_arc_room *r = &s->rooms[QN_ARC_TIER_CPU];

    while (!s->wide && !(s->wide = malloc((size_t)r->n_teams * r->arena))) {
        if (r->n_teams == 1)
            return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u bytes", r->arena);
        r->n_teams /= 2;
    }
    return qn_buf_wrap(s->ctx, "arc.arenas", s->wide, (size_t)r->n_teams * r->arena, arenas, err);
}

/* Half as many teams where the device has no room for all arenas, down to one for each of its
 * units. What does not fit even then is the engine's matter: others give way, or the CPU runs. */
static qn_status take_arenas(qn_arc_station *s, qn_arc_seat *at, qn_arc_room *r, qn_buf **arenas,
                             qn_err *err)
{
    qn_buf *const first[] = { s->pool, at->todo, at->results, at->out, at->trace };
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        (void)qn_buf_reserve(first[i], s->device, err);
    for (;;) {
        const size_t bytes = (size_t)r->n_teams * r->arena;

        QN_TRY(qn_buf_new(s->ctx, "arc.arenas", bytes, arenas, err));
        if (qn_buf_reserve(*arenas, s->device, err) == QN_OK ||
            r->n_teams / 2 < qn_arc_station_units(s))
            break;
        qn_buf_free(*arenas);
        *arenas = NULL;
        r->n_teams /= 2;
    }
out:
    return st;
}

static uint32_t teams_of(const qn_arc_station *s, const qn_arc_seat *at, qn_arc_tier t)
{
    return (uint32_t)(qn_buf_bytes(at->arenas[t]) / s->rooms[t].arena);
}

static qn_status build(qn_arc_station *s, qn_arc_seat *at, qn_arc_tier t, qn_err *err)
{
    const int is_wide = t == QN_ARC_TIER_CPU;
    const qn_kernel_info *kernel = is_wide ? &qn_kernel_arc_run_wide : s->kernel;
    const char *device = qn_device_id(s->ctx, is_wide ? QN_CPU_SLOT : s->device);
    const arc_par par = { 0 };
    qn_graph **graph = &at->graphs[t];
    qn_status st = QN_OK;

    if (*graph)
        return QN_OK;
    if (!at->arenas[t])
        QN_TRY(is_wide ? take_wide_arenas(s, &at->arenas[t], err)
                       : take_arenas(s, at, &s->rooms[t], &at->arenas[t], err));
    QN_TRY(qn_graph_new(s->ctx, "arc", graph, err));
    QN_TRY(stage_arc_reset(*graph, "arc.reset", qn_range_1d(HEAD_WORDS), at->results, err));
    {
        const qn_arg args[QN_ARC_KERNEL_ARGS] = {
            qn_arg_val(&par, sizeof par), qn_arg_buf(s->pool),     qn_arg_buf(at->todo),
            qn_arg_buf(at->arenas[t]),    qn_arg_buf(at->results), qn_arg_buf(at->out),
            qn_arg_buf(at->trace)
        };

        QN_TRY(
            qn_graph_stage(*graph, "arc.vm", kernel, qn_range_1d(teams_of(s, at, t)), args, err));
    }
    QN_TRY(qn_graph_pin(*graph, STAGE_RESET, device, err));
    QN_TRY(qn_graph_pin(*graph, STAGE_RUN, device, err));
out:
    if (st != QN_OK) {
        qn_graph_free(*graph);
        *graph = NULL;
    }
    return st;
}

/* A launch. */

/* Teams of a group that run together; 1 where none share a group. */
static uint32_t teams_together(const qn_arc_station *s)
{
    const int is_cuda = strncmp(qn_device_id(s->ctx, s->device), "cuda", 4) == 0;

    return is_cuda && s->lanes == QN_ARC_USUAL_LANES ? (uint32_t)(QN_TEAM_ITEMS / s->lanes) : 1;
}

/* Instances of a group that run one program; 0: they stay a list. */
static uint32_t group_of(const qn_arc_station *s, qn_arc_tier t)
{
    const uint32_t together = teams_together(s);

    if (t != QN_ARC_TIER_MANY)
        return 0;
    if (together > 1)
        return together;
    return s->limits.in_step;
}

/* Large enough that the teams of a unit find the same program, small enough that units end
 * together. */
static uint32_t chunk_of(uint32_t n, uint32_t n_queues)
{
    const uint32_t chunk = n / (n_queues * CHUNKS_PER_QUEUE);

    return chunk < 1 ? 1 : chunk > MOST_CHUNK ? MOST_CHUNK : chunk;
}

static arc_par par_of(const qn_arc_station *s, qn_arc_tier t, const qn_arc_work *work,
                      uint32_t n_list, uint32_t in_step)
{
    const qn_arc_room *r = &s->rooms[t];
    arc_par par = { .n_instances = n_list,
                    .in_step = in_step,
                    .arena_bytes = r->arena,
                    .n_frames = r->frames,
                    .n_slots = r->slots,
                    .max_steps = work->max_steps ? work->max_steps : qn_arc_station_steps(s),
                    .max_turns = t == QN_ARC_TIER_CPU ? 0 : qn_arc_station_turns(s),
                    .output_bytes = (uint32_t)output_bytes(work),
                    .flags = work->want,
                    .trace_stride = work->trace_stride,
                    .n_queues = 1,
                    .chunk = 1 };

    if (t != QN_ARC_TIER_CPU && s->device != QN_CPU_SLOT)
        memcpy(par.off, s->limits.off, sizeof par.off);
    if (t == QN_ARC_TIER_MANY && !qn_arc_is_host(qn_arc_station_info(s))) {
        const uint32_t units = (uint32_t)qn_arc_station_units(s);
        const uint32_t n = in_step ? n_list / in_step : n_list;

        par.n_queues = units < ARC_MOST_QUEUES ? units : ARC_MOST_QUEUES;
        par.singles = n / par.n_queues / SINGLY;
        par.chunk = chunk_of(n - par.singles * par.n_queues, par.n_queues);
    }
    return par;
}

/* The instances as the device takes them: in groups, and numbered from 0. */
static qn_status write_list(qn_arc_station *s, qn_arc_seat *at, const qn_arc_work *work,
                            uint32_t group, uint32_t n, uint32_t first, qn_err *err)
{
    const size_t bytes = n * sizeof *s->list;
    qn_status st = QN_OK;

    if (!group && !first)
        return qn_buf_write(at->todo, 0, work->list, bytes, err);
    QN_TRY(need_host((void **)&s->list, &s->list_room, bytes, err));
    if (group)
        qn_arc_in_step(work->list, work->n, group, s->list);
    else
        memcpy(s->list, work->list, bytes);
    for (uint32_t k = 0; k < n; k++)
        s->list[k].number -= s->list[k].number == ARC_NOBODY ? 0 : first;
    QN_TRY(qn_buf_write(at->todo, 0, s->list, bytes, err));
out:
    return st;
}

qn_status qn_arc_station_take(qn_arc_station *s, qn_arc_tier t, const qn_arc_work *work,
                              uint32_t first, int *seat_i, qn_graph **graph, qn_err *err)
{
    const uint32_t together = teams_together(s);
    uint32_t group = group_of(s, t);
    uint32_t n = group ? qn_arc_in_step(work->list, work->n, group, NULL) : work->n;
    arc_par par;
    qn_status st = QN_OK;
    qn_arc_seat *at;
    int i = 0;

    while (i < QN_ARC_SEATS && s->seats[i].is_taken)
        i++;
    if (i == QN_ARC_SEATS)
        return qn_fail(err, QN_ERR_LIMIT, "arc: more than %d launches on %s at a time",
                       QN_ARC_SEATS, qn_device_id(s->ctx, s->device));
    at = &s->seats[i];
    if (group && !qn_arc_in_step_pays(work->n, n))
        group = 0;
    QN_TRY(need_room(s, at, work, group ? n : work->n, err));
    QN_TRY(build(s, at, t, err));
    if (group && teams_of(s, at, t) % together)
        group = 0;
    n = group ? n : work->n;
    QN_TRY(write_list(s, at, work, group, n, first, err));
    par = par_of(s, t, work, n, group ? together : 0);
    QN_TRY(qn_graph_set(at->graphs[t], STAGE_RUN, ARG_PAR, &par, err));
    at->is_taken = 1;
    *seat_i = i;
    *graph = at->graphs[t];
out:
    return st;
}

/* A code that the machine never gives comes from a device that is out of order: what it says of the
 * run is not to be believed. */
static void leave_the_senseless(arc_result *results, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (results[k].code >= ARC_N_CODES)
            results[k].code = ARC_E_UNSUPPORTED;
}

/* Results first; their first record says how much of the output is used. */
qn_status qn_arc_station_give(qn_arc_station *s, int seat_i, const qn_arc_work *work,
                              qn_arc_answer *answer, qn_err *err)
{
    const size_t n_results = ((size_t)work->n + ARC_HEAD_RESULTS) * sizeof(arc_result);
    const size_t n_trace = (size_t)work->n * work->trace_stride * 8;
    qn_arc_seat *at = &s->seats[seat_i];
    double start;
    qn_status st = QN_OK;

    at->is_taken = 0;
    QN_TRY(need_host((void **)&at->host_results, &at->results_room, n_results, err));
    QN_TRY(qn_buf_read(at->results, 0, at->host_results, n_results, err));
    start = qn_now_us();
    *answer = (qn_arc_answer){ .results = at->host_results + ARC_HEAD_RESULTS };
    leave_the_senseless(at->host_results + ARC_HEAD_RESULTS, work->n);
    answer->n_out = (size_t)((const uint32_t *)(const void *)at->host_results)[ARC_COUNTER_OUT] * 8;
    if (answer->n_out > output_bytes(work))
        answer->n_out = output_bytes(work);
    QN_TRY(need_host((void **)&at->host_out, &at->out_room, answer->n_out, err));
    QN_TRY(need_host((void **)&at->host_trace, &at->trace_room, n_trace, err));
    if (answer->n_out)
        QN_TRY(qn_buf_read(at->out, 0, at->host_out, answer->n_out, err));
    if (n_trace)
        QN_TRY(qn_buf_read(at->trace, 0, at->host_trace, n_trace, err));
    answer->out = at->host_out;
    answer->trace = at->host_trace;
    answer->download_us = qn_now_us() - start;
out:
    return st;
}

void qn_arc_station_rise(qn_arc_station *s)
{
    for (int i = 0; i < QN_ARC_SEATS; i++)
        s->seats[i].is_taken = 0;
}

qn_status qn_arc_station_run(qn_arc_station *s, qn_arc_tier t, const qn_arc_work *work,
                             qn_arc_answer *answer, int *device, qn_err *err)
{
    qn_graph *graph = NULL;
    int seat_i = 0;
    qn_status st = QN_OK;

    qn_arc_station_rise(s);
    QN_TRY(qn_arc_station_load(s, &work->pool, err));
    QN_TRY(qn_arc_station_take(s, t, work, 0, &seat_i, &graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(qn_arc_station_give(s, seat_i, work, answer, err));
    *device = strncmp(qn_graph_stage_device(graph, STAGE_RUN), "cpu", 3) ? s->device : QN_CPU_SLOT;
out:
    return st;
}
