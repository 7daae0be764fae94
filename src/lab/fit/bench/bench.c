/* bench.c - measures evaluations of the cases, one row each. */
#include "lab/fit/bench/bench_impl.h"

#include "domain/fit/host/host.h"
#include "util/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_fit_bench_free(qn_fit_bench *bench)
{
    free(bench->rows);
    *bench = (qn_fit_bench){ 0 };
}

static double or_nan(double value)
{
    return value > 0 ? value : NAN;
}

qn_status qn_fit_bench_add(qn_fit_bench *bench, const qn_fit_bench_row *row, qn_err *err)
{
    qn_fit_bench_row r = *row;
    const double us = r.piped_us > 0 ? fmin(r.piped_us, r.best_us) : r.best_us;

    r.piped_us = or_nan(r.piped_us);
    r.first_us = or_nan(r.first_us);
    r.bytes = or_nan(r.bytes);
    r.each_ns = us * 1e3 / (double)r.n;
    r.gbs = r.bytes / us / 1e3;
    r.bound_us = or_nan(r.bytes / bench->gbs / 1e3);
    r.bound_pct = 100 * r.bound_us / us;
    return QN_SHEET_ADD(bench->rows, bench->n, bench->room, &r, err);
}

double qn_fit_bench_now(QN_UNUSED void *user)
{
    return qn_now_us() / 1e6;
}

enum { SAMPLES = 20, MIN_PIPED = 5, MAX_PIPED = 400, PIPED_ROWS = 3 };
static const double PIPED_US = 2e5; /* approximate time of a series of evaluations */

typedef struct piped {
    qn_graph *graph;
    int runs;
} piped;

static qn_status run_piped(void *user, double *us, qn_err *err)
{
    const piped *p = user;

    return qn_time_runs(p->graph, p->runs, us, err);
}

qn_status qn_fit_measure(qn_graph *graph, qn_fit_bench_row *row, qn_err *err)
{
    piped p = { .graph = graph };
    qn_timing timing;
    qn_status st = QN_OK;

    QN_TRY(qn_time_graph(graph, SAMPLES, 0, &timing, err));
    row->first_us = timing.first_us;
    row->best_us = timing.samples.min;
    row->median_us = timing.samples.median;
    p.runs = (int)fmin(fmax(PIPED_US / row->best_us, MIN_PIPED), MAX_PIPED);
    QN_TRY(qn_time(0, PIPED_ROWS - 1, run_piped, &p, &timing, err));
    row->piped_us = qn_time_best(&timing);
    snprintf(row->device, sizeof row->device, "%s", qn_graph_stage_device(graph, 0));
out:
    return st;
}

/* One evaluation. */

typedef struct {
    qn_fit_device *device;
    qn_graph *graph;
    qn_buf *x, *rows, *jacobian, *gradient;
} fixture;

static void fixture_free(fixture *s)
{
    qn_graph_free(s->graph);
    qn_buf_free(s->x);
    qn_buf_free(s->rows);
    qn_buf_free(s->jacobian);
    qn_buf_free(s->gradient);
    qn_fit_device_free(s->device);
}

static qn_status add_stages(fixture *s, qn_fit_work work, qn_err *err)
{
    qn_status st = QN_OK;

    switch (work) {
    case QN_FIT_DO_RESIDUALS:
        QN_TRY(qn_fit_device_rows(s->device, "rows", &s->rows, err));
        QN_TRY(qn_fit_stage_residuals(s->device, s->graph, s->x, NULL, s->rows, err));
        break;
    case QN_FIT_DO_LINEARIZE:
        QN_TRY(qn_fit_device_rows(s->device, "rows", &s->rows, err));
        QN_TRY(qn_fit_device_jacobian(s->device, "jacobian", &s->jacobian, err));
        QN_TRY(qn_fit_stage_linearize(s->device, s->graph, s->x, NULL, s->rows, s->jacobian, err));
        break;
    default:
        qn_fit_device_set_accumulate(s->device, work == QN_FIT_DO_OWNER ? QN_FIT_ACCUMULATE_OWNER
                                                : work == QN_FIT_DO_ATOMIC
                                                    ? QN_FIT_ACCUMULATE_ATOMIC
                                                    : QN_FIT_ACCUMULATE_GATHER);
        QN_TRY(qn_fit_device_vector(s->device, "gradient", NULL, &s->gradient, err));
        QN_TRY(qn_fit_stage_gradient(s->device, s->graph, s->x, NULL, s->gradient, err));
    }
out:
    return st;
}

static qn_status evaluate(qn_ctx *ctx, const qn_fit_problem *problem, const char *bench_name,
                          const char *what, qn_fit_work work, qn_fit_precision precision,
                          qn_fit_bench *bench, qn_err *err)
{
    static const char *const works[] = { "residuals", "residuals+jacobian", "gradient gather",
                                         "gradient owner", "gradient atomic" };
    qn_fit_bench_row row = { .bench = bench_name, .precision = precision };
    qn_fit_traffic traffic;
    fixture s = { 0 };
    qn_status st = QN_OK;

    row.n = qn_fit_problem_n_instances(problem);
    snprintf(row.what, sizeof row.what, "%s %s", what, works[work]);
    QN_TRY(qn_fit_traffic_of(problem, work, precision, &traffic, err));
    row.bytes = traffic.bytes;
    QN_TRY(qn_fit_device_new(ctx, problem, precision, &s.device, err));
    if (bench->stores_f32 && work == QN_FIT_DO_LINEARIZE && precision == QN_FIT_F64) {
        snprintf(row.what, sizeof row.what, "%s %s stored in f32", what, works[work]);
        row.bytes -= traffic.stored * (sizeof(double) - sizeof(float));
        qn_fit_device_set_storage(s.device, QN_FIT_F32);
    }
    QN_TRY(qn_fit_device_vector(s.device, "x", problem->x, &s.x, err));
    QN_TRY(qn_graph_new(ctx, "fit.bench", &s.graph, err));
    QN_TRY(add_stages(&s, work, err));
    QN_TRY(qn_fit_measure(s.graph, &row, err));
    QN_TRY(qn_fit_bench_add(bench, &row, err));
out:
    fixture_free(&s);
    return st;
}

typedef struct {
    const char *bench, *what;
    qn_status (*make)(uint32_t n, qn_fit_problem **out, qn_err *err);
    unsigned works; /* 1 << qn_fit_work, combined by | */
    uint32_t sizes[4];
} bench_case;

typedef struct {
    qn_fit_host *host;
    const double *x;
} host_work;

static qn_status linearize(void *user, double *us, qn_err *err)
{
    const host_work *w = user;
    const double start = qn_now_us();
    qn_fit_bad bad;
    double cost;
    const qn_status st = qn_fit_host_linearize(w->host, w->x, &cost, &bad, err);

    *us = qn_now_us() - start;
    return st;
}

/* The evaluation of solvers on the CPU: cost, residuals and Jacobian, with a check that all are
 * finite. */
static qn_status evaluate_host(const qn_fit_problem *problem, const bench_case *c,
                               qn_fit_bench *bench, qn_err *err)
{
    enum { WARM = 1 };
    qn_fit_bench_row row = { .bench = c->bench, .precision = QN_FIT_F64 };
    qn_fit_host *host = NULL;
    qn_fit_traffic traffic;
    qn_timing timing;
    qn_status st = QN_OK;

    row.n = qn_fit_problem_n_instances(problem);
    snprintf(row.what, sizeof row.what, "%s linearize by the host", c->what);
    snprintf(row.device, sizeof row.device, "host");
    QN_TRY(qn_fit_traffic_of(problem, QN_FIT_DO_LINEARIZE, QN_FIT_F64, &traffic, err));
    row.bytes = traffic.bytes + 16.0 * (double)row.n; /* costs, written and summed */
    QN_TRY(qn_fit_host_new(problem, (qn_fit_host_options){ .jit = QN_FIT_JIT_ALWAYS }, &host, err));
    QN_TRY(qn_time(WARM, SAMPLES, linearize, &(host_work){ host, problem->x }, &timing, err));
    row.first_us = timing.first_us;
    row.best_us = timing.samples.min;
    row.median_us = timing.samples.median;
    QN_TRY(qn_fit_bench_add(bench, &row, err));
out:
    qn_fit_host_free(host);
    return st;
}

/* Benches. */

#define DO(work) (1u << QN_FIT_DO_##work)

static const bench_case cases[] = {
    { "B1",
      "springs",
      qn_fit_case_springs,
      DO(RESIDUALS) | DO(LINEARIZE) | DO(OWNER),
      { 100000, 1000000, 10000000 } },
    { "B2", "graph64", qn_fit_case_graph64, DO(RESIDUALS) | DO(LINEARIZE), { 1000000 } },
    { "B3", "cameras", qn_fit_case_cameras, DO(RESIDUALS) | DO(LINEARIZE), { 1000000 } },
    { "B4",
      "springs",
      qn_fit_case_springs,
      DO(GRADIENT) | DO(OWNER) | DO(ATOMIC),
      { 1000000, 10000000 } },
    { "B4", "cameras", qn_fit_case_cameras, DO(GRADIENT) | DO(ATOMIC), { 1000000 } },
    { "B4", "curve", qn_fit_case_curve, DO(GRADIENT) | DO(ATOMIC), { 1000000 } },
};

/* OpenCL C adds integers only. */
static int has_atomics(const qn_ctx *ctx)
{
    return strncmp(qn_device_id(ctx, qn_device_count(ctx) - 1), "opencl", 6) != 0;
}

static qn_status run_case(qn_ctx *ctx, const bench_case *c, uint32_t n, qn_fit_precision precision,
                          qn_fit_bench *bench, qn_err *err)
{
    qn_fit_problem *problem = NULL;
    qn_status st = QN_OK;

    QN_TRY(c->make(n, &problem, err));
    for (int work = 0; work <= QN_FIT_DO_ATOMIC; work++)
        if (c->works & 1u << work && (work != QN_FIT_DO_ATOMIC || has_atomics(ctx)))
            QN_TRY(evaluate(ctx, problem, c->bench, c->what, (qn_fit_work)work, precision, bench,
                            err));
    if (c->works & DO(LINEARIZE) && precision == QN_FIT_F64 && qn_device_count(ctx) == 1)
        QN_TRY(evaluate_host(problem, c, bench, err));
out:
    qn_fit_problem_free(problem);
    return st;
}

static qn_status run_sizes(qn_ctx *ctx, const bench_case *c, qn_i64 n, qn_fit_precision precision,
                           qn_fit_bench *bench, qn_err *err)
{
    qn_status st = QN_OK;

    if (n)
        return run_case(ctx, c, (uint32_t)n, precision, bench, err);
    for (int k = 0; st == QN_OK && c->sizes[k]; k++)
        st = run_case(ctx, c, c->sizes[k], precision, bench, err);
    return st;
}

qn_status qn_fit_bench_run(qn_ctx *ctx, const char *name, qn_i64 n, qn_fit_precision precision,
                           qn_fit_bench *bench, qn_err *err)
{
    qn_status st = QN_OK;
    int found = 0;

    if (n < 0 || n > 1 << 28)
        return qn_fail(err, QN_ERR_USAGE, "a bench of %lld instances (1 to %d)", (long long)n,
                       1 << 28);
    if (!bench->gbs)
        QN_TRY(qn_time_bandwidth(ctx, &bench->gbs, err));
    if (!strcmp(name, "hello"))
        return qn_fit_bench_hello(ctx, n, precision, bench, err);
    if (!strcmp(name, "B7"))
        return qn_fit_bench_cache(ctx, precision, bench, err);
    if (!strcmp(name, "B8"))
        return qn_fit_bench_even(ctx, n, precision, bench, err);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (!strcmp(name, cases[k].bench)) {
            found = 1;
            QN_TRY(run_sizes(ctx, &cases[k], n, precision, bench, err));
        }
    if (!found)
        st = qn_fail(err, QN_ERR_USAGE, "there is no bench %s (hello, B1, B2, B3, B4, B7, B8)",
                     name);
out:
    return st;
}

/* As columns. */

static const char *const precisions[] = { [QN_FIT_F64] = "f64", [QN_FIT_F32] = "f32", NULL };

static const qn_column columns[] = {
    { QN_COLUMN(qn_fit_bench_row, bench, "BENCH", "bench") },
    { QN_COLUMN(qn_fit_bench_row, what, "WHAT", "what") },
    { QN_COLUMN(qn_fit_bench_row, precision, "PREC", "precision", .words = precisions) },
    { QN_COLUMN(qn_fit_bench_row, device, "DEVICE", "device") },
    { QN_COLUMN(qn_fit_bench_row, n, "N", "n") },
    { QN_COLUMN(qn_fit_bench_row, best_us, "BEST US", NULL, .shown = "%.1f") },
    { QN_COLUMN(qn_fit_bench_row, median_us, "MEDIAN US", NULL, .shown = "%.1f") },
    { QN_COLUMN(qn_fit_bench_row, piped_us, "PIPED US", NULL, .shown = "%.1f") },
    { QN_COLUMN(qn_fit_bench_row, each_ns, "NS EACH", "ns_per_instance", .shown = "%.4f") },
    { QN_COLUMN(qn_fit_bench_row, gbs, "GB/S", "gbs", .shown = "%.1f", .may_lack = 1) },
    { QN_COLUMN(qn_fit_bench_row, bound_pct, "BOUND %", "bound_pct", .shown = "%.1f",
                .may_lack = 1) },
    { QN_COLUMN(qn_fit_bench_row, best_us, NULL, "best_s", .per = 1e6) },
    { QN_COLUMN(qn_fit_bench_row, median_us, NULL, "median_s", .per = 1e6) },
    { QN_COLUMN(qn_fit_bench_row, piped_us, NULL, "piped_s", .per = 1e6, .may_lack = 1) },
    { QN_COLUMN(qn_fit_bench_row, first_us, NULL, "first_s", .per = 1e6, .may_lack = 1) },
    { QN_COLUMN(qn_fit_bench_row, bytes, NULL, "bytes", .may_lack = 1) },
    { QN_COLUMN(qn_fit_bench_row, bound_us, NULL, "bound_s", .per = 1e6, .may_lack = 1) },
    { QN_COLUMN(qn_fit_bench_row, note, NULL, "note") },
};

qn_sheet qn_fit_bench_sheet(const qn_fit_bench *bench)
{
    return QN_SHEET(columns, bench->rows, bench->n);
}

json_t *qn_fit_bench_json(const qn_fit_bench *bench, const char *command)
{
    const qn_sheet rows = qn_fit_bench_sheet(bench);
    char utc[QN_UTC_SIZE];

    qn_utc(utc);
    return json_pack("{s:s, s:s, s:s, s:o, s:f, s:o}", "format", "quern-fit-bench-1", "version",
                     QN_VERSION, "utc", utc, "command", qn_json_text(command), "bandwidth_gbs",
                     bench->gbs, "rows", qn_sheet_json(&rows));
}
