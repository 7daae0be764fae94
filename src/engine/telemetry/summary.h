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

#endif
