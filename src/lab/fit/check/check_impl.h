/* check_impl.h - shared by the checks: evaluations, programs, test problems. */
#ifndef QN_LAB_FIT_CHECK_CHECK_IMPL_H
#define QN_LAB_FIT_CHECK_CHECK_IMPL_H

#include "domain/fit/run/run.h"
#include "lab/fit/check/check.h"

/* Evaluations (programs.c). */

/* The total cost at x, followed by that of each group: terms checked together are compiled only
 * once. */
qn_status qn_fit_evaluate_groups(qn_ctx *ctx, const qn_fit_problem *problem, const double *x,
                                 double *costs, qn_err *err);

/* Cost and gradient (may be NULL) at x on the device of qn_fit_device_of, `n_scalars` of each. */
qn_status qn_fit_evaluate(qn_ctx *ctx, const qn_fit_problem *problem, const double *x, double *cost,
                          double *gradient, qn_err *err);

/* Programs that checks write themselves (programs.c). */

/* Loads a program text with the files of one folder. Frees the text, even on failure. */
qn_status qn_fit_program_load(const char *name, qn_str *text, const char *folder, qn_fit_text **out,
                              qn_err *err);

/* Runs its first solve block in host memory with one thread. */
qn_status qn_fit_program_solve(qn_fit_text *text, qn_fit_report *out, qn_err *err);

/* Member `member` of a JSON file, or all of the file if that is NULL; must be a list or an
 * object. */
qn_status qn_fit_golden_list(qn_golden *g, const char *file, const char *member, json_t **out,
                             qn_err *err);

/* |got - want| / |want| */
double qn_fit_off(double got, double want);

/* The checks. */

qn_status qn_fit_check_ops(qn_golden *g, qn_err *err);
qn_status qn_fit_check_composites(qn_golden *g, qn_err *err);
qn_status qn_fit_check_nist(qn_golden *g, qn_err *err);
qn_status qn_fit_check_mgh(qn_golden *g, qn_err *err);
qn_status qn_fit_check_bal(qn_golden *g, qn_err *err);
qn_status qn_fit_check_mesh(qn_golden *g, qn_err *err);
qn_status qn_fit_check_mesh_gradients(qn_golden *g, qn_err *err);
qn_status qn_fit_check_examples(qn_golden *g, qn_err *err);

#endif
