/* fault.h - faults on demand: QUERN_FAULT and qn_options.fault.
 *
 * A comma list of rules `where[:stage][>bytes][@n][*count]`; where = compile alloc launch
 * copy_h2d copy_d2h timeout device_lost corrupt. Parts `sim.key=value` are limits of the sim
 * device. Without rules a check is one test of a pointer.
 */
#ifndef QN_ENGINE_FAULT_H
#define QN_ENGINE_FAULT_H

#include "util/status.h"
#include "util/str.h"

typedef struct qn_faults qn_faults;

/* Parses `rules` (NULL or "" gives *out = NULL). sim.* parts are appended to
 * `sim`; they are checked whether or not a sim device is opened. */
qn_status qn_faults_new(const char *rules, qn_faults **out, qn_str *sim, qn_err *err);
void qn_faults_free(qn_faults *faults);

/* Counts one event and says whether a rule wants it to fail. `stage` and `bytes` may be NULL
 * and 0. */
int qn_fault_hits(qn_faults *faults, const char *where, const char *stage, size_t bytes);

#endif
