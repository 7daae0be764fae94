/* triad.h - the memory rate of a plain loop on this machine. */
#ifndef QN_LAB_ENGINE_TRIAD_H
#define QN_LAB_ENGINE_TRIAD_H

#include "util/status.h"

/* Median time of a[i] = b[i] + s * c[i] over `n` floats each, on `threads` threads. */
qn_status qn_triad_us(qn_i64 n, int threads, int samples, double *us, qn_err *err);

#endif
