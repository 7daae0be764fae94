/* shadow.h - rays, shadows, sky view factors and walls of a raster, as stages of graphs.
 *
 * Ray tables are made on the host, in single precision and in the reference's order of operations:
 * no device computes an angle, so shadow edges are the same on all devices. One recorded graph is
 * used for a whole year: the rays of all suns are on the device, and a buffer with one i32 has the
 * number of the current sun.
 */
#ifndef QN_SOLWEIG_SHADOW_SHADOW_H
#define QN_SOLWEIG_SHADOW_SHADOW_H

#include "kernel/solweig/sw_shadow.h"
#include "kernel/solweig/sw_walls.h"
#include "util/status.h"

#include <quern/graph.h>

/* The sky as patches.
 *
 * Options 1 to 4 have 145, 153, 305 and 609 patches, band by band from the horizon up. Azimuths and
 * weights are bit-identical to the reference's. */

enum { QN_SW_MAX_PATCHES = 609 };

typedef struct qn_sw_patch {
    float altitude, azimuth; /* degrees */
    sw_weight weight;        /* in view factors */
} qn_sw_patch;

/* Number of patches of the option; 0 if there is no such option. */
int qn_sw_patch_count(int option);

/* Fills `out`, which must be large enough. An option other than 1 to 4 is QN_ERR_INPUT. */
qn_status qn_sw_patches(int option, qn_sw_patch *out, qn_err *err);

/* Rays: tables of steps towards suns or patches of the sky. */

/* The raster that rays cross. `max_height` is the highest object above the lowest ground in metres;
 * `max_dist` is the length of rays in metres, 0: no limit. */
typedef struct qn_sw_ray_limits {
    int rows, cols;
    float px, max_height, max_dist;
} qn_sw_ray_limits;

/* Degrees, and the fraction of light that leaves let through. At altitudes of 89.5 and above, and
 * at or below the horizon, a ray has no steps, so nothing is shaded. */
typedef struct qn_sw_beam {
    float azimuth, altitude, psi;
} qn_sw_beam;

typedef struct qn_sw_rays {
    int n;
    qn_i64 n_legs, n_steps; /* steps, without the padding of last legs */
    sw_ray *list;           /* as on the device */
    qn_buf *rays, *legs, *steps, *short_legs, *short_steps;
} qn_sw_rays;

/* An azimuth or altitude that is not a number, or an empty raster, is QN_ERR_INPUT; a ray that
 * spans 2^31 pixels or more of the raster's array is QN_ERR_LIMIT. */
qn_status qn_sw_rays_new(qn_ctx *ctx, const qn_sw_ray_limits *limits, const qn_sw_beam *suns, int n,
                         qn_sw_rays **out, qn_err *err);
void qn_sw_rays_free(qn_sw_rays *rays); /* NULL is fine */

/* How many pixels away a shadow can come from, which is the border of a tile. At most 2^30. */
int qn_sw_ray_border(const qn_sw_ray_limits *limits);

/* The steps of one ray; free() them. For a ray without steps *n is 0 and *out NULL. */
qn_status qn_sw_ray_steps(const qn_sw_ray_limits *limits, const qn_sw_beam *sun, sw_step **out,
                          int *n, qn_err *err);

/* How many pixels, in rows or columns, the ray gets away from its start. */
qn_status qn_sw_ray_pixels(const qn_sw_ray_limits *limits, const qn_sw_beam *sun, int *out,
                           qn_err *err);

/* Shadows.
 *
 * A qn_sw_shadow_raster has the heights of a raster, the window to compute (a tile's core; objects
 * outside it cast shadows too), and further planes for casting rays. Make those once with
 * qn_sw_add_cover; then any graph may add shadows and view factors. */

/* How lanes are arranged on the raster. It does not change results. */
typedef enum {
    QN_SW_LANES_AUTO, /* tiles if the context has a GPU */
    QN_SW_LANES_ROWS,
    QN_SW_LANES_TILES
} qn_sw_lanes;

/* `gmax`: largest height. A core without rows means the whole raster. `exits_off`: early exits
 * SW_EXIT_* to disable, for checks. */
typedef struct qn_sw_area {
    int rows, cols;
    int core_row, core_col, core_rows, core_cols;
    float gmax;
    qn_sw_lanes lanes;
    int exits_off;
} qn_sw_area;

/* Arrays of rows x cols floats, finite or NaN. Canopy and trunk: both or neither; NaN or below the
 * ground means no vegetation. Walls: both or neither; the aspect is in radians. The buffers must
 * outlive the object. */
typedef struct qn_sw_height_bufs {
    qn_buf *dsm, *canopy, *trunk, *wall_height, *wall_aspect;
} qn_sw_height_bufs;

typedef struct qn_sw_shadow_raster {
    qn_ctx *ctx;
    qn_sw_height_bufs layers; /* for absent layers, the ground */
    sw_grid par;
    int has_tiles;
    qn_buf *high, *low, *top, *leaf_top; /* made by sw_cover.c; without vegetation only `top` */
    qn_buf *no_detail;                   /* passed to kernels that write no detail */
} qn_sw_shadow_raster;

/* The range of groups that cast rays over the core. */
qn_range qn_sw_march_range(const qn_sw_shadow_raster *shadow, int n_words);

qn_status qn_sw_shadow_new(qn_ctx *ctx, const qn_sw_area *area, const qn_sw_height_bufs *layers,
                           qn_sw_shadow_raster **out, qn_err *err);
void qn_sw_shadow_free(qn_sw_shadow_raster *shadow); /* NULL is fine */

/* Adds the planes for casting rays; run it first, and again when heights change. */
qn_status qn_sw_add_cover(qn_sw_shadow_raster *shadow, qn_graph *graph, qn_err *err);

/* Results for the core, as floats. `detail`: SW_DETAIL_PLANES planes, or NULL. */
typedef struct qn_sw_shade {
    qn_buf *shadow, *wall_sun, *detail;
} qn_sw_shade;

/* Adds the shadow for the sun rays[which]. */
qn_status qn_sw_add_shadow(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_rays *rays,
                           qn_buf *which, const qn_sw_shade *out, qn_err *err);

/* Sky view factors, and which patches of the sky each pixel sees.
 *
 * One launch casts rays to all patches and stores their bits as words of 32 patches, plane by
 * plane: [word][pixel of the core]. A second computes the sums. Nothing is read back in between. */

/* Patches as rays over one raster, with their weights. */
typedef struct qn_sw_sky {
    int n_patches, n_words, n_bytes; /* of one pixel */
    qn_sw_rays *rays;
    qn_buf *weights;
} qn_sw_sky;

/* `limits->max_dist` should be 0: view factors of the reference have no limit. */
qn_status qn_sw_sky_new(qn_ctx *ctx, int patch_option, const qn_sw_ray_limits *limits,
                        qn_sw_sky **out, qn_err *err);
void qn_sw_sky_free(qn_sw_sky *sky); /* NULL is fine */

/* Estimated fraction of the work for the words [0, n_words), for progress: 0 to 1. */
double qn_sw_sky_share(const qn_sw_sky *sky, int n_words);

/* SW_SVF_PLANES planes of floats; n_words planes of u32 for buildings, vegetation, and vegetation
 * in front of buildings. All for the core. */
typedef struct qn_sw_views {
    qn_buf *svf, *bldg, *veg, *vb;
} qn_sw_views;

/* Adds rays and sums. */
qn_status qn_sw_add_svf(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_sky *sky,
                        const qn_sw_views *out, qn_err *err);

/* Adds rays and sums in parts, for progress: the words [first, last), in order, then the sums after
 * all words. */
qn_status qn_sw_add_svf_words(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_sky *sky,
                              int first, int last, const qn_sw_views *out, qn_err *err);
qn_status qn_sw_add_svf_finish(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_sky *sky,
                               const qn_sw_views *out, qn_err *err);

/* Adds the words of one kind as bytes, [row][col][n_bytes], lowest bit first, as in files.
 */
qn_status qn_sw_add_svf_bytes(qn_sw_shadow_raster *shadow, qn_graph *graph, const qn_sw_sky *sky,
                              qn_buf *words, qn_buf *bytes, qn_err *err);

/* Walls: their heights and aspects. */

/* Line filters and their sides, as bits, for one pixel size. */
typedef struct qn_sw_wall_filters {
    sw_wall_par par;
    qn_buf *masks;
} qn_sw_wall_filters;

/* Steps in the ground below `limit` metres (usually 1) are not walls. A pixel size below 0.2 m is
 * QN_ERR_LIMIT, since lines would have more than 45 pixels. */
qn_status qn_sw_walls_new(qn_ctx *ctx, int rows, int cols, float px, float limit,
                          qn_sw_wall_filters **out, qn_err *err);
void qn_sw_walls_free(qn_sw_wall_filters *walls); /* NULL is fine */

/* How many pixels around a pixel its wall depends on. */
int qn_sw_wall_reach(const qn_sw_wall_filters *walls);

/* Adds aspects of walls of these heights, in degrees and in radians. */
qn_status qn_sw_add_wall_aspects(const qn_sw_wall_filters *walls, qn_graph *graph, qn_buf *dsm,
                                 qn_buf *height, qn_buf *degrees, qn_buf *radians, qn_err *err);

/* Adds heights in metres, 0 where there is no wall, and aspects. */
qn_status qn_sw_add_walls(const qn_sw_wall_filters *walls, qn_graph *graph, qn_buf *dsm,
                          qn_buf *height, qn_buf *degrees, qn_buf *radians, qn_err *err);

#endif
