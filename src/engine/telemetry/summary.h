/* summary.h - what a run did, in six lines for people; tables of pools and buckets. */
#ifndef QN_ENGINE_SUMMARY_H
#define QN_ENGINE_SUMMARY_H

#include "engine/telemetry/export.h"

#include <stdio.h>

/* Ends a run on stderr:
 *
 *   quern tasks run: 24 tasks in 3.1 ms (7 742 tasks/s), result ok
 *     device     cuda:0 NVIDIA H100 (sm_90)   stages 24   cpu stages 0   fallbacks 0
 *     ...
 */
void qn_summary_print(FILE *to, const qn_metrics *metrics, const qn_run_report *report);

/* Pools with their hit rates, buckets with their tasks and waste (QUERN_STATS=1). Prints nothing
 * where nothing was counted. */
void qn_stats_print(FILE *to, const qn_metrics *metrics);

/* Both into `out`, which they return. 1240 -> "1 240"; below 100 with one decimal when it is
 * not whole, below 1 with three digits. 0.0031 s -> "3.1 ms", 754 s -> "12:34 min". */
char *qn_format_count(double count, char *out, size_t size);
char *qn_format_time(double seconds, char *out, size_t size);

#endif
