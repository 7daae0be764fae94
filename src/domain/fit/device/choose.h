/* choose.h - whether a problem is worth a device, decided before anything is sent there.
 *
 * The time of a step of Levenberg-Marquardt is estimated for both, from launches, bytes and
 * operations; the device's time includes a step's share of uploading tables and loading kernels.
 * The whole problem goes to one of them, since halves would have to exchange data.
 */
#ifndef QN_FIT_DEVICE_CHOOSE_H
#define QN_FIT_DEVICE_CHOOSE_H

#include "domain/fit/eval/eval.h"
#include "domain/fit/problem/problem.h"

/* How a device sums gradients and products with J'J.
 *
 * GATHER writes contributions and sums them by block. With OWNER each block evaluates its own
 * terms, which is faster for short terms with few neighbours. Both always give the same bits.
 * ATOMIC adds contributions to the result in any order: it needs no tables, but the last bits
 * differ in every run; only on CUDA and the CPU. AUTO is the faster of the first two.
 */

typedef enum {
    QN_FIT_ACCUMULATE_AUTO,
    QN_FIT_ACCUMULATE_GATHER,
    QN_FIT_ACCUMULATE_OWNER,
    QN_FIT_ACCUMULATE_ATOMIC
} qn_fit_accumulate;

/* Where the products of an iterative solver get J.
 *
 * STORED: J is formed once for each accepted point and read by every product. FREE: products
 * evaluate the terms again. AUTO: STORED where that is clearly faster.
 */

typedef enum { QN_FIT_JACOBIAN_AUTO, QN_FIT_JACOBIAN_STORED, QN_FIT_JACOBIAN_FREE } qn_fit_jacobian;

/* The cost of an evaluation: bytes to move, operations, launches.
 *
 * Bytes are those that must move when shared parameters are read once, as with a perfect cache. The
 * time is never less than bytes over bandwidth.
 */

typedef enum {
    QN_FIT_DO_RESIDUALS,
    QN_FIT_DO_LINEARIZE, /* residuals and the stored values of J */
    QN_FIT_DO_GRADIENT,  /* contributions written, and gathered by block */
    QN_FIT_DO_OWNER,     /* the gradient, where each block evaluates its own terms */
    QN_FIT_DO_ATOMIC     /* the gradient by atomic additions */
} qn_fit_work;

typedef struct qn_fit_traffic {
    double bytes;
    double stored; /* numbers of J among them */
    double ops;    /* weighted: a division is 8, a transcendental function 20 */
    int launches;
} qn_fit_traffic;

qn_status qn_fit_traffic_of(const qn_fit_problem *problem, qn_fit_work work,
                            qn_fit_precision precision, qn_fit_traffic *out, qn_err *err);

/* The gradient by gather and by owner, to choose between them. */
qn_status qn_fit_traffic_of_gradients(const qn_fit_problem *problem, qn_fit_precision precision,
                                      qn_fit_traffic *gather, qn_fit_traffic *owner, qn_err *err);

/* Whether a device is a GPU, neither a CPU nor a simulation. */
int qn_fit_is_gpu(const qn_device_info *device);

enum { QN_FIT_FEW_INSTANCES = 256 }; /* by default, fewer instances always run on the CPU */

typedef struct qn_fit_choice {
    int is_device;
    double host_us, device_us; /* of a step, as estimated; 0: not estimated */
    char text[160];            /* "cpu: a step of 2562 terms takes about ..." */
} qn_fit_choice;

/* `threads` 0: as many as OpenMP has. Problems with fewer than `few` instances run on the CPU. */
qn_status qn_fit_choose(const qn_fit_problem *problem, const qn_device_info *device, int threads,
                        int few, qn_fit_precision precision, qn_fit_choice *out, qn_err *err);

/* Whether a product that reads a stored J is clearly faster than one that computes J, by the bytes
 * and operations of both on a GPU. The answer does not depend on the device, so the bits do not
 * either. */
int qn_fit_is_stored_shorter(const qn_fit_traffic *computed, const qn_fit_traffic *stored);

#endif
