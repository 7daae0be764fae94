/* programs.c - loads and solves the programs of checks, and reads golden lists. */
#include "lab/fit/check/programs.h"

#include "util/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

qn_status qn_fit_program_load(const char *name, qn_str *text, const char *folder, qn_fit_text **out,
                              qn_err *err)
{
    const char *const folders[] = { folder, NULL };
    qn_fit_folders places = { folders, 0 };
    const qn_fit_files files = { qn_fit_folders_read, NULL, &places };
    const qn_fit_text_options options = { .files = &files };
    qn_status st;

    if (text->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for the program %s", name);
    else
        st = qn_fit_text_load(name, qn_str_get(text), text->len, &options, out, NULL, err);
    qn_str_free(text);
    *text = (qn_str){ 0 };
    return st;
}

qn_status qn_fit_program_solve(qn_fit_text *text, qn_fit_report *out, qn_err *err)
{
    qn_fit_solve_options o;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_solve_options_of(&text->solves[0], &o, err));
    o.n_threads = 1;
    QN_TRY(qn_fit_solve_lm(text->problem, &o, out, err));
out:
    return st;
}

qn_status qn_fit_golden_list(const char *folder, const char *name, const char *member,
                             const char *part, qn_findings *f, json_t **root, json_t **out,
                             qn_err *err)
{
    char path[2048], *text = NULL;
    json_error_t error;
    size_t bytes;
    qn_status st = QN_OK;

    *root = *out = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) != 0) {
        qn_finding_skip(f, part, path, "there is no such file");
        return QN_OK;
    }
    QN_TRY(qn_file_read(path, &text, &bytes, err));
    *root = json_loadb(text, bytes, 0, &error);
    *out = member ? json_object_get(*root, member) : *root;
    if (!*root)
        st = qn_fail(err, QN_ERR_INPUT, "%s:%d: %s", path, error.line, error.text);
    else if (!json_is_array(*out) && !json_is_object(*out))
        st = qn_fail(err, QN_ERR_INPUT, "%s: no list%s%s", path, member ? " " : "",
                     member ? member : "");
out:
    free(text);
    return st;
}

double qn_fit_off(double got, double want)
{
    return fabs(got - want) / fmax(fabs(want), 1e-300);
}
