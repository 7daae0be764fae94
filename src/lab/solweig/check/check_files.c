/* check_files.c - files of reference data, and arrays beside them. */
#include "lab/solweig/check/check_impl.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void qn_sw_golden_path(const qn_sw_golden *g, const char *file, char path[QN_SW_PATH_BYTES])
{
    snprintf(path, QN_SW_PATH_BYTES, "%s/%s", g->dir, file);
}

int qn_sw_golden_has(const qn_sw_golden *g, const char *file)
{
    char path[QN_SW_PATH_BYTES];

    qn_sw_golden_path(g, file, path);
    return access(path, F_OK) == 0;
}

/* The finding about a file that the check needs and has not. */
static qn_status blocked(qn_sw_golden *g, const char *file, const char *why, qn_err *err)
{
    const int is_there = qn_sw_golden_has(g, file);

    if (is_there)
        qn_sw_golden_tell_why(g, QN_SW_OUT, file, "cannot be read: %s", why);
    else
        qn_sw_golden_tell_why(g, QN_SW_SKIPPED, file, "absent");
    g->is_blocked = 1;
    return qn_fail(err, QN_ERR_INPUT, "%s: %s", file, is_there ? why : "absent");
}

qn_status qn_sw_golden_go_on(qn_sw_golden *g, qn_status st, qn_err *err)
{
    if (st == QN_OK || !g->is_blocked)
        return st;
    g->is_blocked = 0;
    if (err)
        *err = (qn_err){ 0 };
    return QN_OK;
}

qn_status qn_sw_golden_refuse(qn_sw_golden *g, const char *file, qn_status st, qn_err *err)
{
    const int is_content =
        st == QN_ERR_INPUT || st == QN_ERR_IO || st == QN_ERR_USAGE || st == QN_ERR_LIMIT;

    if (is_content && !g->is_blocked) {
        qn_sw_golden_tell_why(g, QN_SW_OUT, file, "%s", err ? err->text : "cannot be read");
        g->is_blocked = 1;
    }
    return st;
}

/* Reading. */

static qn_status read_array(qn_sw_golden *g, const char *file, size_t n, qn_npy *out, qn_err *err)
{
    char path[QN_SW_PATH_BYTES], why[96];
    qn_err local = { .text = "" };

    qn_sw_golden_path(g, file, path);
    if (qn_npy_read(path, out, &local) != QN_OK)
        return blocked(g, file, local.text, err);
    if ((size_t)qn_npy_elems(out) == n)
        return QN_OK;
    snprintf(why, sizeof why, "%lld values, not %zu", (long long)qn_npy_elems(out), n);
    qn_npy_free(out);
    return blocked(g, file, why, err);
}

qn_status qn_sw_golden_floats(qn_sw_golden *g, const char *file, size_t n, float **out, qn_err *err)
{
    qn_npy array = { 0 };
    float *values = NULL;
    qn_status st = QN_OK;

    QN_TRY(read_array(g, file, n, &array, err));
    QN_TRY(qn_sw_golden_floats_new(n, 0, &values, err));
    for (size_t i = 0; i < n; i++)
        values[i] = (float)qn_npy_at(&array, (qn_i64)i);
    *out = values;
out:
    qn_npy_free(&array);
    return st;
}

qn_status qn_sw_golden_bytes(qn_sw_golden *g, const char *file, size_t n, uint8_t **out,
                             qn_err *err)
{
    qn_npy array = { 0 };
    uint8_t *bytes = NULL;
    qn_status st = QN_OK;

    QN_TRY(read_array(g, file, n, &array, err));
    if (!(bytes = malloc(n + 1))) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: %zu bytes", file, n);
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)qn_npy_at(&array, (qn_i64)i);
    *out = bytes;
out:
    qn_npy_free(&array);
    return st;
}

qn_status qn_sw_golden_json(qn_sw_golden *g, const char *file, json_t **out, qn_err *err)
{
    char path[QN_SW_PATH_BYTES];
    json_error_t why;

    qn_sw_golden_path(g, file, path);
    *out = json_load_file(path, 0, &why);
    return *out ? QN_OK : blocked(g, file, why.text, err);
}

qn_status qn_sw_golden_csv(qn_sw_golden *g, const char *file, qn_csv *out, qn_err *err)
{
    char path[QN_SW_PATH_BYTES];
    qn_err local = { .text = "" };

    qn_sw_golden_path(g, file, path);
    return qn_csv_read(path, out, &local) == QN_OK ? QN_OK : blocked(g, file, local.text, err);
}

double qn_sw_golden_member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

double qn_sw_golden_cell(const qn_csv *csv, size_t row, const char *column)
{
    const int at = qn_csv_find(csv, column);
    const char *text = at < 0 ? "" : qn_csv_get(csv, row, (size_t)at);
    char *end;
    const double value = strtod(text, &end);

    return end == text || *end ? NAN : value;
}

int qn_sw_golden_whole(const qn_csv *csv, size_t row, const char *column)
{
    const double value = qn_sw_golden_cell(csv, row, column);

    return value >= 0 && value <= 1 << 20 ? (int)value : -1;
}

int qn_sw_golden_count(const json_t *object, const char *key)
{
    const double n = qn_sw_golden_member(object, key);

    return n >= 1 && n <= 1 << 20 ? (int)n : 0;
}

qn_sw_window qn_sw_golden_window_of(const json_t *object, const char *key, qn_i64 rows, qn_i64 cols)
{
    const json_t *list = json_object_get(object, key);
    qn_i64 at[4];

    for (size_t i = 0; i < 4; i++)
        at[i] = json_integer_value(json_array_get(list, i));
    if (at[0] < 0 || at[1] < at[0] || at[1] > rows || at[2] < 0 || at[3] < at[2] || at[3] > cols)
        return (qn_sw_window){ 0 };
    return (
        qn_sw_window){ .row = at[0], .col = at[2], .rows = at[1] - at[0], .cols = at[3] - at[2] };
}

/* Folders. */

/* The part of `name` between prefix and suffix, allocated; NULL when it is not such a name. */
static char *middle(const char *name, const char *prefix, const char *suffix)
{
    const size_t all = strlen(name), head = strlen(prefix), tail = strlen(suffix);

    if (all <= head + tail || strncmp(name, prefix, head) != 0 ||
        strcmp(name + all - tail, suffix) != 0)
        return NULL;
    return strndup(name + head, all - head - tail);
}

qn_status qn_sw_golden_list(const qn_sw_golden *g, const char *folder, const char *prefix,
                            const char *suffix, qn_sw_names *out, qn_err *err)
{
    char path[QN_SW_PATH_BYTES];
    struct dirent **entries = NULL;
    qn_status st = QN_OK;
    int n;

    qn_sw_golden_path(g, folder, path);
    *out = (qn_sw_names){ 0 };
    n = scandir(path, &entries, NULL, alphasort);
    if (n > 0 && !(out->list = calloc((size_t)n, sizeof *out->list)))
        st = qn_fail(err, QN_ERR_NOMEM, "%d names of %s", n, path);
    for (int i = 0; i < n; i++) {
        char *name = st == QN_OK ? middle(entries[i]->d_name, prefix, suffix) : NULL;

        if (name)
            out->list[out->n++] = name;
        free(entries[i]);
    }
    free(entries);
    return st;
}

void qn_sw_golden_names_free(qn_sw_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->list[i]);
    free(names->list);
    *names = (qn_sw_names){ 0 };
}

/* Comparing. */

void qn_sw_golden_compare(qn_sw_golden *g, const char *file, const float *got, qn_i64 pitch,
                          qn_sw_window window, qn_sw_limit limit)
{
    qn_sw_tally tally = { .limit = limit };
    char path[QN_SW_PATH_BYTES];
    qn_err local = { .text = "" };
    qn_npy want = { 0 };

    if (!qn_sw_golden_has(g, file)) {
        qn_sw_golden_tell_why(g, QN_SW_SKIPPED, file, "absent");
        return;
    }
    if (!got) {
        qn_sw_golden_tell_why(g, QN_SW_SKIPPED, file, "what it is made of is absent");
        return;
    }
    qn_sw_golden_path(g, file, path);
    if (qn_npy_read(path, &want, &local) != QN_OK) {
        qn_sw_golden_tell_why(g, QN_SW_OUT, file, "cannot be read: %s", local.text);
    } else if (qn_npy_elems(&want) != window.rows * window.cols) {
        qn_sw_golden_tell_why(g, QN_SW_OUT, file, "%lld values, not %lld",
                              (long long)qn_npy_elems(&want),
                              (long long)window.rows * (long long)window.cols);
    } else {
        for (qn_i64 r = 0; r < window.rows; r++)
            for (qn_i64 c = 0; c < window.cols; c++)
                qn_sw_tally_add(&tally, (double)got[(window.row + r) * pitch + window.col + c],
                                qn_npy_at(&want, r * window.cols + c));
        qn_sw_golden_tell(g, &tally, "%s", file);
    }
    qn_npy_free(&want);
}

void qn_sw_golden_compare_all(qn_sw_golden *g, const char *file, const float *got, qn_i64 n,
                              qn_sw_limit limit)
{
    qn_sw_golden_compare(g, file, got, n, (qn_sw_window){ .rows = 1, .cols = n }, limit);
}
