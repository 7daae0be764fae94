/* text.h - a program text and what it means: a problem, and what to do with it.
 *
 *     qn_fit_text *text;
 *     qn_str faults = { 0 };
 *     st = qn_fit_text_load(path, bytes, n_bytes, &options, &text, &faults, &err);
 *
 * The problem is finished and owned by the text. Nothing here calls the system: files come through
 * the reader of the options.
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
    int source; /* mesh of the world whose vertices these are, or -1 */
} qn_fit_write;

typedef struct qn_fit_text {
    qn_fit_scope scope;
    qn_fit_problem *problem;
    qn_fit_solve *solves;
    int n_solves;
    qn_fit_write *writes;
    int n_writes;
} qn_fit_text;

/* Every fault goes to `faults` with its place, source line and caret; `err` has the first. */
qn_status qn_fit_text_load(const char *file, const char *text, size_t bytes,
                           const qn_fit_text_options *options, qn_fit_text **out, qn_str *faults,
                           qn_err *err);
void qn_fit_text_free(qn_fit_text *text);

/* What a `write` writes, with the parameters x of the problem: the mesh (.obj, .ply) or a table
 * of the set with a row for each block (anything else). */
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

/* A domain by its words, or -1 and a complaint. */
int qn_fit_find_domain(qn_fit_loader *m, const qn_fit_word *word);

/* Values of an expression without parameters over `n` elements of a domain (-1: one, without):
 * *dim numbers each, allocated. *dim is given, or 0 to be found; a number serves for a vector.
 * Bare names of fields are visible, and `loop` where it is not NULL. NULL after a complaint. */
qn_status qn_fit_values(qn_fit_loader *m, int item, const qn_fit_tree *tree, int domain,
                        const char *loop, int *dim, double **out, qn_err *err);

qn_status qn_fit_load_term(qn_fit_loader *m, int item, qn_err *err);
qn_status qn_fit_load_solve(qn_fit_loader *m, int item, qn_err *err);
qn_status qn_fit_load_write(qn_fit_loader *m, int item, qn_err *err);

#endif
