/* svf_plan.c - sizes of tiles, from what rays reach and what devices hold. */
#include "svf_plan.h"

#include "domain/solweig/shadow/patches.h"
#include "domain/solweig/shadow/svf.h"
#include "engine/memory/tiling.h"

#include <math.h>
#include <stdlib.h>

/* Planes of a tile's area: three heights and four that marches need, and five while those are made;
 * two of each without vegetation. */
enum { MIN_CORE = 64, PLANES = 12, PLANES_BARE = 4 };

/* The farthest pixel, by rows or columns, that any patch is looked for over. */
static qn_status farthest(const qn_sw_reach *reach, int option, int *out, qn_err *err)
{
    qn_sw_patch patches[QN_SW_MAX_PATCHES];
    qn_status st = QN_OK;
    int most = 0;

    QN_TRY(qn_sw_patches(option, patches, err));
    for (int i = 0; i < qn_sw_patch_count(option); i++) {
        const qn_sw_beam beam = { .azimuth = patches[i].azimuth, .altitude = patches[i].altitude };
        sw_step *steps = NULL;
        int n = 0;

        QN_TRY(qn_sw_ray_steps(reach, &beam, &steps, &n, err));
        if (n) {
            most = abs(steps[n - 1].row) > most ? abs(steps[n - 1].row) : most;
            most = abs(steps[n - 1].col) > most ? abs(steps[n - 1].col) : most;
        }
        free(steps);
    }
    *out = most;
out:
    return st;
}

static qn_i64 min2(qn_i64 a, qn_i64 b)
{
    return a < b ? a : b;
}

static qn_i64 max2(qn_i64 a, qn_i64 b)
{
    return a > b ? a : b;
}

void qn_sw_svf_plan_set(qn_sw_svf_plan *plan, qn_i64 core)
{
    plan->core = min2(core, max2(plan->rows, plan->cols));
    plan->n_down = (plan->rows + plan->core - 1) / plan->core;
    plan->n_across = (plan->cols + plan->core - 1) / plan->core;
}

qn_i64 qn_sw_svf_plan_tiles(const qn_sw_svf_plan *plan)
{
    return plan->n_down * plan->n_across;
}

/* Pixels [*from, *from + *n) of an axis and, around them, the tile's. */
static void cut(qn_i64 i, qn_i64 core, qn_i64 overlap, qn_i64 side, qn_i64 *from, qn_i64 *n,
                qn_i64 *area_from, qn_i64 *area_n)
{
    *from = i * core;
    *n = min2(core, side - *from);
    *area_from = max2(*from - overlap, 0);
    *area_n = min2(*from + *n + overlap, side) - *area_from;
}

qn_sw_svf_tile qn_sw_svf_plan_tile(const qn_sw_svf_plan *plan, qn_i64 i)
{
    qn_sw_svf_tile t;

    cut(i / plan->n_across, plan->core, plan->overlap, plan->rows, &t.core.row, &t.core.rows,
        &t.area.row, &t.area.rows);
    cut(i % plan->n_across, plan->core, plan->overlap, plan->cols, &t.core.col, &t.core.cols,
        &t.area.col, &t.area.cols);
    return t;
}

double qn_sw_svf_plan_bytes(const qn_sw_svf_plan *plan)
{
    const double core_rows = (double)min2(plan->core, plan->rows);
    const double core_cols = (double)min2(plan->core, plan->cols);
    const double rows = (double)min2(plan->core + 2 * (qn_i64)plan->overlap, plan->rows);
    const double cols = (double)min2(plan->core + 2 * (qn_i64)plan->overlap, plan->cols);

    return rows * cols * plan->area_bytes + core_rows * core_cols * plan->core_bytes;
}

/* 1 when every device holds `n_in_flight` of the largest tile. */
static int fits(const qn_ctx *ctx, const qn_sw_svf_plan *plan, int n_in_flight)
{
    const double core_cells =
        (double)min2(plan->core, plan->rows) * (double)min2(plan->core, plan->cols);
    for (int i = 0; i < qn_device_count(ctx); i++) {
        const qn_tile_limits limits = qn_device_tiles(ctx, i);

        if (qn_sw_svf_plan_bytes(plan) * n_in_flight > (double)limits.tile_bytes ||
            core_cells * plan->widest_bytes > (double)limits.array_bytes)
            return 0;
    }
    return 1;
}

static void choose_core(const qn_ctx *ctx, qn_sw_svf_plan *plan)
{
    qn_sw_svf_plan_set(plan, max2(plan->rows, plan->cols));
    if (fits(ctx, plan, 1))
        return;
    while (plan->core > MIN_CORE && !fits(ctx, plan, 2))
        qn_sw_svf_plan_set(plan, max2(plan->core * 7 / 8, MIN_CORE));
}

qn_status qn_sw_svf_plan_make(qn_ctx *ctx, const qn_sw_surface *surface, int patch_option,
                              qn_i64 core, qn_sw_svf_plan *out, qn_err *err)
{
    const qn_sw_place *place = &surface->dsm.place;
    const qn_sw_relief relief = qn_sw_relief_of(surface);
    const int n_patches = qn_sw_patch_count(patch_option);
    qn_sw_svf_plan plan = { .rows = place->rows,
                            .cols = place->cols,
                            .patch_option = patch_option };
    qn_status st = QN_OK;
    int words_bytes;

    if (place->rows < 1 || place->cols < 1 || place->rows > QN_MAX_AXIS ||
        place->cols > QN_MAX_AXIS)
        return qn_fail(err, QN_ERR_LIMIT, "raster of %lld x %lld pixels, sides must be 1 to %d",
                       (long long)place->rows, (long long)place->cols, QN_MAX_AXIS);
    plan.has_veg = surface->cdsm.data && surface->tdsm.data;
    plan.gmax = plan.has_veg ? relief.top : relief.highest;
    plan.reach =
        (qn_sw_reach){ .rows = (int)place->rows,
                       .cols = (int)place->cols,
                       .px = (float)place->pixel_size,
                       .max_height = plan.has_veg ? relief.max_height : relief.max_building };
    QN_TRY(farthest(&plan.reach, patch_option, &plan.overlap, err));
    plan.area_bytes = sizeof(float) * (plan.has_veg ? PLANES : PLANES_BARE);
    words_bytes = (n_patches + 31) / 32 * 4;
    plan.widest_bytes = fmax(words_bytes, SW_SVF_PLANES * sizeof(float));
    plan.core_bytes = SW_SVF_PLANES * sizeof(float) + 3.0 * (words_bytes + (n_patches + 7) / 8);
    if (core)
        qn_sw_svf_plan_set(&plan, core);
    else
        choose_core(ctx, &plan);
    *out = plan;
out:
    return st;
}
