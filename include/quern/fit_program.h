/* fit_program.h - programs of `quern fit` (docs/fit.md), solved from memory.
 *
 *     st = qn_fit_solve_program(ctx, text, &options, &solution, NULL, &err);
 *     qn_fit_solution_parameter(solution, 0, &x);
 *
 * How a solve ended is told by the solution, not by the status: one that did not converge has its
 * best parameters all the same.
 */
#ifndef QUERN_FIT_PROGRAM_H
#define QUERN_FIT_PROGRAM_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file that the program names: csv("points.csv"). */
typedef struct qn_fit_file {
    const char *name;
    const void *data;
    size_t bytes;
} qn_fit_file;

/* Another value of a constant, or start of a parameter that is one number. */
typedef struct qn_fit_setting {
    const char *name;
    double value;
} qn_fit_setting;

/* Everything is read during the call only. */
typedef struct qn_fit_program_options {
    const char *name;         /* of the program, in messages; NULL: "program" */
    const qn_fit_file *files; /* looked into first */
    int n_files;
    const char *folder; /* then here; NULL: nowhere */
    const qn_fit_setting *settings;
    int n_settings;
    int is_f32;        /* evaluate in float */
    int is_covariance; /* deviations also of 201 to 2000 free parameters */
    int threads;       /* of solves on the CPU; 0: all */
} qn_fit_program_options;

typedef struct qn_fit_solution qn_fit_solution;

/* `options` may be NULL. When the text or its data are wrong, the status is QN_ERR_INPUT and `err`
 * has the first fault; *faults (may be NULL), if not NULL then, has all of them with their lines,
 * to be given to qn_fit_faults_free. */
QN_API qn_status qn_fit_solve_program(qn_ctx *ctx, const char *text,
                                      const qn_fit_program_options *options, qn_fit_solution **out,
                                      char **faults, qn_err *err);
QN_API void qn_fit_solution_free(qn_fit_solution *solution); /* NULL is fine */
QN_API void qn_fit_faults_free(char *faults);                /* NULL is fine */

/* A parameter of the program: `count` blocks of `dim` numbers. */
typedef struct qn_fit_parameter {
    const char *name;
    uint32_t count, dim;
    const double *values, *start; /* count * dim; they live as long as the solution */
    const double *deviations;     /* NULL when there are none */
} qn_fit_parameter;

QN_API int qn_fit_solution_n_parameters(const qn_fit_solution *solution);
QN_API void qn_fit_solution_parameter(const qn_fit_solution *solution, int i,
                                      qn_fit_parameter *out);

QN_API int qn_fit_solution_is_converged(const qn_fit_solution *solution); /* every solve did */
/* JSON, as --report FILE.json writes it; it lives as long as the solution. */
QN_API const char *qn_fit_solution_report(const qn_fit_solution *solution);

#ifdef __cplusplus
}
#endif
#endif
