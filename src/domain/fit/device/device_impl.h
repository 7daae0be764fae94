/* device_impl.h - internals of the device evaluation. */
#ifndef QN_FIT_DEVICE_DEVICE_IMPL_H
#define QN_FIT_DEVICE_DEVICE_IMPL_H

#include "domain/fit/code/print.h"
#include "domain/fit/code/tape.h"
#include "domain/fit/device/device.h"
#include "domain/fit/problem/sum_order.h"
#include "util/arena.h"

typedef enum {
    QN_FIT_DEV_COST,
    QN_FIT_DEV_GRADIENT,
    QN_FIT_DEV_RESIDUALS,
    QN_FIT_DEV_LINEARIZE,
    QN_FIT_DEV_JV,
    QN_FIT_DEV_JTU,
    QN_FIT_DEV_JTJV,
    QN_FIT_DEV_DIAGONAL,
    QN_FIT_DEV_BARE_GRADIENT, /* these three omit the cost */
    QN_FIT_DEV_BARE_RESIDUALS,
    QN_FIT_DEV_BARE_LINEARIZE,
    QN_FIT_DEV_POINT, /* cost, residuals, gradient and diagonal in one kernel */
    QN_FIT_DEV_OWNER, /* the gradient, by block */
    QN_FIT_DEV_OWNER_JTJV,
    QN_FIT_DEV_ATOMIC, /* the gradient, in no order */
    QN_FIT_DEV_ATOMIC_JTJV,
    QN_FIT_DEV_STORING_POINT, /* like POINT, and stores J */
    QN_FIT_DEV_STORED_JV,     /* these four read a stored J */
    QN_FIT_DEV_STORED_JTU,
    QN_FIT_DEV_STORED_JTJV,
    QN_FIT_DEV_STORED_DIAGONAL,
    QN_FIT_N_DEV
} qn_fit_dev_kind;

/* Contributions to be gathered, and where each belongs. */
typedef struct qn_fit_dev_parts {
    qn_i64 *base;        /* of each group: where its contributions begin in `part` */
    qn_buf *part;        /* contributions of all groups */
    qn_buf *at, *factor; /* [place][cell] */
} qn_fit_dev_parts;

/* Kernels of one kind, and where they write their results. */
typedef struct qn_fit_dev_run {
    qn_kernel_module *text, *module;
    qn_fit_tape **tapes;      /* of each group */
    qn_i64 *jacobian_at;      /* of each group */
    qn_fit_dev_parts slopes;  /* gathered for each scalar */
    qn_fit_dev_parts squares; /* gathered for each number of the diagonal blocks */
    uint8_t *is_reduced;      /* of each group: summed inside its kernel */
    qn_buf **reduce_at;       /* of each reduced group */
    uint8_t *is_small;        /* of each group: evaluated together with other small ones */
    int n_small;
    qn_buf *small_at; /* of each small group: where its tables begin */
} qn_fit_dev_run;

/* Lists of a set's blocks with more than 32 entries. */
typedef struct qn_fit_dev_long {
    qn_buf *target; /* blocks of the set */
    qn_i64 n;
    qn_fit_chunks chunks;
    qn_buf *sums; /* [cell][chunk] */
} qn_fit_dev_long;

/* Lists of a set's blocks for the kernel of owners, 32 blocks side by side. */
typedef struct qn_fit_dev_own {
    qn_buf *row, *degree;        /* of each 32 blocks; of each block */
    qn_buf *from, *other, *data; /* of each entry: its place, the other slots, columns */
    qn_i64 stride;
} qn_fit_dev_own;

struct qn_fit_device {
    qn_ctx *ctx;
    const qn_fit_problem *problem;
    qn_arena memory;
    qn_buf **owned; /* all buffers below, and some that belong to its users */
    size_t n_owned, owned_room;
    qn_fit_precision precision, storage; /* storage: of Jacobians */
    qn_fit_accumulate accumulate;
    int may_contract;
    qn_i64 batch_size; /* instances per dispatch; 0: no limit */
    int max_dim;
    qn_fit_dev_run runs[QN_FIT_N_DEV];

    qn_buf *idx, *data;       /* of all groups, one after the other */
    qn_i64 *idx_at, *data_at; /* of each group */
    qn_i64 *row_at, *cost_at; /* of each group, in row vectors and in costs */
    qn_i64 n_rows, n_costs;
    qn_buf *ones; /* seeds of energies */

    qn_buf *start, *place, *instance; /* the inverse index */
    qn_buf *is_fixed, *is_off_block;  /* per scalar; per number of the diagonal blocks */
    qn_fit_dev_long *longs;           /* of each set */
    int owner_pays;                   /* -1: not decided yet */
    qn_fit_dev_own *owns;             /* of each set; NULL before the first such gradient */
    qn_buf *sums;                     /* of chunks of all sets; each set has a view of it */
    qn_i64 *sums_at;                  /* of each set */

    qn_buf *costs, *cost_sums, *cost_rows, *cost_row;
    qn_fit_chunks cost_chunks; /* of each row */
    qn_i64 n_cost_rows;
};

size_t qn_fit_dev_size(const qn_fit_device *device); /* of a number */

/* runs.c: makes the tapes, text, kernels and tables of a kind, once. */
qn_status qn_fit_dev_prepare(qn_fit_device *device, qn_fit_dev_kind kind, qn_err *err);
void qn_fit_dev_run_free(qn_fit_device *device, qn_fit_dev_run *run);

/* The sections of a kind, for residuals. */
unsigned qn_fit_dev_wants(qn_fit_dev_kind kind);
/* The section whose entries are gathered for each scalar, or -1. */
int qn_fit_dev_section(const qn_fit_group *group, qn_fit_dev_kind kind);

/* Columns of these tapes are values of a stored Jacobian. */
static inline int qn_fit_dev_reads_jacobian(qn_fit_dev_kind kind)
{
    return kind >= QN_FIT_DEV_STORED_JV && kind <= QN_FIT_DEV_STORED_DIAGONAL;
}

/* call.c: prints a call of a tape's function with its inputs for instance `i`, for kernels whose
 * text surrounds it. Each string is printed before a row of its table: "" or "idx_at + ". */
typedef struct qn_fit_dev_tables {
    const char *idx, *data, *seed, *ld;
    int is_seed_one; /* seeds of energies */
} qn_fit_dev_tables;

qn_status qn_fit_dev_print_call(const qn_fit_tape *tape, const char *function,
                                const qn_fit_dev_tables *tables, const char *indent, qn_str *out,
                                qn_err *err);
/* "-r.v[3]", or a constant: an entry of a section, after such a call. */
void qn_fit_dev_print_part(const qn_fit_section *section, int entry, qn_str *out);
/* The tables that the tape reads: ", IN(u32, idx), IN(real, x)"; `stored` is the type of the
 * values of a stored Jacobian. */
void qn_fit_dev_print_inputs(const qn_fit_tape *tape, const char *stored, qn_str *out);

/* The type of stored Jacobians, "real" or "float", and the size of their values. */
const char *qn_fit_dev_stored_type(const qn_fit_device *device);
size_t qn_fit_dev_stored_size(const qn_fit_device *device);

/* stages.c: kernel fit_g<group> of a kind over `n` items in stages of at most `most` (0: one
 * stage), named PREFIX.<name of the group>; and a kernel over the blocks of a set in stages of at
 * most batch_size terms. */
qn_status qn_fit_dev_stage_group(qn_fit_device *device, qn_graph *graph, const char *prefix,
                                 qn_fit_dev_kind kind, int group, qn_i64 n, qn_i64 most,
                                 const qn_arg *args, qn_err *err);
qn_status qn_fit_dev_stage_blocks(qn_fit_device *device, qn_graph *graph, const char *name,
                                  const qn_kernel_info *kernel, int set, const qn_arg *args,
                                  qn_err *err);

/* small.c: groups of fewer than 32 instances, in one kernel. */
void qn_fit_dev_choose_small(const qn_fit_device *device, qn_fit_dev_kind kind);
qn_status qn_fit_dev_print_small(const qn_fit_device *device, qn_fit_dev_kind kind, qn_str *out,
                                 qn_err *err);
qn_status qn_fit_dev_small_table(qn_fit_device *device, qn_fit_dev_kind kind, qn_err *err);

/* Vectors of a stage; those that it does not use are NULL. */
typedef struct qn_fit_dev_vectors {
    qn_buf *x, *tangent, *seed, *rows, *jacobian;
    qn_buf *cost, *sums, *blocks; /* results: sums by scalar, and of the diagonal blocks */
} qn_fit_dev_vectors;
qn_status qn_fit_dev_stage_small(qn_fit_device *device, qn_graph *graph, qn_fit_dev_kind kind,
                                 const qn_fit_dev_vectors *v, qn_err *err);

/* atomic.c: sums by atomic additions, in any order. */
static inline int qn_fit_dev_is_atomic(qn_fit_dev_kind kind)
{
    return kind == QN_FIT_DEV_ATOMIC || kind == QN_FIT_DEV_ATOMIC_JTJV;
}
qn_status qn_fit_dev_print_atomic(const qn_fit_device *device, qn_fit_dev_kind kind, qn_str *out,
                                  qn_err *err);
/* `tangent` NULL: the gradient. */
qn_status qn_fit_dev_stage_atomic(qn_fit_device *device, qn_graph *graph, qn_buf *x,
                                  qn_buf *tangent, qn_buf *out, qn_err *err);

/* reduce.c: whether all slots of a group are parameters that its instances share and no other group
 * uses; the text of such a kernel, and its table. */
int qn_fit_dev_can_reduce(const qn_fit_problem *problem, int group, qn_fit_dev_kind kind);
qn_status qn_fit_dev_print_reduce(const qn_fit_device *device, qn_fit_dev_kind kind, int group,
                                  const char *name, qn_str *out, qn_err *err);
qn_status qn_fit_dev_reduce_table(qn_fit_device *device, qn_fit_dev_kind kind, int group,
                                  qn_err *err);
/* Whether the sums of a set's chunks come from such a kernel. */
int qn_fit_dev_is_reduced(const qn_fit_device *device, qn_fit_dev_kind kind, int set);

/* owner.c: gradients and products by block, for short lists, and whether to use them. */
static inline int qn_fit_dev_is_owner(qn_fit_dev_kind kind)
{
    return kind == QN_FIT_DEV_OWNER || kind == QN_FIT_DEV_OWNER_JTJV;
}
qn_status qn_fit_dev_choose_owner(qn_fit_device *device, int *is_owner, qn_err *err);
qn_status qn_fit_dev_print_owner(const qn_fit_device *device, qn_fit_dev_kind kind, qn_str *out,
                                 qn_err *err);
qn_status qn_fit_dev_owner_tables(qn_fit_device *device, qn_err *err); /* made once */
/* `tangent` NULL: the gradient. */
qn_status qn_fit_dev_stage_owner(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *tangent,
                                 qn_buf *out, qn_err *err);

/* stages.c: the kernels of all groups, then the sums that have a buffer in `v`. */
qn_status qn_fit_dev_stage(qn_fit_device *device, qn_graph *graph, qn_fit_dev_kind kind,
                           const qn_fit_dev_vectors *v, qn_err *err);
/* Whether one kernel per group can evaluate a whole point without spilling registers. */
qn_status qn_fit_dev_choose_point(qn_fit_device *device, qn_fit_dev_kind kind, int *is_one,
                                  qn_err *err);

/* Makes only the tapes of a kind, to inspect them. */
qn_status qn_fit_dev_tapes(qn_fit_device *device, qn_fit_dev_kind kind, qn_err *err);

/* stored.c: the tape of a product with a stored Jacobian, over the section QN_FIT_JAC of
 * `linearized`. */
qn_status qn_fit_stored_tape(const qn_fit_tape *linearized, unsigned wants, qn_fit_tape **out,
                             qn_err *err);

#endif
