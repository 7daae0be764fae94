/* export.c - writes metrics as JSON and as Prometheus text. */
#include "engine/telemetry/export.h"

#include "util/file.h"
#include "util/json.h"
#include "util/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* JSON. */

static json_t *text_json(const char *text)
{
    return qn_json_text(text ? text : "");
}

static json_t *number_json(double value)
{
    if (value == trunc(value) && fabs(value) <= 0x1p53)
        return json_integer((json_int_t)value);
    return qn_json_number(value);
}

static json_t *summary_json(const qn_summary *s)
{
    const double none = s->count ? 0 : NAN; /* null: there were no values */

    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)s->count,
                     "sum", number_json(s->sum), "min", number_json(s->min + none), "max",
                     number_json(s->max + none), "p50", number_json(s->p50 + none), "p90",
                     number_json(s->p90 + none), "p95", number_json(s->p95 + none), "p99",
                     number_json(s->p99 + none));
}

static json_t *metrics_json(const qn_sample *samples, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        const qn_sample *const s = &samples[i];
        json_t *labels = json_object(), *json;

        for (int k = 0; k < QN_MAX_LABELS; k++)
            if (s->labels[k])
                qn_json_put(&labels, s->def->keys[k], text_json(s->labels[k]));
        json = json_pack("{s:o, s:o}", "name", text_json(s->def->name), "labels", labels);
        if (s->def->type == QN_HISTOGRAM)
            qn_json_merge(&json, summary_json(&s->summary));
        else
            qn_json_put(&json, "value", number_json(s->value));
        qn_json_push(&array, json);
    }
    return array;
}

static json_t *devices_json(const qn_run_report *report)
{
    json_t *array = json_array();

    for (size_t i = 0; i < report->n_devices; i++) {
        const qn_run_device *const d = &report->devices[i];
        json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:s}", "id", text_json(d->id), "name",
                                 text_json(d->name), "arch", text_json(d->arch), "driver",
                                 text_json(d->driver), "state", d->failure ? "failed" : "ok");

        if (d->failure)
            qn_json_put(&json, "reason", text_json(d->failure));
        qn_json_push(&array, json);
    }
    return array;
}

static int order_of(const char *a, const char *b)
{
    return strverscmp(a ? a : "", b ? b : "");
}

static int by_stage_and_reason(const void *a, const void *b)
{
    const qn_fallback *const x = a, *const y = b;
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

/* A copy that the caller frees; NULL if out of memory. */
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
    qn_fallback *const sorted =
        sorted_copy(report->fallbacks, n, sizeof *sorted, by_stage_and_reason);
    json_t *array = sorted ? json_array() : NULL;

    for (size_t i = 0; i < n && sorted; i++) {
        const qn_fallback *const f = &sorted[i];

        qn_json_push(&array, json_pack("{s:o, s:o, s:o, s:I}", "stage", text_json(f->stage),
                                       "reason", text_json(f->reason), "text", text_json(f->text),
                                       "count", (json_int_t)f->count));
    }
    free(sorted);
    return array;
}

static json_t *stages_json(const qn_run_report *report)
{
    const size_t n = report->n_stages;
    qn_run_stage *const sorted = sorted_copy(report->stages, n, sizeof *sorted, by_name_and_device);
    json_t *array = sorted ? json_array() : NULL;

    for (size_t i = 0; i < n && sorted; i++) {
        const qn_run_stage *const s = &sorted[i];
        json_t *json = json_pack("{s:o, s:o, s:I}", "name", text_json(s->name), "device",
                                 text_json(s->device), "runs", (json_int_t)s->runs);

        if (s->exec_us > 0)
            qn_json_put(&json, "exec_us", number_json(s->exec_us));
        qn_json_merge(&json, json_pack("{s:I, s:I}", "h2d_bytes", (json_int_t)s->h2d_bytes,
                                       "d2h_bytes", (json_int_t)s->d2h_bytes));
        qn_json_push(&array, json);
    }
    free(sorted);
    return array;
}

static json_t *checks_json(const qn_run_report *report)
{
    json_t *array = json_array();

    for (size_t i = 0; i < report->run.n_checks; i++) {
        const qn_run_check *const c = &report->run.checks[i];

        qn_json_push(&array,
                     json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "what", text_json(c->what),
                               "against", text_json(c->against), "values", number_json(c->n_values),
                               "equal", number_json(c->n_equal), "error", number_json(c->error),
                               "limit", number_json(c->limit), "ok", c->is_ok));
    }
    return array;
}

/* Work and checks of the run, if its command gave them. */
static void put_told(json_t **root, const qn_run_report *report)
{
    const char *name =
        report->run.n_items == 1 && report->run.item ? report->run.item : report->run.items;

    if (report->run.command_line)
        qn_json_put(root, "command_line", text_json(report->run.command_line));
    if (report->run.items)
        qn_json_put(root, "work",
                    json_pack("{s:o, s:o}", "count", number_json(report->run.n_items), "name",
                              text_json(name)));
    if (report->run.n_checks)
        qn_json_put(root, "checks", checks_json(report));
}

/* The wall time appears in the run and as a metric; both must have the same value. */
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
    root = json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "format", "quern-metrics/1", "command",
                     text_json(report->run.command), "version", QN_VERSION, "started",
                     text_json(report->started), "wall_time_s",
                     number_json(qn_metric_value(metrics, "wall_time_s", NULL)), "status",
                     text_json(report->run.status ? report->run.status : "ok"));
    put_told(&root, report);
    qn_json_merge(&root, json_pack("{s:o, s:o, s:o, s:o}", "devices", devices_json(report),
                                   "metrics", metrics_json(samples, n), "fallbacks",
                                   fallbacks_json(report), "stages", stages_json(report)));
    if (root)
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

/* Backslash and newline are escaped everywhere, quotes only inside quotes. Bytes that are not UTF-8
 * are replaced, since names of devices and drivers may contain anything. */
static void add_escaped(qn_str *out, const char *text, int is_quoted)
{
    for (size_t n; *text; text += n ? n : 1) {
        n = qn_utf8_size(text);
        if (!n)
            qn_str_add(out, "\xEF\xBF\xBD"); /* U+FFFD */
        else if (*text == '\\')
            qn_str_add(out, "\\\\");
        else if (*text == '\n')
            qn_str_add(out, "\\n");
        else if (*text == '"' && is_quoted)
            qn_str_add(out, "\\\"");
        else
            qn_str_add_n(out, text, n);
    }
}

/* 15 digits if they read back as the same number, else 17. */
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
    /* The program that uses the library may have set a locale with decimal commas. */
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
    const qn_summary *const of = &s->summary;
    const double none = of->count ? 0 : NAN;

    add_line(out, s, "", 0.50, of->p50 + none);
    add_line(out, s, "", 0.90, of->p90 + none);
    add_line(out, s, "", 0.95, of->p95 + none);
    add_line(out, s, "", 0.99, of->p99 + none);
    add_line(out, s, "_sum", -1, of->sum);
    add_line(out, s, "_count", -1, (double)of->count);
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
    QN_TRY(ends_with(path, ".json") ? qn_export_json(metrics, report, &text, err)
                                    : qn_export_prometheus(metrics, &text, err));
    QN_TRY(qn_file_write_str(path, &text, err));
out:
    qn_str_free(&text);
    return st;
}
