/* in_step.h - instances in groups that run one program, for teams that go in step. */
#ifndef QN_ARC_IN_STEP_H
#define QN_ARC_IN_STEP_H

#include "kernel/arc/arc_code.h"

#include <stdint.h>

/* Puts instances, of which those of a program follow each other, into groups of `teams`; the last
 * group of a program is filled up by instances of nobody. Returns how many there are then; writes
 * them unless `to` is NULL. */
uint32_t qn_arc_in_step(const arc_instance *list, uint32_t n, uint32_t teams, arc_instance *to);

/* Whether most teams of most groups have an instance then. */
int qn_arc_in_step_pays(uint32_t n, uint32_t n_grouped);

#endif
