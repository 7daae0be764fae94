/* format.c - counts and times as people write them. */
#include "util/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 40 };

char *qn_format_count(double count, char *out, size_t size)
{
    char digits[DIGITS];
    size_t at = 0;

    if (!isfinite(count) || fabs(count) >= 1e18) {
        snprintf(out, size, "%g", count);
    } else if (fabs(count) < 100 && count != trunc(count)) {
        snprintf(out, size, fabs(count) < 1 ? "%.3g" : "%.1f", count);
    } else {
        snprintf(digits, sizeof digits, "%.0f", count);
        const size_t n = strlen(digits);
        for (size_t i = 0; i < n && at + 2 < size; i++) {
            /* A space before every group of three, but not after a sign. */
            if (i > 0 && (n - i) % 3 == 0 && digits[i - 1] != '-')
                out[at++] = ' ';
            out[at++] = digits[i];
        }
        out[at] = '\0';
    }
    return out;
}

char *qn_format_time(double seconds, char *out, size_t size)
{
    const double whole = round(seconds);

    if (seconds < 0.9995e-3)
        snprintf(out, size, "%.0f us", seconds * 1e6);
    else if (seconds < 0.99995)
        snprintf(out, size, "%.1f ms", seconds * 1e3);
    else if (whole < 120)
        snprintf(out, size, "%.1f s", seconds);
    else if (whole < 3600)
        snprintf(out, size, "%d:%02d min", (int)(whole / 60), (int)fmod(whole, 60));
    else
        snprintf(out, size, "%.0f:%02d:%02d h", trunc(whole / 3600), (int)fmod(whole, 3600) / 60,
                 (int)fmod(whole, 60));
    return out;
}
