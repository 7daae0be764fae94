/* slots.c - buffers and graphs of overlapping launches. */
#include "domain/arc/run/cut.h"
#include "domain/arc/run/executor_impl.h"
#include "kernel/arc_reset.gen.h"
#include "kernel/arc_vm.gen.h"
#include "kernel/arc_wide.gen.h"
#include "util/clock.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_RESET, STAGE_RUN, ARG_PAR = 0 };
enum { HEAD_WORDS = ARC_HEAD_RESULTS * (int)sizeof(arc_result) / 4 };
enum { OUTPUT_PER_RUN = 1024, LEAST_OUTPUT = 1 << 20, MOST_OUTPUT = 1 << 30 };

void qn_arc_slot_free_graphs(qn_arc_slot *at)
{
    for (int r = 0; r < QN_ARC_N_RUNGS; r++) {
        qn_graph_free(at->graphs[r]);
        at->graphs[r] = NULL;
    }
}

void qn_arc_slot_free(qn_arc_slot *at)
{
    qn_arc_slot_free_graphs(at);
    for (int r = 0; r < QN_ARC_N_RUNGS; r++)
        qn_buf_free(at->arenas[r]);
    qn_buf_free(at->todo);
    qn_buf_free(at->results);
    qn_buf_free(at->out);
    qn_buf_free(at->trace);
    free(at->host_results);
    free(at->host_out);
    free(at->host_trace);
}

/* Buffers. */

/* Makes sure that a buffer has at least `bytes`. A larger one replaces it, and the graphs are built
 * again. */
static qn_status need_buf(qn_arc_executor *x, qn_arc_slot *at, qn_buf **buf, const char *name,
                          size_t bytes, qn_err *err)
{
    size_t size = 4096;

    if (*buf && qn_buf_bytes(*buf) >= bytes)
        return QN_OK;
    while (size < bytes)
        size *= 2;
    qn_arc_slot_free_graphs(at);
    qn_buf_free(*buf);
    *buf = NULL;
    return qn_buf_new(x->ctx, name, size, buf, err);
}

/* Outputs take a few hundred bytes each. Where they take more, runs whose output does not fit are
 * run again. */
static size_t output_bytes(const qn_arc_launch *l)
{
    const size_t usual = (size_t)l->n * OUTPUT_PER_RUN + LEAST_OUTPUT;
    const size_t wanted = usual > l->output_bytes ? usual : l->output_bytes;

    if (!(l->want & ARC_WANT_OUTPUT))
        return 8;
    return wanted < MOST_OUTPUT ? wanted : MOST_OUTPUT;
}

static qn_status need_room(qn_arc_executor *x, qn_arc_slot *at, const qn_arc_launch *l,
                           uint32_t n_list, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(need_buf(x, at, &at->todo, "arc.todo", n_list * sizeof(arc_instance), err));
    QN_TRY(need_buf(x, at, &at->results, "arc.results",
                    (l->n + ARC_HEAD_RESULTS) * sizeof(arc_result), err));
    QN_TRY(need_buf(x, at, &at->out, "arc.out", output_bytes(l), err));
    QN_TRY(need_buf(x, at, &at->trace, "arc.trace", (size_t)l->n * l->trace_stride * 8 + 8, err));
out:
    return st;
}

/* Host memory that is touched only as far as programs need it. If there are not even addresses for
 * all teams, the number of teams is reduced. */
static qn_status take_wide_arenas(qn_arc_executor *x, qn_buf **arenas, qn_err *err)
{
    qn_arc_room *r = &x->rooms[QN_ARC_RUNG_CPU];

    while (!x->wide && !(x->wide = malloc((size_t)r->n_teams * r->arena))) {
        if (r->n_teams == 1)
            return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u bytes", r->arena);
        r->n_teams /= 2;
    }
    return qn_buf_wrap(x->ctx, "arc.arenas", x->wide, (size_t)r->n_teams * r->arena, arenas, err);
}

/* Halves the number of teams while the device has no memory for all arenas, down to one team per
 * unit. If even those do not fit, the engine evicts other data or runs on the CPU. */
static qn_status take_arenas(qn_arc_executor *x, qn_arc_slot *at, qn_arc_room *r, qn_buf **arenas,
                             qn_err *err)
{
    qn_buf *const first[] = { x->pool, at->todo, at->results, at->out, at->trace };
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        (void)qn_buf_reserve(first[i], x->device, err);
    for (;;) {
        QN_TRY(qn_buf_new(x->ctx, "arc.arenas", (size_t)r->n_teams * r->arena, arenas, err));
        if (qn_buf_reserve(*arenas, x->device, err) == QN_OK ||
            r->n_teams / 2 < qn_arc_executor_units(x))
            break;
        qn_buf_free(*arenas);
        *arenas = NULL;
        r->n_teams /= 2;
    }
out:
    return st;
}

static uint32_t teams_of(const qn_arc_executor *x, const qn_arc_slot *at, qn_arc_rung rung)
{
    return (uint32_t)(qn_buf_bytes(at->arenas[rung]) / x->rooms[rung].arena);
}

static qn_status build(qn_arc_executor *x, qn_arc_slot *at, qn_arc_rung rung, qn_err *err)
{
    const int is_wide = rung == QN_ARC_RUNG_CPU;
    const qn_kernel_info *kernel = is_wide ? &qn_kernel_arc_run_wide : x->kernel;
    const char *device = qn_device_id(x->ctx, is_wide ? QN_CPU_SLOT : x->device);
    const arc_par par = { 0 };
    qn_graph **graph = &at->graphs[rung];
    qn_buf **arenas = &at->arenas[rung];
    qn_status st = QN_OK;

    if (*graph)
        return QN_OK;
    if (!*arenas)
        QN_TRY(is_wide ? take_wide_arenas(x, arenas, err)
                       : take_arenas(x, at, &x->rooms[rung], arenas, err));
    QN_TRY(qn_graph_new(x->ctx, "arc", graph, err));
    QN_TRY(stage_arc_reset(*graph, "arc.reset", qn_range_1d(HEAD_WORDS), at->results, err));
    {
        const qn_arg args[QN_ARC_KERNEL_ARGS] = { qn_arg_val(&par, sizeof par), qn_arg_buf(x->pool),
                                                  qn_arg_buf(at->todo),         qn_arg_buf(*arenas),
                                                  qn_arg_buf(at->results),      qn_arg_buf(at->out),
                                                  qn_arg_buf(at->trace) };

        QN_TRY(qn_graph_stage(*graph, "arc.vm", kernel, qn_range_1d(teams_of(x, at, rung)), args,
                              err));
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

/* Teams of a group that run together; 1 if teams share no group. */
static uint32_t teams_together(const qn_arc_executor *x)
{
    const int is_cuda = strncmp(qn_device_id(x->ctx, x->device), "cuda", 4) == 0;

    return is_cuda && x->lanes == QN_ARC_USUAL_LANES ? (uint32_t)(QN_TEAM_ITEMS / x->lanes) : 1;
}

/* Number of instances to pad each program to; 0: no padding. */
static uint32_t padding_of(const qn_arc_executor *x, qn_arc_rung rung)
{
    const uint32_t together = teams_together(x);

    if (rung != QN_ARC_RUNG_MANY)
        return 0;
    return together > 1 ? together : x->limits.pad_to;
}

/* n_list instances are listed; in_step of them run one program, or 0. What is compiled first has no
 * limit on time, since compiling does not count. */
static arc_par par_of(const qn_arc_executor *x, qn_arc_rung rung, const qn_arc_launch *l,
                      uint32_t n_list, uint32_t in_step)
{
    const qn_arc_room *r = &x->rooms[rung];
    qn_arc_dealing d = { .n_queues = 1, .chunk = 1 };
    arc_par par;

    if (rung == QN_ARC_RUNG_MANY && !qn_arc_is_host(x))
        d = qn_arc_cut_chunks(in_step ? n_list / in_step : n_list,
                              (uint32_t)qn_arc_executor_units(x));
    par = (arc_par){ .n_instances = n_list,
                     .in_step = in_step,
                     .arena_bytes = r->arena,
                     .n_frames = r->frames,
                     .n_slots = r->slots,
                     .max_steps = l->max_steps ? l->max_steps : qn_arc_executor_max_steps(x),
                     .max_loops = rung == QN_ARC_RUNG_CPU ? 0 : qn_arc_executor_max_loops(x),
                     .output_bytes = (uint32_t)output_bytes(l),
                     .flags = l->want,
                     .trace_stride = l->trace_stride,
                     .n_queues = d.n_queues,
                     .singles = d.singles,
                     .chunk = d.chunk,
                     .until_us = x->variant && rung != QN_ARC_RUNG_CPU ? 0 : (u64)l->until_us };
    if (rung != QN_ARC_RUNG_CPU && x->device != QN_CPU_SLOT)
        memcpy(par.off, x->limits.off, sizeof par.off);
    return par;
}

/* The instances in the device's format: padded to n if `padding`, and numbered from 0. */
static qn_status write_list(qn_arc_executor *x, qn_arc_slot *at, const qn_arc_launch *l,
                            uint32_t padding, uint32_t n, qn_err *err)
{
    const size_t bytes = n * sizeof *x->list;
    qn_status st = QN_OK;

    if (!padding && !l->first)
        return qn_buf_write(at->todo, 0, l->list, bytes, err);
    QN_TRY(QN_ROOM(x->list, n, &x->list_room, "jobs", err));
    if (padding)
        qn_arc_pad_groups(l->list, l->n, padding, x->list);
    else
        memcpy(x->list, l->list, bytes);
    for (uint32_t k = 0; k < n; k++)
        x->list[k].number -= x->list[k].number == ARC_NOBODY ? 0 : l->first;
    QN_TRY(qn_buf_write(at->todo, 0, x->list, bytes, err));
out:
    return st;
}

qn_status qn_arc_executor_prepare(qn_arc_executor *x, qn_arc_rung rung, const qn_arc_launch *l,
                                  int *slot, qn_graph **graph, qn_err *err)
{
    const uint32_t together = teams_together(x);
    uint32_t padding = padding_of(x, rung);
    uint32_t n = padding ? qn_arc_pad_groups(l->list, l->n, padding, NULL) : l->n;
    arc_par par;
    qn_status st = QN_OK;
    qn_arc_slot *at;
    int i = 0;

    while (i < QN_ARC_SLOTS && x->slots[i].is_taken)
        i++;
    if (i == QN_ARC_SLOTS)
        return qn_fail(err, QN_ERR_LIMIT, "arc: more than %d launches on %s at a time",
                       QN_ARC_SLOTS, qn_device_id(x->ctx, x->device));
    at = &x->slots[i];
    if (padding && !qn_arc_pad_groups_pays(l->n, n))
        padding = 0;
    QN_TRY(need_room(x, at, l, padding ? n : l->n, err));
    QN_TRY(build(x, at, rung, err));
    if (padding && teams_of(x, at, rung) % together)
        padding = 0;
    n = padding ? n : l->n;
    QN_TRY(write_list(x, at, l, padding, n, err));
    par = par_of(x, rung, l, n, padding ? together : 0);
    QN_TRY(qn_graph_set(at->graphs[rung], STAGE_RUN, ARG_PAR, &par, err));
    at->is_taken = 1;
    *slot = i;
    *graph = at->graphs[rung];
out:
    return st;
}

/* A code that the machine never returns comes from a faulty device; such a result is not used. */
static void refuse_unknown_codes(arc_result *results, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (results[k].code >= ARC_N_CODES)
            results[k].code = ARC_E_UNSUPPORTED;
}

/* Results come first: their first record says how much of the output is used. */
qn_status qn_arc_executor_collect(qn_arc_executor *x, int slot, const qn_arc_launch *l,
                                  qn_arc_answer *answer, qn_err *err)
{
    const size_t n_results = (size_t)l->n + ARC_HEAD_RESULTS;
    const size_t n_trace = (size_t)l->n * l->trace_stride;
    qn_arc_slot *at = &x->slots[slot];
    double start;
    qn_status st = QN_OK;

    at->is_taken = 0;
    QN_TRY(QN_ROOM(at->host_results, n_results, &at->results_room, "results", err));
    QN_TRY(qn_buf_read(at->results, 0, at->host_results, n_results * sizeof(arc_result), err));
    start = qn_now_us();
    *answer = (qn_arc_answer){ .results = at->host_results + ARC_HEAD_RESULTS };
    refuse_unknown_codes(answer->results, l->n);
    answer->n_out = (size_t)((const uint32_t *)(const void *)at->host_results)[ARC_COUNTER_OUT] * 8;
    if (answer->n_out > output_bytes(l))
        answer->n_out = output_bytes(l);
    QN_TRY(QN_ROOM(at->host_out, answer->n_out, &at->out_room, "outputs", err));
    QN_TRY(QN_ROOM(at->host_trace, n_trace, &at->trace_room, "a trace", err));
    if (answer->n_out)
        QN_TRY(qn_buf_read(at->out, 0, at->host_out, answer->n_out, err));
    if (n_trace)
        QN_TRY(qn_buf_read(at->trace, 0, at->host_trace, n_trace * sizeof *at->host_trace, err));
    answer->out = at->host_out;
    answer->trace = at->host_trace;
    answer->download_us = qn_now_us() - start;
out:
    return st;
}

void qn_arc_executor_reset(qn_arc_executor *x)
{
    for (int i = 0; i < QN_ARC_SLOTS; i++)
        x->slots[i].is_taken = 0;
}

/* The pool's buffer is an argument of all graphs. */
qn_status qn_arc_executor_update(qn_arc_executor *x, qn_content_store *pool, qn_err *err)
{
    for (int i = 0; i < QN_ARC_SLOTS && !qn_content_buffer(pool, x->device); i++)
        qn_arc_slot_free_graphs(&x->slots[i]);
    return qn_content_update(pool, x->device, &x->pool, err);
}

qn_status qn_arc_executor_run(qn_arc_executor *x, qn_arc_rung rung, qn_content_store *pool,
                              const qn_arc_launch *l, qn_arc_answer *answer, int *device,
                              qn_err *err)
{
    qn_graph *graph = NULL;
    int slot = 0;
    qn_status st = QN_OK;

    qn_arc_executor_reset(x);
    QN_TRY(qn_arc_executor_update(x, pool, err));
    QN_TRY(qn_arc_executor_prepare(x, rung, l, &slot, &graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(qn_arc_executor_collect(x, slot, l, answer, err));
    *device = strncmp(qn_graph_stage_device(graph, STAGE_RUN), "cpu", 3) ? x->device : QN_CPU_SLOT;
out:
    return st;
}
