/* radiation.h - radiation on a person at every pixel, and its mean radiant temperature.
 *
 * One object per run: the person, the sky, and the planes of radiation of a step. With a sky of
 * patches a step has the stages aniso and radiation, with an isotropic sky only radiation; then
 * tmrt.
 */
#ifndef QN_SW_RADIATION_H
#define QN_SW_RADIATION_H

#include "domain/solweig/step/step.h"
#include "kernel/solweig/sw_radiation.h"

/* A person among generic walls, with abs_k 0.70 and abs_l 0.97; change members as needed. */
sw_body qn_sw_body_standing(void);
sw_body qn_sw_body_sitting(void);

typedef struct qn_sw_radiation {
    qn_ctx *ctx;
    sw_body body;
    sw_sky_par par;
    int rows;
    qn_buf *planes; /* SW_KDOWN .., see sw_moment.h */
} qn_sw_radiation;

/* `bits` is SW_BITS_GIVEN, or selects the substitute for the vegetation bits if there is no
 * vegetation. The sky is that of `series`. */
qn_status qn_sw_radiation_new(qn_ctx *ctx, int cols, int rows, const sw_body *body,
                              const qn_sw_step_table *series, int bits, qn_sw_radiation **out,
                              qn_err *err);
void qn_sw_radiation_free(qn_sw_radiation *radiation);

/* The visible patches of the sky: words of 32 patches, [word][pixel], with the first patch in the
 * lowest bit. veg and vb are NULL unless bits are given. */
typedef struct qn_sw_sky_bits {
    qn_buf *bldg, *veg, *vb;
} qn_sw_sky_bits;

/* Adds sunlight and heat under a sky of patches, as planes of one step. svf and veg are total sky
 * view factors; lup (delayed), alb and nosh are the first planes of the ground view factors. */
qn_status qn_sw_add_aniso(qn_sw_radiation *radiation, qn_graph *graph,
                          const qn_sw_step_table *series, const qn_sw_sky_bits *bits, qn_buf *svf,
                          qn_buf *veg, qn_buf *shadow, qn_buf *lup, qn_buf *alb, qn_buf *nosh,
                          qn_err *err);

/* Adds sunlight and heat under an isotropic sky. svf has SW_VIEW_PLANES planes, the last three
 * SW_DIRS. */
qn_status qn_sw_add_iso(qn_sw_radiation *radiation, qn_graph *graph, const qn_sw_step_table *series,
                        qn_buf *svf, qn_buf *shadow, qn_buf *lup, qn_buf *alb, qn_buf *nosh,
                        qn_err *err);

/* Adds the mean radiant temperature of the planes, C; NaN where KDOWN is NaN. `shadow` is read only
 * with an isotropic sky. */
qn_status qn_sw_add_tmrt(qn_sw_radiation *radiation, qn_graph *graph,
                         const qn_sw_step_table *series, qn_buf *lup, qn_buf *shadow, qn_buf *tmrt,
                         qn_err *err);

#endif
