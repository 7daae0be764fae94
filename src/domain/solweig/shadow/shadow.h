/* shadow.h - shadows of suns on a raster, as stages of graphs.
 *
 * A qn_sw_shadow knows a raster: its heights, the window of it that results are wanted for (a
 * tile's core; the rest is what shadows reach over from), and the planes that marches need besides.
 * Make them once with qn_sw_add_cover; then any graph may add shadows and view factors (svf.h).
 *
 * A recorded graph serves a whole year: rays of all suns lie on the device, and `which`, a buffer
 * with one i32, tells the number of the sun at the time of the run.
 */
#ifndef QN_SW_SHADOW_H
#define QN_SW_SHADOW_H

#include "rays.h"

/* How lanes lie on the raster. Results are equal. */
typedef enum {
    QN_SW_LANES_AUTO, /* tiles where the context has a GPU */
    QN_SW_LANES_ROWS,
    QN_SW_LANES_TILES
} qn_sw_lanes;

/* `gmax`: nothing in the heights is higher. A core without rows is the whole raster. `exits_off`:
 * exits SW_EXIT_* that are not taken, for checks. */
typedef struct qn_sw_area {
    int rows, cols;
    int core_row, core_col, core_rows, core_cols;
    float gmax;
    qn_sw_lanes lanes;
    int exits_off;
} qn_sw_area;

/* Arrays of rows x cols floats, finite or NaN. Canopy and trunk: both or none; NaN or below the
 * ground is no vegetation. Walls: both or none; the aspect is in radians. They must outlive the
 * object. */
typedef struct qn_sw_layers {
    qn_buf *dsm, *canopy, *trunk, *wall_height, *wall_aspect;
} qn_sw_layers;

typedef struct qn_sw_shadow qn_sw_shadow;

qn_status qn_sw_shadow_new(qn_ctx *ctx, const qn_sw_area *area, const qn_sw_layers *layers,
                           qn_sw_shadow **out, qn_err *err);
void qn_sw_shadow_free(qn_sw_shadow *shadow); /* NULL is fine */

/* Pixels of the core. */
qn_i64 qn_sw_shadow_cells(const qn_sw_shadow *shadow);

/* Adds the planes that marches need; to be run before them, and again when heights change. */
qn_status qn_sw_add_cover(qn_sw_shadow *shadow, qn_graph *graph, qn_err *err);

/* Results for the core, as floats. `detail`: SW_DETAIL_PLANES planes, or NULL. */
typedef struct qn_sw_shade {
    qn_buf *shadow, *wall_sun, *detail;
} qn_sw_shade;

/* Adds the shadow of the sun rays[which]. */
qn_status qn_sw_add_shadow(qn_sw_shadow *shadow, qn_graph *graph, const qn_sw_rays *rays,
                           qn_buf *which, const qn_sw_shade *out, qn_err *err);

#endif
