/* program.h - a straight-line program: what the interpreter runs and printers print.
 *
 * Values in an order in which few of them are alive at a time; arguments are numbers of earlier
 * values. Leaves are values too: a parameter stands where it is first needed, a literal first.
 */
#ifndef QN_FIT_CODE_PROGRAM_H
#define QN_FIT_CODE_PROGRAM_H

#include "domain/fit/derive/derive.h"

/* What is computed in, or stored as. */
typedef enum { QN_FIT_F64, QN_FIT_F32 } qn_fit_precision;

typedef struct qn_fit_value {
    uint16_t op;
    uint8_t n_args;
    uint8_t is_again; /* computed before, and again here instead of kept (rematerialise.c) */
    uint8_t is_same;  /* from the very same arguments as then */
    uint32_t arg[QN_FIT_MAX_ARGS];
    uint32_t slot, comp; /* of leaves, as in a node */
    double literal;
} qn_fit_value;

typedef struct qn_fit_program {
    char name[64];
    qn_fit_value *values;
    int n_values;
    uint32_t *outputs; /* values */
    int n_outputs;

    /* What the outputs are; entries as in derive.h. */
    qn_fit_section sections[QN_FIT_N_SECTIONS];
    qn_fit_variable *variables;
    int n_variables;
    qn_fit_pair *pairs;

    int n_slots, n_columns, n_rows; /* of the group: rows of index, data and seed tables */
    uint32_t *slot_dims;
    int uses_tangent, uses_seed;
    int reads_jacobian;          /* columns are values of a stored Jacobian */
    int n_ops, peak_live;        /* operations; values alive at once, literals left out */
    int n_again, peak_live_kept; /* operations done again; peak_live without that, 0: none are */
    uint64_t weight;
    qn_fit_sweep sweep;
} qn_fit_program;

/* Derives, lowers and schedules. `graph` is finished. */
qn_status qn_fit_program_new(const qn_fit_graph *graph, unsigned wants, qn_fit_loss loss,
                             qn_fit_sweep sweep, qn_fit_program **out, qn_err *err);
void qn_fit_program_free(qn_fit_program *program);

/* lower.c: a graph without what no target has as one operation (powi, stop). Outputs go along. */
qn_status qn_fit_lower(const qn_fit_graph *graph, qn_fit_graph **out, qn_err *err);

/* schedule.c: fills values, outputs and peak_live from a lowered graph. */
qn_status qn_fit_schedule(const qn_fit_graph *graph, qn_fit_program *program, qn_err *err);

/* rematerialise.c: where more than `limit` values are alive, cheap ones are computed again instead of
 * kept, if that at most doubles the work. The bits of results stay. */
enum { QN_FIT_CUDA_LIVE = 96 }; /* doubles: an item has 255 registers of half that size */
qn_status qn_fit_rematerialise(qn_fit_program *program, int limit, qn_err *err);

/* Who uses a value, and the same values in another order. */

/* Who uses a value: user[first[v] .. first[v + 1]), rising, each user once. */
typedef struct qn_fit_users {
    uint32_t *first, *user;
} qn_fit_users;

/* 0: no memory. */
int qn_fit_users_of(const qn_fit_program *program, qn_fit_users *out);
void qn_fit_users_free(qn_fit_users *users);

/* Whether `arg` is the first argument of `v` with that value. */
static inline int qn_fit_is_first_arg(const qn_fit_value *v, int arg)
{
    for (int k = 0; k < arg; k++)
        if (v->arg[k] == v->arg[arg])
            return 0;
    return 1;
}

/* Numbers of all values, ordered from the outputs upwards, in `out`. 0: no memory. */
int qn_fit_order_up(const qn_fit_program *program, const qn_fit_users *users, uint32_t *out);

#endif
