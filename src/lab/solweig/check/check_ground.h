/* check_ground.h - one step of the view of the ground over given rasters, for checks. */
#ifndef QN_LAB_SOLWEIG_CHECK_CHECK_GROUND_H
#define QN_LAB_SOLWEIG_CHECK_CHECK_GROUND_H

#include "lab/solweig/check/check_impl.h"
#include "domain/solweig/ground/gvf.h"
#include "domain/solweig/step/step.h"

/* Rasters on the host, each of options.rows * options.cols. Zero-initialised is none. */
typedef struct qn_sw_check_ground {
    qn_sw_gvf_options options;
    sw_moment step;
    int is_far_only; /* all steps of a ray count in both its near and its far part */
    float *albedo, *emissivity, *tg, *shadow;
    float *wall_height, *wall_aspect, *wall_sun;
    uint8_t *buildings;
} qn_sw_check_ground;

void qn_sw_check_ground_free(qn_sw_check_ground *ground);

/* Planes of results. */
typedef struct qn_sw_check_seen {
    float *lup, *alb, *nosh;
} qn_sw_check_seen;

void qn_sw_check_seen_free(qn_sw_check_seen *seen);

typedef enum qn_sw_gvf_variant { QN_SW_GVF_PRODUCTION, QN_SW_GVF_UMEP } qn_sw_gvf_variant;

/* Every pixel has a temperature of its own, `tg`, instead of those that stage ground makes of
 * classes. */
qn_status qn_sw_check_ground_see(qn_golden *g, const qn_sw_check_ground *ground,
                                 qn_sw_gvf_variant variant, qn_sw_check_seen *out, qn_err *err);

/* Rasters of Athens that both kinds of files share, cut to `window`: walls and the sun on them at
 * noon, and its shadow, bldg - (1 - veg) * leaf, at least 0. */
qn_status qn_sw_check_ground_athens(qn_golden *g, qn_window window, float leaf,
                                    qn_sw_check_ground *out, qn_err *err);

/* The record of a step from ta, tg_wall, emis_wall and sbc of a parameter file. */
sw_moment qn_sw_check_ground_step(const json_t *params);

#endif
