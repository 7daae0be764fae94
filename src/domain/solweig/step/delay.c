/* delay.c - the clock of the delay, and its stage. */
#include "step.h"

#include "kernel/sw_delay.gen.h"

#include <math.h>

#define AFTER_DAYS (59.0 / 1440) /* the state moves only after this long */
#define RATE       33.27         /* per day */

qn_sw_delay qn_sw_delay_begin(double step_days)
{
    return (qn_sw_delay){ .is_first = 1, .step_days = step_days };
}

void qn_sw_delay_take(qn_sw_delay *delay, sw_moment *step)
{
    const int moves = delay->timeadd >= AFTER_DAYS;
    const double age = delay->timeadd + (moves ? 0 : delay->step_days);

    step->delay_reset = delay->is_first;
    step->delay_moves = moves;
    step->delay_keep = (float)exp(-RATE * age);
    if (!moves)
        delay->timeadd = age;
    else
        delay->timeadd = delay->step_days > AFTER_DAYS ? delay->step_days : 0;
    delay->is_first = !step->is_day;
    if (!step->is_day)
        delay->timeadd = 0;
}

qn_status qn_sw_add_delay(qn_graph *graph, const qn_sw_step_table *series, int cols, int rows,
                          int planes, qn_buf *value, qn_buf *state, qn_err *err)
{
    return stage_sw_delay(graph, "delay", qn_range_3d(cols, rows, planes), (qn_i64)cols * rows,
                          cols, series->now, series->steps, value, state, err);
}
