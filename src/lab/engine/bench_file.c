/* bench_file.c - writes and reads figures as JSON. */
#include "lab/engine/bench.h"

#include "util/file.h"
#include "lab/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char format[] = "quern-bench/1";

static const char *const better_words[] = {
    [QN_NEITHER] = "neither", [QN_LESS] = "less", [QN_MORE] = "more", NULL
};

static const qn_column columns[] = {
    { QN_COLUMN(qn_figure, item, NULL, "item") },
    { QN_COLUMN(qn_figure, device, NULL, "device") },
    { QN_COLUMN(qn_figure, metric, NULL, "metric") },
    { QN_COLUMN(qn_figure, value, NULL, "value") },
    { QN_COLUMN(qn_figure, better, NULL, "better", .words = better_words) },
};

qn_status qn_bench_save(const qn_bench *bench, const char *path, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_sheet_save(path,
                         json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "format", format, "verb",
                                   bench->verb, "version", qn_version(), "started", bench->started,
                                   "host", qn_json_text(bench->host ? bench->host : ""), "command",
                                   qn_json_text(bench->command ? bench->command : ""), "figures",
                                   qn_sheet_json(&QN_SHEET(columns, bench->list, bench->n))),
                         err));
out:
    return st;
}

/* Reading. */

static qn_status get_better(const json_t *o, const char *where, qn_better *out, qn_err *err)
{
    qn_status st = QN_OK;
    const char *text;

    QN_TRY(qn_json_get_text(o, "better", where, &text, err));
    for (int k = 0; better_words[k]; k++)
        if (!strcmp(text, better_words[k])) {
            *out = (qn_better)k;
            return QN_OK;
        }
    st = qn_fail(err, QN_ERR_INPUT, "%s: better is \"%.20s\", not less, more or neither", where,
                 text);
out:
    return st;
}

static qn_status read_figure(const json_t *o, const char *where, qn_bench *out, qn_err *err)
{
    qn_status st = QN_OK;
    const char *item, *device, *metric;
    qn_better better = QN_NEITHER;
    double value = NAN;

    QN_TRY(qn_json_get_text(o, "item", where, &item, err));
    QN_TRY(qn_json_get_text(o, "device", where, &device, err));
    QN_TRY(qn_json_get_text(o, "metric", where, &metric, err));
    QN_TRY(get_better(o, where, &better, err));
    if (!json_is_null(json_object_get(o, "value")))
        QN_TRY(qn_json_get_number(o, "value", where, &value, err));
    QN_TRY(qn_bench_add(out, item, device, metric, better, value, err));
out:
    return st;
}

qn_status qn_bench_load(const char *path, qn_bench *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_bench bench = { 0 };
    json_t *root = NULL, *figures;
    const char *found, *verb;
    char where[600];

    QN_TRY(qn_json_read(path, &root, err));
    QN_TRY(qn_json_get_text(root, "format", path, &found, err));
    if (strcmp(found, format))
        QN_FAIL(err, QN_ERR_INPUT, "%s: format \"%.40s\", this program reads %s", path, found,
                format);
    QN_TRY(qn_json_get_text(root, "verb", path, &verb, err));
    snprintf(bench.verb, sizeof bench.verb, "%s", verb);
    QN_TRY(qn_json_get_array(root, "figures", path, &figures, err));
    for (size_t i = 0; i < json_array_size(figures); i++) {
        snprintf(where, sizeof where, "%s: figure %zu", path, i + 1);
        QN_TRY(read_figure(json_array_get(figures, i), where, &bench, err));
    }
    *out = bench;
    bench = (qn_bench){ 0 };
out:
    json_decref(root);
    qn_bench_free(&bench);
    return st;
}
