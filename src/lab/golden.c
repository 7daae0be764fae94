/* golden.c - files of reference data, and arrays beside them. */
#include "lab/golden.h"

#include "util/str.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Counting. */

void qn_tally_add(qn_tally *tally, double got, double want)
{
    const qn_limit *limit = &tally->limit;
    const int is_same = got == want || (isnan(got) && isnan(want));
    const double off = is_same ? 0 : isfinite(got - want) ? fabs(got - want) : INFINITY;

    tally->n++;
    tally->n_equal += is_same;
    tally->n_beyond += !is_same && !(off <= limit->abs + limit->rel * fabs(want));
    tally->sum += off;
    tally->most = fmax(tally->most, off);
}

static void print_limit(const qn_limit *limit, char *out, size_t size)
{
    qn_str text = { 0 };

    if (limit->abs > 0 || limit->rel <= 0)
        qn_str_addf(&text, "%g", limit->abs);
    if (limit->rel > 0)
        qn_str_addf(&text, "%s%g rel", limit->abs > 0 ? " + " : "", limit->rel);
    if (limit->share > 0)
        qn_str_addf(&text, " on %g %%, all %g", 100 * limit->share, limit->most);
    snprintf(out, size, "%s", qn_str_get(&text));
    qn_str_free(&text);
}

void qn_golden_add(qn_golden *g, const qn_tally *tally, const char *name, ...)
{
    const qn_limit *limit = &tally->limit;
    const double n = (double)tally->n, beyond = (double)tally->n_beyond;
    qn_finding f = { .n = tally->n, .value = n > 0 ? tally->most : NAN };
    int is_ok = tally->n > 0;
    va_list list;

    snprintf(f.part, sizeof f.part, "%s", g->part);
    va_start(list, name);
    vsnprintf(f.name, sizeof f.name, name, list);
    va_end(list);
    if (limit->share > 0)
        is_ok = is_ok && beyond <= (1 - limit->share) * n && tally->most <= limit->most;
    else
        is_ok = is_ok && tally->n_beyond == 0;
    print_limit(limit, f.note, sizeof f.note);
    f.mean = tally->sum / n;
    f.equal_pct = 100 * (double)tally->n_equal / n;
    f.verdict = is_ok ? QN_FINDING_OK : QN_FINDING_OUT;
    qn_findings_add(g->findings, &f);
}

/* Files. */

void qn_golden_path(const qn_golden *g, const char *file, char path[QN_GOLDEN_PATH])
{
    snprintf(path, QN_GOLDEN_PATH, "%s/%s", g->dir, file);
}

int qn_golden_has(const qn_golden *g, const char *file)
{
    char path[QN_GOLDEN_PATH];

    qn_golden_path(g, file, path);
    return access(path, F_OK) == 0;
}

/* Records that a file the check needs could not be read. */
static qn_status blocked(qn_golden *g, const char *file, const char *why, qn_err *err)
{
    const int is_there = qn_golden_has(g, file);

    if (is_there)
        qn_golden_add_why(g, QN_FINDING_OUT, file, "cannot be read: %s", why);
    else
        qn_golden_add_why(g, QN_FINDING_SKIPPED, file, "absent");
    g->is_blocked = 1;
    return qn_fail(err, QN_ERR_INPUT, "%s: %s", file, is_there ? why : "absent");
}

qn_status qn_golden_end(qn_golden *g, size_t n, qn_status st, qn_err *err)
{
    qn_owned_free(&g->owned, n);
    if (st == QN_OK || !g->is_blocked)
        return st;
    g->is_blocked = 0;
    if (err)
        *err = (qn_err){ 0 };
    return QN_OK;
}

qn_status qn_golden_refuse(qn_golden *g, const char *file, qn_status st, qn_err *err)
{
    const int is_content =
        st == QN_ERR_INPUT || st == QN_ERR_IO || st == QN_ERR_USAGE || st == QN_ERR_LIMIT;

    if (is_content && !g->is_blocked) {
        qn_golden_add_why(g, QN_FINDING_OUT, file, "%s", err ? err->text : "cannot be read");
        g->is_blocked = 1;
    }
    return st;
}

/* Reading. */

static qn_status read_array(qn_golden *g, const char *file, size_t n, qn_npy *out, qn_err *err)
{
    char path[QN_GOLDEN_PATH], why[96];
    qn_err local = { .text = "" };

    qn_golden_path(g, file, path);
    if (qn_npy_read(path, out, &local) != QN_OK)
        return blocked(g, file, local.text, err);
    if ((size_t)qn_npy_elems(out) == n)
        return QN_OK;
    snprintf(why, sizeof why, "%lld values, not %zu", (long long)qn_npy_elems(out), n);
    qn_npy_free(out);
    return blocked(g, file, why, err);
}

qn_status qn_golden_floats(qn_golden *g, const char *file, size_t n, float **out, qn_err *err)
{
    qn_npy array = { 0 };
    qn_status st = QN_OK;

    QN_TRY(read_array(g, file, n, &array, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, out, err));
    for (size_t i = 0; i < n; i++)
        (*out)[i] = (float)qn_npy_at(&array, (qn_i64)i);
out:
    qn_npy_free(&array);
    return st;
}

qn_status qn_golden_bytes(qn_golden *g, const char *file, size_t n, uint8_t **out, qn_err *err)
{
    qn_npy array = { 0 };
    qn_status st = QN_OK;

    QN_TRY(read_array(g, file, n, &array, err));
    QN_TRY(qn_owned_memory(&g->owned, n, out, err));
    for (size_t i = 0; i < n; i++)
        (*out)[i] = (uint8_t)qn_npy_at(&array, (qn_i64)i);
out:
    qn_npy_free(&array);
    return st;
}

static void drop_json(void *json)
{
    json_decref(json);
}

qn_status qn_golden_json(qn_golden *g, const char *file, json_t **out, qn_err *err)
{
    char path[QN_GOLDEN_PATH];
    json_error_t why;

    qn_golden_path(g, file, path);
    *out = json_load_file(path, 0, &why);
    return *out ? qn_owned_add(&g->owned, *out, drop_json, err) : blocked(g, file, why.text, err);
}

static void drop_csv(void *csv)
{
    qn_csv_free(csv);
    free(csv);
}

qn_status qn_golden_csv(qn_golden *g, const char *file, const qn_csv **out, qn_err *err)
{
    qn_csv *csv = calloc(1, sizeof *csv);
    char path[QN_GOLDEN_PATH];
    qn_err local = { .text = "" };

    if (!csv)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s", file);
    *out = csv;
    qn_golden_path(g, file, path);
    if (qn_csv_read(path, csv, &local) == QN_OK)
        return qn_owned_add(&g->owned, csv, drop_csv, err);
    free(csv);
    return blocked(g, file, local.text, err);
}

double qn_golden_member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

float qn_golden_float(const json_t *object, const char *key)
{
    return (float)qn_golden_member(object, key);
}

double qn_golden_cell(const qn_csv *csv, size_t row, const char *column)
{
    const int at = qn_csv_find(csv, column);
    const char *text = at < 0 ? "" : qn_csv_get(csv, row, (size_t)at);
    char *end;
    const double value = strtod(text, &end);

    return end == text || *end ? NAN : value;
}

int qn_golden_whole(const qn_csv *csv, size_t row, const char *column)
{
    const double value = qn_golden_cell(csv, row, column);

    return value >= 0 && value <= 1 << 20 ? (int)value : -1;
}

int qn_golden_count(const json_t *object, const char *key)
{
    const double n = qn_golden_member(object, key);

    return n >= 1 && n <= 1 << 20 ? (int)n : 0;
}

/* Folders. */

/* The part of `name` between prefix and suffix, allocated; NULL if there is no match. */
static char *middle(const char *name, const char *prefix, const char *suffix)
{
    const size_t all = strlen(name), head = strlen(prefix), tail = strlen(suffix);

    if (all <= head + tail || strncmp(name, prefix, head) != 0 ||
        strcmp(name + all - tail, suffix) != 0)
        return NULL;
    return strndup(name + head, all - head - tail);
}

qn_status qn_golden_list(qn_golden *g, const char *folder, const char *prefix, const char *suffix,
                         qn_golden_names *out, qn_err *err)
{
    char path[QN_GOLDEN_PATH];
    struct dirent **entries = NULL;
    qn_status st = QN_OK;
    int n;

    qn_golden_path(g, folder, path);
    *out = (qn_golden_names){ 0 };
    n = scandir(path, &entries, NULL, alphasort);
    if (n > 0 && !(out->list = calloc((size_t)n, sizeof *out->list)))
        st = qn_fail(err, QN_ERR_NOMEM, "%d names of %s", n, path);
    else if (n > 0)
        st = qn_owned_add(&g->owned, out->list, free, err);
    for (int i = 0; i < n; i++) {
        char *name = st == QN_OK ? middle(entries[i]->d_name, prefix, suffix) : NULL;

        if (name)
            st = qn_owned_add(&g->owned, out->list[out->n++] = name, free, err);
        free(entries[i]);
    }
    free(entries);
    return st;
}

/* Comparing. */

void qn_golden_compare(qn_golden *g, const char *file, const float *got, qn_i64 pitch, qn_i64 rows,
                       qn_i64 cols, qn_limit limit)
{
    qn_tally tally = { .limit = limit };
    char path[QN_GOLDEN_PATH];
    qn_err local = { .text = "" };
    qn_npy want = { 0 };

    if (!qn_golden_has(g, file)) {
        qn_golden_add_why(g, QN_FINDING_SKIPPED, file, "absent");
        return;
    }
    if (!got) {
        qn_golden_add_why(g, QN_FINDING_SKIPPED, file, "the data it is computed from is absent");
        return;
    }
    qn_golden_path(g, file, path);
    if (qn_npy_read(path, &want, &local) != QN_OK) {
        qn_golden_add_why(g, QN_FINDING_OUT, file, "cannot be read: %s", local.text);
    } else if (qn_npy_elems(&want) != rows * cols) {
        qn_golden_add_why(g, QN_FINDING_OUT, file, "%lld values, not %lld",
                          (long long)qn_npy_elems(&want), (long long)rows * (long long)cols);
    } else {
        for (qn_i64 r = 0; r < rows; r++)
            for (qn_i64 c = 0; c < cols; c++)
                qn_tally_add(&tally, (double)got[r * pitch + c], qn_npy_at(&want, r * cols + c));
        qn_golden_add(g, &tally, "%s", file);
    }
    qn_npy_free(&want);
}

void qn_golden_compare_all(qn_golden *g, const char *file, const float *got, qn_i64 n,
                           qn_limit limit)
{
    qn_golden_compare(g, file, got, n, 1, n, limit);
}

/* Arrays and graphs. */

qn_status qn_golden_floats_new(qn_golden *g, size_t n, float value, float **out, qn_err *err)
{
    const qn_status st = qn_owned_memory(&g->owned, n * sizeof **out, out, err);

    for (size_t i = 0; st == QN_OK && i < n; i++)
        (*out)[i] = value;
    return st;
}

qn_status qn_golden_fresh(qn_golden *g, size_t bytes, qn_buf **out, qn_err *err)
{
    return qn_owned_buf(&g->owned, g->ctx, g->part, bytes, out, err);
}

qn_status qn_golden_upload(qn_golden *g, const void *data, size_t bytes, qn_buf **out, qn_err *err)
{
    const qn_status st = qn_golden_fresh(g, bytes, out, err);

    return st == QN_OK ? qn_buf_write(*out, 0, data, bytes, err) : st;
}

qn_status qn_golden_download(qn_golden *g, qn_buf *buf, size_t n, float **out, qn_err *err)
{
    const qn_status st = qn_golden_floats_new(g, n, 0, out, err);

    return st == QN_OK ? qn_buf_read(buf, 0, *out, n * sizeof **out, err) : st;
}

qn_status qn_golden_graph(qn_golden *g, const char *name, qn_graph **out, qn_err *err)
{
    return qn_owned_graph(&g->owned, g->ctx, name, out, err);
}

/* Checks. */

/* Whether a word is the check's name or group, or "all". */
static int is_called(const qn_check *check, const char *word)
{
    return !strcmp(word, check->name) || !strcmp(word, "all") ||
           (check->group && !strcmp(word, check->group));
}

int qn_checks_unknown(const qn_check *checks, const char *list, char word[32])
{
    for (int i = 0; qn_list_item(list, i, word, 32); i++) {
        int is_known = 0;

        for (const qn_check *c = checks; c->name; c++)
            is_known |= is_called(c, word);
        if (!is_known)
            return 1;
    }
    return 0;
}

qn_status qn_checks_run(const qn_check *checks, const char *list, qn_ctx *ctx, const char *dir,
                        qn_findings *findings, qn_err *err)
{
    qn_status st = QN_OK;
    char word[32];

    for (const qn_check *c = checks; c->name; c++) {
        qn_golden g = { .ctx = ctx, .dir = dir, .part = c->name, .findings = findings };
        int is_wanted = 0;

        for (int i = 0; qn_list_item(list, i, word, sizeof word); i++)
            is_wanted |= is_called(c, word);
        if (is_wanted)
            QN_TRY(qn_golden_end(&g, 0, c->run(&g, err), err));
    }
    QN_TRY(qn_findings_complete(findings, err));
out:
    return st;
}
