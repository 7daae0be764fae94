/* clock.c - thin wrappers around the POSIX clocks. */
#include "util/clock.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

double qn_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Sleeps until a fixed deadline: restarting a relative sleep after each signal would drift. */
void qn_sleep_us(double us)
{
    struct timespec until;

    if (!(us > 0))
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double seconds = us * 1e-6;
    const time_t whole = seconds < 1e9 ? (time_t)seconds : (time_t)1000000000;
    const long nanos = seconds < 1e9 ? (long)((seconds - (double)whole) * 1e9) : 0;
    until.tv_sec += whole;
    until.tv_nsec += nanos;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

static const char utc_form[] = "%Y-%m-%dT%H:%M:%SZ";

void qn_utc(char out[QN_UTC_SIZE])
{
    const time_t now = time(NULL);
    struct tm t;

    gmtime_r(&now, &t);
    strftime(out, QN_UTC_SIZE, utc_form, &t);
}

double qn_utc_age_s(const char *text)
{
    struct tm t = { 0 };
    const char *end = strptime(text, utc_form, &t);

    return end && !*end ? difftime(time(NULL), timegm(&t)) : NAN;
}
