/* make.h - random programs and grids for tests and measurements.
 *
 * The same seed gives the same text on every machine. Statements are typed by a table of
 * signatures, so that most programs run to their end; some fail on their input, and a share of them
 * gets an argument of a wrong type on purpose.
 */
#ifndef QN_LAB_MADE_MAKE_H
#define QN_LAB_MADE_MAKE_H

#include "domain/arc/task/task.h"
#include "util/str.h"

typedef struct qn_arc_make_options {
    int n_statements; /* 0: 5 .. 80, by the seed */
    int wrong_pct;    /* share of programs with a wrong argument */
} qn_arc_make_options;

/* Appends `def solve_<name>(I):` with its statements. The output is a grid mostly. */
void qn_arc_make_program(uint64_t seed, const char *name, const qn_arc_make_options *options,
                         qn_str *out);

/* Appends a `batt` function of n_steps steps, plain, piled and guarded ones, with records. Of its
 * steps, wrong_pct percent get a wrong argument; n_statements is not used. */
void qn_arc_make_batt(uint64_t seed, int n_steps, const qn_arc_make_options *options, qn_str *out);

enum { QN_ARC_MAKE_CELLS = QN_ARC_MOST_SIDE * QN_ARC_MOST_SIDE };

/* A grid with a background, rectangles, lines, shapes and noise. The cells are in `cells`. */
qn_arc_grid qn_arc_make_grid(uint64_t seed, unsigned char cells[QN_ARC_MAKE_CELLS]);

#endif
