/* step.h - everything on the device that one time step of a whole raster needs.
 *
 * For measuring: a clear July day at 57.7 degrees north, hour after hour, default materials, one
 * tile. Stages can be added to graphs one by one or all together.
 */
#ifndef QN_LAB_SOLWEIG_BENCH_STEP_H
#define QN_LAB_SOLWEIG_BENCH_STEP_H

#include "domain/solweig/surface/surface.h"
#include "lab/owned.h"
#include "domain/solweig/comfort/comfort.h"
#include "domain/solweig/radiation/radiation.h"
#include "domain/solweig/shadow/shadow.h"
#include "domain/solweig/ground/gvf.h"

enum { QN_SW_STEP_NOON = 12 }; /* number of the record at noon */

typedef enum qn_sw_step_stage {
    QN_SW_STEP_SHADOW,
    QN_SW_STEP_GROUND,
    QN_SW_STEP_GVF,
    QN_SW_STEP_DELAY,
    QN_SW_STEP_SKY, /* "aniso" or "radiation" */
    QN_SW_STEP_TMRT,
    QN_SW_STEP_UTCI,
    QN_SW_STEP_PET,
    QN_SW_STEP_STAGES
} qn_sw_step_stage;

typedef struct qn_sw_bench_step {
    qn_ctx *ctx;
    int rows, cols, is_aniso, has_veg;
    qn_sw_height_bufs layers;
    qn_sw_ground_maps maps;
    qn_sw_shadow_raster *shadow;
    qn_sw_wall_filters *walls;
    qn_sw_sky *sky;
    qn_sw_rays *suns;
    qn_sw_step_table *series;
    qn_sw_gvf *gvf;
    qn_sw_radiation *radiation;
    qn_sw_pet_table *pet_table;
    qn_sw_views views;
    qn_buf *shade, *wall_sun, *state, *tmrt, *utci, *pet;
    qn_owned owned;    /* all buffers except these: */
    qn_buf *svf, *veg; /* planes of views.svf */
} qn_sw_bench_step;

/* Uploads the layers of a prepared surface and makes all objects; nothing is computed. `n_steps`
 * records are made, at least a day. */
qn_status qn_sw_step_open(qn_ctx *ctx, const qn_sw_surface *surface, int patch_option, int is_aniso,
                          int n_steps, qn_sw_bench_step *out, qn_err *err);
void qn_sw_step_close(qn_sw_bench_step *step);

/* The work before the first step, in this order: walls, view factors, and the view of the
 * ground. */
qn_status qn_sw_step_add_walls(qn_sw_bench_step *step, qn_graph *graph, qn_err *err);
qn_status qn_sw_step_add_svf(qn_sw_bench_step *step, qn_graph *graph, qn_err *err);
qn_status qn_sw_step_add_geometry(qn_sw_bench_step *step, qn_graph *graph, qn_err *err);

const char *qn_sw_step_name(const qn_sw_bench_step *step, qn_sw_step_stage stage);
qn_status qn_sw_step_add(qn_sw_bench_step *step, qn_graph *graph, qn_sw_step_stage stage,
                         qn_err *err);

#endif
