/* modules.h - the series gpu_<module>_* of the modules that ops belong to. */
#ifndef QN_TASKS_MODULES_H
#define QN_TASKS_MODULES_H

#include <quern/metrics.h>

/* Of one module: crypto, merkle, vector, reduce or matmul. */
typedef struct qn_module_metrics {
    qn_metric *executions, *failures, *cpu_fallbacks;
    qn_metric *last_size;  /* merkle: last_tree_size, others: last_batch_size */
    qn_metric *latency_ms; /* observe; last, avg, min and max are read from it */
} qn_module_metrics;

qn_module_metrics qn_metrics_module(qn_metrics *metrics, const char *module);

#endif
