/* make_files.h - a folder of generated programs and tasks: `quern make programs`.
 *
 *   solvers.py        programs made0, made1, ...
 *   batt.py           a batt program, when steps are asked for
 *   tasks/made0.json  grids for each program, as pairs of the test without an output
 */
#ifndef QN_LAB_MADE_MAKE_FILES_H
#define QN_LAB_MADE_MAKE_FILES_H

#include "lab/made/make.h"

typedef struct qn_arc_make_files_options {
    uint64_t seed;
    int n_programs, n_grids; /* grids of each task */
    int n_steps;             /* of the batt program; 0: none */
    int n_statements;        /* of each program; 0: 5 .. 80 */
    int wrong_pct;           /* share with a wrong argument */
} qn_arc_make_files_options;

/* Makes the folder where it is missing. */
qn_status qn_arc_make_files(const char *folder, const qn_arc_make_files_options *options,
                            qn_err *err);

#endif
