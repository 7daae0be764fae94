/* delay.h - the ground answers to a change of the sun with delay: an exponential mean.
 *
 * Every pixel is at the same point of it, so the clock is kept here and the device has the state of
 * pixels only. It begins anew with the first step of the day and with every step of the night.
 */
#ifndef QN_SW_DELAY_H
#define QN_SW_DELAY_H

#include "domain/solweig/surface/series.h"

typedef struct qn_sw_delay {
    int is_first;     /* the next step begins the state */
    double timeadd;   /* days that the state is old */
    double step_days; /* between rows */
} qn_sw_delay;

/* Before the first row; `step_days` is the interval of the first two rows, 1/24 for one row. */
qn_sw_delay qn_sw_delay_begin(double step_days);

/* Fills what the record of a step says about the delay, and goes on to the next. */
void qn_sw_delay_take(qn_sw_delay *delay, sw_moment *step);

/* Adds: planes of `value` (Lup, or all that answers late) become what is felt; `state` has as many
 * planes and is kept from step to step. */
qn_status qn_sw_add_delay(qn_graph *graph, const qn_sw_series *series, int cols, int rows,
                          int planes, qn_buf *value, qn_buf *state, qn_err *err);

#endif
