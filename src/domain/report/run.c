/* run.c - reads the files of a run. */
#include "run.h"

#include "util/file.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JSON_BYTES = 64 << 20 };

qn_status qn_rp_path(const qn_rp_run *run, const char *file, char **out, qn_err *err)
{
    return qn_text_new(out, err, "%s/%s", run->folder, file);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static qn_status add_checks(qn_rp_run *run, const json_t *json, qn_err *err)
{
    const json_t *list = json_object_get(json, "checks");
    const size_t n = json_array_size(list);
    const qn_status st = QN_ROOM(run->checks, run->n_checks + n, &run->room_checks, "checks", err);

    for (size_t i = 0; st == QN_OK && i < n; i++) {
        const json_t *c = json_array_get(list, i);

        run->checks[run->n_checks++] =
            (qn_rp_check){ .what = text_of(c, "what"),
                           .against = text_of(c, "against"),
                           .n_values = number_of(c, "values"),
                           .n_equal = number_of(c, "equal"),
                           .error = number_of(c, "error"),
                           .limit = number_of(c, "limit"),
                           .is_ok = json_is_true(json_object_get(c, "ok")) };
    }
    return st;
}

/* Files. */

static int is_metrics(const json_t *json)
{
    return !strcmp(text_of(json, "format"), "quern-metrics/1");
}

/* Stores `json` in the right member of `run`, or drops it. */
static qn_status sort_in(qn_rp_run *run, const char *file, json_t *json, qn_err *err)
{
    const int is_main = !strcmp(file, "metrics.json");
    qn_status st;

    if (is_metrics(json) && (is_main || !run->metrics)) {
        json_t *before = run->metrics;

        run->metrics = json;
        json = before; /* the substitute so far */
    } else if (json_is_array(json_object_get(json, "history")) && !run->extra) {
        run->extra = json;
        return QN_OK;
    }
    if (!json || !(is_metrics(json) || json_is_array(json_object_get(json, "checks")))) {
        json_decref(json);
        return QN_OK;
    }
    st = QN_GROW(run->others, run->n_others, &run->room_others, "files of a run", err);
    if (st == QN_OK)
        run->others[run->n_others++] = json;
    else
        json_decref(json);
    return st;
}

static qn_status read_json(qn_rp_run *run, const char *file, qn_err *err)
{
    char *path = NULL, *text = NULL;
    json_t *json = NULL;
    size_t bytes = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_rp_path(run, file, &path, err));
    st = qn_file_read_most(path, MAX_JSON_BYTES, &text, &bytes, err);
    /* Lists and very large objects are data of other tools. */
    if (st == QN_ERR_LIMIT || (st == QN_OK && text[strspn(text, " \t\r\n")] == '[')) {
        st = QN_OK;
        goto out;
    }
    QN_TRY(st);
    QN_TRY(qn_json_read(path, &json, err));
    QN_TRY(sort_in(run, file, json, err));
out:
    free(text);
    free(path);
    return st;
}

/* Whether the page uses the file. */
static int is_shown(const char *file)
{
    return qn_has_ending(file, ".json") || qn_has_ending(file, ".png");
}

static qn_status read_files(qn_rp_run *run, qn_err *err)
{
    size_t n_shown = 0;
    qn_status st = QN_OK;

    for (size_t i = 0; i < run->files.n; i++) {
        const char *file = run->files.files[i];

        n_shown += (size_t)is_shown(file);
        /* JSON in subfolders may be inputs of a run: tasks, sites. */
        if (qn_has_ending(file, ".json") && !strchr(file, '/'))
            QN_TRY(read_json(run, file, err));
    }
    if (!n_shown)
        st = qn_fail(err, QN_ERR_INPUT,
                     "%s has nothing to report: no metrics (--metrics DIR/metrics.json), no PNG, "
                     "no figures (.figures.json)",
                     run->folder);
out:
    return st;
}

qn_status qn_rp_run_read(const char *folder, qn_rp_run *out, qn_err *err)
{
    size_t n = strlen(folder);
    qn_status st = QN_OK;

    *out = (qn_rp_run){ 0 };
    while (n > 1 && folder[n - 1] == '/')
        n--;
    QN_TRY(qn_text_new(&out->folder, err, "%.*s", (int)n, folder));
    QN_TRY(qn_folder_list(out->folder, &out->files, err));
    QN_TRY(read_files(out, err));
    if (out->metrics)
        QN_TRY(add_checks(out, out->metrics, err));
    for (size_t i = 0; i < out->n_others; i++)
        QN_TRY(add_checks(out, out->others[i], err));
out:
    if (st != QN_OK)
        qn_rp_run_free(out);
    return st;
}

void qn_rp_run_free(qn_rp_run *run)
{
    for (size_t i = 0; i < run->n_others; i++)
        json_decref(run->others[i]);
    json_decref(run->metrics);
    json_decref(run->extra);
    qn_folder_free(&run->files);
    free(run->others);
    free(run->checks);
    free(run->folder);
    *run = (qn_rp_run){ 0 };
}
