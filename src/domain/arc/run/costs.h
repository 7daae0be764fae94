/* costs.h - remembers how many primitives the runs of a program executed.
 *
 * A compiled program carries an estimate of its cost, but how often its loops repeat is known only
 * after it ran. The table holds a weighted mean for each program, looked up by its content; a new
 * batch counts for a quarter. It is saved in a file beside the engine's profiles, so a batch like
 * an earlier one starts with the programs that take long.
 */
#ifndef QN_ARC_COSTS_H
#define QN_ARC_COSTS_H

#include "util/status.h"

/* Limit on programs in the table; beyond it, those unused for longest are forgotten. */
enum { QN_ARC_MOST_COSTS = 8192 };

typedef struct qn_arc_costs qn_arc_costs;

qn_status qn_arc_costs_new(qn_arc_costs **out, qn_err *err);
void qn_arc_costs_free(qn_arc_costs *costs); /* may be NULL */

/* The key of a program: a hash of its content without its number in a file. */
uint64_t qn_arc_costs_key(const unsigned char *program, size_t n);

/* Adds a batch in which runs of the program took `steps` on average. */
void qn_arc_costs_add(qn_arc_costs *costs, uint64_t key, double steps);

/* Expected steps of a run; 0: the program is unknown. */
double qn_arc_costs_steps(const qn_arc_costs *costs, uint64_t key);

/* The time of a launch on a device: a + b * cost, plus an extra for the first launch of a process,
 * not counting compilation, which takes compile_us; 0: unknown. */
typedef struct qn_arc_pace {
    double a_us, b_us, first_us, compile_us;
} qn_arc_pace;

/* The pace of a device ("cuda:0 NVIDIA H200 132"); returns 0 if it is unknown. The table holds a
 * few devices; others are not stored. */
int qn_arc_costs_get_pace(const qn_arc_costs *costs, const char *place, qn_arc_pace *out);
void qn_arc_costs_set_pace(qn_arc_costs *costs, const char *place, const qn_arc_pace *pace);

/* Adds the contents of the file to the table. A bad file changes nothing. */
qn_status qn_arc_costs_read(qn_arc_costs *costs, const char *path, qn_err *err);

/* Writes the programs that take long enough for their position in a batch to matter, if anything
 * has changed since the file was read. */
qn_status qn_arc_costs_write(qn_arc_costs *costs, const char *path, qn_err *err);

#endif
