/* writers.h - files that a run of many programs leaves.
 *
 * results  a line of JSON for each run (show/outcome.h)
 * trace    a line for each step: program, task, part, pair, line of the source, primitive, hash of
 *          the value
 * digest   a line for each run: program, task, part, pair, code, steps, hash of the output; the
 *          last line is "total", the number of runs and a hash of all lines before it. Two devices
 *          agree on everything when their files are equal
 *
 * All get their names when the run has ended well.
 */
#ifndef QN_ARC_WRITERS_H
#define QN_ARC_WRITERS_H

#include "domain/arc/batch/result.h"
#include "util/file.h"

typedef struct qn_arc_writers {
    qn_out results, trace, digest;
    uint64_t total; /* of the digest's lines */
    uint64_t n;
    qn_str line;
} qn_arc_writers;

/* Each path may be NULL or empty. Zeroed is closed. */
qn_status qn_arc_writers_open(qn_arc_writers *writers, const char *results, const char *trace,
                              const char *digest, qn_err *err);

/* Adds the run to every file. *is_solved is as in qn_arc_result_print. */
qn_status qn_arc_writers_add(qn_arc_writers *writers, const qn_arc_written *run, int *is_solved,
                             qn_err *err);

qn_status qn_arc_writers_commit(qn_arc_writers *writers, qn_err *err);
void qn_arc_writers_abort(qn_arc_writers *writers); /* fine when closed */

#endif
