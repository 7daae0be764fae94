/* resident.h - Levenberg-Marquardt and L-BFGS with all vectors on a device of the engine.
 *
 * The work consists of graphs that are recorded once and replayed: linearise, several iterations of
 * conjugate gradients, try, accept. The host writes five numbers before a step and reads one array
 * of scalars after it; nothing else is transferred. Steps are solved by pcg; where blocks are
 * eliminated, by schur_pcg.
 */
#ifndef QN_FIT_RESIDENT_RESIDENT_H
#define QN_FIT_RESIDENT_RESIDENT_H

#include "domain/fit/device/device.h"
#include "domain/fit/solve/solver.h"

typedef struct qn_fit_device_driver qn_fit_device_driver;

/* A block may have up to 32 scalars. The context must outlive the driver. */
qn_status qn_fit_device_driver_new(qn_ctx *ctx, const qn_fit_problem *problem,
                                   qn_fit_precision precision, const qn_fit_solve_options *options,
                                   qn_fit_device_driver **out, qn_err *err);
void qn_fit_device_driver_free(qn_fit_device_driver *driver);
qn_fit_driver qn_fit_device_driver_table(qn_fit_device_driver *driver);

/* The first fault of the device, after which scalars are NaN. */
qn_status qn_fit_device_driver_status(const qn_fit_device_driver *driver, qn_err *err);

/* Like qn_fit_solve_lm, on the context's device. */
qn_status qn_fit_solve_lm_on(qn_ctx *ctx, qn_fit_problem *problem, qn_fit_precision precision,
                             const qn_fit_solve_options *options, qn_fit_report *report,
                             qn_err *err);

/* Like qn_fit_solve_lbfgs, on the context's device. */
qn_status qn_fit_solve_lbfgs_on(qn_ctx *ctx, qn_fit_problem *problem, qn_fit_precision precision,
                                const qn_fit_solve_options *options, qn_fit_report *report,
                                qn_err *err);

#endif
