/* executor.c - the kernel of a device, and the limits of runs on each rung. */
#include "domain/arc/run/executor_impl.h"
#include "kernel/arc_vm.gen.h"
#include "util/list.h"

#include <stdio.h>
#include <stdlib.h>

/* USUAL_ARENA: a run touches only as much of it as it needs, so the rest costs only addresses.
 *
 * USUAL_LOOPS: about 35 ms on an H200. The public solvers need at most a quarter of it on their own
 * tasks. On other tasks one run in 700 needs more, and those runs account for most of the steps. */
enum {
    TEAMS_PER_UNIT = 16,
    USUAL_ARENA = 512 << 10,
    USUAL_FRAMES = 64,
    FRAME_BYTES = 48,
    USUAL_STEPS = 4000000,
    USUAL_LOOPS = 16384
};

/* Devices that are CPUs run a team as one item, as the CPU backend does: barriers between 32 items
 * of a work-group cost far more there than they gain. --group makes that item process lane after
 * lane. */
static qn_status choose_kernel(qn_arc_executor *x, qn_err *err)
{
    const int group = x->limits.group, is_host = qn_arc_is_host(x);
    char defines[64] = "";

    if (group && group != 8 && group != 16 && group != 32)
        return qn_fail(err, QN_ERR_USAGE, "--group: %d is not 8, 16 or 32", group);
    if (is_host && group)
        snprintf(defines, sizeof defines, "LANES=1 WIDTH=%d", group);
    else if (qn_arc_executor_info(x)->kind == QN_KIND_CPU && x->device != QN_CPU_SLOT)
        snprintf(defines, sizeof defines, "LANES=1");
    else if (group && group != QN_ARC_USUAL_LANES)
        snprintf(defines, sizeof defines, "LANES=%d", group);
    x->kernel = &qn_kernel_arc_run;
    if (*defines) {
        if (qn_kernels_with(qn_kernel_arc_run.module, defines, &x->variant, err) != QN_OK)
            return qn_prefix(err, "arc");
        x->kernel = qn_kernels_find(x->variant, "arc_run");
    }
    if (x->kernel->n_args != QN_ARC_KERNEL_ARGS)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "arc: the kernel has %d arguments, not %d",
                       x->kernel->n_args, QN_ARC_KERNEL_ARGS);
    return QN_OK;
}

/* Memory. */

/* On a GPU each lane also has its own frames in the arena, and processes its own elements of loops
 * in part of it. */
static uint32_t arena_bytes(const qn_arc_executor *x, uint32_t bytes, uint32_t frames)
{
    return qn_arc_is_host(x) ? bytes : bytes + frames * FRAME_BYTES * (uint32_t)x->lanes;
}

/* How many threads may fill an arena of the last rung at once without using more than an eighth of
 * the memory. */
static int wide_teams(const qn_arc_executor *x, uint32_t arena)
{
    const qn_device_info *cpu = qn_device_get(x->ctx, QN_CPU_SLOT);
    const uint64_t most = cpu->mem_total / 8 / arena;

    return most < 1 ? 1 : most < (uint64_t)cpu->units ? (int)most : (int)cpu->units;
}

static void make_rooms(qn_arc_executor *x)
{
    static const uint32_t MB = 1024 * 1024;
    const int is_cpu = qn_arc_executor_info(x)->kind == QN_KIND_CPU;
    const uint32_t asked = x->limits.arena, frames = x->limits.frames;
    qn_arc_room *many = &x->rooms[QN_ARC_RUNG_MANY], *few = &x->rooms[QN_ARC_RUNG_FEW];

    *many = (qn_arc_room){ .frames = frames ? frames : USUAL_FRAMES, .slots = 1024 };
    many->arena = arena_bytes(x, asked ? asked : USUAL_ARENA, many->frames);
    many->n_teams =
        qn_arc_executor_units(x) * (is_cpu ? 1 : TEAMS_PER_UNIT * QN_ARC_USUAL_LANES / x->lanes);
    *few = (qn_arc_room){ .frames = 256, .slots = 4096, .n_teams = qn_arc_executor_units(x) };
    few->arena = arena_bytes(x, 2 * MB, few->frames);
    x->rooms[QN_ARC_RUNG_CPU] = (qn_arc_room){
        .arena = 256 * MB, .frames = 65536, .slots = 32767, .n_teams = wide_teams(x, 256 * MB)
    };
}

qn_arc_room qn_arc_executor_room(const qn_arc_executor *x, qn_arc_rung rung)
{
    return x->rooms[rung];
}

const qn_kernel_module *qn_arc_executor_module(const qn_arc_executor *x)
{
    return x->kernel->module;
}

uint32_t qn_arc_executor_max_steps(const qn_arc_executor *x)
{
    return x->limits.max_steps ? x->limits.max_steps : USUAL_STEPS;
}

/* There is no limit on the CPU, where runs always finish, nor if fallback is forbidden. On devices
 * that are CPUs there is a limit only if the caller sets one. */
uint32_t qn_arc_executor_max_loops(const qn_arc_executor *x)
{
    const int is_any = qn_arc_is_host(x) || qn_ctx_settings(x->ctx)->fallback == QN_FALLBACK_ERROR;
    const uint32_t usual = is_any ? 0 : USUAL_LOOPS;

    if (x->device == QN_CPU_SLOT || x->limits.max_loops == QN_ARC_ANY_LOOPS)
        return 0;
    return x->limits.max_loops ? x->limits.max_loops : usual;
}

qn_arc_limits qn_arc_executor_on_cpu(const qn_arc_executor *x)
{
    qn_arc_limits limits = x->limits;

    limits.group = 0;
    limits.arena = x->rooms[QN_ARC_RUNG_MANY].arena;
    return limits;
}

/* Opening and closing. */

qn_status qn_arc_executor_new(qn_ctx *ctx, const qn_arc_limits *limits, int device,
                              qn_arc_executor **out, qn_err *err)
{
    qn_arc_executor *x = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(x, 1, "a session", err));
    x->ctx = ctx;
    x->device = device;
    x->limits = *limits;
    x->lanes = limits->group ? limits->group : QN_ARC_USUAL_LANES;
    QN_TRY(choose_kernel(x, err));
    make_rooms(x);
    *out = x;
    x = NULL;
out:
    qn_arc_executor_free(x);
    return st;
}

void qn_arc_executor_free(qn_arc_executor *x)
{
    if (!x)
        return;
    for (int i = 0; i < QN_ARC_SLOTS; i++)
        qn_arc_slot_free(&x->slots[i]);
    if (x->variant)
        qn_compile_forget(x->ctx, x->variant);
    qn_kernels_free(x->variant);
    free(x->wide);
    free(x->list);
    free(x);
}
