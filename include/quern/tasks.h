/* tasks.h - batches of independent tasks of mixed sizes, and Merkle trees.
 *
 * A qn_tasks is made once and runs many batches. Tasks of one op whose sizes fall into one bucket
 * are packed into one array per operand. Such a group, however large, costs one upload per operand,
 * one launch (or a fixed number) and one download, and the whole batch is one graph and one
 * submission. A batch with the ops and sizes of an earlier one reuses its arrays, graph and
 * recording. A batch whose sizes fall into the same buckets reuses them if measurements show that
 * this is faster.
 *
 *   op               n            result              arg (default)
 *   vadd             elements     n floats            none
 *   saxpy            elements     n floats            the factor (2)
 *   chain            elements     n floats            maps, up to 16 (mul:2,add:1,abs,sqrt)
 *   sum dot max      elements     1 float             none
 *   matmul           side         n x n floats        none
 *   sha256 keccak256 messages     32 bytes each       bytes per message, LEN or LEAST-MOST (64)
 *   merkle           leaves       root, 32 bytes      plain or rfc6962 (merkle_rule)
 */
#ifndef QUERN_TASKS_H
#define QUERN_TASKS_H

#include <quern/options.h>
#include <quern/split.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_tasks qn_tasks;

/* How a tree joins its nodes. PLAIN: parent = SHA-256(left || right), the last node of an odd level
 * is joined with itself, a single leaf is the root. RFC6962: leaves are hashed with a byte 0 in
 * front, pairs with a byte 1, and the last node of an odd level moves up unchanged. */
typedef enum { QN_MERKLE_PLAIN, QN_MERKLE_RFC6962 } qn_merkle_rule;

/* The inputs of a task are computed from its seed and their index (the second operand from seed +
 * 1), so they depend on neither order nor device. Strings are read only during the call. */
typedef struct qn_task {
    qn_i64 id; /* chosen by the caller, for messages and result files */
    const char *op;
    qn_i64 n;
    uint64_t seed;
    const char *arg; /* NULL or "": the default */
} qn_task;

/* Values of the option `split`; those of `merkle_rule` are a qn_merkle_rule. */
enum {
    QN_TASKS_SPLIT_NONE,
    QN_TASKS_SPLIT_DYNAMIC,
    QN_TASKS_SPLIT_EQUAL,
    QN_TASKS_SPLIT_PROPORTIONAL
};

/* With a `split`, each batch is divided among devices if `devices` names several, or names none and
 * the context was opened for several (a list, QUERN_DEVICES, the route `balance`). If a device
 * fails, another does its part. */
typedef struct qn_tasks_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/tasks.def>
} qn_tasks_options;

/* Fills in the defaults; `size` is sizeof the struct. */
QN_API void qn_tasks_options_init(qn_tasks_options *options, size_t size);
QN_API const qn_option_table *qn_tasks_option_table(void);

/* NULL options mean the defaults. */
QN_API qn_status qn_tasks_new(qn_ctx *ctx, const qn_tasks_options *options, qn_tasks **out,
                              qn_err *err);
QN_API void qn_tasks_free(qn_tasks *tasks); /* NULL is fine */

enum { QN_MAX_TASKS = 1 << 20 };

/* Runs a batch and waits for it. An invalid task is QN_ERR_USAGE, a task beyond a limit
 * QN_ERR_LIMIT; both messages name its id. */
QN_API qn_status qn_tasks_run(qn_tasks *tasks, const qn_task *list, int n, qn_err *err);

/* Marks the inputs of the last batch as changed on the host, so that the next run of that batch
 * uploads them again. */
QN_API qn_status qn_tasks_touch(qn_tasks *tasks, qn_err *err);

typedef enum { QN_TASK_OK, QN_TASK_FALLBACK, QN_TASK_FAILED } qn_task_state;

typedef struct qn_task_result {
    qn_i64 id;
    qn_task_state state;
    const char *device; /* that ran it, "cuda:0"; "cuda:0+cuda:1" if it was split */
    uint64_t bucket;    /* that its number of elements falls into */
    size_t bytes;       /* of the result */
    double exec_us;     /* part of wall_us, by the bytes and operations of the task */
} qn_task_result;

/* Results of the last batch in the order of its tasks, valid until the next batch. */
QN_API const qn_task_result *qn_tasks_results(const qn_tasks *tasks);

/* Copies the result of task number `i` of the last batch. `bytes` is its size. */
QN_API qn_status qn_tasks_read(qn_tasks *tasks, int i, void *dst, size_t bytes, qn_err *err);

/* FNV-1a of the result in 16 hex digits; of a Merkle root, its first 16 digits; "-" if results are
 * not bit-identical on every device. */
enum { QN_TASK_CHECKSUM_SIZE = 17 };
QN_API qn_status qn_tasks_checksum(qn_tasks *tasks, int i, char out[QN_TASK_CHECKSUM_SIZE],
                                   qn_err *err);

/* Compares every result of the last batch with a plain computation on the host that shares no code
 * with the kernels. Tasks that differ become QN_TASK_FAILED; the call then returns QN_ERR_MISMATCH
 * and names the first. */
QN_API qn_status qn_tasks_verify(qn_tasks *tasks, qn_err *err);

typedef struct qn_tasks_stats {
    /* of the last batch */
    double plan_us; /* finding or making arrays and graph */
    double fill_us; /* making inputs */
    double wall_us; /* upload, compute and download */
    int n_tasks, n_groups, n_stages;
    int was_planned;     /* 0: an earlier plan was reused */
    const char *devices; /* as in qn_task_result; valid until the next batch */
    uint64_t submissions;
    /* of all batches; hits and misses count tasks */
    uint64_t batches, plan_hits, plan_misses, bucket_hits, bucket_misses;
} qn_tasks_stats;

QN_API qn_tasks_stats qn_tasks_get_stats(const qn_tasks *tasks);

/* Memory map of the last batch as Markdown. */
QN_API qn_status qn_tasks_memory_map(const qn_tasks *tasks, const char *path, qn_err *err);

/* Merkle trees. */

/* Merkle trees over leaves of 32 bytes. All levels stay on the device; reads download single
 * nodes. */
typedef struct qn_merkle qn_merkle;

enum { QN_MERKLE_NODE = 32, QN_MERKLE_MAX_PATH = 40 };

/* Tree t has the leaves [from[t], from[t + 1]), at least one; `from` is copied. */
QN_API qn_status qn_merkle_new(qn_ctx *ctx, qn_merkle_rule rule, const qn_i64 *from, int n_trees,
                               qn_merkle **out, qn_err *err);
QN_API void qn_merkle_free(qn_merkle *merkle); /* NULL is fine */

/* The memory for the leaves of all trees; fill it before a run. */
QN_API qn_status qn_merkle_leaves(qn_merkle *merkle, void **out, qn_err *err);
QN_API qn_status qn_merkle_run(qn_merkle *merkle, qn_err *err);

QN_API qn_status qn_merkle_root(qn_merkle *merkle, int tree, uint8_t out[QN_MERKLE_NODE],
                                qn_err *err);

/* The proof that leaf `leaf` is in the tree: the sibling nodes on the path to the root, lowest
 * first. Only these nodes are downloaded. */
QN_API qn_status qn_merkle_proof(qn_merkle *merkle, int tree, qn_i64 leaf,
                                 uint8_t path[QN_MERKLE_MAX_PATH][QN_MERKLE_NODE], int *n_path,
                                 qn_err *err);

/* Returns 1 if the path leads from leaf `i` of `n` to the root. */
QN_API int qn_merkle_check(qn_merkle_rule rule, const uint8_t leaf[QN_MERKLE_NODE], qn_i64 i,
                           qn_i64 n, const uint8_t (*path)[QN_MERKLE_NODE], int n_path,
                           const uint8_t root[QN_MERKLE_NODE]);

#ifdef __cplusplus
}
#endif
#endif
