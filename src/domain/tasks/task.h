/* task.h - shared by the files of this folder: ops, parts, plans.
 *
 * A batch takes four steps. ops.c turns each task into a spec. group.c sorts the specs into groups
 * of one op, argument and bucket, and cuts groups into parts. plan.c gives each part its arrays and
 * stages, in one graph. plan_cache.c chooses the plan for a batch. The differences between ops are
 * in the table of ops and nowhere else.
 */
#ifndef QN_TASKS_TASK_H
#define QN_TASKS_TASK_H

#include "engine/engine.h"
#include "kernel/vector.h"
#include "util/hash.h"

#include <quern/graph.h>
#include <quern/tasks.h>

typedef struct qn_task_op qn_task_op;
typedef struct qn_task_plan qn_task_plan;

/* The argument of a task, read. Unused members are zero, so that equal arguments are equal
 * bytes. */
typedef struct qn_task_arg {
    chain_par chain;
    qn_i64 min_len, max_len; /* bytes per message */
    float factor;
    int rule;      /* qn_merkle_rule */
    int is_smooth; /* the result is not the same bits everywhere */
    int spare;
} qn_task_arg;
_Static_assert(sizeof(qn_task_arg) == 176, "arguments are compared as bytes: no padding");

typedef struct qn_task_spec {
    const qn_task_op *op;
    const qn_task_arg *arg;
    qn_i64 n;
    uint64_t seed, bucket;
} qn_task_spec;

/* Where one stretch of a task lies in a part. */
typedef struct qn_task_span {
    const qn_task_spec *spec;
    qn_i64 from; /* first element of the task */
    qn_i64 at;   /* its place in the part */
    qn_i64 n;    /* elements */
    int k;       /* number of the task within the part */
} qn_task_span;

/* Tasks that share arrays and launches. A task larger than a part has several of its own. */
typedef struct qn_task_part {
    const qn_task_op *op;
    const qn_task_arg *arg;
    int first, n_tasks;  /* positions in the plan */
    qn_i64 from;         /* first element of its first task, when that is cut */
    qn_i64 elems;        /* room, in elements of the op */
    qn_i64 largest;      /* room of its largest task */
    int stage, n_stages; /* in the graph */
    const char *device;  /* of the last run */
    int fell_back;
    int slot, n_tries; /* of the last run over several devices: who did it, who had it */
    qn_graph *graphs[QN_MAX_DEVICES]; /* for such runs, by device, made when needed */
    qn_buf *x, *y;                    /* operands */
    qn_buf *table;                    /* where each task (message) begins, or NULL */
    qn_buf *out;                      /* result; may be an operand */
    struct qn_trees *trees;           /* merkle */
} qn_task_part;

/* The operands a fill is to make. */
enum { QN_FILL_X = 1, QN_FILL_Y = 2, QN_FILL_ALL = 3 };

/* One row of the table of ops. Elements are what buckets, parts and chunks count. */
struct qn_task_op {
    const char *name, *module;
    const char *type; /* of an element of the result, as in kernel heads */
    qn_i64 max_n;
    int align;          /* elements between the starts of two tasks are a multiple of this */
    int can_cut;        /* element i of the result needs only elements i of the operands */
    int same_n;         /* tasks of one launch have the same n */
    int is_padded;      /* one plan may serve all sizes of a bucket */
    int is_reduced;     /* a task has one result, not one per element */
    unsigned consumes;  /* operands that a run overwrites */
    size_t check_elems; /* of the result, compared at a time; 0: all */

    qn_status (*parse)(const char *text, qn_merkle_rule rule, qn_task_arg *out, qn_err *err);
    qn_i64 (*elems)(const qn_task_spec *spec);
    size_t (*result_bytes)(const qn_task_spec *spec);
    double (*cost)(const qn_task_spec *spec); /* in bytes moved, or time worth as much */
    /* Makes the arrays of the part, unless it has them, and adds its stages to plan->graph. */
    qn_status (*build)(qn_task_plan *plan, qn_task_part *part, qn_err *err);
    qn_status (*fill)(qn_task_plan *plan, qn_task_part *part, unsigned operands, qn_err *err);
    /* `n` elements of the result from number `from` on, by a plain computation. */
    qn_status (*reference)(const qn_task_spec *spec, qn_i64 from, qn_i64 n, void *want,
                           qn_err *err);
};

/* options.c */
/* The options that a call was given, checked; a NULL `given` stands for the defaults. */
qn_status qn_tasks_options_take(const qn_tasks_options *given, qn_tasks_options *out, qn_err *err);

/* ops.c */
const qn_task_op *qn_task_op_find(const char *name);
const char *qn_task_op_names(void); /* "vadd, saxpy, ..." */

/* The specs of a batch, in its order, with the arguments they point to. */
typedef struct qn_task_list {
    qn_task_spec *specs;
    const char **texts; /* of the arguments, one per spec */
    int n;
    struct qn_task_arg_node *args;
} qn_task_list;

/* Checks a batch. Messages name the task by its id. */
qn_status qn_task_list_read(const qn_task *tasks, int n, const qn_tasks_options *options,
                            qn_task_list *out, qn_err *err);
void qn_task_list_free(qn_task_list *list);
/* The batch is the one the list was read from. */
int qn_task_list_is(const qn_task_list *list, const qn_task *tasks, int n);
/* One task alone, for checks of input files. */
qn_status qn_task_check_one(const qn_task *task, const qn_tasks_options *options, qn_err *err);
/* The room a task takes: of itself, or of its bucket. */
qn_i64 qn_task_room(const qn_task_spec *spec, int is_padded);

extern const qn_task_op qn_task_vadd, qn_task_saxpy, qn_task_chain, qn_task_sum, qn_task_dot,
    qn_task_max, qn_task_matmul, qn_task_sha256, qn_task_keccak256, qn_task_merkle;

/* 0 for equal arguments, otherwise an order. */
int qn_task_arg_compare(const qn_task_arg *a, const qn_task_arg *b);

/* Below this count of numbers a team of threads is slower than one thread. */
enum { QN_TASK_ALONE = 1 << 15 };

/* Pieces that several ops use. */
qn_status qn_task_parse_none(const char *text, qn_merkle_rule rule, qn_task_arg *out, qn_err *err);
qn_i64 qn_task_elems_n(const qn_task_spec *spec);
void qn_task_random(float *to, uint64_t seed, qn_i64 from, qn_i64 n);
void qn_task_random_bytes(uint8_t *to, uint64_t seed, qn_i64 n);
/* Numbers as a file has them: nothing around them, finite. */
int qn_task_parse_float(const char *text, size_t len, float *out);

/* group.c */
/* order[k] is the task at position k: by op, argument and bucket, then size. */
void qn_group_sort(const qn_task_list *list, int *order);
/* 1 when two specs may share a launch. */
int qn_group_is_same(const qn_task_spec *a, const qn_task_spec *b);
/* Cuts sorted specs into parts, of which there is something for each of `n_shares` devices;
 * slots[k] is the first part of the task at position k. Both are the caller's to free. */
qn_status qn_group_cut(const qn_task_spec *specs, int n, qn_i64 chunk_elems, int is_padded,
                       int n_shares, qn_task_part **parts, int *n_parts, int **slots, qn_err *err);

/* plan.c */
struct qn_task_plan {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_task_spec *specs; /* by position: what the arrays hold now */
    int *order;          /* position -> task of the batch */
    int *place;          /* task of the batch -> position */
    int *slots;          /* position -> first part */
    qn_i64 *at;          /* position -> element within that part */
    int n_tasks, n_groups;
    qn_task_part *parts;
    int n_parts;
    qn_task_arg *args; /* one per part */
    size_t bytes;      /* of all arrays */
    int is_padded;
    int is_filled; /* the arrays hold the inputs of `specs` */
    int has_run;   /* ... or did, before a run consumed some of them */
};

/* A plan for sorted specs. With is_padded each task gets the room of its bucket. */
qn_status qn_task_plan_new(qn_ctx *ctx, const qn_task_spec *specs, int n, qn_i64 chunk_elems,
                           int is_padded, int n_shares, qn_task_plan **out, qn_err *err);
void qn_task_plan_free(qn_task_plan *plan);
/* Loads a batch that fits: sorted specs and their order. */
void qn_task_plan_load(qn_task_plan *plan, const qn_task_spec *specs, const int *order);
/* Makes the inputs that the arrays lack. */
qn_status qn_task_plan_fill(qn_task_plan *plan, qn_err *err);
qn_status qn_task_plan_touch(qn_task_plan *plan, qn_err *err);
/* Restores one part to its state before the run, after a device was lost. */
qn_status qn_task_part_renew(qn_task_plan *plan, qn_task_part *part, qn_err *err);
/* An array of the part; nothing is done when it is there. */
qn_status qn_task_part_buf(qn_task_plan *plan, const qn_task_part *part, const char *role,
                           size_t bytes, qn_buf **out, qn_err *err);
/* Stretch number `k` of a part. */
qn_task_span qn_task_part_span(const qn_task_plan *plan, const qn_task_part *part, int k);
/* The cost of the part, and its tasks, of which a piece counts as a fraction, unless NULL. */
double qn_task_part_cost(const qn_task_plan *plan, const qn_task_part *part, double *n_tasks);
/* Random floats for one operand of every task of the part; `stream` is added to their seeds. */
qn_status qn_task_part_random(const qn_task_plan *plan, const qn_task_part *part, qn_buf *buf,
                              uint64_t stream, qn_err *err);
/* Calls `fn` for the result of position k, piece by piece: `data` holds `bytes` bytes of it from
 * `offset` on. */
typedef qn_status (*qn_task_piece_fn)(void *user, const qn_task_spec *spec, size_t offset,
                                      const void *data, size_t bytes, qn_err *err);
qn_status qn_task_plan_result(qn_task_plan *plan, int position, qn_task_piece_fn fn, void *user,
                              qn_err *err);

/* check.c */
qn_status qn_task_check(qn_task_plan *plan, int position, qn_diff *diff, qn_err *err);

/* plan_cache.c */
enum { QN_TASK_CACHE = 64 };
typedef struct qn_task_cache qn_task_cache;

qn_status qn_task_cache_new(qn_ctx *ctx, const qn_tasks_options *options, int n_shares,
                            qn_task_cache **out, qn_err *err);
void qn_task_cache_free(qn_task_cache *cache);
/* Origin of a plan: made for the batch, cached for its shape, cached for its buckets. */
typedef enum { QN_FOUND_NEW, QN_FOUND_SHAPE, QN_FOUND_BUCKETS } qn_task_found;

/* The plan for a batch, loaded with it; owned by the cache, good until the next call. */
qn_status qn_task_cache_get(qn_task_cache *cache, const qn_task_list *list, qn_task_plan **out,
                            qn_task_found *found, qn_err *err);
/* The time of the batch of the last get, including planning. */
void qn_task_cache_observe(qn_task_cache *cache, double us);

/* split.c */
typedef struct qn_task_split qn_task_split;

/* *out is NULL when the context and the options mean one device, or leave it to the router. */
qn_status qn_task_split_new(qn_ctx *ctx, const qn_split_options *options, qn_task_split **out,
                            qn_err *err);
void qn_task_split_free(qn_task_split *split);        /* NULL is fine */
int qn_task_split_shares(const qn_task_split *split); /* devices; 1 for NULL */
/* Runs the parts of a filled plan and records the device of each. */
qn_status qn_task_split_run(qn_task_split *split, qn_task_plan *plan, uint64_t *submissions,
                            qn_err *err);
/* "sim:0+sim:1" for a set of slots, one bit each; the split keeps it. */
const char *qn_task_split_name(qn_task_split *split, unsigned slots);

/* The kernels of tasks as ops of the engine. */

enum { QN_TASK_KERNELS = 36 };
extern const qn_op qn_task_kernels[QN_TASK_KERNELS];

#endif
