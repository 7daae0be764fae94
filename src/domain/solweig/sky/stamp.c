/* stamp.c - arithmetic of stamps, by the calendar of weather.h. */
#include "sky.h"

#include <math.h>

int qn_sw_stamp_is_valid(const qn_sw_stamp *stamp)
{
    return stamp->year >= 1 && stamp->year <= 9999 && stamp->month >= 1 && stamp->month <= 12 &&
           stamp->day >= 1 && stamp->day <= qn_sw_days_in_month(stamp->year, stamp->month) &&
           stamp->hour >= 0 && stamp->hour < 24 && stamp->minute >= 0 && stamp->minute < 60 &&
           stamp->second >= 0 && stamp->second < 60;
}

int qn_sw_is_same_day(const qn_sw_stamp *a, const qn_sw_stamp *b)
{
    return a->year == b->year && a->month == b->month && a->day == b->day;
}

int qn_sw_day_of_year(const qn_sw_stamp *stamp)
{
    return qn_sw_date_of(qn_sw_minutes_of(stamp->year, stamp->month, stamp->day, 0, 0)).day_of_year;
}

qn_sw_stamp qn_sw_stamp_add(qn_sw_stamp stamp, long long seconds)
{
    const long long total = seconds + stamp.second;
    const long long minutes = total / 60 - (total % 60 < 0);
    const qn_sw_date date = qn_sw_date_of(
        qn_sw_minutes_of(stamp.year, stamp.month, stamp.day, stamp.hour, stamp.minute) + minutes);

    return (qn_sw_stamp){ .year = date.year,
                          .month = date.month,
                          .day = date.day,
                          .hour = date.hour,
                          .minute = date.minute,
                          .second = (int)(total - 60 * minutes) };
}

qn_sw_stamp qn_sw_half_step_before(qn_sw_stamp stamp, double step_min)
{
    return qn_sw_stamp_add(stamp, -(long long)ceil(step_min * 30.0));
}

double qn_sw_dectime(const qn_sw_stamp *stamp)
{
    return (stamp->hour + stamp->minute / 60.0) / 24.0;
}
