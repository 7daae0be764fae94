/* tool.h - what a tool registers with the engine. Included by engine.h. */
#ifndef QN_ENGINE_TOOL_H
#define QN_ENGINE_TOOL_H

#include <quern/abi.h>
#include <quern/graph.h>
#include <quern/metrics.h>

#include "util/compare.h"
#include "util/status.h"

/* Metrics. */

enum { QN_MAX_LABELS = 5 };

typedef enum { QN_COUNTER, QN_GAUGE, QN_HISTOGRAM } qn_metric_type;

typedef struct qn_metric_def qn_metric_def;

/* `labels` as in QN_LABELS; NULL: over all series. */
#define QN_DERIVE(name)                                                                            \
    double name(QN_UNUSED const qn_metrics *metrics, QN_UNUSED const qn_metric_def *def,           \
                QN_UNUSED const char *const *labels)

/* One name. A name with `derive` is computed whenever it is read. */
struct qn_metric_def {
    const char *name;
    qn_metric_type type;
    const char *keys[QN_MAX_LABELS]; /* labels that a series of this name may have */
    const char *help;
    const char *same_as;  /* another name for the series of this one */
    QN_DERIVE((*derive)); /* NaN: nothing was measured, so nothing is exported */
    const char *from;     /* derived: one value per series of this name; NULL: one value */
    int is_settable;      /* derived until it is set */
    int is_tracked;       /* gauge of the last value that also records the distribution */
    int is_measured;      /* counter that is absent instead of 0 until something is added */
};

/* Rows of a table of names: ROW("name", "help") and, if needed, further members. */
#define QN_COUNTER_ROW(id, ...)                                                                    \
    {                                                                                              \
        .name = id, .type = QN_COUNTER, .help = __VA_ARGS__                                        \
    }
#define QN_GAUGE_ROW(id, ...)                                                                      \
    {                                                                                              \
        .name = id, .type = QN_GAUGE, .help = __VA_ARGS__                                          \
    }
#define QN_HISTOGRAM_ROW(id, ...)                                                                  \
    {                                                                                              \
        .name = id, .type = QN_HISTOGRAM, .help = __VA_ARGS__                                      \
    }
#define QN_KEYS(...) .keys = { __VA_ARGS__ }

/* Computed from the distribution of def->from. */
QN_DERIVE(qn_derive_mean);
QN_DERIVE(qn_derive_min);
QN_DERIVE(qn_derive_max);

/* Layouts: rows of qn_abi_table. */

#define QN_WHOLE(t)                                                                                \
    {                                                                                              \
#t, "", 0, sizeof(t)                                                                       \
    }
#define QN_MEMBER(t, m)                                                                            \
    {                                                                                              \
#t, #m, offsetof(t, m), sizeof(((t *)0)->m)                                                \
    }
#define QN_LAYOUTS_END                                                                             \
    {                                                                                              \
        NULL, NULL, 0, 0                                                                           \
    }

/* Ops: what the engine knows about a kernel beyond its head. An op gives a kernel a name, a
 * priority, a cost and a promised exactness for the router, the cross-check and reports. A kernel
 * without an op still runs, using only its head. An op without a kernel runs on the CPU, so a new
 * op works before it is fast. A kernel that is a step of a larger op (sum_part) has its own op,
 * since a stage runs one kernel. */

enum { QN_PRIORITY_HOT = 1, QN_PRIORITY_WARM = 3, QN_PRIORITY_CPU = 9 };

/* Where a range may be cut. If it may be cut along an axis, point, group or team number k touches
 * only part k of each buffer, divided into as many equal parts. So a piece can run on slices of the
 * buffers with its range moved to 0. */
typedef enum { QN_SPLIT_NONE, QN_SPLIT_X, QN_SPLIT_Y, QN_SPLIT_Z } qn_split_axis;

/* Marks the ops that measure the speed of memory and of arithmetic on devices without a profile. */
typedef enum { QN_YARDSTICK_NONE, QN_YARDSTICK_MEMORY, QN_YARDSTICK_COMPUTE } qn_yardstick;

typedef struct qn_cost {
    double read_bytes, write_bytes, flops; /* integer operations count as flops */
} qn_cost;

/* One use of an op, for cost functions. Arrays are indexed by argument. */
typedef struct qn_op_use {
    const qn_kernel_info *kernel;
    qn_range range;
    const size_t *bytes;       /* of a buffer, from the stage's offset to its end; 0 for a value */
    const void *const *values; /* of a value; NULL for a buffer */
} qn_op_use;

typedef struct qn_op qn_op;
typedef struct qn_op_sample qn_op_sample;

struct qn_op {
    const char *name;
    int priority;              /* 1 hot .. 3 warm; 9: CPU only */
    const char *kernel;        /* built-in kernel; NULL: no device version */
    const qn_kernel_info *cpu; /* head and body of an op without kernel, else NULL */
    /* Costs rank devices before anything is measured, so only dominant terms matter. */
    qn_cost (*cost)(const qn_op *op, const qn_op_use *use);
    /* Elements that buffer argument `arg` must have; NULL: derived from the kernel's body. */
    double (*need)(const qn_op_use *use, int arg);
    double work;            /* flops per point of the range, or per unit the cost counts */
    qn_exactness exactness; /* how much a device's result may differ from the CPU's */
    double tolerance;
    qn_split_axis split;
    int chain_step; /* 1 + code of the bit-identical step in kernel/vector.h; 0: none */
    qn_yardstick yardstick;
    /* For an op that is measured by itself and is not a MAP over plain arrays: sets range, bytes
     * and values for sample->n, which it may round. */
    void (*sample)(qn_op_sample *sample);
    /* Fills buffer `arg`, at `data` and zeroed. NULL: zeros will do. */
    void (*fill)(const qn_op_sample *sample, int arg, void *data);
};

/* qn_cost_points is for a MAP: one element of each buffer per point. The next is for any kernel:
 * each buffer once, `work` per element of the largest. The last is for programs of the kernel
 * `chain`: `work` per element and step. */
qn_cost qn_cost_points(const qn_op *op, const qn_op_use *use);
qn_cost qn_cost_buffers(const qn_op *op, const qn_op_use *use);
qn_cost qn_cost_chain(const qn_op *op, const qn_op_use *use);

/* Helpers for other costs: points of a range; bytes of the buffer of that name, 0 if there is
 * none. */
double qn_cost_count(const qn_range *range);
double qn_cost_bytes(const qn_op_use *use, const char *arg);

/* One use of an op with made-up data of a given size, to be measured. Contents are zero except
 * tables of offsets, since only the time matters, not the result. */
struct qn_op_sample {
    const qn_op *op;
    const qn_kernel_info *kernel;
    int kernel_i;
    qn_range range;
    qn_i64 n;                     /* size: elements, messages, leaves */
    size_t bytes[QN_MAX_ARGS];    /* of buffers */
    size_t value_at[QN_MAX_ARGS]; /* of values, into `values` */
    unsigned char values[512];
};

void qn_op_sample_set(qn_op_sample *sample, int arg, const void *value, size_t bytes);

/* Sets an integer of 32 or 64 bits, as in the kernel. */
void qn_op_sample_set_int(qn_op_sample *sample, int arg, qn_i64 value);

/* A tool. */

typedef struct qn_tool {
    const char *name;
    const qn_metric_def *metrics;
    size_t n_metrics;
    const qn_abi_entry *layouts; /* ended by QN_LAYOUTS_END; may be NULL */
    const qn_op *ops;            /* sorted by name */
    size_t n_ops;
    /* Names built-in modules with the constants that usual runs give them (qn_kernels_with), for
     * packs of compiled kernels; may be NULL. */
    void (*each_variant)(void (*take)(void *user, const qn_kernel_module *module,
                                      const char *defines),
                         void *user);
} qn_tool;

/* All tools, ended by NULL. The engine reads the list; the tools' layer defines it. */
extern const qn_tool *const qn_tools[];

#endif
