/* cut.h - all decisions on how a list of jobs is cut.
 *
 * There are five cuts, each for its own reason:
 *
 *   a series into runs       the results and outputs of a run stay in memory until the next one
 *   a run into batches       the programs and values of a batch must fit into the pool together
 *   a batch into launches    nothing stops a launch, and a display, a progress bar or a deadline
 *                            may be waiting for its end
 *   a launch into pieces     several devices share it
 *   a piece into chunks      teams take chunks of the list as they become free; where teams share a
 *                            group, those of a group take instances of one program together
 */
#ifndef QN_ARC_CUT_H
#define QN_ARC_CUT_H

#include "kernel/arc/arc_code.h"

struct qn_arc_batch;

/* Jobs per run of a long series, enough to fill any device. `want` is ARC_WANT_*. */
uint32_t qn_arc_cut_series(uint64_t n, uint32_t want);

/* Most jobs per batch; the pool may hold fewer. */
uint32_t qn_arc_cut_batch(uint32_t n);

/* How many of the batch's waiting jobs on this rung go into the next launch. */
uint32_t qn_arc_cut_launch(const struct qn_arc_batch *batch);

/* How many jobs of the batch run at the same time on its rung. */
uint32_t qn_arc_jobs_at_once(const struct qn_arc_batch *batch);

/* Pieces of about equal cost. Returns their number, at most qn_arc_most_pieces; `pieces` must hold
 * that many. */
typedef struct qn_arc_piece {
    uint32_t first, n;
    int slot; /* of the executor that runs it */
} qn_arc_piece;

int qn_arc_most_pieces(uint32_t n, int n_devices);
int qn_arc_cut_pieces(const float *costs, uint32_t n, int n_devices, qn_arc_piece *pieces);

/* How a device with `units` units deals n instances, or groups of them, to its teams. */
typedef struct qn_arc_dealing {
    uint32_t n_queues, singles, chunk; /* arc_par */
} qn_arc_dealing;

qn_arc_dealing qn_arc_cut_chunks(uint32_t n, uint32_t units);

/* Groups a list, in which instances of one program are adjacent, by `teams`. The last group of a
 * program is padded with empty instances. Returns the padded length; `to` may be NULL. */
uint32_t qn_arc_pad_groups(const arc_instance *list, uint32_t n, uint32_t teams, arc_instance *to);

/* Whether few enough of the padded instances are empty to be worth it. */
int qn_arc_pad_groups_pays(uint32_t n, uint32_t n_padded);

#endif
