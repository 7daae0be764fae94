/* text.h - loads a program text: the problem that it describes, and what to do with it.
 *
 *     qn_fit_text *text;
 *     qn_str faults = { 0 };
 *     st = qn_fit_text_load(path, bytes, n_bytes, &options, &text, &faults, &err);
 *
 * The problem is finished and owned by the text. Nothing here calls the operating system: the
 * reader in the options provides files.
 */
#ifndef QN_FIT_TEXT_TEXT_H
#define QN_FIT_TEXT_TEXT_H

#include "domain/fit/problem/problem.h"
#include "domain/fit/text/scope.h"

typedef struct qn_fit_override {
    const char *name; /* a constant, or a parameter without a domain */
    double value;
} qn_fit_override;

typedef struct qn_fit_text_options {
    const qn_fit_files *files; /* NULL: there are none */
    const qn_fit_override *overrides;
    int n_overrides;
    int allow_any_name; /* absolute names and .. in write */
} qn_fit_text_options;

/* An option of a solve block; `word` is "" for a number. */
typedef struct qn_fit_option {
    char name[40], word[64];
    double number;
} qn_fit_option;

typedef struct qn_fit_solve {
    char solver[32];
    qn_fit_option *options;
    int n_options;
} qn_fit_solve;

typedef struct qn_fit_write {
    int set;
    char file[256];
    int source; /* the source whose mesh has these vertices, or -1 */
} qn_fit_write;

typedef struct qn_fit_text {
    qn_fit_scope scope;
    qn_fit_problem *problem;
    qn_fit_solve *solves;
    int n_solves;
    qn_fit_write *writes;
    int n_writes;
} qn_fit_text;

/* Every fault is added to `faults` with its position, source line and caret; `err` has the
 * first. */
qn_status qn_fit_text_load(const char *file, const char *text, size_t bytes,
                           const qn_fit_text_options *options, qn_fit_text **out, qn_str *faults,
                           qn_err *err);
void qn_fit_text_free(qn_fit_text *text);

/* The content of a `write` for the parameters x: a mesh (.obj, .ply), or for other names a table
 * with a row for each block. */
qn_status qn_fit_text_print_write(const qn_fit_text *text, int write, const double *x, qn_str *out,
                                  qn_err *err);

/* The option of that name, or NULL. */
const qn_fit_option *qn_fit_solve_option(const qn_fit_solve *solve, const char *name);

/* Parts (terms.c, orders.c). */

typedef struct qn_fit_loader {
    qn_fit_text *text;
    const qn_fit_ast *ast;
    qn_fit_diagnostics *diagnostics;
    const qn_fit_text_options *options;
} qn_fit_loader;

/* A domain by its name, or -1 after reporting an error. */
int qn_fit_find_domain(qn_fit_loader *m, const qn_fit_word *word);

/* The values of an expression without parameters over the elements of a domain (-1: a single
 * value): *dim numbers each, allocated. *dim is given, or 0 to be determined; a single number fills
 * a vector. Field names are visible, and `loop` unless it is NULL. *out is NULL after a reported
 * fault. */
qn_status qn_fit_values(qn_fit_loader *m, int item, const qn_fit_tree *tree, int domain,
                        const char *loop, int *dim, double **out, qn_err *err);

/* One number, from an expression without parameters; *out is unchanged after a reported fault. */
qn_status qn_fit_number(qn_fit_loader *m, int item, const qn_fit_tree *tree, double *out,
                        qn_err *err);

qn_status qn_fit_load_term(qn_fit_loader *m, int item, qn_err *err);
qn_status qn_fit_load_solve(qn_fit_loader *m, int item, qn_err *err);
qn_status qn_fit_load_write(qn_fit_loader *m, int item, qn_err *err);

#endif
