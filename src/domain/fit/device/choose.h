/* choose.h - whether a problem is worth a device, before anything is sent there.
 *
 * A step of Levenberg-Marquardt is estimated on both sides, by launches, bytes and operations; on
 * the device with its share of what it takes to begin there: tables go up, kernels are loaded. The
 * whole problem goes to one side: halves would meet in transfers.
 */
#ifndef QN_FIT_DEVICE_CHOOSE_H
#define QN_FIT_DEVICE_CHOOSE_H

#include "domain/fit/eval/eval.h"
#include "domain/fit/problem/problem.h"

/* How gradients and products with J'J are summed on a device.
 *
 * GATHER writes contributions and sums them by block; with OWNER each block evaluates its terms
 * anew, which pays for short terms with few neighbours. Both give the same bits, always. ATOMIC
 * adds contributions to the result as they come: without the tables of the other two, and with
 * other last bits in every run; for CUDA and the CPU. AUTO is the faster of the first two.
 */

typedef enum {
    QN_FIT_ACCUMULATE_AUTO,
    QN_FIT_ACCUMULATE_GATHER,
    QN_FIT_ACCUMULATE_OWNER,
    QN_FIT_ACCUMULATE_ATOMIC
} qn_fit_accumulate;

/* Where products of an iterative solver have J from.
 *
 * STORED: it is formed once for each accepted point and read by every product. FREE: products
 * evaluate the terms again. AUTO: STORED where that is clearly shorter (batch/choose.h).
 */

typedef enum { QN_FIT_JACOBIAN_AUTO, QN_FIT_JACOBIAN_STORED, QN_FIT_JACOBIAN_FREE } qn_fit_jacobian;

/* What an evaluation costs before it is run: bytes to move, operations, launches.
 *
 * Bytes are those that must move when every parameter that instances share is read once: what a
 * perfect cache would leave. Time is never less than bytes over bandwidth.
 */

typedef enum {
    QN_FIT_DO_RESIDUALS,
    QN_FIT_DO_LINEARIZE, /* residuals and the stored values of J */
    QN_FIT_DO_GRADIENT,  /* contributions written, and gathered by block */
    QN_FIT_DO_OWNER,     /* the gradient, each block evaluating its terms anew */
    QN_FIT_DO_ATOMIC     /* the gradient, contributions added where they belong */
} qn_fit_work;

typedef struct qn_fit_traffic {
    double bytes;
    double stored; /* numbers of J among them */
    double ops;    /* weighted: a division is 8, a transcendental function 20 */
    int launches;
} qn_fit_traffic;

qn_status qn_fit_traffic_of(const qn_fit_problem *problem, qn_fit_work work,
                            qn_fit_precision precision, qn_fit_traffic *out, qn_err *err);

/* The gradient in its two ways, for who chooses between them. */
qn_status qn_fit_traffic_of_gradients(const qn_fit_problem *problem, qn_fit_precision precision,
                                      qn_fit_traffic *gather, qn_fit_traffic *owner, qn_err *err);

enum { QN_FIT_FEW_INSTANCES = 256 }; /* the usual number below which it is always the CPU */

typedef struct qn_fit_choice {
    int is_device;
    double host_us, device_us; /* of a step, as estimated; 0: not asked */
    char text[160];            /* "cpu: a step of 2562 terms takes about ..." */
} qn_fit_choice;

/* `threads` 0: as many as OpenMP has. `few`: with fewer instances it is the CPU. */
qn_status qn_fit_choose(const qn_fit_problem *problem, const qn_device_info *device, int threads,
                        int few, qn_fit_precision precision, qn_fit_choice *out, qn_err *err);

/* Whether a product that reads a stored J is clearly shorter than one that computes J anew, by what
 * both move and compute on a GPU. The same on every device, so that bits are. */
int qn_fit_is_stored_shorter(const qn_fit_traffic *free_way, const qn_fit_traffic *stored_way);

#endif
