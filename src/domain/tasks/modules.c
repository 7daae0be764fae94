/* modules.c - looks the series of a module up. */
#include "modules.h"

#include <stdio.h>
#include <string.h>

qn_module_metrics qn_metrics_module(qn_metrics *metrics, const char *module)
{
    const int is_tree = strcmp(module, "merkle") == 0;
    const char *const endings[] = { "executions_total", "failures_total", "cpu_fallback_total",
                                    is_tree ? "last_tree_size" : "last_batch_size",
                                    "last_latency_ms" };
    qn_module_metrics out;
    qn_metric **const members[] = { &out.executions, &out.failures, &out.cpu_fallbacks,
                                    &out.last_size, &out.latency_ms };
    char name[64];

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        snprintf(name, sizeof name, "gpu_%s_%s", module, endings[i]);
        *members[i] = qn_metric_of(metrics, name, NULL);
    }
    return out;
}
