/* clock.h - time: a monotonic clock to measure, a calendar to sign files. */
#ifndef QN_UTIL_CLOCK_H
#define QN_UTIL_CLOCK_H

enum { QN_UTC_SIZE = 21 };

double qn_now_us(void); /* monotonic; only differences mean something */
void qn_sleep_us(double us);

/* "2026-01-31T12:00:00Z", now, into `out`. */
void qn_utc(char out[QN_UTC_SIZE]);

/* Seconds since such a date; NaN when `text` is none. */
double qn_utc_age_s(const char *text);

#endif
