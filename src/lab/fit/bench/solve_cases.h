/* solve_cases.h - problems for timed solves: the same numbers in every run, and the same as in
 * programs for other solvers that draw them from std::mt19937_64. */
#ifndef QN_LAB_FIT_BENCH_SOLVE_CASES_H
#define QN_LAB_FIT_BENCH_SOLVE_CASES_H

#include "domain/fit/problem/problem.h"

/* Springs on the edges of an icosphere (30 * 4^level) at rest on the sphere, with vertices moved by
 * 5 % of the mean edge and anchored on the sphere with weight 0.3: the least cost is 0. */
qn_status qn_fit_case_noisy_springs(int level, qn_fit_problem **out, qn_err *err);

/* Cameras of 9 parameters on an arc, `n_points` points seen by six of them each, with half a pixel
 * of noise; points are eliminated. */
qn_status qn_fit_case_arc_of_cameras(int n_cameras, int n_points, qn_fit_problem **out,
                                     qn_err *err);

/* The hinge energy of an icosphere. */
qn_status qn_fit_case_hinges(int level, qn_fit_problem **out, qn_err *err);

#endif
