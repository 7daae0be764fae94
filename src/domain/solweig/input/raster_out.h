/* raster_out.h - a raster file that is written part by part.
 *
 * The parts go to <name>.partial.<ending>; commit gives the file its name, so a reader sees all of
 * it or nothing. A run that means to go on later keeps the partial file and opens it again.
 */
#ifndef QN_SOLWEIG_INPUT_RASTER_OUT_H
#define QN_SOLWEIG_INPUT_RASTER_OUT_H

#include "domain/solweig/input/raster.h"

typedef struct qn_sw_raster_out qn_sw_raster_out;

typedef enum qn_sw_out_start {
    QN_SW_OUT_NEW,   /* what an earlier run left is replaced */
    QN_SW_OUT_RESUME /* what an earlier run kept is gone on with; it must have the same shape */
} qn_sw_out_start;

/* Pixels that are never written read as NaN from a GeoTIFF and as 0 from an .npy file. */
qn_status qn_sw_raster_out_open(const char *path, const qn_sw_place *place, qn_sw_out_start start,
                                qn_sw_raster_out **out, qn_err *err);

/* Writes `window`; its row k begins at data + k * stride. For one thread at a time. */
qn_status qn_sw_raster_out_write(qn_sw_raster_out *out, qn_sw_window window, const float *data,
                                 qn_i64 stride, qn_err *err);

/* Each of these ends `out`; NULL is fine for the last two. Commit that fails removes the file. */
qn_status qn_sw_raster_out_commit(qn_sw_raster_out *out, qn_err *err);
qn_status qn_sw_raster_out_keep(qn_sw_raster_out *out, qn_err *err);
void qn_sw_raster_out_abort(qn_sw_raster_out *out);

/* "a/tmrt.tif" into "a/tmrt.partial.tif"; NULL for lack of memory. */
char *qn_sw_partial_name(const char *path);

/* Gives a file that was kept its name. */
qn_status qn_sw_partial_commit(const char *path, qn_err *err);

#endif
