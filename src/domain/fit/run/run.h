/* run.h - runs a program: from its file to its results.
 *
 *     st = qn_fit_load_file(&options, &text, &faults, &err);
 *     st = qn_fit_run(ctx, text, &options, &result, &err);
 *     st = qn_fit_write_files(ctx, text, &result, &options, &err);
 *
 * Solve blocks run one after the other, each from the result of the one before. The report, not the
 * status, says how a solve ended; parameters are always finite.
 */
#ifndef QN_FIT_RUN_RUN_H
#define QN_FIT_RUN_RUN_H

#include "domain/fit/eval/eval.h"
#include "domain/fit/problem/problem.h"
#include "domain/fit/solve/solver.h"
#include "domain/fit/text/text.h"
#include "util/run_folder.h"
#include "util/str.h"
#include "util/table.h"

#include <jansson.h>

/* Loading (load.c). */

/* Copies the options of a call and checks them; NULL means the defaults. */
qn_status qn_fit_options_take(const qn_fit_options *given, qn_fit_options *out, qn_err *err);
/* Checks a complete set of options. */
qn_status qn_fit_options_check(const qn_fit_options *options, qn_err *err);

/* The name of the program without folders. */
const char *qn_fit_base_name(const qn_fit_options *options);

/* Faults of the text are added to `faults`, each with its position; `err` has the first. */
qn_status qn_fit_load(const char *program, size_t bytes, const qn_fit_options *options,
                      qn_fit_text **out, qn_str *faults, qn_err *err);
/* Loads the file that is the program's name; data files are searched next to it first. */
qn_status qn_fit_load_file(const qn_fit_options *options, qn_fit_text **out, qn_str *faults,
                           qn_err *err);

/* The options of a solve block, over the defaults of its solver (options.c). */
qn_status qn_fit_solve_options_of(const qn_fit_solve *solve, qn_fit_solve_options *out,
                                  qn_err *err);

/* Solving (run.c). */

typedef struct qn_fit_solved {
    qn_fit_report report;
    char device[24]; /* "cpu:0" */
} qn_fit_solved;

/* Zero-initialised is empty. */
typedef struct qn_fit_result {
    qn_fit_solved *solves; /* one for each solve block, at least one */
    int n_solves;
    double *start; /* the parameters before the first solve */
    qn_fit_precision precision;
    qn_fit_covariance covariance;
    char no_covariance[200]; /* why there are no deviations, or "" */
    double seconds;
} qn_fit_result;

/* The index of the device for solves and evaluations: the one named by --backend, otherwise a GPU,
 * otherwise the CPU. */
int qn_fit_device_of(qn_ctx *ctx);

/* One solve, on the device that suits it, from problem->x, which receives the result. */
qn_status qn_fit_solve_routed(qn_ctx *ctx, qn_fit_problem *problem, const char *solver,
                              qn_fit_precision precision, const qn_fit_solve_options *options,
                              qn_fit_solved *out, qn_err *err);

qn_status qn_fit_run(qn_ctx *ctx, qn_fit_text *text, const qn_fit_options *options,
                     qn_fit_result *out, qn_err *err);
void qn_fit_result_free(qn_fit_result *result);

/* The name of the device of a solve, "AMD EPYC 9654", or its id where the name is unknown. */
const char *qn_fit_device_name(qn_ctx *ctx, const qn_fit_solved *solved);

static inline const qn_fit_report *qn_fit_last_report(const qn_fit_result *result)
{
    return &result->solves[result->n_solves - 1].report;
}

/* Files (files.c, report.c, stats.c, page.c). */

/* Fails unless every file that the options and the program ask for can be written. *to is the
 * folder of the program's files, which the caller closes; NULL: there are none. */
qn_status qn_fit_check_files(const qn_fit_text *text, const qn_fit_options *options,
                             qn_run_folder **to, qn_err *err);
qn_status qn_fit_write_files(qn_ctx *ctx, const qn_fit_text *text, const qn_fit_result *result,
                             const qn_fit_options *options, qn_run_folder *to, qn_err *err);

/* The report of one solve; the caller releases it. `problem` names the groups; numbers that are not
 * finite are null. */
qn_status qn_fit_report_json(const qn_fit_problem *problem, const qn_fit_report *report,
                             json_t **out, qn_err *err);

/* The JSON report of a run, to be freed by free(). */
qn_status qn_fit_report_text(qn_ctx *ctx, const qn_fit_text *text, const qn_fit_result *result,
                             const qn_fit_options *options, char **out, qn_err *err);
/* A page with the history of the solve and, if the program has a mesh, its picture before and
 * after. */
qn_status qn_fit_write_page(qn_ctx *ctx, const char *path, const qn_fit_text *text,
                            const qn_fit_result *result, const qn_fit_options *options,
                            qn_err *err);
qn_status qn_fit_write_stats(qn_ctx *ctx, const char *path, const qn_fit_text *text,
                             const qn_fit_result *result, qn_err *err);

/* The set of mesh vertices that a program moves, and the mesh; -1: none. */
int qn_fit_mesh_set(const qn_fit_text *text, qn_fit_mesh *mesh);

/* Text output (summary.c). */

/* How the run ended, its parameters, the files that were written. */
void qn_fit_print_summary(const qn_fit_text *text, const qn_fit_result *result,
                          const qn_fit_options *options, qn_str *out);

/* The name of scalar `k` of the problem's x: "b1", "x[12].y", "cam[3][7]". */
void qn_fit_scalar_name(const qn_fit_problem *problem, uint32_t k, char *out, size_t size);

/* Adds a row for each of the first scalars of x that are parameters of the program, at most `most`:
 * name, value, deviation in `format`, start. Returns how many were left out. */
uint32_t qn_fit_list_parameters(const qn_fit_problem *problem, const qn_fit_result *result,
                                uint32_t most, const char *format, qn_table *table);

/* Kernels as text (emit.c). */

typedef enum {
    QN_FIT_TARGET_C,
    QN_FIT_TARGET_OPENCL,
    QN_FIT_TARGET_CUDA,
    QN_FIT_TARGET_WGSL
} qn_fit_target;

typedef enum {
    QN_FIT_KERNEL_RES,  /* residuals */
    QN_FIT_KERNEL_JAC,  /* residuals and their Jacobian */
    QN_FIT_KERNEL_GRAD, /* cost and gradient */
} qn_fit_kernel;

/* Appends the text of one group's kernel, as the target's compiler gets it after the prelude of the
 * dialect (for WGSL: a whole module). */
qn_status qn_fit_emit(const qn_fit_group *group, qn_fit_kernel kernel, qn_fit_target target,
                      qn_fit_precision precision, qn_str *out, qn_err *err);

#endif
