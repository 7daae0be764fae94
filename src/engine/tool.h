/* tool.h - what a tool registers with the engine. Part of engine.h. */
#ifndef QN_ENGINE_TOOL_H
#define QN_ENGINE_TOOL_H

#include <quern/abi.h>
#include <quern/graph.h>
#include <quern/metrics.h>

/* Metrics. */

enum { QN_MAX_LABELS = 5 };

typedef enum { QN_COUNTER, QN_GAUGE, QN_HISTOGRAM } qn_metric_type;

typedef struct qn_metric_def qn_metric_def;

/* `labels` as in QN_LABELS; NULL: over everything. */
#define QN_DERIVE(name)                                                                            \
    double name(const qn_metrics *metrics, const qn_metric_def *def, const char *const *labels)

/* One name. A name with `derive` is computed whenever it is read, so it cannot be stale. */
struct qn_metric_def {
    const char *name;
    qn_metric_type type;
    const char *keys[QN_MAX_LABELS]; /* labels a series of this name may have */
    const char *help;
    const char *same_as;  /* another name for the series of this one */
    QN_DERIVE((*derive)); /* NaN: nothing was measured, nothing is exported */
    const char *from;     /* derived: one value per series of this name; NULL: one value */
    int is_settable;      /* derived until it is set */
    int is_tracked;       /* gauge of the last value that keeps the distribution as well */
    int is_measured;      /* counter that is absent, not 0, until something was added */
};

/* Rows of a table of names: ROW("name", "help") and, where there is more to say, further members. */
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

/* Of the distribution of def->from. */
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

/* Samples: one use of an op with made-up data of a given size, to be measured. Contents are zero
 * but for tables of offsets: what is computed does not matter, only how long it takes. */

typedef struct qn_op_sample {
    const struct qn_op *op;
    const struct qn_op_sampler *sampler;
    const qn_kernel_info *kernel;
    int kernel_i;
    qn_range range;
    qn_i64 n;                     /* what the op is measured by: elements, messages, leaves */
    size_t bytes[QN_MAX_ARGS];    /* of buffers */
    size_t value_at[QN_MAX_ARGS]; /* of values, into `values` */
    unsigned char values[512];
} qn_op_sample;

typedef struct qn_op_sampler {
    const char *op;
    /* Sets range, bytes and values for sample->n, which it may round. */
    void (*make)(qn_op_sample *sample);
    /* Writes the content of buffer `arg`, which is zeroed, to `data`. NULL: zeros will do. */
    void (*fill)(const qn_op_sample *sample, int arg, void *data);
} qn_op_sampler;

void qn_op_sample_set(qn_op_sample *sample, int arg, const void *value, size_t bytes);

/* A 32 or 64 bit integer, as the kernel has it. */
void qn_op_sample_set_int(qn_op_sample *sample, int arg, qn_i64 value);

/* A tool. */

typedef struct qn_tool {
    const char *name;
    const qn_metric_def *metrics;
    size_t n_metrics;
    const qn_abi_entry *layouts;   /* ended by QN_LAYOUTS_END; may be NULL */
    const qn_op_sampler *samplers; /* ended by a NULL op; may be NULL */
} qn_tool;

/* All tools, ended by NULL. The engine reads the list; the layer of the tools defines it. */
extern const qn_tool *const qn_tools[];

#endif
