/* selftest.h - does quern work here: known answers, every op on every device against one thread
 * of the CPU, a fault that must be survived, the kernel cache.
 */
#ifndef QN_LAB_SELFTEST_SELFTEST_H
#define QN_LAB_SELFTEST_SELFTEST_H

#include <quern/quern.h>

#include "engine/telemetry/progress.h"
#include "util/status.h"

typedef enum { QN_CHECK_OK, QN_CHECK_FAILED, QN_CHECK_SKIPPED } qn_check_result;

typedef struct qn_check {
    char name[48], device[24];
    qn_check_result result;
    char detail[240]; /* what is wrong, or why it was left out; may be "" */
} qn_check;

/* Zero-initialised is empty. */
typedef struct qn_selftest {
    qn_check *list;
    size_t n, room, n_failed;
} qn_selftest;

typedef struct qn_selftest_options {
    qn_options engine; /* backend: the devices to test; NULL: all of them and the simulated one */
    qn_progress_options watch; /* how progress is shown */
} qn_selftest_options;

/* Runs everything. A check that fails is in the list; an error is returned only when testing itself
 * was not possible. A device asked for by name that is not here: QN_ERR_INIT. */
qn_status qn_selftest_run(const qn_selftest_options *options, qn_selftest *out, qn_err *err);
void qn_selftest_free(qn_selftest *tests);

#endif
