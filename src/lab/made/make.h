/* make.h - random programs and grids for tests and measurements.
 *
 * The same seed gives the same text on every machine. Statements are typed by a table of
 * signatures, so most programs finish. Some fail on their input, and some get an argument of the
 * wrong type on purpose.
 */
#ifndef QN_LAB_MADE_MAKE_H
#define QN_LAB_MADE_MAKE_H

#include "domain/arc/task/task.h"
#include "util/str.h"

typedef struct qn_arc_make_options {
    int n_statements; /* 0: 5 .. 80, depending on the seed */
    int wrong_pct;    /* percentage of programs with a wrong argument */
} qn_arc_make_options;

/* Appends `def solve_<name>(I):` with its statements. The output is usually a grid. */
void qn_arc_make_program(uint64_t seed, const char *name, const qn_arc_make_options *options,
                         qn_str *out);

/* Appends a `batt` function of n_steps steps (plain, piled and guarded) with records. wrong_pct
 * percent of its steps get a wrong argument; n_statements is not used. */
void qn_arc_make_batt(uint64_t seed, int n_steps, const qn_arc_make_options *options, qn_str *out);

enum { QN_ARC_MAKE_CELLS = QN_ARC_MOST_SIDE * QN_ARC_MOST_SIDE };

/* A grid with a background, rectangles, lines, shapes and noise. The cells are in `cells`. */
qn_arc_grid qn_arc_make_grid(uint64_t seed, unsigned char cells[QN_ARC_MAKE_CELLS]);

/* A folder of generated programs and tasks (make_files.c): `quern make programs`.
 *
 *   solvers.py        programs made0, made1, ...
 *   batt.py           a batt program, if n_steps is not 0
 *   tasks/made0.json  grids for each program, as pairs of the test without an output
 */

typedef struct qn_arc_make_files_options {
    uint64_t seed;
    int n_programs, n_grids; /* grids per task */
    int n_steps;             /* of the batt program; 0: none */
    int n_statements;        /* of each program; 0: 5 .. 80 */
    int wrong_pct;           /* percentage of programs with a wrong argument */
} qn_arc_make_files_options;

/* Makes the folder if it is missing. */
qn_status qn_arc_make_files(const char *folder, const qn_arc_make_files_options *options,
                            qn_err *err);

#endif
