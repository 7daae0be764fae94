/* station.c - a device's kernel, the limits of its tiers, its copy of the pool. */
#include "domain/arc/run/arena.h"
#include "domain/arc/run/station_impl.h"
#include "kernel/arc_vm.gen.h"

#include <stdio.h>
#include <stdlib.h>

/* USUAL_TURNS: about 35 ms on an H200. The public solvers need at most a quarter of them on their
 * own tasks; on those of others one run in 700 needs more, and these have most of the steps. */
enum { TEAMS_PER_UNIT = 16, USUAL_FRAMES = 64, USUAL_STEPS = 4000000, USUAL_TURNS = 16384 };

/* The kernel. */

/* Devices that are CPUs run a team as one item, as the CPU does: barriers among 32 items of a
 * work-group cost far more there than they give. --group makes that item go lane after lane. */
static qn_status choose_kernel(qn_arc_station *s, qn_err *err)
{
    const int group = s->limits.group, is_host = qn_arc_is_host(qn_arc_station_info(s));
    char defines[64] = "";

    if (group && group != 8 && group != 16 && group != 32)
        return qn_fail(err, QN_ERR_USAGE, "--group: %d is not 8, 16 or 32", group);
    if (is_host && group)
        snprintf(defines, sizeof defines, "LANES=1 WIDTH=%d", group);
    else if (qn_arc_station_info(s)->kind == QN_KIND_CPU && s->device != QN_CPU_SLOT)
        snprintf(defines, sizeof defines, "LANES=1");
    else if (group && group != QN_ARC_USUAL_LANES)
        snprintf(defines, sizeof defines, "LANES=%d", group);
    s->kernel = &qn_kernel_arc_run;
    if (*defines) {
        if (qn_kernels_with(s->ctx, qn_kernel_arc_run.module, defines, &s->variant, err) != QN_OK)
            return qn_prefix(err, "arc");
        s->kernel = qn_kernels_find(s->variant, "arc_run");
    }
    if (s->kernel->n_args != QN_ARC_KERNEL_ARGS)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "arc: the kernel has %d arguments, not %d",
                       s->kernel->n_args, QN_ARC_KERNEL_ARGS);
    return QN_OK;
}

/* Threads that may fill an arena of the last tier at once without taking more than an eighth of the
 * memory. */
static int wide_teams(const qn_arc_station *s, uint32_t arena)
{
    const qn_device_info *cpu = qn_device_get(s->ctx, QN_CPU_SLOT);
    const uint64_t most = cpu->mem_total / 8 / arena;

    return most < 1 ? 1 : most < (uint64_t)cpu->units ? (int)most : (int)cpu->units;
}

static void make_rooms(qn_arc_station *s)
{
    static const uint32_t MB = 1024 * 1024;
    const int is_cpu = qn_arc_station_info(s)->kind == QN_KIND_CPU;
    qn_arc_room *many = &s->rooms[QN_ARC_TIER_MANY], *few = &s->rooms[QN_ARC_TIER_FEW];

    *many = (qn_arc_room){ .frames = s->limits.frames ? s->limits.frames : USUAL_FRAMES,
                           .slots = 1024 };
    many->arena =
        qn_arc_arena_bytes(qn_arc_station_info(s), s->limits.arena, many->frames, s->lanes);
    many->n_teams =
        qn_arc_station_units(s) * (is_cpu ? 1 : TEAMS_PER_UNIT * QN_ARC_USUAL_LANES / s->lanes);
    *few = (qn_arc_room){ .frames = 256, .slots = 4096, .n_teams = qn_arc_station_units(s) };
    few->arena = qn_arc_arena_bytes(qn_arc_station_info(s), 2 * MB, few->frames, s->lanes);
    s->rooms[QN_ARC_TIER_CPU] = (qn_arc_room){ .arena = 256 * MB, .frames = 65536, .slots = 32767 };
    s->rooms[QN_ARC_TIER_CPU].n_teams = wide_teams(s, 256 * MB);
}

qn_status qn_arc_station_new(qn_ctx *ctx, const qn_arc_limits *limits, int device,
                             qn_arc_station **out, qn_err *err)
{
    qn_arc_station *s = calloc(1, sizeof *s);
    qn_status st = QN_OK;

    if (!s)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory");
    s->ctx = ctx;
    s->device = device;
    s->limits = *limits;
    s->lanes = limits->group ? limits->group : QN_ARC_USUAL_LANES;
    QN_TRY(choose_kernel(s, err));
    make_rooms(s);
    QN_TRY(qn_arc_load_new(ctx, qn_device_id(ctx, device), &s->load, err));
    *out = s;
    s = NULL;
out:
    qn_arc_station_free(s);
    return st;
}

void qn_arc_station_free(qn_arc_station *s)
{
    if (!s)
        return;
    for (int i = 0; i < QN_ARC_SEATS; i++)
        qn_arc_seat_free(&s->seats[i]);
    qn_arc_load_free(s->load);
    qn_kernels_free(s->variant);
    free(s->wide);
    free(s->list);
    free(s);
}

uint32_t qn_arc_station_arena(const qn_arc_station *s, qn_arc_tier tier)
{
    return s->rooms[tier].arena;
}

uint32_t qn_arc_station_slots(const qn_arc_station *s, qn_arc_tier tier)
{
    return s->rooms[tier].slots;
}

uint32_t qn_arc_station_teams(const qn_arc_station *s, qn_arc_tier tier)
{
    return (uint32_t)s->rooms[tier].n_teams;
}

uint32_t qn_arc_station_steps(const qn_arc_station *s)
{
    return s->limits.max_steps ? s->limits.max_steps : USUAL_STEPS;
}

/* Where nothing may leave the device there is no limit, nor on the CPU, which has nowhere to leave
 * its runs. Devices that are CPUs have none unless told. */
uint32_t qn_arc_station_turns(const qn_arc_station *s)
{
    const int is_any = qn_arc_is_host(qn_arc_station_info(s)) ||
                       qn_ctx_settings(s->ctx)->fallback == QN_FALLBACK_ERROR;
    const uint32_t usual = is_any ? 0 : USUAL_TURNS;

    if (s->device == QN_CPU_SLOT || s->limits.max_turns == QN_ARC_ANY_TURNS)
        return 0;
    return s->limits.max_turns ? s->limits.max_turns : usual;
}

qn_arc_limits qn_arc_station_on_cpu(const qn_arc_station *s)
{
    qn_arc_limits limits = s->limits;

    limits.group = 0;
    limits.arena = s->rooms[QN_ARC_TIER_MANY].arena;
    return limits;
}

/* A pool that had to grow is another buffer, which graphs must be built with. */
qn_status qn_arc_station_load(qn_arc_station *s, const qn_arc_pooled *pooled, qn_err *err)
{
    const qn_status st = qn_arc_load_run(s->load, pooled, err);
    qn_buf *pool = qn_arc_load_pool(s->load);

    for (int i = 0; pool != s->pool && i < QN_ARC_SEATS; i++)
        qn_arc_seat_free_graphs(&s->seats[i]);
    s->pool = pool;
    return st;
}
