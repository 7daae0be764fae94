/* costs.h - how many primitives runs of a program were seen to execute.
 *
 * A compiled program says what it may cost; how often its loops turn is known only after it ran.
 * What batches showed is kept by the program's content as a weighted mean, in which a batch counts
 * a quarter, and from one process to the next in a file beside the engine's profiles. So a batch
 * that is like an earlier one begins with the programs that take long.
 */
#ifndef QN_ARC_COSTS_H
#define QN_ARC_COSTS_H

#include "util/status.h"

/* Programs that are remembered; beyond, those not seen for longest are forgotten. */
enum { QN_ARC_MOST_COSTS = 8192 };

typedef struct qn_arc_costs qn_arc_costs;

qn_status qn_arc_costs_new(qn_arc_costs **out, qn_err *err);
void qn_arc_costs_free(qn_arc_costs *costs); /* NULL is fine */

/* What a program is found by: its content, but not its number in a file. */
uint64_t qn_arc_costs_key(const unsigned char *program, size_t n);

/* A batch in which runs of the program had so many steps on average. */
void qn_arc_costs_add(qn_arc_costs *costs, uint64_t key, double steps);

/* Steps that a run is likely to have; 0: it was never seen. */
double qn_arc_costs_steps(const qn_arc_costs *costs, uint64_t key);

/* How long a launch takes at a place: a + b * cost, and for the first one of a process so much
 * more, without compiling. */
typedef struct qn_arc_pace {
    double a_us, b_us, first_us;
} qn_arc_pace;

/* Of a place ("cuda:0 NVIDIA H200 132"); 0 when that is not known. Of more than a few places the
 * last ones are not kept. */
int qn_arc_costs_get_pace(const qn_arc_costs *costs, const char *place, qn_arc_pace *out);
void qn_arc_costs_set_pace(qn_arc_costs *costs, const char *place, const qn_arc_pace *pace);

int qn_arc_costs_count(const qn_arc_costs *costs);

/* Adds what the file holds to what is known. A file that is wrong leaves nothing behind. */
qn_status qn_arc_costs_read(qn_arc_costs *costs, const char *path, qn_err *err);

/* Writes the programs that take long enough for their place in a batch to matter, when there is
 * anything that the file read has not. */
qn_status qn_arc_costs_write(qn_arc_costs *costs, const char *path, qn_err *err);

#endif
