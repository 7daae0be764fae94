/* accumulate.h - how gradients and products with J'J are summed on a device.
 *
 * GATHER writes contributions and sums them by block; with OWNER each block evaluates its terms
 * anew, which pays for short terms with few neighbours. Both give the same bits, always. ATOMIC
 * adds contributions to the result as they come: without the tables of the other two, and with
 * other last bits in every run; for CUDA and the CPU. AUTO is the faster of the first two.
 */
#ifndef QN_FIT_BATCH_ACCUMULATE_H
#define QN_FIT_BATCH_ACCUMULATE_H

typedef enum {
    QN_FIT_ACCUMULATE_AUTO,
    QN_FIT_ACCUMULATE_GATHER,
    QN_FIT_ACCUMULATE_OWNER,
    QN_FIT_ACCUMULATE_ATOMIC
} qn_fit_accumulate;

#endif
