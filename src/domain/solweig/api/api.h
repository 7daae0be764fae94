/* api.h - helpers of the public interface (<quern/solweig.h>). */
#ifndef QN_SOLWEIG_API_API_H
#define QN_SOLWEIG_API_API_H

#include "domain/solweig/run/run.h"
#include "domain/solweig/view/view.h"
#include "util/progress.h"
#include "util/run_folder.h"

#include <quern/solweig.h>

/* Checks and copies the options given to a call; texts in the copy are never NULL. */
qn_status qn_sw_layer_take(const qn_sw_layer_options *given, qn_sw_layer_options *out, qn_err *err);
qn_status qn_sw_svf_take(const qn_sw_svf_options *given, qn_sw_svf_options *out, qn_err *err);
qn_status qn_sw_shadow_take(const qn_sw_shadow_options *given, qn_sw_shadow_options *out,
                            qn_err *err);
qn_status qn_sw_wall_take(const qn_sw_wall_options *given, qn_sw_wall_options *out, qn_err *err);
qn_status qn_sw_run_take(const qn_sw_run_options *given, qn_sw_run_options *out, qn_err *err);

/* NULL options mean the defaults. */
qn_status qn_sw_run_config_read(const qn_sw_layer_options *layers, const qn_sw_run_options *options,
                                qn_sw_run_config *out, qn_err *err);

/* The text, or NULL if it is empty. */
static inline const char *qn_sw_text(const char *text)
{
    return text[0] ? text : NULL;
}

/* Checks and loads layers for a map without weather. A result in memory (`has_arrays`) needs a DSM
 * in memory. */
qn_status qn_sw_api_load(const qn_sw_layer_options *given, int has_arrays,
                         qn_sw_layer_options *layers, qn_sw_surface *surface, qn_sw_grid *grid,
                         qn_err *err);

/* The window of the computed part in the arrays of the layers, whose shape results have. For a DSM
 * from a file, which has no arrays, it is the whole. */
qn_window qn_sw_api_window(const qn_sw_layer_options *layers, const qn_sw_place *place);

/* Sets n floats to NaN. */
void qn_sw_api_clear(float *to, size_t n);

/* Fills a grid of the layers' shape: `from` in the computed part, NaN elsewhere. */
void qn_sw_api_give(const qn_sw_layer_options *layers, const qn_sw_raster *from, float *to);

/* Makes a progress line according to the choice `progress`. */
qn_status qn_sw_api_progress(const char *name, int progress, qn_progress **out, qn_err *err);

/* Makes a folder if needed, and checks that files can be created in it. */
qn_status qn_sw_api_folder(const char *folder, qn_err *err);

/* Begins to write the files of `what` to a folder; for "" *out stays NULL. */
qn_status qn_sw_api_begin(const char *folder, const char *what, qn_run_folder **out, qn_err *err);

/* Adds a raster as "NAME.tif" or "NAME.npy", or a picture of it, drawn according to `look`, as
 * "NAME.png". */
qn_status qn_sw_api_put(qn_run_folder *to, const char *name, const char *ending,
                        const qn_sw_raster *raster, const qn_sw_map *look, qn_err *err);

#endif
