/* program.c - the public call: a program of `quern fit` from its text to its solution. */
#include "domain/fit/run/run.h"

#include "domain/fit/read/read.h"

#include <quern/fit_program.h>

#include <stdlib.h>
#include <string.h>

struct qn_fit_solution {
    qn_fit_text *text;
    qn_fit_result result;
    char *report;
    int *sets; /* those sets of the problem that the program declares */
    int n_sets;
};

/* Files. */

static qn_status read_named(void *user, const char *name, char **data, size_t *bytes, qn_err *err)
{
    const qn_fit_program_options *o = user;

    for (int i = 0; i < o->n_files; i++) {
        if (strcmp(o->files[i].name, name))
            continue;
        /* A NUL follows the last byte, as in files that are read. */
        if (!(*data = malloc(o->files[i].bytes + 1)))
            return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", name,
                           o->files[i].bytes);
        memcpy(*data, o->files[i].data, o->files[i].bytes);
        (*data)[o->files[i].bytes] = '\0';
        *bytes = o->files[i].bytes;
        return QN_OK;
    }
    if (o->folder) {
        const char *const folders[] = { o->folder, NULL };
        qn_fit_folders places = { folders, 0 };

        return qn_fit_folders_read(&places, name, data, bytes, err);
    }
    return qn_fail(err, QN_ERR_IO, "%s: it is not among the %d files given", name, o->n_files);
}

/* Loading. */

static qn_status load(const char *text, const qn_fit_program_options *o, qn_fit_text **out,
                      qn_str *faults, qn_err *err)
{
    const qn_fit_files files = { read_named, (void *)o };
    qn_fit_override *overrides = calloc((size_t)o->n_settings + 1, sizeof *overrides);
    const qn_fit_text_options options = { .files = &files,
                                          .overrides = overrides,
                                          .n_overrides = o->n_settings };
    qn_status st;

    if (!overrides)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %d settings", o->n_settings);
    for (int i = 0; i < o->n_settings; i++)
        overrides[i] = (qn_fit_override){ o->settings[i].name, o->settings[i].value };
    st = qn_fit_text_load(o->name ? o->name : "program", text, strlen(text), &options, out, faults,
                          err);
    free(overrides);
    return st;
}

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

qn_status qn_fit_solve_program(qn_ctx *ctx, const char *text, const qn_fit_program_options *options,
                               qn_fit_solution **out, char **faults, qn_err *err)
{
    static const qn_fit_program_options defaults = { 0 };
    const qn_fit_program_options *o = options ? options : &defaults;
    const qn_fit_run_options run = { .precision = o->is_f32 ? QN_FIT_F32 : QN_FIT_F64,
                                     .n_threads = o->threads,
                                     .is_covariance = o->is_covariance,
                                     .watch = { .mode = QN_PROGRESS_OFF } };
    const qn_fit_report_names names = { o->name ? o->name : "program", "" };
    qn_fit_solution *s = calloc(1, sizeof *s);
    qn_str found = { 0 };
    qn_status st = QN_OK;

    if (faults)
        *faults = NULL;
    if (!s)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a solution");
    st = load(text, o, &s->text, &found, err);
    if (st != QN_OK && faults && found.len)
        *faults = strdup(qn_str_get(&found));
    QN_TRY(st);
    QN_TRY(list_sets(s, err));
    QN_TRY(qn_fit_run(ctx, s->text, &run, &s->result, err));
    QN_TRY(qn_fit_report_text(ctx, s->text, &s->result, names, &s->report, err));
    *out = s;
    s = NULL;
out:
    qn_fit_solution_free(s);
    qn_str_free(&found);
    return st;
}

void qn_fit_solution_free(qn_fit_solution *solution)
{
    if (!solution)
        return;
    qn_fit_result_free(&solution->result);
    qn_fit_text_free(solution->text);
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

int qn_fit_solution_is_converged(const qn_fit_solution *solution)
{
    for (int k = 0; k < solution->result.n_solves; k++)
        if (!qn_fit_end_is_converged(solution->result.solves[k].report.end))
            return 0;
    return 1;
}

const char *qn_fit_solution_report(const qn_fit_solution *solution)
{
    return solution->report;
}
