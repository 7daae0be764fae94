/* task.h - shared by the files of this folder: ops, parts, plans.
 *
 * A batch takes four steps. ops.c turns each task into a spec. group.c sorts the specs into groups
 * with the same op, argument and bucket, and cuts groups into parts. plan.c gives each part its
 * arrays and stages, in one graph. plan_cache.c chooses the plan for a batch. Differences between
 * ops are only in the table of ops.
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

/* The parsed argument of a task. Unused members are zero, so that equal arguments have equal
 * bytes. */
typedef struct qn_task_arg {
    chain_par chain;
    qn_i64 min_len, max_len; /* bytes per message */
    float factor;
    int rule;      /* qn_merkle_rule */
    int is_smooth; /* results are not bit-identical everywhere */
    int spare;
} qn_task_arg;
_Static_assert(sizeof(qn_task_arg) == 176, "arguments are compared as bytes: no padding");

typedef struct qn_task_spec {
    const qn_task_op *op;
    const qn_task_arg *arg;
    qn_i64 n;
    uint64_t seed, bucket;
} qn_task_spec;

/* The place of one stretch of a task in a part. */
typedef struct qn_task_span {
    const qn_task_spec *spec;
    qn_i64 from; /* first element of the task */
    qn_i64 at;   /* its place in the part */
    qn_i64 n;    /* elements */
    int k;       /* number of the task within the part */
} qn_task_span;

/* Tasks that share arrays and launches. A task larger than a part has several parts of its own. */
typedef struct qn_task_part {
    const qn_task_op *op;
    const qn_task_arg *arg;
    int first, n_tasks;  /* positions in the plan */
    qn_i64 from;         /* first element of its first task, if that is cut */
    qn_i64 elems;        /* capacity, in elements of the op */
    qn_i64 largest;      /* capacity for its largest task */
    int stage, n_stages; /* in the graph */
    const char *device;  /* of the last run */
    int fell_back;
    int slot, n_tries; /* last run on several devices: the slot that did it, number of tries */
    qn_graph *graphs[QN_MAX_DEVICES]; /* for such runs, per device, made on first use */
    qn_buf *x, *y;                    /* operands */
    qn_buf *table;                    /* start of each task (message), or NULL */
    qn_buf *out;                      /* result; may be one of the operands */
    struct qn_trees *trees;           /* merkle */
} qn_task_part;

/* The operands that a fill makes. */
enum { QN_FILL_X = 1, QN_FILL_Y = 2, QN_FILL_ALL = 3 };

/* One row of the table of ops. Buckets, parts and chunks count elements. */
struct qn_task_op {
    const char *name, *module;
    const char *type; /* of an element of the result, as in kernel heads */
    qn_i64 max_n;
    int align;          /* tasks start at multiples of this many elements */
    int can_cut;        /* element i of the result needs only elements i of the operands */
    int same_n;         /* tasks of one launch have the same n */
    int is_padded;      /* one plan may serve all sizes of a bucket */
    int is_reduced;     /* a task has one result, not one per element */
    unsigned consumes;  /* operands that a run overwrites */
    size_t check_elems; /* elements of the result to compare at a time; 0: all */

    qn_status (*parse)(const char *text, qn_merkle_rule rule, qn_task_arg *out, qn_err *err);
    qn_i64 (*elems)(const qn_task_spec *spec);
    size_t (*result_bytes)(const qn_task_spec *spec);
    double (*cost)(const qn_task_spec *spec); /* in bytes moved, or the equivalent in time */
    /* Makes the arrays of the part, if it has none, and adds its stages to plan->graph. */
    qn_status (*build)(qn_task_plan *plan, qn_task_part *part, qn_err *err);
    qn_status (*fill)(qn_task_plan *plan, qn_task_part *part, unsigned operands, qn_err *err);
    /* Computes `n` elements of the result, from number `from` on, in a plain way. */
    qn_status (*reference)(const qn_task_spec *spec, qn_i64 from, qn_i64 n, void *want,
                           qn_err *err);
};

/* options.c */
/* Checks and copies the options given to a call; a NULL `given` means the defaults. */
qn_status qn_tasks_options_take(const qn_tasks_options *given, qn_tasks_options *out, qn_err *err);

/* ops.c */
const qn_task_op *qn_task_op_find(const char *name);
const char *qn_task_op_names(void); /* "vadd, saxpy, ..." */

/* The specs of a batch, in order, with the arguments they point to. */
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
/* Whether the list was read from this batch. */
int qn_task_list_is(const qn_task_list *list, const qn_task *tasks, int n);
/* Checks a single task, for input files. */
qn_status qn_task_check_one(const qn_task *task, const qn_tasks_options *options, qn_err *err);
/* The elements to reserve for a task: its own, or those of its bucket. */
qn_i64 qn_task_room(const qn_task_spec *spec, int is_padded);

extern const qn_task_op qn_task_vadd, qn_task_saxpy, qn_task_chain, qn_task_sum, qn_task_dot,
    qn_task_max, qn_task_matmul, qn_task_sha256, qn_task_keccak256, qn_task_merkle;

/* Compares arguments: 0 if equal, otherwise an order. */
int qn_task_arg_compare(const qn_task_arg *a, const qn_task_arg *b);

/* Below this count several threads are slower than one. */
enum { QN_TASK_ALONE = 1 << 15 };

/* Functions used by several ops. */
qn_status qn_task_parse_none(const char *text, qn_merkle_rule rule, qn_task_arg *out, qn_err *err);
qn_i64 qn_task_elems_n(const qn_task_spec *spec);
void qn_task_random(float *to, uint64_t seed, qn_i64 from, qn_i64 n);
void qn_task_random_bytes(uint8_t *to, uint64_t seed, qn_i64 n);
/* Parses a number of a file: finite, with nothing around it. */
int qn_task_parse_float(const char *text, size_t len, float *out);

/* group.c */
/* Sorts by op, argument and bucket, then size: order[k] is the task at position k. */
void qn_group_sort(const qn_task_list *list, int *order);
/* Whether two specs may share a launch. */
int qn_group_is_same(const qn_task_spec *a, const qn_task_spec *b);
/* Cuts sorted specs into parts, with work for each of `n_shares` devices; slots[k] is the first
 * part of the task at position k. The caller frees both. */
qn_status qn_group_cut(const qn_task_spec *specs, int n, qn_i64 chunk_elems, int is_padded,
                       int n_shares, qn_task_part **parts, int *n_parts, int **slots, qn_err *err);

/* plan.c */
struct qn_task_plan {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_task_spec *specs; /* by position: the current content of the arrays */
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
    int is_filled; /* the arrays have the inputs of `specs` */
    int has_run;   /* ... or had them before a run consumed some */
};

/* Makes a plan for sorted specs. With is_padded each task is padded to its bucket. */
qn_status qn_task_plan_new(qn_ctx *ctx, const qn_task_spec *specs, int n, qn_i64 chunk_elems,
                           int is_padded, int n_shares, qn_task_plan **out, qn_err *err);
void qn_task_plan_free(qn_task_plan *plan);
/* Loads a batch that fits the plan: sorted specs and their order. */
void qn_task_plan_load(qn_task_plan *plan, const qn_task_spec *specs, const int *order);
/* Makes the inputs that the arrays lack. */
qn_status qn_task_plan_fill(qn_task_plan *plan, qn_err *err);
qn_status qn_task_plan_touch(qn_task_plan *plan, qn_err *err);
/* Restores one part to its state before the run, after a device was lost. */
qn_status qn_task_part_renew(qn_task_plan *plan, qn_task_part *part, qn_err *err);
/* Makes an array of the part, unless it exists. */
qn_status qn_task_part_buf(qn_task_plan *plan, const qn_task_part *part, const char *role,
                           size_t bytes, qn_buf **out, qn_err *err);
/* Stretch number `k` of a part. */
qn_task_span qn_task_part_span(const qn_task_plan *plan, const qn_task_part *part, int k);
/* The cost of the part. *n_tasks, unless NULL, gets its number of tasks, where a piece of a task
 * counts as a fraction. */
double qn_task_part_cost(const qn_task_plan *plan, const qn_task_part *part, double *n_tasks);
/* Fills one operand of every task of the part with random floats; `stream` is added to the
 * seeds. */
qn_status qn_task_part_random(const qn_task_plan *plan, const qn_task_part *part, qn_buf *buf,
                              uint64_t stream, qn_err *err);
/* Calls `fn` for the result at position k, piece by piece: `data` has `bytes` bytes of it from
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

/* A plan with the batch loaded; owned by the cache and valid until the next call. */
qn_status qn_task_cache_get(qn_task_cache *cache, const qn_task_list *list, qn_task_plan **out,
                            qn_task_found *found, qn_err *err);
/* Reports the time of the batch of the last get, including planning. */
void qn_task_cache_observe(qn_task_cache *cache, double us);

/* split.c */
typedef struct qn_task_split qn_task_split;

/* *out is NULL if the context and the options mean one device, or leave placement to the router. */
qn_status qn_task_split_new(qn_ctx *ctx, const qn_split_options *options, qn_task_split **out,
                            qn_err *err);
void qn_task_split_free(qn_task_split *split);        /* NULL is fine */
int qn_task_split_shares(const qn_task_split *split); /* devices; 1 for NULL */
/* Runs the parts of a filled plan and records the device of each. */
qn_status qn_task_split_run(qn_task_split *split, qn_task_plan *plan, uint64_t *submissions,
                            qn_err *err);
/* "sim:0+sim:1" for a set of slots, one bit each; owned by the split. */
const char *qn_task_split_name(qn_task_split *split, unsigned slots);

/* The kernels of tasks as ops of the engine. */

enum { QN_TASK_KERNELS = 36 };
extern const qn_op qn_task_kernels[QN_TASK_KERNELS];

#endif
