/* tool.c - what arc registers with the engine. */
#include "domain/tools.h"

#include <quern/arc.h>

static const qn_metric_def names[] = {
    QN_HISTOGRAM_ROW("arc_program_time_ms", "Time per grid program"),
    QN_COUNTER_ROW("arc_ops_total", "Grid operations", QN_KEYS("op", "side")),
};

static const qn_abi_entry layouts[] = {
    QN_WHOLE(qn_arc_options),
    QN_MEMBER(qn_arc_options, group),
    QN_MEMBER(qn_arc_options, arena_bytes),
    QN_MEMBER(qn_arc_options, frames),
    QN_MEMBER(qn_arc_options, max_steps),
    QN_MEMBER(qn_arc_options, pool_bytes),
    QN_LAYOUTS_END,
};

const qn_tool qn_tool_arc = {
    .name = "arc",
    .metrics = names,
    .n_metrics = sizeof names / sizeof *names,
    .layouts = layouts,
};
