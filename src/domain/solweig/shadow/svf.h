/* svf.h - sky view factors, and which patches of the sky each pixel sees.
 *
 * One launch marches to all patches and leaves their bits as words, 32 patches each, plane by
 * plane: [word][pixel of the core]. A second makes the sums. Nothing is read back in between.
 */
#ifndef QN_SW_SVF_H
#define QN_SW_SVF_H

#include "shadow.h"

/* Patches as rays over one raster, with their weights. */
typedef struct qn_sw_sky {
    int n_patches, n_words, n_bytes; /* of one pixel */
    qn_sw_rays *rays;
    qn_buf *weights;
} qn_sw_sky;

/* `reach->max_dist` should be 0: the reference's view factors have no limit. */
qn_status qn_sw_sky_new(qn_ctx *ctx, int patch_option, const qn_sw_reach *reach, qn_sw_sky **out,
                        qn_err *err);
void qn_sw_sky_free(qn_sw_sky *sky); /* NULL is fine */

/* Estimated share of the march to patches of the words [0, n_words), for progress: 0 to 1. */
double qn_sw_sky_share(const qn_sw_sky *sky, int n_words);

/* SW_SVF_PLANES planes of floats; n_words planes of u32 for buildings, vegetation, and vegetation
 * before buildings. All of the core. */
typedef struct qn_sw_views {
    qn_buf *svf, *bldg, *veg, *vb;
} qn_sw_views;

/* Adds march and sums. */
qn_status qn_sw_add_svf(qn_sw_shadow *shadow, qn_graph *graph, const qn_sw_sky *sky,
                        const qn_sw_views *out, qn_err *err);

/* The same in parts, where progress is wanted: the words [first, last) of the march, from the first
 * word on, then the sums when all words are there. */
qn_status qn_sw_add_svf_words(qn_sw_shadow *shadow, qn_graph *graph, const qn_sw_sky *sky,
                              int first, int last, const qn_sw_views *out, qn_err *err);
qn_status qn_sw_add_svf_finish(qn_sw_shadow *shadow, qn_graph *graph, const qn_sw_sky *sky,
                               const qn_sw_views *out, qn_err *err);

/* Adds the words of one kind as bytes, [row][col][n_bytes], lowest bit first: as files have them.
 */
qn_status qn_sw_add_svf_bytes(qn_sw_shadow *shadow, qn_graph *graph, const qn_sw_sky *sky,
                              qn_buf *words, qn_buf *bytes, qn_err *err);

#endif
