/* vm.c - buffers and graphs of the virtual machine's launches. */
#include "domain/arc/run/vm.h"

#include "domain/arc/run/arena.h"
#include "domain/arc/run/load.h"
#include "kernel/arc_reset.gen.h"
#include "kernel/arc_vm.gen.h"
#include "kernel/arc_wide.gen.h"
#include "util/clock.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGE_RESET, STAGE_RUN, ARG_PAR = 0 };
enum { HEAD_WORDS = ARC_HEAD_RESULTS * (int)sizeof(arc_result) / 4 };
enum { CHUNKS_PER_QUEUE = 8, MOST_CHUNK = 32 };
enum { TEAMS_PER_UNIT = 16, FEW_TEAMS_PER_UNIT = 1 };

typedef struct tier_state {
    uint32_t arena, frames, slots;
    int n_teams;
    qn_graph *graph;
    qn_buf *arenas;
    void *host; /* memory of the arenas where only the CPU uses them */
} tier_state;

/* Buffers that all tiers share, in the order of the kernel's arguments after `par`. */
typedef struct shared_bufs {
    qn_buf *todo, *results, *out, *trace;
} shared_bufs;

/* Instances as a launch takes them. */
typedef struct launch_list {
    const arc_instance *items;
    uint32_t n, in_step;
} launch_list;

struct qn_arc_vm {
    qn_ctx *ctx;
    qn_arc_limits limits;
    int device;                /* index in the context */
    qn_kernel_module *variant; /* other lanes than the built-in kernel has, or NULL */
    const qn_kernel_info *kernel;
    tier_state tiers[QN_ARC_N_TIERS];
    qn_arc_load *load; /* the pool, and how it gets there */
    qn_buf *pool;      /* as graphs know it; the load's */
    shared_bufs bufs;
    arc_instance *groups; /* instances in step */
    arc_result *results;
    unsigned char *out;
    uint64_t *trace;
    size_t groups_room, results_room, out_room, trace_room;
    qn_arc_times times;
    char ran_on[32];
};

/* ---- the kernel ------------------------------------------------------------------------ */

/* Whether the device computes on cores of the host. */
static int is_host(const qn_arc_vm *vm)
{
    return qn_arc_is_host(qn_device_get(vm->ctx, vm->device));
}

static int lanes_of(const qn_arc_vm *vm)
{
    return vm->limits.group ? vm->limits.group : 32;
}

/* Devices that are CPUs run a team as one item, as the CPU does: barriers among 32 items of a
 * work-group cost far more there than they give. --group makes that item go lane after lane. */
static qn_status choose_kernel(qn_arc_vm *vm, qn_err *err)
{
    const int is_cpu = is_host(vm), group = vm->limits.group;
    char defines[64] = "";

    if (group && group != 8 && group != 16 && group != 32)
        return qn_fail(err, QN_ERR_USAGE, "--group: %d is not 8, 16 or 32", group);
    if (is_cpu && group)
        snprintf(defines, sizeof defines, "LANES=1 WIDTH=%d", group);
    else if (is_cpu && qn_device_get(vm->ctx, vm->device)->kind == QN_KIND_CPU && vm->device > 0)
        snprintf(defines, sizeof defines, "LANES=1");
    else if (group && group != 32)
        snprintf(defines, sizeof defines, "LANES=%d", group);
    vm->kernel = &qn_kernel_arc_run;
    if (!*defines)
        return QN_OK;
    if (qn_kernels_with(vm->ctx, qn_kernel_arc_run.module, defines, &vm->variant) != QN_OK)
        return qn_fail(err, QN_ERR_COMPILE, "arc: %s", qn_error(vm->ctx));
    vm->kernel = qn_kernels_find(vm->variant, "arc_run");
    return QN_OK;
}

static void set_tiers(qn_arc_vm *vm)
{
    static const uint32_t MB = 1024 * 1024;
    const qn_device_info *info = qn_device_get(vm->ctx, vm->device);
    const int lanes = lanes_of(vm);
    const int units = info->units ? (int)info->units : 1;
    tier_state *many = &vm->tiers[QN_ARC_TIER_MANY], *few = &vm->tiers[QN_ARC_TIER_FEW];

    *many = (tier_state){ .frames = vm->limits.frames ? vm->limits.frames : 64, .slots = 1024 };
    many->arena = qn_arc_arena_bytes(info, vm->limits.arena, many->frames, lanes);
    many->n_teams = info->kind == QN_KIND_CPU ? units : units * TEAMS_PER_UNIT * 32 / lanes;
    *few = (tier_state){ .frames = 256, .slots = 4096 };
    few->arena = qn_arc_arena_bytes(info, 2 * MB, few->frames, lanes);
    few->n_teams = info->kind == QN_KIND_CPU ? units : units * FEW_TEAMS_PER_UNIT;
    vm->tiers[QN_ARC_TIER_CPU] =
        (tier_state){ .arena = 256 * MB, .frames = 65536, .slots = 32767, .n_teams = 1 };
}

qn_status qn_arc_vm_new(qn_ctx *ctx, const qn_arc_limits *limits, qn_arc_vm **out, qn_err *err)
{
    qn_arc_vm *vm = calloc(1, sizeof *vm);
    qn_status st = QN_OK;

    if (!vm)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    vm->ctx = ctx;
    vm->limits = *limits;
    vm->device = qn_device_count(ctx) > 1 ? 1 : 0;
    QN_TRY(choose_kernel(vm, err));
    set_tiers(vm);
    QN_TRY(qn_arc_load_new(ctx, qn_device_id(ctx, vm->device), &vm->load, err));
    *out = vm;
    vm = NULL;
out:
    qn_arc_vm_free(vm);
    return st;
}

static void free_graphs(qn_arc_vm *vm)
{
    for (int t = 0; t < QN_ARC_N_TIERS; t++) {
        qn_graph_free(vm->tiers[t].graph);
        vm->tiers[t].graph = NULL;
    }
}

void qn_arc_vm_free(qn_arc_vm *vm)
{
    if (!vm)
        return;
    free_graphs(vm);
    for (int t = 0; t < QN_ARC_N_TIERS; t++)
        qn_buf_free(vm->tiers[t].arenas);
    free(vm->tiers[QN_ARC_TIER_CPU].host);
    qn_arc_load_free(vm->load);
    qn_buf_free(vm->bufs.todo);
    qn_buf_free(vm->bufs.results);
    qn_buf_free(vm->bufs.out);
    qn_buf_free(vm->bufs.trace);
    qn_kernels_free(vm->variant);
    free(vm->groups);
    free(vm->results);
    free(vm->out);
    free(vm->trace);
    free(vm);
}

/* ---- room ------------------------------------------------------------------------------ */

/* A buffer of at least `bytes`; a larger one replaces it, and graphs are built anew. */
static qn_status need_buf(qn_arc_vm *vm, qn_buf **buf, const char *name, size_t bytes, qn_err *err)
{
    size_t room = 4096;

    if (*buf && qn_buf_bytes(*buf) >= bytes)
        return QN_OK;
    while (room < bytes)
        room *= 2;
    free_graphs(vm);
    qn_buf_free(*buf);
    *buf = NULL;
    if (qn_buf_new(vm->ctx, name, room, buf) != QN_OK)
        return qn_fail(err, QN_ERR_NOMEM, "arc: %s", qn_error(vm->ctx));
    return QN_OK;
}

static qn_status need_host(void **p, size_t *room, size_t bytes, qn_err *err)
{
    void *grown;

    if (*room >= bytes)
        return QN_OK;
    grown = realloc(*p, bytes);
    if (!grown)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu bytes", bytes);
    *p = grown;
    *room = bytes;
    return QN_OK;
}

/* Outputs are a few hundred bytes each; where they are more, those that found no room are run
 * again. */
static size_t output_bytes(const qn_arc_work *work)
{
    const size_t usual = (size_t)work->n * 1024 + ((size_t)1 << 20);
    const size_t wanted = usual > work->output_bytes ? usual : work->output_bytes;
    const size_t most = (size_t)1 << 30;

    if (!(work->want & ARC_WANT_OUTPUT))
        return 8;
    return wanted < most ? wanted : most;
}

static qn_status need_room(qn_arc_vm *vm, const qn_arc_work *work, uint32_t n_list, qn_err *err)
{
    shared_bufs *b = &vm->bufs;
    qn_status st = QN_OK;

    QN_TRY(need_buf(vm, &b->todo, "arc.todo", n_list * sizeof(arc_instance), err));
    QN_TRY(need_buf(vm, &b->results, "arc.results",
                    (work->n + ARC_HEAD_RESULTS) * sizeof(arc_result), err));
    QN_TRY(need_buf(vm, &b->out, "arc.out", output_bytes(work), err));
    QN_TRY(need_buf(vm, &b->trace, "arc.trace", (size_t)work->n * work->trace_stride * 8 + 8, err));
out:
    return st;
}

/* ---- a launch -------------------------------------------------------------------------- */

/* Memory that is touched only as far as programs need it. */
static qn_status take_host_arenas(qn_arc_vm *vm, tier_state *tier, qn_err *err)
{
    const size_t bytes = (size_t)tier->n_teams * tier->arena;

    if (!tier->host && !(tier->host = malloc(bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu bytes", bytes);
    if (qn_buf_wrap(vm->ctx, "arc.arenas", tier->host, bytes, &tier->arenas) != QN_OK)
        return qn_fail(err, QN_ERR_NOMEM, "arc: %s", qn_error(vm->ctx));
    return QN_OK;
}

/* Half as many teams where the device has no room for all arenas, down to one for each of its
 * units. What does not fit even then is the engine's matter: others give way, or the CPU runs. */
static qn_status take_arenas(qn_arc_vm *vm, tier_state *tier, qn_err *err)
{
    const qn_device_info *info = qn_device_get(vm->ctx, vm->device);
    const int least = info->units ? (int)info->units : 1;
    qn_buf *const first[] = { vm->pool, vm->bufs.todo, vm->bufs.results, vm->bufs.out,
                              vm->bufs.trace };

    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        (void)qn_buf_reserve(first[i], vm->device);
    for (;;) {
        const size_t bytes = (size_t)tier->n_teams * tier->arena;

        if (qn_buf_new(vm->ctx, "arc.arenas", bytes, &tier->arenas) != QN_OK)
            return qn_fail(err, QN_ERR_NOMEM, "arc: %s", qn_error(vm->ctx));
        if (qn_buf_reserve(tier->arenas, vm->device) == QN_OK || tier->n_teams / 2 < least)
            return QN_OK;
        qn_buf_free(tier->arenas);
        tier->arenas = NULL;
        tier->n_teams /= 2;
    }
}

static qn_status build_graph(qn_arc_vm *vm, qn_arc_tier t, qn_err *err)
{
    tier_state *tier = &vm->tiers[t];
    const int is_wide = t == QN_ARC_TIER_CPU;
    const qn_kernel_info *kernel = is_wide ? &qn_kernel_arc_run_wide : vm->kernel;
    const char *device = is_wide ? "cpu" : qn_device_id(vm->ctx, vm->device);
    const arc_par par = { 0 };
    shared_bufs *b = &vm->bufs;
    qn_status st = QN_OK;

    if (tier->graph)
        return QN_OK;
    if (!tier->arenas &&
        (st = is_wide ? take_host_arenas(vm, tier, err) : take_arenas(vm, tier, err)) != QN_OK)
        return st;
    QN_TRY(qn_graph_new(vm->ctx, "arc", &tier->graph));
    QN_TRY(stage_arc_reset(tier->graph, "arc.reset", qn_range_1d(HEAD_WORDS), b->results));
    {
        const qn_arg args[] = { qn_arg_val(&par, sizeof par), qn_arg_buf(vm->pool),
                                qn_arg_buf(b->todo),          qn_arg_buf(tier->arenas),
                                qn_arg_buf(b->results),       qn_arg_buf(b->out),
                                qn_arg_buf(b->trace) };

        QN_TRY(qn_graph_stage(tier->graph, "arc.vm", kernel, qn_range_1d(tier->n_teams), args));
    }
    QN_TRY(qn_graph_pin(tier->graph, STAGE_RESET, device));
    QN_TRY(qn_graph_pin(tier->graph, STAGE_RUN, device));
out:
    if (st != QN_OK) {
        qn_fail(err, st, "arc: %s", qn_error(vm->ctx));
        qn_graph_free(tier->graph);
        tier->graph = NULL;
    }
    return st;
}

/* Large enough that the teams of a unit find the same program, small enough that units end
 * together.
 */
static uint32_t chunk_of(uint32_t n, uint32_t n_queues)
{
    const uint32_t chunk = n / (n_queues * CHUNKS_PER_QUEUE);

    return chunk < 1 ? 1 : chunk > MOST_CHUNK ? MOST_CHUNK : chunk;
}

/* Teams that go in step; 0 where none share a group. */
static uint32_t teams_in_step(const qn_arc_vm *vm, qn_arc_tier t)
{
    const uint32_t teams = (uint32_t)(QN_TEAM_ITEMS / lanes_of(vm));
    const int is_cuda = strncmp(qn_device_id(vm->ctx, vm->device), "cuda", 4) == 0;

    if (t != QN_ARC_TIER_MANY || !is_cuda || lanes_of(vm) != 32 ||
        (uint32_t)vm->tiers[t].n_teams % teams)
        return 0;
    return teams;
}

/* Instances in groups of `teams` that run one program; the last of a program is filled up. Returns
 * how many there are then; writes them unless `to` is NULL. */
static uint32_t group_by_program(const qn_arc_work *work, uint32_t teams, arc_instance *to)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < work->n; k++, n++) {
        const int is_last = k + 1 == work->n || work->list[k + 1].program != work->list[k].program;

        if (to)
            to[n] = work->list[k];
        for (; is_last && (n + 1) % teams; n++)
            if (to)
                to[n + 1] =
                    (arc_instance){ .program = work->list[k].program, .number = ARC_NOBODY };
    }
    return n;
}

/* Puts instances in step where most teams of most groups have one; else they stay a list. */
static qn_status arrange(qn_arc_vm *vm, qn_arc_tier t, const qn_arc_work *work, launch_list *out,
                         qn_err *err)
{
    const uint32_t teams = teams_in_step(vm, t);
    const uint32_t n = teams ? group_by_program(work, teams, NULL) : 0;
    qn_status st = QN_OK;

    *out = (launch_list){ .items = work->list, .n = work->n };
    if (!teams || n - work->n > work->n / 4)
        return QN_OK;
    QN_TRY(need_host((void **)&vm->groups, &vm->groups_room, n * sizeof *vm->groups, err));
    group_by_program(work, teams, vm->groups);
    *out = (launch_list){ .items = vm->groups, .n = n, .in_step = teams };
out:
    return st;
}

static arc_par par_of(const qn_arc_vm *vm, qn_arc_tier t, const qn_arc_work *work,
                      const launch_list *list)
{
    const tier_state *tier = &vm->tiers[t];
    arc_par par = { .n_instances = list->n,
                    .in_step = list->in_step,
                    .arena_bytes = tier->arena,
                    .n_frames = tier->frames,
                    .n_slots = tier->slots,
                    .max_steps = vm->limits.max_steps ? vm->limits.max_steps : 4000000,
                    .output_bytes = (uint32_t)output_bytes(work),
                    .flags = work->want,
                    .trace_stride = work->trace_stride,
                    .n_queues = 1,
                    .chunk = 1 };

    if (t != QN_ARC_TIER_CPU && vm->device > 0)
        memcpy(par.off, vm->limits.off, sizeof par.off);
    if (t == QN_ARC_TIER_MANY && !is_host(vm)) {
        const uint32_t units = qn_device_get(vm->ctx, vm->device)->units;

        par.n_queues = units < ARC_MOST_QUEUES ? units : ARC_MOST_QUEUES;
        par.chunk = chunk_of(list->in_step ? list->n / list->in_step : list->n, par.n_queues);
    }
    return par;
}

static qn_status submit(qn_arc_vm *vm, qn_arc_tier t, const qn_arc_work *work,
                        const launch_list *list)
{
    const arc_par par = par_of(vm, t, work, list);
    qn_graph *graph = vm->tiers[t].graph;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_write(vm->bufs.todo, 0, list->items, list->n * sizeof *list->items));
    QN_TRY(qn_graph_set(graph, STAGE_RUN, ARG_PAR, &par));
    QN_TRY(qn_graph_run(graph));
out:
    return st;
}

/* Results first; their first record says how much of the output is used. */
static qn_status fetch(qn_arc_vm *vm, const qn_arc_work *work, qn_arc_answer *answer, qn_err *err)
{
    const size_t n_results = (size_t)work->n + ARC_HEAD_RESULTS;
    const size_t n_trace = (size_t)work->n * work->trace_stride * 8;
    qn_status st = QN_OK;

    QN_TRY(
        need_host((void **)&vm->results, &vm->results_room, n_results * sizeof(arc_result), err));
    if (qn_buf_read(vm->bufs.results, 0, vm->results, n_results * sizeof(arc_result)) != QN_OK)
        return qn_fail(err, QN_ERR_FAILED, "arc: %s", qn_error(vm->ctx));
    answer->results = vm->results + ARC_HEAD_RESULTS;
    answer->n_out = (size_t)((const uint32_t *)(const void *)vm->results)[ARC_COUNTER_OUT] * 8;
    if (answer->n_out > output_bytes(work))
        answer->n_out = output_bytes(work);
    vm->times.kernel = qn_now_us() - vm->times.kernel;
    vm->times.download = qn_now_us();
    QN_TRY(need_host((void **)&vm->out, &vm->out_room, answer->n_out, err));
    QN_TRY(need_host((void **)&vm->trace, &vm->trace_room, n_trace, err));
    if ((answer->n_out && qn_buf_read(vm->bufs.out, 0, vm->out, answer->n_out) != QN_OK) ||
        (n_trace && qn_buf_read(vm->bufs.trace, 0, vm->trace, n_trace) != QN_OK))
        return qn_fail(err, QN_ERR_FAILED, "arc: %s", qn_error(vm->ctx));
    vm->times.download = qn_now_us() - vm->times.download;
    answer->out = vm->out;
    answer->trace = vm->trace;
out:
    return st;
}

/* A pool that had to grow is another buffer, which graphs must be built with. */
static qn_status load_pool(qn_arc_vm *vm, const qn_arc_work *work, qn_err *err)
{
    const qn_status st = qn_arc_load_run(vm->load, &work->pool, err);
    qn_buf *pool = qn_arc_load_pool(vm->load);

    if (pool != vm->pool)
        free_graphs(vm);
    vm->pool = pool;
    return st;
}

qn_status qn_arc_vm_run(qn_arc_vm *vm, qn_arc_tier tier, const qn_arc_work *work,
                        qn_arc_answer *answer, qn_err *err)
{
    const double start = qn_now_us();
    launch_list list;
    qn_status st = QN_OK;

    QN_TRY(arrange(vm, tier, work, &list, err));
    QN_TRY(need_room(vm, work, list.n, err));
    QN_TRY(load_pool(vm, work, err));
    QN_TRY(build_graph(vm, tier, err));
    if (submit(vm, tier, work, &list) != QN_OK || qn_graph_wait(vm->tiers[tier].graph) != QN_OK)
        return qn_fail(err, QN_ERR_FAILED, "arc: %s", qn_error(vm->ctx));
    vm->times.upload = 0;
    vm->times.kernel = start;
    QN_TRY(fetch(vm, work, answer, err));
    snprintf(vm->ran_on, sizeof vm->ran_on, "%s",
             qn_graph_stage_device(vm->tiers[tier].graph, STAGE_RUN));
out:
    return st;
}

const char *qn_arc_vm_device(const qn_arc_vm *vm)
{
    return vm->ran_on;
}

int qn_arc_vm_was_on_device(const qn_arc_vm *vm)
{
    return strncmp(vm->ran_on, "cpu", 3) != 0;
}

uint32_t qn_arc_vm_arena(const qn_arc_vm *vm, qn_arc_tier tier)
{
    return vm->tiers[tier].arena;
}

uint32_t qn_arc_vm_slots(const qn_arc_vm *vm, qn_arc_tier tier)
{
    return vm->tiers[tier].slots;
}

qn_arc_times qn_arc_vm_times(const qn_arc_vm *vm)
{
    return vm->times;
}
