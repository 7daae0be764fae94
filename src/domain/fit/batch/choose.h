/* choose.h - whether a problem is worth a device, before anything is sent there.
 *
 * A step of Levenberg-Marquardt is estimated on both sides, by launches, bytes and operations; on
 * the device with its share of what it takes to begin there: tables go up, kernels are loaded. The
 * whole problem goes to one side: halves would meet in transfers.
 */
#ifndef QN_FIT_BATCH_CHOOSE_H
#define QN_FIT_BATCH_CHOOSE_H

#include "domain/fit/batch/traffic.h"

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
