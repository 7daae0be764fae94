/* report.h - makes one page for any number of runs: a summary, a section per run, the counters of
 * the engine.
 *
 * The page needs no script and no network: pictures and charts are embedded.
 */
#ifndef QN_DOMAIN_REPORT_REPORT_H
#define QN_DOMAIN_REPORT_REPORT_H

#include "run.h"
#include "util/table.h"

enum { QN_RP_MAX_RUNS = 64 };

/* Zero-initialised: empty. */
typedef struct qn_rp_runs {
    qn_rp_run *list;
    size_t n, room;
} qn_rp_runs;

/* Reads each folder; one that contains only folders is expanded into them. */
qn_status qn_rp_read(const char *const *folders, size_t n, qn_rp_runs *out, qn_err *err);
void qn_rp_free(qn_rp_runs *runs);

/* A table with one row for every run and reference it was compared with. */
qn_table qn_rp_summary(const qn_rp_runs *runs);

/* Counts the comparisons, and those that hold. */
void qn_rp_count_checks(const qn_rp_runs *runs, size_t *n, size_t *n_ok);

qn_status qn_rp_write(const qn_rp_runs *runs, const char *title, const char *path, qn_err *err);

#endif
