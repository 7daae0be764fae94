/* pace.c */
#include "util/pace.h"

#include "util/clock.h"
#include "util/env.h"

/* FIRST_US_PER_BYTE stands for the first state: 500 MB/s. */
enum { TIMES = 50, LEAST_S = 20 };

static const double FIRST_US_PER_BYTE = 2e-3;

qn_pace qn_pace_begin(void)
{
    const double now = qn_now_us();

    return (qn_pace){ .least_us = 1e6 * qn_env_number("QUERN_CHECKPOINT_S", LEAST_S),
                      .start_us = now,
                      .last_us = now,
                      .us_per_byte = FIRST_US_PER_BYTE };
}

int qn_pace_is_due(const qn_pace *pace, double bytes)
{
    const double now = qn_now_us();

    return pace->least_us <= 0 ||
           (now - pace->last_us >= pace->least_us &&
            TIMES * (pace->spent_us + pace->us_per_byte * bytes) <= now - pace->start_us);
}

void qn_pace_note(qn_pace *pace, double bytes, double since_us)
{
    pace->last_us = qn_now_us();
    pace->spent_us += pace->last_us - since_us;
    pace->us_per_byte = bytes > 0 ? (pace->last_us - since_us) / bytes : pace->us_per_byte;
}
