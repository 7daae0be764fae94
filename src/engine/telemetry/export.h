/* export.h - metrics as files: JSON for tools, Prometheus text for scrapers.
 *
 * The JSON also describes the run; that part is passed as a plain struct, so that the exporter does
 * not depend on contexts.
 */
#ifndef QN_ENGINE_EXPORT_H
#define QN_ENGINE_EXPORT_H

#include "engine/telemetry/metrics.h"
#include "util/str.h"

#include <quern/fallback.h>

typedef struct qn_run_device {
    const char *id, *name, *arch, *driver;
    const char *failure; /* why the run stopped using it, or NULL */
} qn_run_device;

typedef struct qn_run_stage {
    const char *name, *device;
    uint64_t runs;
    double exec_us;
    uint64_t h2d_bytes, d2h_bytes;
} qn_run_stage;

/* A run for the exporters. All zero is valid; strings may be NULL. */
typedef struct qn_run_report {
    qn_run_info run;
    const char *started; /* UTC, "2026-01-31T12:00:00Z" */
    double wall_time_s;  /* 0: since the metrics were made */
    const qn_run_device *devices;
    size_t n_devices;
    const qn_fallback *fallbacks;
    size_t n_fallbacks;
    const qn_run_stage *stages;
    size_t n_stages;

    /* For the summary only. */
    double budget_bytes; /* of device memory, 0: none */
} qn_run_report;

/* Appends one quern-metrics/1 object. The order is fixed: metrics by name and labels, fallbacks by
 * stage and reason, stages by name and device. */
qn_status qn_export_json(qn_metrics *metrics, const qn_run_report *report, qn_str *out,
                         qn_err *err);

/* Appends Prometheus text, format 0.0.4; every name gets the prefix "quern_". */
qn_status qn_export_prometheus(const qn_metrics *metrics, qn_str *out, qn_err *err);

/* Writes JSON or Prometheus text, by the ending of `path`: .json or .prom. Any other ending is a
 * usage error; callers can find it before the run with qn_export_check. */
qn_status qn_export_file(qn_metrics *metrics, const qn_run_report *report, const char *path,
                         qn_err *err);
qn_status qn_export_check(const char *path, qn_err *err);

/* summary.c: a summary of a run in six lines. */

/* Ends a run on stderr:
 *
 *   quern tasks run: 24 tasks in 3.1 ms (7 742 tasks/s), result ok
 *     device     cuda:0 NVIDIA H100 (sm_90)   stages 24   cpu stages 0   fallbacks 0
 *     ...
 */
void qn_summary_print(FILE *to, const qn_metrics *metrics, const qn_run_report *report);

#endif
