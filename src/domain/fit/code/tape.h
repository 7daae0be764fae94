/* tape.h - a straight-line list of operations, which the interpreter runs and printers print.
 *
 * Values are in an order in which few of them are alive at a time; arguments are numbers of earlier
 * values. Leaves are values too: a parameter comes where it is first needed, literals come first.
 */
#ifndef QN_FIT_CODE_TAPE_H
#define QN_FIT_CODE_TAPE_H

#include "domain/fit/derive/derive.h"

typedef struct qn_fit_value {
    uint16_t op;
    uint8_t n_args;
    uint8_t is_again; /* a repeated value, computed again instead of kept (rematerialise.c) */
    uint8_t is_same;  /* a repetition with the same arguments */
    uint32_t arg[QN_FIT_MAX_ARGS];
    uint32_t slot, comp; /* of leaves, as in a node */
    double literal;
} qn_fit_value;

typedef struct qn_fit_tape {
    qn_arena memory; /* of the sections, variables, pairs and slots */
    char name[64];
    qn_fit_value *values;
    int n_values;
    uint32_t *outputs; /* values */
    int n_outputs;

    /* The meaning of the outputs; entries as in derive.h. */
    qn_fit_section sections[QN_FIT_N_SECTIONS];
    qn_fit_variable *variables;
    int n_variables;
    qn_fit_pair *pairs;

    int n_slots, n_columns, n_rows; /* of the group: rows of index, data and seed tables */
    uint32_t *slot_dims;
    int uses_tangent, uses_seed;
    int reads_jacobian;          /* its columns are values of a stored Jacobian */
    int n_ops, peak_live;        /* operations; most values alive at once, without literals */
    int n_again, peak_live_kept; /* repeated operations; peak_live without them, or 0 */
    uint64_t weight;
    qn_fit_sweep sweep;
} qn_fit_tape;

/* Derives, lowers and schedules. `graph` is finished. */
qn_status qn_fit_tape_new(const qn_fit_graph *graph, unsigned wants, qn_fit_loss loss,
                          qn_fit_sweep sweep, qn_fit_tape **out, qn_err *err);
void qn_fit_tape_free(qn_fit_tape *tape);

/* schedule.c: fills values, outputs and peak_live from a lowered graph. */
qn_status qn_fit_schedule(const qn_fit_graph *graph, qn_fit_tape *tape, qn_err *err);

/* rematerialise.c: where more than `limit` values are alive, computes cheap ones again instead of
 * keeping them, unless that would more than double the work. The bits of results do not change. */
enum { QN_FIT_CUDA_LIVE = 96 }; /* in doubles: an item has 255 registers of 32 bits */
qn_status qn_fit_rematerialise(qn_fit_tape *tape, int limit, qn_err *err);

#endif
