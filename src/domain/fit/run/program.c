/* program.c - the public calls: a program of `quern fit` from its text to its solution. */
#include "domain/fit/run/run.h"

#include <stdlib.h>
#include <string.h>

struct qn_fit_solution {
    qn_fit_text *text;
    qn_fit_result result;
    qn_str summary;
    char *report;
    int *sets; /* those sets of the problem that the program declares */
    int n_sets;
};

static qn_status list_sets(qn_fit_solution *s, qn_err *err)
{
    const qn_fit_problem *p = s->text->problem;

    if (!(s->sets = calloc((size_t)p->n_sets + 1, sizeof *s->sets)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %d parameters", p->n_sets);
    for (int k = 0; k < p->n_sets; k++)
        if (!p->sets[k].is_hidden)
            s->sets[s->n_sets++] = k;
    return QN_OK;
}

/* Solving. */

/* Solves the program `text`, or the one in the file `path` if `text` is NULL. */
static qn_status solve(qn_ctx *ctx, const char *text, const char *path,
                       const qn_fit_options *options, qn_fit_solution **out, char **faults,
                       qn_err *err)
{
    qn_fit_solution *s = calloc(1, sizeof *s);
    qn_fit_options o;
    qn_run_folder *to = NULL;
    qn_str found = { 0 };
    qn_status st = QN_OK;

    if (faults)
        *faults = NULL;
    if (!s)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a solution");
    QN_TRY(qn_fit_options_take(options, &o, err));
    if (path)
        o.name = path;
    st = text ? qn_fit_load(text, strlen(text), &o, &s->text, &found, err)
              : qn_fit_load_file(&o, &s->text, &found, err);
    if (st != QN_OK && faults && found.len)
        *faults = strdup(qn_str_get(&found));
    QN_TRY(st);
    QN_TRY(list_sets(s, err));
    QN_TRY(qn_fit_check_files(s->text, &o, &to, err));
    QN_TRY(qn_fit_run(ctx, s->text, &o, &s->result, err));
    QN_TRY(qn_fit_write_files(ctx, s->text, &s->result, &o, to, err));
    QN_TRY(qn_fit_report_text(ctx, s->text, &s->result, &o, &s->report, err));
    qn_fit_print_summary(s->text, &s->result, &o, &s->summary);
    *out = s;
    s = NULL;
out:
    qn_run_folder_close(to);
    qn_fit_solution_free(s);
    qn_str_free(&found);
    return st;
}

qn_status qn_fit_solve_program(qn_ctx *ctx, const char *text, const qn_fit_options *options,
                               qn_fit_solution **out, char **faults, qn_err *err)
{
    return solve(ctx, text, NULL, options, out, faults, err);
}

qn_status qn_fit_solve_file(qn_ctx *ctx, const char *path, const qn_fit_options *options,
                            qn_fit_solution **out, char **faults, qn_err *err)
{
    return solve(ctx, NULL, path, options, out, faults, err);
}

void qn_fit_solution_free(qn_fit_solution *solution)
{
    if (!solution)
        return;
    qn_fit_result_free(&solution->result);
    qn_fit_text_free(solution->text);
    qn_str_free(&solution->summary);
    free(solution->report);
    free(solution->sets);
    free(solution);
}

void qn_fit_faults_free(char *faults)
{
    free(faults);
}

/* Results. */

int qn_fit_solution_n_parameters(const qn_fit_solution *solution)
{
    return solution->n_sets;
}

void qn_fit_solution_parameter(const qn_fit_solution *solution, int i, qn_fit_parameter *out)
{
    const qn_fit_problem *p = solution->text->problem;
    const qn_fit_set *set = &p->sets[solution->sets[i]];
    const qn_fit_result *r = &solution->result;

    *out =
        (qn_fit_parameter){ .name = set->name,
                            .count = set->count,
                            .dim = set->dim,
                            .values = p->x + set->first,
                            .start = r->start + set->first,
                            .deviations =
                                r->no_covariance[0] ? NULL : r->covariance.deviation + set->first };
}

/* The first solve that did not converge, otherwise the last. */
static const qn_fit_solved *deciding_solve(const qn_fit_solution *solution)
{
    const qn_fit_result *r = &solution->result;
    int k = 0;

    while (k < r->n_solves - 1 && qn_fit_end_is_converged(r->solves[k].report.end))
        k++;
    return &r->solves[k];
}

int qn_fit_solution_is_converged(const qn_fit_solution *solution)
{
    return qn_fit_end_is_converged(deciding_solve(solution)->report.end);
}

void qn_fit_solution_ending(const qn_fit_solution *solution, qn_fit_ending *out)
{
    const qn_fit_solved *s = deciding_solve(solution);

    *out = (qn_fit_ending){ qn_fit_end_name(s->report.end), s->report.text, s->device };
}

const char *qn_fit_solution_summary(const qn_fit_solution *solution)
{
    return qn_str_get(&solution->summary);
}

const char *qn_fit_solution_report(const qn_fit_solution *solution)
{
    return solution->report;
}
