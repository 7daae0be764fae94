/* api.h - shared parts of the public interface (<quern/solweig.h>). */
#ifndef QN_SOLWEIG_API_API_H
#define QN_SOLWEIG_API_API_H

#include "domain/solweig/run/run.h"
#include "domain/solweig/view/view.h"
#include "util/progress.h"
#include "util/run_folder.h"

#include <quern/solweig.h>

/* Copies options that a call was given: checked, with texts that are never NULL. */
qn_status qn_sw_layer_take(const qn_sw_layer_options *given, qn_sw_layer_options *out, qn_err *err);
qn_status qn_sw_svf_take(const qn_sw_svf_options *given, qn_sw_svf_options *out, qn_err *err);
qn_status qn_sw_shadow_take(const qn_sw_shadow_options *given, qn_sw_shadow_options *out,
                            qn_err *err);
qn_status qn_sw_wall_take(const qn_sw_wall_options *given, qn_sw_wall_options *out, qn_err *err);
qn_status qn_sw_run_take(const qn_sw_run_options *given, qn_sw_run_options *out, qn_err *err);

/* NULL options are the defaults. */
qn_status qn_sw_run_config_read(const qn_sw_layer_options *layers, const qn_sw_run_options *options,
                                qn_sw_run_config *out, qn_err *err);

/* NULL for the empty text. */
static inline const char *qn_sw_text(const char *text)
{
    return text[0] ? text : NULL;
}

/* Takes and loads layers for a map that needs no weather. A result in memory (`has_arrays`) needs a
 * DSM in memory. */
qn_status qn_sw_api_load(const qn_sw_layer_options *given, int has_arrays,
                         qn_sw_layer_options *layers, qn_sw_surface *surface, qn_sw_grid *grid,
                         qn_err *err);

/* Where the computed part lies in the arrays of the layers, whose shape results have. A DSM from a
 * file has no arrays: there the part is the whole. */
qn_window qn_sw_api_window(const qn_sw_layer_options *layers, const qn_sw_place *place);

/* Sets n floats to NaN. */
void qn_sw_api_clear(float *to, size_t n);

/* A whole grid of the layers' shape: `from` where it was computed, NaN elsewhere. */
void qn_sw_api_give(const qn_sw_layer_options *layers, const qn_sw_raster *from, float *to);

/* A line of progress as the choice `progress` says. */
qn_status qn_sw_api_progress(const char *name, int progress, qn_progress **out, qn_err *err);

/* Makes a folder where needed and checks that files can be made there. */
qn_status qn_sw_api_folder(const char *folder, qn_err *err);

/* Begins to write the files of `what` into a folder; "": *out stays NULL. */
qn_status qn_sw_api_begin(const char *folder, const char *what, qn_run_folder **out, qn_err *err);

/* Adds a raster as "NAME.tif", "NAME.npy", or drawn as `look` says as "NAME.png". */
qn_status qn_sw_api_put(qn_run_folder *to, const char *name, const char *ending,
                        const qn_sw_raster *raster, const qn_sw_map *look, qn_err *err);

#endif
