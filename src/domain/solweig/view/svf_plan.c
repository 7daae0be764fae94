/* svf_plan.c - sizes of tiles, from what rays reach and what devices hold. */
#include "svf_plan.h"

#include "domain/solweig/shadow/shadow.h"

#include <math.h>

/* Planes of a tile's area: three heights and four that marches need, and five while those are made;
 * two of each without vegetation. */
enum { PLANES = 12, PLANES_BARE = 4 };

enum { IN_FLIGHT = 2 };

/* The farthest pixel, by rows or columns, that any patch is looked for over. */
static qn_status farthest(const qn_sw_reach *reach, int option, int *out, qn_err *err)
{
    qn_sw_patch patches[QN_SW_MAX_PATCHES];
    qn_status st = QN_OK;
    int most = 0;

    QN_TRY(qn_sw_patches(option, patches, err));
    for (int i = 0; i < qn_sw_patch_count(option); i++) {
        const qn_sw_beam beam = { .azimuth = patches[i].azimuth, .altitude = patches[i].altitude };
        int pixels = 0;

        QN_TRY(qn_sw_ray_pixels(reach, &beam, &pixels, err));
        most = pixels > most ? pixels : most;
    }
    *out = most;
out:
    return st;
}

qn_status qn_sw_svf_plan_make(qn_ctx *ctx, const qn_sw_surface *surface, int patch_option,
                              qn_i64 core, qn_sw_svf_plan *out, qn_err *err)
{
    const qn_sw_place *place = &surface->dsm.place;
    const qn_sw_relief relief = qn_sw_relief_of(surface);
    const int n_patches = qn_sw_patch_count(patch_option);
    qn_sw_svf_plan plan = { .tiles = { .rows = place->rows, .cols = place->cols },
                            .patch_option = patch_option };
    qn_sw_tiles *tiles = &plan.tiles;
    qn_status st = QN_OK;
    int words_bytes, matrix_bytes;

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
    QN_TRY(farthest(&plan.reach, patch_option, &tiles->overlap, err));
    tiles->area_bytes = sizeof(float) * (plan.has_veg ? PLANES : PLANES_BARE);
    words_bytes = (n_patches + 31) / 32 * 4;
    matrix_bytes = words_bytes + (n_patches + 7) / 8;
    tiles->widest_bytes = fmax(words_bytes, SW_SVF_PLANES * sizeof(float));
    tiles->core_bytes = SW_SVF_PLANES * sizeof(float) + 3.0 * matrix_bytes;
    if (core)
        qn_sw_tiles_set(tiles, core);
    else
        qn_sw_tiles_fit(ctx, tiles, IN_FLIGHT);
    *out = plan;
out:
    return st;
}
