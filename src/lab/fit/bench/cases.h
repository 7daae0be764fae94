/* cases.h - problems to measure: made in memory, of any size, the same in every run. */
#ifndef QN_LAB_FIT_BENCH_CASES_H
#define QN_LAB_FIT_BENCH_CASES_H

#include "domain/fit/problem/problem.h"

/* A triangulated square grid with `n` edges, each a spring: |a - b| - rest. Inner vertices have
 * six. */
qn_status qn_fit_case_springs(uint32_t n, qn_fit_problem **out, qn_err *err);

/* 64 scalar operations, 12 of them transcendental or divisions, on 8 inputs per instance. */
qn_status qn_fit_case_graph64(uint32_t n, qn_fit_problem **out, qn_err *err);

/* `n` observations of n / 5 points by 1000 cameras of 9 parameters. */
qn_status qn_fit_case_cameras(uint32_t n, qn_fit_problem **out, qn_err *err);

/* `n` points of a curve with three shared parameters. */
qn_status qn_fit_case_curve(uint32_t n, qn_fit_problem **out, qn_err *err);

/* An icosphere of 30 * 4^level springs with an anchor at each vertex, its vertices moved by 5 %. */
qn_status qn_fit_case_icosphere(int level, qn_fit_problem **out, qn_err *err);

#endif
