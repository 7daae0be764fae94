/* export.c - writes metrics as JSON and as Prometheus text. */
#include "engine/telemetry/export.h"

#include "util/file.h"
#include "util/status.h"
#include "util/utf8.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double quantiles[] = { 0.50, 0.90, 0.95, 0.99 };

enum { N_QUANTILES = sizeof quantiles / sizeof *quantiles };

static void read_quantiles(const qn_summary *s, double out[N_QUANTILES])
{
    out[0] = s->p50;
    out[1] = s->p90;
    out[2] = s->p95;
    out[3] = s->p99;
}

/* Text. */

/* Appends `text` with every byte that is no UTF-8 replaced: names of devices and drivers come
 * from outside, and both formats are UTF-8. Newlines stay, for the formats to escape. */
static void add_utf8(qn_str *out, const char *text)
{
    while (*text) {
        const size_t n = qn_utf8_size(text);
        if (n)
            qn_str_add_n(out, text, n);
        else
            qn_str_add(out, "\xEF\xBF\xBD"); /* U+FFFD */
        text += n ? n : 1;
    }
}

/* JSON. */

static json_t *text_json(const char *text)
{
    qn_str clean = { 0 };
    json_t *json;

    add_utf8(&clean, text ? text : "");
    json = clean.failed ? NULL : json_string(qn_str_get(&clean));
    qn_str_free(&clean);
    return json;
}

static json_t *number_json(double value)
{
    if (!isfinite(value))
        return json_null();
    if (value == trunc(value) && fabs(value) <= 0x1p53)
        return json_integer((json_int_t)value);
    return json_real(value);
}

/* Takes `value`; false when there was no memory for it or for its place. */
static int put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

/* Takes `item`, unless it lacks something; then the array is of no use either. */
static int append(json_t *array, json_t *item, int is_complete)
{
    if (!is_complete) {
        json_decref(item);
        return 0;
    }
    return json_array_append_new(array, item) == 0;
}

static json_t *complete(json_t *array, int is_complete)
{
    if (is_complete)
        return array;
    json_decref(array);
    return NULL;
}

static int put_summary(json_t *json, const qn_summary *s)
{
    static const char *const keys[N_QUANTILES] = { "p50", "p90", "p95", "p99" };
    const double none = s->count ? 0 : NAN; /* null: nothing was seen */
    double values[N_QUANTILES];
    int ok = put(json, "count", json_integer((json_int_t)s->count)) &&
             put(json, "sum", number_json(s->sum)) &&
             put(json, "min", number_json(s->min + none)) &&
             put(json, "max", number_json(s->max + none));

    read_quantiles(s, values);
    for (int i = 0; i < N_QUANTILES && ok; i++)
        ok = put(json, keys[i], number_json(values[i] + none));
    return ok;
}

static json_t *metrics_json(const qn_sample *samples, size_t n)
{
    json_t *array = json_array();
    int ok = array != NULL;

    for (size_t i = 0; i < n && ok; i++) {
        const qn_sample *const s = &samples[i];
        json_t *const json = json_object();
        json_t *const labels = json_object();

        ok = put(json, "name", text_json(s->def->name)) && put(json, "labels", json_incref(labels));
        for (int k = 0; k < QN_MAX_LABELS && ok; k++)
            if (s->labels[k])
                ok = put(labels, s->def->keys[k], text_json(s->labels[k]));
        json_decref(labels);
        if (ok && s->def->type == QN_HISTOGRAM)
            ok = put_summary(json, &s->summary);
        else if (ok)
            ok = put(json, "value", number_json(s->value));
        ok = append(array, json, ok);
    }
    return complete(array, ok);
}

static json_t *devices_json(const qn_run_report *report)
{
    json_t *array = json_array();
    int ok = array != NULL;

    for (size_t i = 0; i < report->n_devices && ok; i++) {
        const qn_run_device *const d = &report->devices[i];
        json_t *const json = json_object();

        ok = put(json, "id", text_json(d->id)) && put(json, "name", text_json(d->name)) &&
             put(json, "arch", text_json(d->arch)) && put(json, "driver", text_json(d->driver)) &&
             put(json, "state", text_json(d->failure ? "failed" : "ok")) &&
             (!d->failure || put(json, "reason", text_json(d->failure)));
        ok = append(array, json, ok);
    }
    return complete(array, ok);
}

static int order_of(const char *a, const char *b)
{
    return strverscmp(a ? a : "", b ? b : "");
}

static int by_stage_and_reason(const void *a, const void *b)
{
    const qn_run_fallback *const x = a, *const y = b;
    int order = order_of(x->stage, y->stage);

    if (order == 0)
        order = order_of(x->reason, y->reason);
    return order ? order : order_of(x->text, y->text);
}

static int by_name_and_device(const void *a, const void *b)
{
    const qn_run_stage *const x = a, *const y = b;
    const int order = order_of(x->name, y->name);

    return order ? order : order_of(x->device, y->device);
}

/* A copy to free, NULL when there is no memory. */
static void *sorted_copy(const void *items, size_t n, size_t size,
                         int (*order)(const void *, const void *))
{
    void *const copy = malloc((n + 1) * size);

    if (copy && n) {
        memcpy(copy, items, n * size);
        qsort(copy, n, size, order);
    }
    return copy;
}

static json_t *fallbacks_json(const qn_run_report *report)
{
    const size_t n = report->n_fallbacks;
    qn_run_fallback *const sorted =
        sorted_copy(report->fallbacks, n, sizeof *sorted, by_stage_and_reason);
    json_t *array = json_array();
    int ok = array && sorted;

    for (size_t i = 0; i < n && ok; i++) {
        const qn_run_fallback *const f = &sorted[i];
        json_t *const json = json_object();

        ok = put(json, "stage", text_json(f->stage)) && put(json, "reason", text_json(f->reason)) &&
             put(json, "text", text_json(f->text)) &&
             put(json, "count", json_integer((json_int_t)f->count));
        ok = append(array, json, ok);
    }
    free(sorted);
    return complete(array, ok);
}

static json_t *stages_json(const qn_run_report *report)
{
    const size_t n = report->n_stages;
    qn_run_stage *const sorted = sorted_copy(report->stages, n, sizeof *sorted, by_name_and_device);
    json_t *array = json_array();
    int ok = array && sorted;

    for (size_t i = 0; i < n && ok; i++) {
        const qn_run_stage *const s = &sorted[i];
        json_t *const json = json_object();

        ok = put(json, "name", text_json(s->name)) && put(json, "device", text_json(s->device)) &&
             put(json, "runs", json_integer((json_int_t)s->runs)) &&
             (!(s->exec_us > 0) || put(json, "exec_us", number_json(s->exec_us))) &&
             put(json, "h2d_bytes", json_integer((json_int_t)s->h2d_bytes)) &&
             put(json, "d2h_bytes", json_integer((json_int_t)s->d2h_bytes));
        ok = append(array, json, ok);
    }
    free(sorted);
    return complete(array, ok);
}

static json_t *checks_json(const qn_run_report *report)
{
    json_t *array = json_array();
    int ok = array != NULL;

    for (size_t i = 0; i < report->run.n_checks && ok; i++) {
        const qn_run_check *const c = &report->run.checks[i];
        json_t *const json = json_object();

        ok = put(json, "what", text_json(c->what)) && put(json, "against", text_json(c->against)) &&
             put(json, "values", number_json(c->n_values)) &&
             put(json, "equal", number_json(c->n_equal)) &&
             put(json, "error", number_json(c->error)) &&
             put(json, "limit", number_json(c->limit)) && put(json, "ok", json_boolean(c->is_ok));
        ok = append(array, json, ok);
    }
    return complete(array, ok);
}

/* Work and checks of the run, where its command described them. */
static int put_told(json_t *root, const qn_run_report *report)
{
    const char *name =
        report->run.n_items == 1 && report->run.item ? report->run.item : report->run.items;
    json_t *work;

    if (report->run.command_line && !put(root, "command_line", text_json(report->run.command_line)))
        return 0;
    if (report->run.items) {
        work = json_object();
        if (!put(root, "work", work) || !put(work, "count", number_json(report->run.n_items)) ||
            !put(work, "name", text_json(name)))
            return 0;
    }
    return !report->run.n_checks || put(root, "checks", checks_json(report));
}

/* The wall time appears twice, in the run and as a metric: one value for both. */
static void settle_wall_time(qn_metrics *metrics, const qn_run_report *report)
{
    if (report->wall_time_s > 0)
        qn_metric_set(qn_metric_of(metrics, "wall_time_s", NULL), report->wall_time_s);
}

qn_status qn_export_json(qn_metrics *metrics, const qn_run_report *report, qn_str *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sample *samples = NULL;
    size_t n = 0;
    json_t *root = NULL;
    char *text = NULL;

    settle_wall_time(metrics, report);
    QN_TRY(qn_metrics_collect(metrics, &samples, &n, err));
    root = json_object();
    if (put(root, "format", json_string("quern-metrics/1")) &&
        put(root, "command", text_json(report->run.command)) &&
        put(root, "version", text_json(QN_VERSION)) &&
        put(root, "started", text_json(report->started)) &&
        put(root, "wall_time_s", number_json(qn_metric_value(metrics, "wall_time_s", NULL))) &&
        put(root, "status", text_json(report->run.status ? report->run.status : "ok")) &&
        put_told(root, report) && put(root, "devices", devices_json(report)) &&
        put(root, "metrics", metrics_json(samples, n)) &&
        put(root, "fallbacks", fallbacks_json(report)) && put(root, "stages", stages_json(report)))
        text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    if (text) {
        qn_str_add(out, text);
        qn_str_add(out, "\n");
    }
    if (!text || out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "metrics: %zu samples as JSON", n);
out:
    free(text);
    json_decref(root);
    free(samples);
    return st;
}

/* Prometheus. */

/* Backslash and newline are escaped everywhere, quotes only inside quotes. */
static void add_escaped(qn_str *out, const char *text, int is_quoted)
{
    qn_str clean = { 0 };

    add_utf8(&clean, text);
    for (const char *p = qn_str_get(&clean); *p; p++) {
        if (*p == '\\')
            qn_str_add(out, "\\\\");
        else if (*p == '\n')
            qn_str_add(out, "\\n");
        else if (*p == '"' && is_quoted)
            qn_str_add(out, "\\\"");
        else
            qn_str_add_n(out, p, 1);
    }
    out->failed |= clean.failed;
    qn_str_free(&clean);
}

/* Shortest of 15 and 17 digits that reads back as the same number. */
static void add_number(qn_str *out, double value)
{
    char text[40];

    if (!isfinite(value)) {
        qn_str_add(out, isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
        return;
    }
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    /* A program around the library may have set a locale with decimal commas. */
    for (char *p = text; *p; p++)
        *p = *p == ',' ? '.' : *p;
    qn_str_add(out, text);
}

/* quern_<name><ending>{labels} value. `quantile` < 0: no such label. */
static void add_line(qn_str *out, const qn_sample *s, const char *ending, double quantile,
                     double value)
{
    const char *before = "{";

    qn_str_addf(out, "quern_%s%s", s->def->name, ending);
    for (int i = 0; i < QN_MAX_LABELS; i++) {
        if (!s->labels[i])
            continue;
        qn_str_addf(out, "%s%s=\"", before, s->def->keys[i]);
        add_escaped(out, s->labels[i], 1);
        qn_str_add(out, "\"");
        before = ",";
    }
    if (quantile >= 0) {
        qn_str_addf(out, "%squantile=\"", before);
        add_number(out, quantile);
        qn_str_add(out, "\"");
        before = ",";
    }
    qn_str_add(out, *before == ',' ? "} " : " ");
    add_number(out, value);
    qn_str_add(out, "\n");
}

static void add_summary(qn_str *out, const qn_sample *s)
{
    double values[N_QUANTILES];

    read_quantiles(&s->summary, values);
    for (int i = 0; i < N_QUANTILES; i++)
        add_line(out, s, "", quantiles[i], s->summary.count ? values[i] : NAN);
    add_line(out, s, "_sum", -1, s->summary.sum);
    add_line(out, s, "_count", -1, (double)s->summary.count);
}

qn_status qn_export_prometheus(const qn_metrics *metrics, qn_str *out, qn_err *err)
{
    static const char *const types[] = {
        [QN_COUNTER] = "counter", [QN_GAUGE] = "gauge", [QN_HISTOGRAM] = "summary"
    };
    qn_sample *samples = NULL;
    size_t n = 0;
    const qn_status st = qn_metrics_collect(metrics, &samples, &n, err);

    for (size_t i = 0; i < n; i++) {
        const qn_metric_def *const def = samples[i].def;
        if (i == 0 || samples[i - 1].def != def) {
            qn_str_addf(out, "# HELP quern_%s ", def->name);
            add_escaped(out, def->help, 0);
            qn_str_addf(out, "\n# TYPE quern_%s %s\n", def->name, types[def->type]);
        }
        if (def->type == QN_HISTOGRAM)
            add_summary(out, &samples[i]);
        else
            add_line(out, &samples[i], "", -1, samples[i].value);
    }
    free(samples);
    if (st == QN_OK && out->failed)
        return qn_fail(err, QN_ERR_NOMEM, "metrics: %zu samples as text", n);
    return st;
}

/* Files. */

static int ends_with(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);

    return n > m && strcmp(path + n - m, ending) == 0;
}

qn_status qn_export_check(const char *path, qn_err *err)
{
    if (ends_with(path, ".json") || ends_with(path, ".prom"))
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE, "metrics file %s ends neither in .json nor in .prom", path);
}

qn_status qn_export_file(qn_metrics *metrics, const qn_run_report *report, const char *path,
                         qn_err *err)
{
    qn_status st = QN_OK;
    qn_str text = { 0 };

    QN_TRY(qn_export_check(path, err));
    settle_wall_time(metrics, report);
    if (ends_with(path, ".json"))
        QN_TRY(qn_export_json(metrics, report, &text, err));
    else
        QN_TRY(qn_export_prometheus(metrics, &text, err));
    QN_TRY(qn_file_write_str(path, &text, err));
out:
    qn_str_free(&text);
    return st;
}
