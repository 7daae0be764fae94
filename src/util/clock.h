/* clock.h - a monotonic clock for measurements, and calendar time for files. */
#ifndef QN_UTIL_CLOCK_H
#define QN_UTIL_CLOCK_H

enum { QN_UTC_SIZE = 21 };

double qn_now_us(void); /* monotonic; only differences are meaningful */
void qn_sleep_us(double us);

/* Writes the current time as "2026-01-31T12:00:00Z". */
void qn_utc(char out[QN_UTC_SIZE]);

/* Seconds since such a time; NaN if `text` is not one. */
double qn_utc_age_s(const char *text);

#endif
