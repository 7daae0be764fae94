/* format.h - counts and times as people write them. */
#ifndef QN_UTIL_FORMAT_H
#define QN_UTIL_FORMAT_H

#include <stddef.h>

/* Both write into `out` and return it. 1240 -> "1 240"; numbers below 100 that are not whole have
 * one decimal, numbers below 1 three digits. 0.0031 s -> "3.1 ms", 754 s -> "12:34 min". */
char *qn_format_count(double count, char *out, size_t size);
char *qn_format_time(double seconds, char *out, size_t size);

#endif
