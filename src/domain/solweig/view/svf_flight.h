/* svf_flight.h - one tile of view factors on its way: its arrays and the graph that is running.
 *
 * The march goes word by word, 32 patches each, so that progress can be told; the part after the
 * last word makes sums and bytes.
 */
#ifndef QN_SOLWEIG_VIEW_SVF_FLIGHT_H
#define QN_SOLWEIG_VIEW_SVF_FLIGHT_H

#include "svf_plan.h"

#include "domain/solweig/cache/svf_cache.h"
#include "domain/solweig/shadow/shadow.h"

enum { QN_SW_FLIGHT_LAYERS = 3 };

/* Zero-initialised is empty. */
typedef struct qn_sw_flight {
    qn_ctx *ctx;
    qn_i64 tile;
    qn_sw_tile_cut at;
    qn_buf *layers[QN_SW_FLIGHT_LAYERS]; /* DSM, canopy, trunk; the last two NULL without trees */
    qn_sw_shadow *shadow;
    qn_sw_sky *sky; /* kept for the next tile of the same shape */
    qn_i64 sky_rows, sky_cols;
    qn_sw_views views;
    qn_buf *bytes[QN_SW_SVF_MATRICES];
    qn_graph *graph; /* that is running */
    int is_on_cpu;   /* whatever the router says */
    double start_us;
} qn_sw_flight;

/* Uploads the tile's heights and makes its arrays. `stage` has room for the tile's area. */
qn_status qn_sw_flight_open(qn_sw_flight *flight, qn_ctx *ctx, const qn_sw_surface *surface,
                            const qn_sw_svf_plan *plan, qn_i64 tile, float *stage, qn_err *err);

/* Begins word `word` of the march, or behind the last one the sums; the part before must be over.
 */
qn_status qn_sw_flight_start(qn_sw_flight *flight, int word, qn_err *err);

/* Waits for the part that was begun. `device` (32 bytes) gets the name of where it ran. */
qn_status qn_sw_flight_wait(qn_sw_flight *flight, char *device, qn_err *err);

void qn_sw_flight_clear(qn_sw_flight *flight); /* all but the sky */
void qn_sw_flight_free(qn_sw_flight *flight);

#endif
