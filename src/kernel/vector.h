/* vector.h - programs of the kernel `chain`. */
#ifndef QN_KERNEL_VECTOR_H
#define QN_KERNEL_VECTOR_H

#include "kernel/types.h"

/* Steps of a program. Up to QN_CHAIN_MAX they use the step's constant. */
enum {
    QN_CHAIN_MUL,
    QN_CHAIN_ADD,
    QN_CHAIN_SUB,
    QN_CHAIN_DIV,
    QN_CHAIN_MIN,
    QN_CHAIN_MAX,
    QN_CHAIN_ABS,
    QN_CHAIN_NEG,
    QN_CHAIN_SQRT,
    QN_CHAIN_SQUARE,
    QN_CHAIN_EXP, /* from here on results are not bit-identical on every backend */
    QN_CHAIN_LOG,
    QN_CHAIN_SIN,
    QN_CHAIN_COS,
    QN_CHAIN_TANH,
    QN_CHAIN_CODES
};

#define CHAIN_STEPS 16   /* steps of a program */
#define CHAIN_CHUNK 1024 /* elements per group: the range has ceil(n / CHAIN_CHUNK) groups */

typedef struct {
    i64 n; /* elements */
    i32 n_steps, spare;
    i32 code[CHAIN_STEPS];
    float k[CHAIN_STEPS];
} chain_par;
QN_PAR_SIZE(chain_par, 144);

#endif
