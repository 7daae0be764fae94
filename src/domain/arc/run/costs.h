/* costs.h - how many primitives the runs of a program executed.
 *
 * A compiled program carries an estimate of its cost, but how often its loops repeat is known only
 * after it ran. The table has a weighted mean for each program, found by its content, in which a
 * new batch counts a quarter. A file beside the engine's profiles keeps it from one process to the
 * next. So a batch that is like an earlier one begins with the programs that take long.
 */
#ifndef QN_ARC_COSTS_H
#define QN_ARC_COSTS_H

#include "util/status.h"

/* Most programs of the table; beyond, those not seen for longest are forgotten. */
enum { QN_ARC_MOST_COSTS = 8192 };

typedef struct qn_arc_costs qn_arc_costs;

qn_status qn_arc_costs_new(qn_arc_costs **out, qn_err *err);
void qn_arc_costs_free(qn_arc_costs *costs); /* NULL is fine */

/* The key of a program: a hash of its content without its number in a file. */
uint64_t qn_arc_costs_key(const unsigned char *program, size_t n);

/* Adds a batch in which runs of the program had so many steps on average. */
void qn_arc_costs_add(qn_arc_costs *costs, uint64_t key, double steps);

/* Steps that a run is likely to have; 0: the program was never seen. */
double qn_arc_costs_steps(const qn_arc_costs *costs, uint64_t key);

/* How long a launch takes on a device: a + b * cost, and so much more for the first one of a
 * process, not counting compilation, which takes compile_us; 0: not known. */
typedef struct qn_arc_pace {
    double a_us, b_us, first_us, compile_us;
} qn_arc_pace;

/* The pace of a device ("cuda:0 NVIDIA H200 132"); 0 when it is not known. There is room
 * for a few devices; further ones are not stored. */
int qn_arc_costs_get_pace(const qn_arc_costs *costs, const char *place, qn_arc_pace *out);
void qn_arc_costs_set_pace(qn_arc_costs *costs, const char *place, const qn_arc_pace *pace);

/* Adds what the file holds to the table. A bad file changes nothing. */
qn_status qn_arc_costs_read(qn_arc_costs *costs, const char *path, qn_err *err);

/* Writes the programs that take long enough for their position in a batch to matter, if anything
 * has changed since the file was read. */
qn_status qn_arc_costs_write(qn_arc_costs *costs, const char *path, qn_err *err);

#endif
