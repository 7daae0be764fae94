/* svf.c - the sky as rays, and the stages of view factors. */
#include "shadow.h"

#include "kernel/sw_cover.gen.h"
#include "kernel/sw_svf.gen.h"
#include "kernel/sw_svf_finish.gen.h"
#include "kernel/sw_svf_tile.gen.h"

#include "util/list.h"

#include <math.h>
#include <stdlib.h>

enum { WORD_BITS = 32, FINISH_COLS = 64 /* as in sw_svf_finish.c */ };

qn_status qn_sw_sky_new(qn_ctx *ctx, int patch_option, const qn_sw_ray_limits *limits,
                        qn_sw_sky **out, qn_err *err)
{
    qn_sw_patch patches[QN_SW_MAX_PATCHES];
    qn_sw_beam suns[QN_SW_MAX_PATCHES];
    sw_weight weights[QN_SW_MAX_PATCHES];
    qn_sw_sky *sky = NULL;
    qn_status st = QN_OK;
    int n;

    QN_TRY(QN_NEW(sky, 1, "a sky", err));
    QN_TRY(qn_sw_patches(patch_option, patches, err));
    n = qn_sw_patch_count(patch_option);
    for (int i = 0; i < n; i++) {
        suns[i] = (qn_sw_beam){ .azimuth = patches[i].azimuth, .altitude = patches[i].altitude };
        weights[i] = patches[i].weight;
    }
    sky->n_patches = n;
    sky->n_words = (n + WORD_BITS - 1) / WORD_BITS;
    sky->n_bytes = (n + 7) / 8;
    QN_TRY(qn_sw_rays_new(ctx, limits, suns, n, &sky->rays, err));
    QN_TRY(qn_buf_new(ctx, "sw weights", (size_t)n * sizeof *weights, &sky->weights, err));
    QN_TRY(qn_buf_write(sky->weights, 0, weights, (size_t)n * sizeof *weights, err));
    *out = sky;
    sky = NULL;
out:
    qn_sw_sky_free(sky);
    return st;
}

void qn_sw_sky_free(qn_sw_sky *sky)
{
    if (!sky)
        return;
    qn_sw_rays_free(sky->rays);
    qn_buf_free(sky->weights);
    free(sky);
}

/* Rays with many legs tend to end early, so a ray counts as the square root of its number of legs.
 * On the CPU with Athens mirrored to 600 x 600, the five words of 153 patches take 36, 25, 18, 14
 * and 7 % of the time; this rule gives 40, 23, 17, 13 and 7 %. */
double qn_sw_sky_share(const qn_sw_sky *sky, int n_words)
{
    double part = 0, whole = 0;

    for (int i = 0; i < sky->n_patches; i++) {
        const double work = sqrt((double)sky->rays->list[i].n_legs);

        whole += work;
        part += i < n_words * WORD_BITS ? work : 0;
    }
    return whole > 0 ? part / whole : 1;
}

qn_status qn_sw_add_svf_words(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_sky *sky,
                              int first, int last, const qn_sw_views *out, qn_err *err)
{
    const qn_sw_shadow_raster *s = shadow;
    const qn_sw_rays *rays = sky->rays;
    qn_buf *const ground = s->layers.dsm;
    qn_buf *const high = s->high ? s->high : ground, *const low = s->low ? s->low : ground;
    qn_buf *const leaf_top = s->leaf_top ? s->leaf_top : ground;
    qn_range groups = qn_sw_march_range(s, sky->n_words);
    sw_grid par = s->par;

    qn_status st = QN_OK;

    par.n_rays = sky->n_patches;
    groups.z0 = first;
    groups.z1 = last;
    if (first == 0)
        QN_TRY(stage_sw_words(graph, "svf.shadow",
                              qn_range_3d(par.core_cols, par.core_rows, sky->n_words), par,
                              out->bldg, out->veg, out->vb, err));
    if (s->has_tiles)
        QN_TRY(stage_sw_svf_tile(graph, "svf.shadow", groups, par, rays->rays, rays->legs,
                                 rays->steps, rays->short_legs, rays->short_steps, ground,
                                 s->layers.canopy, s->layers.trunk, high, low, s->top, leaf_top,
                                 out->bldg, out->veg, out->vb, err));
    else
        QN_TRY(stage_sw_svf(graph, "svf.shadow", groups, par, rays->rays, rays->legs, rays->steps,
                            rays->short_legs, rays->short_steps, ground, s->layers.canopy,
                            s->layers.trunk, high, low, s->top, leaf_top, out->bldg, out->veg,
                            out->vb, err));
out:
    return st;
}

qn_status qn_sw_add_svf_finish(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_sky *sky,
                               const qn_sw_views *out, qn_err *err)
{
    const qn_sw_shadow_raster *s = shadow;
    const qn_range groups =
        qn_range_2d((s->par.core_cols + FINISH_COLS - 1) / FINISH_COLS, s->par.core_rows);
    sw_grid par = s->par;

    par.n_rays = sky->n_patches;
    return stage_sw_svf_finish(graph, "svf.finish", groups, par, sky->weights, s->layers.dsm,
                               s->layers.trunk, out->bldg, out->veg, out->vb, out->svf, err);
}

qn_status qn_sw_add_svf(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_sky *sky,
                        const qn_sw_views *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sw_add_svf_words(shadow, graph, sky, 0, sky->n_words, out, err));
    QN_TRY(qn_sw_add_svf_finish(shadow, graph, sky, out, err));
out:
    return st;
}

qn_status qn_sw_add_svf_bytes(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_sky *sky,
                              qn_buf *words, qn_buf *bytes, qn_err *err)
{
    sw_grid par = shadow->par;

    par.n_rays = sky->n_patches;
    return stage_sw_svf_bytes(graph, "svf.finish",
                              qn_range_3d(sky->n_bytes, par.core_cols, par.core_rows), par, words,
                              bytes, err);
}
