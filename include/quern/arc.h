/* arc.h - programs over colour grids, for search loops.
 *
 * A qn_arc keeps programs and tasks on the devices of a context. Runs upload only what is new:
 *
 *     qn_arc_new(ctx, NULL, &arc, &err);
 *     qn_arc_add_tasks(arc, tasks, n_tasks, &err);
 *     for (;;) {
 *         qn_arc_add_programs(arc, candidates, n_candidates, &err);
 *         qn_arc_run(arc, NULL, &results, &n_results, &err);
 *         ...
 *         qn_arc_clear(arc, QN_ARC_CLEAR_PROGRAMS, &err);
 *     }
 *
 * Options have the names and meanings of those of `quern arc run` (docs/arc.md). Calls on one
 * qn_arc come from one thread at a time.
 */
#ifndef QUERN_ARC_H
#define QUERN_ARC_H

#include <quern/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values of the choices. */
typedef enum qn_arc_pairs {
    QN_ARC_PAIRS_TRAIN,
    QN_ARC_PAIRS_TEST,
    QN_ARC_PAIRS_ALL,
    QN_ARC_PAIRS_FIRST
} qn_arc_pairs;
enum { QN_ARC_MATCH_ID, QN_ARC_MATCH_ALL };

/* How programs run. */
typedef struct qn_arc_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/arc.def>
} qn_arc_options;

/* Which programs run on which grids, and which files to write. */
typedef struct qn_arc_run_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/arc_run.def>
} qn_arc_run_options;

/* Fill in the defaults; `size` is sizeof the struct. */
QN_API void qn_arc_options_init(qn_arc_options *options, size_t size);
QN_API void qn_arc_run_options_init(qn_arc_run_options *options, size_t size);

QN_API const qn_option_table *qn_arc_option_table(void);
QN_API const qn_option_table *qn_arc_run_option_table(void);

/* Programs and tasks. */

typedef struct qn_arc_grid {
    int rows, cols;             /* 1 .. 30 */
    const unsigned char *cells; /* 0 .. 9, row by row; NULL: there is no grid */
} qn_arc_grid;

typedef struct qn_arc_pair {
    qn_arc_grid input, output; /* the output may be missing */
} qn_arc_pair;

typedef struct qn_arc_task {
    const char *id;
    const qn_arc_pair *pairs; /* first the training pairs, then the test pairs */
    int n_train, n_test;
} qn_arc_task;

typedef struct qn_arc_program {
    const char *id, *text;
} qn_arc_program;

typedef struct qn_arc qn_arc;

/* NULL options mean the defaults. Free it before its context is closed. */
QN_API qn_status qn_arc_new(qn_ctx *ctx, const qn_arc_options *options, qn_arc **out, qn_err *err);
QN_API void qn_arc_free(qn_arc *arc); /* NULL is fine */

/* Copy programs and tasks, replacing those with the same id. If one is wrong, the error names it,
 * and those before it stay added. */
QN_API qn_status qn_arc_add_programs(qn_arc *arc, const qn_arc_program *programs, size_t n,
                                     qn_err *err);
QN_API qn_status qn_arc_add_tasks(qn_arc *arc, const qn_arc_task *tasks, size_t n, qn_err *err);

enum { QN_ARC_CLEAR_PROGRAMS, QN_ARC_CLEAR_ALL };
QN_API qn_status qn_arc_clear(qn_arc *arc, int what, qn_err *err);

/* Runs. */

/* One program on one pair. Texts and cells are valid until the next call with this qn_arc. */
typedef struct qn_arc_result {
    const char *program, *task;
    int is_test, pair;  /* index among the test or the training pairs, from 0 */
    const char *status; /* "ok", "error" (the program failed), "limit" */
    const char *error;  /* error message; NULL: it did not fail */
    int64_t steps;      /* primitives executed */
    int is_solved;      /* 1: the output is as expected; 0: it is not; -1: no output was expected */
    int differing;      /* cells that differ from the expected grid; -1: not comparable */
    int rows, cols;     /* of the output */
    const int8_t *output; /* row by row; NULL: the output is not a grid, or there is none */
} qn_arc_result;

/* Runs the added programs on the added tasks, and gives one result for each program and grid. Only
 * the options pairs, match and timeout_s matter here; NULL means the defaults. */
QN_API qn_status qn_arc_run(qn_arc *arc, const qn_arc_run_options *options,
                            const qn_arc_result **results, size_t *n, qn_err *err);

/* Answers one request, a line of JSON in the protocol of `quern arc serve`. The answer is a line of
 * JSON with its newline, even if the request is wrong; it is valid until the next call. NULL means
 * out of memory. */
QN_API const char *qn_arc_ask(qn_arc *arc, const char *line);

/* Whole runs. */

typedef struct qn_arc_score {
    const char *program;
    uint64_t runs, solved;
    uint64_t errors; /* runs that failed, including those at a limit */
    uint64_t steps;
    const char *failure; /* the first failure; NULL: there was none */
} qn_arc_score;

typedef struct qn_arc_report {
    uint64_t runs, solved, errors, timeouts, steps;
    uint64_t unscored; /* runs for which no output was expected */
    const qn_arc_score *scores;
    size_t n_scores; /* programs */
    double wall_s;   /* of loading and running */
    char device[32];
    int is_refused, n_warnings; /* the program texts have errors; number of warnings */
    const char *notes;          /* the errors and warnings, one line each; or NULL */
} qn_arc_report;

/* `quern arc run`: runs the programs of a file or folder on the tasks of a file or folder, and
 * writes the files that the run options name. Free the report even after a failure: its notes say
 * what is wrong with a program. */
QN_API qn_status qn_arc_run_files(qn_ctx *ctx, const char *programs, const char *tasks,
                                  const qn_arc_options *options, const qn_arc_run_options *run,
                                  qn_arc_report *out, qn_err *err);
QN_API void qn_arc_report_free(qn_arc_report *report); /* zeroed is fine */

#ifdef __cplusplus
}
#endif
#endif
