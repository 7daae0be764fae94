/* method.h - methods in time: their stages as tables, and the limits of their steps. */
#ifndef QN_LES_METHOD_H
#define QN_LES_METHOD_H

#include "options.h"

#include "kernel/les/les_sim.h"

enum { QN_LES_STAGES_MAX = 4 };

typedef struct qn_les_method {
    const char *name;
    int rule;     /* LES_RK, LES_IF, LES_ETD */
    int n_stages; /* right-hand sides of a step */
    int has_mid, has_sum;
    /* The largest |L dt| on the imaginary and on the negative real axis. Heun's method amplifies all
     * of the imaginary axis, by 1 + |L dt|^4 / 8 per step; its limit keeps that small. */
    double imaginary, real;
    double cfl;       /* default of --cfl */
    double diffusive; /* largest L dt of diffusion that steps of dt_mode cfl have */
    les_stage_par stages[QN_LES_STAGES_MAX];
} qn_les_method;

/* The method of settled options. */
const qn_les_method *qn_les_method_of(const qn_les_options *config);

#endif
