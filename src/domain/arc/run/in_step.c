/* in_step.c - groups of instances that run one program. */
#include "domain/arc/run/in_step.h"

#include <stddef.h>

uint32_t qn_arc_in_step(const arc_instance *list, uint32_t n, uint32_t teams, arc_instance *to)
{
    uint32_t at = 0;

    for (uint32_t k = 0; k < n; k++, at++) {
        const int is_last = k + 1 == n || list[k + 1].program != list[k].program;

        if (to)
            to[at] = list[k];
        for (; is_last && (at + 1) % teams; at++)
            if (to)
                to[at + 1] = (arc_instance){ .program = list[k].program, .number = ARC_NOBODY };
    }
    return at;
}

int qn_arc_in_step_pays(uint32_t n, uint32_t n_grouped)
{
    return n_grouped - n <= n / 4;
}
