/* ground.h - how much warmer than air the ground and walls are in full sun.
 *
 * A sine from sunrise to the hour of the highest temperature and on, its amplitude linear in the
 * highest altitude of the sun, times the clearness of the sky. Weather is the same for all pixels,
 * so it is computed once per class of ground.
 */
#ifndef QN_SW_GROUND_H
#define QN_SW_GROUND_H

#include "domain/solweig/surface/row.h"

typedef struct qn_sw_ground_class {
    float tgk, tstart; /* amplitude = tgk * altmax + tstart */
    float tmaxlst;     /* hour of the highest temperature */
} qn_sw_ground_class;

/* Share of clear-sky radiation, at most 1. */
float qn_sw_ground_clearness(const qn_sw_row *row);

/* Excess over air temperature, K; 0 with the sun below the horizon. A wall whose highest
 * temperature comes before sunrise has none, while ground then takes a day to get warm. */
float qn_sw_ground_excess(const qn_sw_row *row, const qn_sw_ground_class *ground);
float qn_sw_wall_excess(const qn_sw_row *row, const qn_sw_ground_class *wall);

#endif
