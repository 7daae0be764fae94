/* stamp.h - local date and time of a weather row, and the arithmetic that the sky needs.
 *
 * The calendar is the Gregorian one for every year. There is no time zone here: what a stamp means
 * is known from the place (sun.h).
 */
#ifndef QN_SW_STAMP_H
#define QN_SW_STAMP_H

typedef struct qn_sw_stamp {
    int year, month, day; /* from 1 */
    int hour, minute, second;
} qn_sw_stamp;

/* Whether the stamp is a time of the calendar: hour 0..23, year 1..9999. */
int qn_sw_stamp_is_valid(const qn_sw_stamp *stamp);
int qn_sw_is_same_day(const qn_sw_stamp *a, const qn_sw_stamp *b);

int qn_sw_day_of_year(const qn_sw_stamp *stamp); /* 1..366 */

/* The month and day of day `doy` of the year, at 00:00; doy may lie beyond the year's end. */
qn_sw_stamp qn_sw_stamp_of_doy(int year, int doy);

/* `stamp` moved by whole seconds, forward or back. */
qn_sw_stamp qn_sw_stamp_add(qn_sw_stamp stamp, long long seconds);

/* The middle of the interval of `step_min` minutes that ends at the stamp, in whole seconds: a
 * fraction of a second is dropped. */
qn_sw_stamp qn_sw_half_step_before(qn_sw_stamp stamp, double step_min);

/* The part of the day that has passed, by hour and minute; seconds do not count. */
double qn_sw_dectime(const qn_sw_stamp *stamp);

#endif
