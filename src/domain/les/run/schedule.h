/* schedule.h - what is due after which step, and which steps make one graph.
 *
 * Checks, encodings and log rows are stages among the steps. Marks need the host: snapshots,
 * hashes, checkpoints. A span is a sequence of steps with the stages due among them. It ends at a
 * mark or after a fixed number of steps, so that most spans are alike and few graphs serve the
 * whole run.
 */
#ifndef QN_LES_SCHEDULE_H
#define QN_LES_SCHEDULE_H

#include "domain/les/options/options.h"

enum {
    QN_LES_DUE_CHECK = 1,
    QN_LES_DUE_ENCODE = 2,
    QN_LES_DUE_LOG = 4,
    QN_LES_DUE_SNAPSHOT = 8,
    QN_LES_DUE_HASH = 16,
    QN_LES_DUE_CHECKPOINT = 32
};
enum { QN_LES_DUE_MARKS = QN_LES_DUE_SNAPSHOT | QN_LES_DUE_HASH | QN_LES_DUE_CHECKPOINT };
enum { QN_LES_SPAN_MAX = 50 };

typedef struct qn_les_schedule {
    int steps;
    int span;                                    /* steps of a usual span */
    int check, encode, log;                      /* interval in steps; 0: never */
    int snapshot, hash, checkpoint;              /* interval in steps; 0: never */
    int keeps_last;                              /* the last step has a checkpoint */
    int n_frames, n_rows, n_snapshots, n_hashes; /* of the whole run, step 0 included */
} qn_les_schedule;

qn_les_schedule qn_les_schedule_of(const qn_les_options *config);

/* The interval of log rows where log_every is 0. */
int qn_les_log_interval(const qn_les_options *config);

/* The bits of QN_LES_DUE after `step` steps. Step 0 has no checkpoint. */
unsigned qn_les_due(const qn_les_schedule *schedule, int step);

/* How often something with interval `every` was due in steps 0 .. `step`; the last step of the run
 * counts if `is_last_due`. */
int qn_les_due_count(const qn_les_schedule *schedule, int every, int step, int is_last_due);

typedef struct qn_les_span {
    int n;                            /* steps */
    uint8_t due[QN_LES_SPAN_MAX + 1]; /* [k]: the stages after step k of the span, without marks */
} qn_les_span;

/* The span that starts after `step` steps, fewer than those of the run. */
qn_les_span qn_les_span_at(const qn_les_schedule *schedule, int step);

#endif
