/* bench_file.c - figures as JSON, in and out. */
#include "lab/engine/bench.h"

#include "util/file.h"
#include "util/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char format[] = "quern-bench/1";

/* Writing. */

/* Sets member `key`; `*ok` becomes 0 for lack of memory and stays so. */
static void put(json_t *object, const char *key, json_t *value, int *ok)
{
    if (json_object_set_new(object, key, value) != 0)
        *ok = 0;
}

static const char *better_name(qn_better better)
{
    return better == QN_LESS ? "less" : better == QN_MORE ? "more" : "neither";
}

static json_t *figure_json(const qn_figure *f, int *ok)
{
    json_t *o = json_object();

    put(o, "item", qn_json_text(f->item), ok);
    put(o, "device", qn_json_text(f->device), ok);
    put(o, "metric", qn_json_text(f->metric), ok);
    put(o, "value", qn_json_number(f->value), ok);
    put(o, "better", qn_json_text(better_name(f->better)), ok);
    return o;
}

qn_status qn_bench_save(const qn_bench *bench, const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    json_t *root = json_object(), *figures = json_array();
    int ok = 1;

    put(root, "format", qn_json_text(format), &ok);
    put(root, "verb", qn_json_text(bench->verb), &ok);
    put(root, "version", qn_json_text(qn_version()), &ok);
    put(root, "started", qn_json_text(bench->started), &ok);
    put(root, "host", qn_json_text(bench->host ? bench->host : ""), &ok);
    put(root, "command", qn_json_text(bench->command ? bench->command : ""), &ok);
    put(root, "figures", figures, &ok); /* `root` owns the list from here on */
    for (size_t i = 0; i < bench->n; i++)
        ok &= json_array_append_new(figures, figure_json(&bench->list[i], &ok)) == 0;
    if (!ok) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu figures", path, bench->n);
        goto out;
    }
    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_json_write(path, root, err));
out:
    json_decref(root);
    return st;
}

/* Reading. */

static qn_status get_better(const json_t *o, const char *where, qn_better *out, qn_err *err)
{
    qn_status st = QN_OK;
    const char *text;

    QN_TRY(qn_json_get_text(o, "better", where, &text, err));
    *out = !strcmp(text, "less") ? QN_LESS : !strcmp(text, "more") ? QN_MORE : QN_NEITHER;
    if (strcmp(text, better_name(*out)))
        st = qn_fail(err, QN_ERR_INPUT, "%s: better is \"%.20s\", not less, more or neither", where,
                     text);
out:
    return st;
}

static qn_status read_figure(const json_t *o, const char *where, qn_bench *out, qn_err *err)
{
    qn_status st = QN_OK;
    const char *item, *device, *metric;
    qn_better better;
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
    if (strcmp(found, format)) {
        st = qn_fail(err, QN_ERR_INPUT, "%s: format \"%.40s\", this program reads %s", path, found,
                     format);
        goto out;
    }
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
