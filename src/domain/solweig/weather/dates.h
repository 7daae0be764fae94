/* dates.h - local clock times as minutes, and filters of them. */
#ifndef QN_SOLWEIG_WEATHER_DATES_H
#define QN_SOLWEIG_WEATHER_DATES_H

#include "util/status.h"

typedef struct qn_sw_date {
    int year, month, day, hour, minute;
    int day_of_year; /* 1 .. 366 */
} qn_sw_date;

/* Minutes since the start of 1970, in local time; days before it are negative. The month and the
 * day must be those of a calendar; hours and minutes may be any. */
qn_i64 qn_sw_minutes_of(int year, int month, int day, int hour, int minute);
qn_sw_date qn_sw_date_of(qn_i64 minutes);

int qn_sw_is_leap(int year);
int qn_sw_days_in_month(int year, int month);

/* Which rows of a weather file a run takes. */
typedef struct qn_sw_date_filter {
    enum { QN_SW_ALL_DATES, QN_SW_BETWEEN, QN_SW_EVERY_YEAR } kind;
    qn_i64 first, last;      /* minutes, of QN_SW_BETWEEN */
    int first_day, last_day; /* month * 100 + day, of QN_SW_EVERY_YEAR; may wrap the year's end */
    uint32_t hours;          /* bit h: rows stamped in hour h; 0 means all */
} qn_sw_date_filter;

/* `start` and `end` are YYYY-MM-DD, YYYY-MM-DDTHH:MM, or both MM-DD: whole days of any year. Each
 * may be NULL: no start means every date, no end means the start (its day, when it has no time).
 * An end at 00:00 takes in that whole day. `hours` is like "9,12-15", or NULL. */
qn_status qn_sw_date_filter_parse(const char *start, const char *end, const char *hours,
                                  qn_sw_date_filter *out, qn_err *err);
int qn_sw_date_passes(const qn_sw_date_filter *filter, qn_i64 minutes);

#endif
