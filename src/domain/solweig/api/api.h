/* api.h - what the parts of the public interface share (<quern/solweig.h>). */
#ifndef QN_SOLWEIG_API_API_H
#define QN_SOLWEIG_API_API_H

#include "domain/solweig/surface/surface.h"

#include <quern/solweig.h>

/* How to load layers that are in memory; `layers` is borrowed. */
qn_sw_load_options qn_sw_api_load(const qn_solweig_layers *layers);

/* The option of a number of patches; fails where there is none. */
qn_status qn_sw_api_patches(int patches, int *option, qn_err *err);

/* Where a part of the layers, cut to what is valid, lies in the whole of them. */
qn_sw_window qn_sw_api_window(const qn_solweig_layers *layers, const qn_sw_place *place);

/* Puts `from`, packed rows of `at`, to its place in a grid of `cols` columns; `bytes` of a pixel.
 */
void qn_sw_api_paste(const void *from, qn_sw_window at, qn_i64 cols, size_t bytes, void *to);

/* NaN in n floats. */
void qn_sw_api_clear(float *to, size_t n);

#endif
