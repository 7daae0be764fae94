/* stamp.c - days since a fixed day, and back.
 *
 * Years are counted from March, so that the leap day is the last one.
 */
#include "sky.h"

#include <math.h>

enum { SECONDS_OF_DAY = 86400, DAYS_OF_ERA = 146097 /* 400 years */ };

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

static long long floor_div(long long a, long long b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Days since 1 March of year 0. */
static long long days_of(int year, int month, int day)
{
    const int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;

    return 365LL * y + floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400) + (153 * m + 2) / 5 +
           day - 1;
}

static qn_sw_stamp date_of(long long days)
{
    const long long era = floor_div(days, DAYS_OF_ERA);
    const int in_era = (int)(days - era * DAYS_OF_ERA);
    const int years = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    const int in_year = in_era - (365 * years + years / 4 - years / 100);
    const int m = (5 * in_year + 2) / 153;

    return (qn_sw_stamp){ .year = (int)(era * 400) + years + (m >= 10),
                          .month = m < 10 ? m + 3 : m - 9,
                          .day = in_year - (153 * m + 2) / 5 + 1 };
}

int qn_sw_day_of_year(const qn_sw_stamp *stamp)
{
    return (int)(days_of(stamp->year, stamp->month, stamp->day) - days_of(stamp->year, 1, 1)) + 1;
}

qn_sw_stamp qn_sw_stamp_of_doy(int year, int doy)
{
    return date_of(days_of(year, 1, 1) + doy - 1);
}

qn_sw_stamp qn_sw_stamp_add(qn_sw_stamp stamp, long long seconds)
{
    const long long total = seconds + 3600LL * stamp.hour + 60LL * stamp.minute + stamp.second;
    const long long days = floor_div(total, SECONDS_OF_DAY);
    const int rest = (int)(total - days * SECONDS_OF_DAY);
    qn_sw_stamp out = date_of(days_of(stamp.year, stamp.month, stamp.day) + days);

    out.hour = rest / 3600;
    out.minute = rest / 60 % 60;
    out.second = rest % 60;
    return out;
}

qn_sw_stamp qn_sw_half_step_before(qn_sw_stamp stamp, double step_min)
{
    return qn_sw_stamp_add(stamp, -(long long)ceil(step_min * 30.0));
}

double qn_sw_dectime(const qn_sw_stamp *stamp)
{
    return (stamp->hour + stamp->minute / 60.0) / 24.0;
}
