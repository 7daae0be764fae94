/* spread.h - a list of instances over several devices.
 *
 * The list is cut into pieces of about equal cost, which the engine's split hands to devices: as
 * they become free, or in blocks. Every device has a station with a copy of the pool. A device that
 * fails gives its pieces back to the others; when none is left the CPU takes the rest, with the
 * line that says so. Which device ran an instance cannot be seen in its result.
 */
#ifndef QN_ARC_SPREAD_H
#define QN_ARC_SPREAD_H

#include "domain/arc/run/vm.h"

#include <quern/split.h>

typedef struct qn_arc_spread qn_arc_spread;

/* *out stays NULL where the user does not share work among devices. */
qn_status qn_arc_spread_new(qn_ctx *ctx, const qn_arc_limits *limits, const qn_arc_limits *on_cpu,
                            const qn_split_options *options, qn_arc_spread **out, qn_err *err);
void qn_arc_spread_free(qn_arc_spread *spread); /* NULL is fine */

/* Takes the answer to the instances first .. first + n - 1, which ran on `device`. */
typedef qn_status (*qn_arc_piece_fn)(void *user, uint32_t first, uint32_t n,
                                     const qn_arc_answer *answer, int device, qn_err *err);

/* A list for all devices. Instance k has number k and the cost costs[k]. What is new in the pool is
 * so since the state before `state`. */
typedef struct qn_arc_spread_work {
    qn_arc_work work;
    uint64_t state;
    const float *costs;
    qn_arc_piece_fn deliver;
    void *user;
} qn_arc_spread_work;

qn_status qn_arc_spread_run(qn_arc_spread *spread, const qn_arc_spread_work *work, qn_err *err);

/* "sim:0+sim:1" */
const char *qn_arc_spread_name(const qn_arc_spread *spread);

#endif
