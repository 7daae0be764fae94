/* fit.h - nonlinear least squares: programs solved from memory, and expressions.
 *
 * Programs are texts in the language of `quern fit` (docs/fit.md). Their tables may be arrays:
 *
 *     const qn_fit_column columns[] = { { "points.csv", "x", x, n }, { "points.csv", "y", y, n } };
 *     qn_fit_options options;
 *     qn_fit_solution *solution;
 *     qn_fit_parameter a;
 *
 *     qn_fit_options_init(&options, sizeof options);
 *     options.columns = columns;
 *     options.n_columns = 2;
 *     st = qn_fit_solve_program(ctx, text, &options, &solution, NULL, &err);
 *     qn_fit_solution_parameter(solution, 0, &a);
 *
 * How a solve ended is in the solution, not in the status: a solve that did not converge still has
 * its best parameters.
 *
 * A qn_fit_graph is the expression of one kind of term: its leaves are parameters (component c of
 * the block bound to slot s), data columns and literals; its outputs are residual rows. It is built
 * once and evaluated for many instances that differ only in their blocks and data.
 *
 *     qn_fit_graph *g;                                     a spring: |a - b| - rest
 *     qn_fit_vec end[2] = { { .n = 3 }, { .n = 3 } }, length;
 *
 *     qn_fit_graph_new("spring", QN_FIT_TEMPLATE, &g, &err);
 *     qn_fit_params(g, 0, 3, end[0].at);
 *     qn_fit_params(g, 1, 3, end[1].at);
 *     qn_fit_call(g, "distance", end, 2, &length);
 *     qn_fit_output(g, qn_fit_sub(g, length.at[0], qn_fit_data(g, 0)));
 *     status = qn_fit_graph_finish(g, &err);
 *
 * Errors are sticky: a call on a bad operand returns node 0, every call after it does nothing, and
 * qn_fit_graph_finish reports the first fault. Nothing here touches a device, a file or a thread.
 */
#ifndef QUERN_FIT_H
#define QUERN_FIT_H

#include <quern/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Programs. */

/* A data file in memory, under the name that the program uses: csv("points.csv"). */
typedef struct qn_fit_file {
    const char *name;
    const void *data;
    size_t bytes;
} qn_fit_file;

typedef enum { QN_FIT_COLUMN_F64, QN_FIT_COLUMN_F32, QN_FIT_COLUMN_I64 } qn_fit_column_type;

/* A column of a table in memory. Columns with the same `file` must have the same length; they
 * replace that file wherever the program reads it by csv(...). Numbers must be finite; I64 numbers
 * are rounded to double. */
typedef struct qn_fit_column {
    const char *file; /* "points.csv" */
    const char *name; /* of the column, at most 31 bytes */
    const void *data;
    qn_i64 count;
    qn_i64 stride; /* bytes from one number to the next; 0: no gaps */
    int type;      /* a qn_fit_column_type */
} qn_fit_column;

/* Values of options.precision. */
typedef enum { QN_FIT_F64, QN_FIT_F32 } qn_fit_precision;

/* The state of a solve after an iteration. Members that do not apply to the solver are 0. */
typedef struct qn_fit_progress {
    const char *solver;            /* "lm" */
    int solve;                     /* 0 for the first solve of the program */
    int iteration, max_iterations; /* of this solve, from 1 */
    int is_accepted;               /* 0: lm rejected the step and stays at its point */
    int linear_iterations;
    double cost, gradient_max, step_norm;
    double seconds; /* since the solve began */
} qn_fit_progress;

/* Called after each iteration. A nonzero result stops the program: its solution has the parameters
 * reached so far and the status "user_stop". */
typedef struct qn_fit_callback {
    int (*call)(void *user, const qn_fit_progress *progress);
    void *user;
} qn_fit_callback;

/* Texts and arrays belong to the caller; they are not used after the call. */
typedef struct qn_fit_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/fit.def>
} qn_fit_options;

/* Fills in the defaults; `size` is sizeof the struct. */
QN_API void qn_fit_options_init(qn_fit_options *options, size_t size);
QN_API const qn_option_table *qn_fit_option_table(void);

typedef struct qn_fit_solution qn_fit_solution;

/* Solves a program and writes the files that the options ask for. NULL options mean the defaults.
 * If the text or its data are wrong, the status is QN_ERR_INPUT and `err` has the first fault;
 * *faults (`faults` may be NULL) lists all faults with their lines; free it with
 * qn_fit_faults_free. */
QN_API qn_status qn_fit_solve_program(qn_ctx *ctx, const char *text, const qn_fit_options *options,
                                      qn_fit_solution **out, char **faults, qn_err *err);
/* Solves the program in a file. Data files are looked up next to it first. */
QN_API qn_status qn_fit_solve_file(qn_ctx *ctx, const char *path, const qn_fit_options *options,
                                   qn_fit_solution **out, char **faults, qn_err *err);
QN_API void qn_fit_solution_free(qn_fit_solution *solution); /* NULL is fine */
QN_API void qn_fit_faults_free(char *faults);                /* NULL is fine */

/* A parameter of the program: `count` blocks of `dim` numbers. The arrays belong to the
 * solution. */
typedef struct qn_fit_parameter {
    const char *name;
    uint32_t count, dim;
    const double *values, *start; /* count * dim */
    const double *deviations;     /* standard deviations, count * dim; NULL: unknown */
} qn_fit_parameter;

QN_API int qn_fit_solution_n_parameters(const qn_fit_solution *solution);
QN_API void qn_fit_solution_parameter(const qn_fit_solution *solution, int i,
                                      qn_fit_parameter *out);

QN_API int qn_fit_solution_is_converged(const qn_fit_solution *solution); /* every solve did */

/* How the first solve that did not converge ended; if all converged, how the last one did. */
typedef struct qn_fit_ending {
    const char *status; /* "converged_cost", "max_iterations", "user_stop", ... (docs/fit.md) */
    const char *text;   /* "3 iterations are the limit; the cost is 0.5" */
    const char *device; /* "cpu:0" */
} qn_fit_ending;

QN_API void qn_fit_solution_ending(const qn_fit_solution *solution, qn_fit_ending *out);

/* The output of `quern fit run`, and the JSON of its --report. They belong to the solution. */
QN_API const char *qn_fit_solution_summary(const qn_fit_solution *solution);
QN_API const char *qn_fit_solution_report(const qn_fit_solution *solution);

/* Expressions. */

typedef struct qn_fit_graph qn_fit_graph;

typedef uint32_t qn_fit_v; /* a node; 0 is none */

enum { QN_FIT_MAX_VEC = 64, QN_FIT_MAX_NODES = 1000000, QN_FIT_MAX_DIM = 4096 };

/* A scalar (n = 1), a vector, or a matrix row by row. */
typedef struct qn_fit_vec {
    int n;
    qn_fit_v at[QN_FIT_MAX_VEC];
} qn_fit_vec;

/* TEMPLATE: literals stay literals. INSTANCE: every literal becomes a data column with that value,
 * except 0, 1, -1, 2, 0.5, pi, 2 pi, exponents and the epsilon of safe operations; terms that
 * differ only in such numbers then have the same signature. */
typedef enum { QN_FIT_TEMPLATE, QN_FIT_INSTANCE } qn_fit_mode;

QN_API qn_status qn_fit_graph_new(const char *name, qn_fit_mode mode, qn_fit_graph **out,
                                  qn_err *err);
QN_API void qn_fit_graph_free(qn_fit_graph *graph); /* NULL is fine */

/* Leaves. */

/* Component `comp` of the block bound to `slot`. */
QN_API qn_fit_v qn_fit_param(qn_fit_graph *graph, int slot, int comp);
QN_API void qn_fit_params(qn_fit_graph *graph, int slot, int dim, qn_fit_v *out); /* 0 .. dim - 1 */
QN_API qn_fit_v qn_fit_data(qn_fit_graph *graph, int column);
QN_API qn_fit_v qn_fit_lit(qn_fit_graph *graph, double value); /* finite */

/* Fixes this component in all instances: it gets no derivative. */
QN_API void qn_fit_fix(qn_fit_graph *graph, int slot, int comp);

/* Operations. */

/* A scalar operation by name ("mul", "atan2", "select") with its operands. */
QN_API qn_fit_v qn_fit_op(qn_fit_graph *graph, const char *name, const qn_fit_v *args, int n_args);

QN_API qn_fit_v qn_fit_add(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b);
QN_API qn_fit_v qn_fit_sub(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b);
QN_API qn_fit_v qn_fit_mul(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b);
QN_API qn_fit_v qn_fit_div(qn_fit_graph *graph, qn_fit_v a, qn_fit_v b);
QN_API qn_fit_v qn_fit_neg(qn_fit_graph *graph, qn_fit_v a);

/* A balanced tree of additions whose shape depends only on n. Terms that differ are put in a
 * canonical order, so the order given does not matter. */
QN_API qn_fit_v qn_fit_sum(qn_fit_graph *graph, const qn_fit_v *terms, int n);

/* Any function by name: scalar operations (componentwise on vectors, with scalars repeated), vector
 * and matrix functions, geometry, losses over lists. */
typedef struct qn_fit_function {
    const char *name;
    int min_args, max_args;
    const char *usage; /* "rotate_aa(w3, p3)" */
} qn_fit_function;

QN_API const qn_fit_function *qn_fit_function_find(const char *name); /* NULL when there is none */
QN_API const qn_fit_function *qn_fit_function_at(int index);          /* NULL past the last */
QN_API qn_status qn_fit_call(qn_fit_graph *graph, const char *name, const qn_fit_vec *args,
                             int n_args, qn_fit_vec *out);

/* The end. */

QN_API void qn_fit_output(qn_fit_graph *graph, qn_fit_v row); /* once per residual row */

/* The first fault so far, or "". */
QN_API const char *qn_fit_graph_error(const qn_fit_graph *graph);

/* Drops nodes that no output needs, puts nodes, slots and columns in canonical order, and computes
 * the signature. Afterwards earlier node ids are invalid and no nodes can be added. */
QN_API qn_status qn_fit_graph_finish(qn_fit_graph *graph, qn_err *err);

enum { QN_FIT_SIGNATURE_BYTES = 32 };

/* After finish. Two graphs have the same topology if their canonical texts are equal; the signature
 * is the SHA-256 of that text. Slot and column numbers below are canonical. */
QN_API const uint8_t *qn_fit_graph_signature(const qn_fit_graph *graph);
QN_API const uint8_t *qn_fit_graph_canonical(const qn_fit_graph *graph, size_t *bytes);
QN_API int qn_fit_graph_n_outputs(const qn_fit_graph *graph);
QN_API int qn_fit_graph_n_slots(const qn_fit_graph *graph);
QN_API int qn_fit_graph_n_columns(const qn_fit_graph *graph);
QN_API int qn_fit_graph_slot(const qn_fit_graph *graph, int slot); /* the builder's number */
QN_API int qn_fit_graph_slot_dim(const qn_fit_graph *graph,
                                 int slot); /* highest component used + 1 */
/* The builder's column, or -1 - k for the k-th literal that became a column. */
QN_API int qn_fit_graph_column(const qn_fit_graph *graph, int column);
/* The value of a column that was a literal. */
QN_API double qn_fit_graph_column_value(const qn_fit_graph *graph, int column);

/* Adapts an expression to its instances: columns with the same value in all of them become
 * literals, and slots fixed in all of them get no derivatives. Arrays may be NULL; slots and
 * columns have the builder's numbers. */
typedef struct qn_fit_change {
    const uint8_t *is_literal; /* per column */
    const double *literals;
    const uint8_t *is_fixed; /* per slot */
} qn_fit_change;

QN_API qn_status qn_fit_graph_remake(const qn_fit_graph *graph, const qn_fit_change *change,
                                     qn_fit_graph **out, qn_err *err);

#ifdef __cplusplus
}
#endif
#endif
