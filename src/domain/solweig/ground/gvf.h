/* gvf.h - ground view factors: what a person sees of ground and walls below the horizon.
 *
 * Rays in 18 azimuths run over open ground until a building stops them. Their lengths depend only
 * on the surface (stage gvf.geometry, once); the radiation along them changes with shadow and
 * weather (stages ground and gvf.thermal, every step). Without walls stage ground does everything.
 *
 * The sides of a person matter only under an isotropic sky; otherwise one plane is enough, which
 * saves most of the memory.
 */
#ifndef QN_SOLWEIG_GROUND_GVF_H
#define QN_SOLWEIG_GROUND_GVF_H

#include "domain/solweig/step/step.h"
#include "kernel/solweig/sw_gvf.h"

typedef struct qn_sw_gvf_options {
    int cols, rows;
    int has_sides;  /* planes SW_ALL, SW_N, ..; else only SW_ALL */
    int has_walls;  /* 0: no wall heights are known */
    float pixel_m;  /* side of a pixel */
    float height_m; /* of the person */
    float wall_albedo;
    int water_class;       /* its emission has no excess: 3 as in the reference, 7 is water;
                              -1: none, since there is no land cover */
    int divides_by_pixel;  /* distances in pixels are metres / pixel; the reference multiplies */
    int aspect_in_radians; /* compares aspects in radians; the reference uses degrees */
} qn_sw_gvf_options;

/* Rasters of the surface, borrowed. */
typedef struct qn_sw_ground_maps {
    qn_buf *class_of;  /* u8, below SW_CLASSES */
    qn_buf *buildings; /* u8: 1 ground, 0 building */
    qn_buf *albedo, *emissivity;
    qn_buf *wall_height, *wall_aspect; /* m, degrees; not read without walls */
} qn_sw_ground_maps;

typedef struct qn_sw_gvf {
    qn_ctx *ctx;
    qn_sw_gvf_options options;
    sw_gvf_par par;
    sw_gvf_sectors sectors;
    qn_buf *offset;           /* table of steps */
    qn_buf *block, *face;     /* lengths of rays, [18] or [36] bytes; walls that face them */
    qn_buf *excess, *reflect; /* of the step, with a border */
    qn_buf *nosh;             /* planes of unshaded albedo */
    qn_buf *lup, *alb;        /* planes of results in a step */
} qn_sw_gvf;

qn_status qn_sw_gvf_new(qn_ctx *ctx, const qn_sw_gvf_options *options, qn_sw_gvf **out,
                        qn_err *err);
void qn_sw_gvf_free(qn_sw_gvf *gvf);

/* Adds the stages that run once for a surface. */
qn_status qn_sw_add_gvf_geometry(qn_sw_gvf *gvf, qn_graph *graph, const qn_sw_ground_maps *maps,
                                 qn_err *err);

/* Adds the light and heat that each pixel of ground emits in a step. `svf`, the total, is read only
 * without walls; `wall_sun` (sunlit height of walls) only with walls. */
qn_status qn_sw_add_ground(qn_sw_gvf *gvf, qn_graph *graph, const qn_sw_step_table *series,
                           const qn_sw_ground_maps *maps, qn_buf *shadow, qn_buf *wall_sun,
                           qn_buf *svf, qn_err *err);

/* Adds the part of it that a person sees, lup and alb. Without walls it adds nothing, since stage
 * ground has computed them. */
qn_status qn_sw_add_gvf_thermal(qn_sw_gvf *gvf, qn_graph *graph, const qn_sw_step_table *series,
                                const qn_sw_ground_maps *maps, qn_err *err);

/* Steps of a ray, `first` and `second` of the options; and its table: row and column offset of
 * step n at [2 * (ray * second + n)]. */
void qn_sw_gvf_reach(const qn_sw_gvf_options *options, int *first, int *second);
void qn_sw_gvf_steps(int second, int *row_col);

/* For checks: gvf.thermal as in UMEP, with the total only, after the stage ground. */
qn_status qn_sw_add_gvf_umep(qn_sw_gvf *gvf, qn_graph *graph, const qn_sw_step_table *series,
                             const qn_sw_ground_maps *maps, qn_buf *row_col, qn_buf *wall_sun,
                             qn_err *err);

#endif
