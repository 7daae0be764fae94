/* outputs.h - the files of a run: rasters that grow tile by tile, and whole files.
 *
 * Every file has a partial name until the whole run has succeeded; a run that fails removes them. A
 * run that is killed leaves them, with unfinished.txt, which names the tiles that are complete in
 * all of them; another run can then compute the rest. In GeoTIFF files, tiles whose sides are
 * multiples of 256 share no block, so a kill cannot harm a finished one.
 */
#ifndef QN_SOLWEIG_OUTPUT_OUTPUTS_H
#define QN_SOLWEIG_OUTPUT_OUTPUTS_H

#include "domain/solweig/raster/raster.h"

typedef struct qn_sw_outputs qn_sw_outputs;

typedef struct qn_sw_outputs_options {
    const char *folder; /* made if it does not exist */
    const qn_sw_place *place;
    const char *plan; /* one line; only a run with the same plan can resume */
    qn_sw_out_start start;
    int max_open; /* files held open at once; 0 means 64 */
} qn_sw_outputs_options;

/* QN_SW_OUT_NEW removes what an unfinished run left. QN_SW_OUT_RESUME fails with QN_ERR_IO when
 * there is none, and with QN_ERR_MISMATCH when it had another plan. */
qn_status qn_sw_outputs_open(const qn_sw_outputs_options *options, qn_sw_outputs **out,
                             qn_err *err);

/* Writes a window of <folder>/<name>/<name>_YYYYMMDD_HHMM, as .tif, or .npy without GDAL. For one
 * thread at a time. */
qn_status qn_sw_outputs_write(qn_sw_outputs *outputs, const char *name, qn_i64 minutes,
                              qn_window window, const float *data, qn_i64 stride, qn_err *err);

/* Writes a window of <folder>/summary/<name>. */
qn_status qn_sw_outputs_write_summary(qn_sw_outputs *outputs, const char *name, qn_window window,
                                      const float *data, qn_i64 stride, qn_err *err);

/* Writes <folder>/<name> as a whole: "maps/tmrt.png". */
qn_status qn_sw_outputs_write_file(qn_sw_outputs *outputs, const char *name, const void *data,
                                   size_t bytes, qn_err *err);

/* Reads a window of what qn_sw_outputs_write has written, also in an earlier run; its tile must be
 * finished. */
qn_status qn_sw_outputs_read(qn_sw_outputs *outputs, const char *name, qn_i64 minutes,
                             qn_window window, float *data, qn_err *err);

/* Closes the files and notes that all windows of this tile are written. Killing the process cannot
 * undo that; a power cut can. */
qn_status qn_sw_outputs_finish_tile(qn_sw_outputs *outputs, qn_i64 tile, qn_err *err);
int qn_sw_outputs_has_tile(const qn_sw_outputs *outputs, qn_i64 tile);

/* Both end `outputs`. Commit gives all files their names; abort removes them; NULL is fine for it. */
qn_status qn_sw_outputs_commit(qn_sw_outputs *outputs, qn_err *err);
void qn_sw_outputs_abort(qn_sw_outputs *outputs);

#endif
