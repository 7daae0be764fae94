/* tool.c - what fit registers with the engine. */
#include "domain/tools.h"

#include <quern/fit.h>

static const qn_metric_def names[] = {
    QN_GAUGE_ROW("kernel_live", "Values of a work item that are alive at once", QN_KEYS("kernel")),
    QN_GAUGE_ROW("kernel_live_kept",
                 "Values of a work item that would be alive if none were recomputed",
                 QN_KEYS("kernel")),
    QN_GAUGE_ROW("kernel_repeats", "Operations of a work item that are repeated",
                 QN_KEYS("kernel")),
    QN_HISTOGRAM_ROW("fit_batch_size", "Instances of a group of terms"),
    QN_GAUGE_ROW("fit_kernel_groups", "Groups of terms of the last solve"),
    QN_GAUGE_ROW("fit_residuals_per_s", "Residuals evaluated per second"),
};

static const qn_abi_entry layouts[] = {
    QN_WHOLE(qn_fit_file),
    QN_MEMBER(qn_fit_file, name),
    QN_MEMBER(qn_fit_file, data),
    QN_MEMBER(qn_fit_file, bytes),
    QN_WHOLE(qn_fit_column),
    QN_MEMBER(qn_fit_column, file),
    QN_MEMBER(qn_fit_column, name),
    QN_MEMBER(qn_fit_column, data),
    QN_MEMBER(qn_fit_column, count),
    QN_MEMBER(qn_fit_column, stride),
    QN_MEMBER(qn_fit_column, type),
    QN_WHOLE(qn_fit_parameter),
    QN_MEMBER(qn_fit_parameter, name),
    QN_MEMBER(qn_fit_parameter, count),
    QN_MEMBER(qn_fit_parameter, dim),
    QN_MEMBER(qn_fit_parameter, values),
    QN_MEMBER(qn_fit_parameter, start),
    QN_MEMBER(qn_fit_parameter, deviations),
    QN_WHOLE(qn_fit_progress),
    QN_MEMBER(qn_fit_progress, solver),
    QN_MEMBER(qn_fit_progress, solve),
    QN_MEMBER(qn_fit_progress, iteration),
    QN_MEMBER(qn_fit_progress, max_iterations),
    QN_MEMBER(qn_fit_progress, is_accepted),
    QN_MEMBER(qn_fit_progress, linear_iterations),
    QN_MEMBER(qn_fit_progress, cost),
    QN_MEMBER(qn_fit_progress, gradient_max),
    QN_MEMBER(qn_fit_progress, step_norm),
    QN_MEMBER(qn_fit_progress, seconds),
    QN_WHOLE(qn_fit_callback),
    QN_MEMBER(qn_fit_callback, call),
    QN_MEMBER(qn_fit_callback, user),
    QN_LAYOUTS_END,
};

const qn_tool qn_tool_fit = {
    .name = "fit",
    .metrics = names,
    .n_metrics = sizeof names / sizeof *names,
    .layouts = layouts,
};
