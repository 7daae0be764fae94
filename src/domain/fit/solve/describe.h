/* describe.h - terms that are not finite, as words. */
#ifndef QN_FIT_SOLVE_DESCRIBE_H
#define QN_FIT_SOLVE_DESCRIBE_H

#include "domain/fit/batch/device.h"

void qn_fit_describe_bad(const qn_fit_problem *problem, const qn_fit_bad *bad, char *text,
                         size_t size);

/* Of the costs that a device evaluated last. Runs a graph of its own. */
void qn_fit_describe_device(qn_ctx *ctx, qn_fit_device *device, const qn_fit_problem *problem,
                            char *text, size_t size);

#endif
