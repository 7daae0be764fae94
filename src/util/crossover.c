/* crossover.c - applies the 90 % rule from the largest size down. */
#include "util/crossover.h"

#include <stdio.h>

#define WIN_SHARE 0.90

qn_crossover qn_crossover_find(const qn_i64 *sizes, const double *device_us, const double *cpu_us,
                               size_t n)
{
    qn_crossover found = { .crossover_i = -1 };

    for (size_t i = 0; i < n; i++) {
        if (device_us[i] < cpu_us[i]) {
            found.first_win = sizes[i];
            break;
        }
    }
    for (size_t i = n; i-- > 0 && device_us[i] <= WIN_SHARE * cpu_us[i];) {
        found.crossover = sizes[i];
        found.crossover_i = (ptrdiff_t)i;
    }
    return found;
}

const char *qn_crossover_text(qn_i64 crossover, char *out, size_t size)
{
    if (crossover > 0)
        snprintf(out, size, "%lld", (long long)crossover);
    else
        snprintf(out, size, "%s", crossover == 0 ? "none" : "-");
    return out;
}
