/* emit.h - kernels of a program as text for a target. */
#ifndef QN_FIT_RUN_EMIT_H
#define QN_FIT_RUN_EMIT_H

#include "domain/fit/eval/eval.h"
#include "domain/fit/problem/problem.h"
#include "util/str.h"

typedef enum {
    QN_FIT_TARGET_C,
    QN_FIT_TARGET_OPENCL,
    QN_FIT_TARGET_CUDA,
    QN_FIT_TARGET_WGSL
} qn_fit_target;

typedef enum {
    QN_FIT_KERNEL_RES,  /* residuals */
    QN_FIT_KERNEL_JAC,  /* residuals and their Jacobian */
    QN_FIT_KERNEL_GRAD, /* cost and gradient */
} qn_fit_kernel;

/* Appends the text of one group's kernel, as the target's compiler gets it behind the prelude of
 * the dialect (WGSL: whole). */
qn_status qn_fit_emit(const qn_fit_group *group, qn_fit_kernel kernel, qn_fit_target target,
                      qn_fit_precision precision, qn_str *out, qn_err *err);

#endif
