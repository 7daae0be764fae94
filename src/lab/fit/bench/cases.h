/* cases.h - problems to measure: made in memory, of any size, the same in every run. */
#ifndef QN_LAB_FIT_BENCH_CASES_H
#define QN_LAB_FIT_BENCH_CASES_H

#include "domain/fit/problem/problem.h"

/* A triangulated square grid with `n` edges, each a spring: |a - b| - rest. Inner vertices have six
 * of them. */
qn_status qn_fit_case_springs(uint32_t n, qn_fit_problem **out, qn_err *err);

/* 64 scalar operations, 12 of them transcendental or divisions, on 8 inputs per instance. */
qn_status qn_fit_case_graph64(uint32_t n, qn_fit_problem **out, qn_err *err);

/* `n` observations of n / 5 points by 1000 cameras of 9 parameters. */
qn_status qn_fit_case_cameras(uint32_t n, qn_fit_problem **out, qn_err *err);

/* `n` points of a curve with three shared parameters. */
qn_status qn_fit_case_curve(uint32_t n, qn_fit_problem **out, qn_err *err);

/* An icosphere of 30 * 4^level springs with an anchor at each vertex, its vertices moved by 5 %. */
qn_status qn_fit_case_icosphere(int level, qn_fit_problem **out, qn_err *err);

/* One set of unknowns and one group of terms over it, as a problem. Owns the graph of `spec`, all
 * of whose slots refer to the set. */
typedef struct qn_fit_case_set {
    const char *name;
    uint32_t count;
    int dim;
    const double *x;
} qn_fit_case_set;

qn_status qn_fit_case_make(const qn_fit_case_set *set, const qn_fit_group_spec *spec,
                           qn_fit_problem **out, qn_err *err);

/* For timed solves (solve_cases.c): the numbers are those of programs for other solvers that draw
 * them from std::mt19937_64. */

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
