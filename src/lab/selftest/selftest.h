/* selftest.h - checks quern on this machine: known answers, every op on every device against one
 * thread of the CPU, recovery from a fault, the kernel cache.
 */
#ifndef QN_LAB_SELFTEST_SELFTEST_H
#define QN_LAB_SELFTEST_SELFTEST_H

#include <quern/quern.h>

#include "util/progress.h"
#include "lab/finding.h"

typedef struct qn_selftest_options {
    qn_options engine; /* backend: the devices to test; NULL: all of them and the simulated one */
    qn_progress_options watch; /* how progress is shown */
} qn_selftest_options;

/* Runs everything. Each finding is one check on one device, named by its part; a failure is a
 * finding out of bounds. Returns an error only if testing itself was impossible; QN_ERR_INIT if a
 * device requested by name is missing. */
qn_status qn_selftest_run(const qn_selftest_options *options, qn_findings *out, qn_err *err);

#endif
