/* tool.c - what arc registers with the engine. */
#include "domain/tools.h"

static const qn_metric_def names[] = {
    QN_HISTOGRAM_ROW("arc_program_time_ms", "Time per grid program"),
    QN_COUNTER_ROW("arc_ops_total", "Grid operations", QN_KEYS("op", "side")),
};

const qn_tool qn_tool_arc = {
    .name = "arc",
    .metrics = names,
    .n_metrics = sizeof names / sizeof *names,
};
