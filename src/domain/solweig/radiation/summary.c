/* summary.c - buffers and stages of the accumulators. */
#include "summary.h"

#include "kernel/sw_summary.gen.h"

#include "engine/engine.h"
#include "util/list.h"

#include <stdlib.h>

int qn_sw_summary_words(int n_thresholds, qn_i64 n_steps)
{
    const int n = SW_COUNTS + n_thresholds;

    return n_steps <= SW_NARROW_STEPS ? (n + 1) / 2 : n;
}

static qn_status check(int cols, qn_sw_core core, double dt_hours, int n_thresholds, int n_steps,
                       qn_err *err)
{
    if (core.cols < 1 || core.rows < 1 || core.x0 < 0 || core.y0 < 0 || core.x0 + core.cols > cols)
        return qn_fail(err, QN_ERR_USAGE, "a core of %d x %d at %d, %d in rows of %d pixels",
                       core.cols, core.rows, core.x0, core.y0, cols);
    if (!(dt_hours > 0) || n_steps < 1)
        return qn_fail(err, QN_ERR_USAGE, "a summary of %d steps of %g hours", n_steps, dt_hours);
    if (n_thresholds < 0 || n_thresholds > SW_THRESHOLDS)
        return qn_fail(err, QN_ERR_LIMIT, "%d thresholds; the limit is %d", n_thresholds,
                       SW_THRESHOLDS);
    return QN_OK;
}

qn_status qn_sw_summary_new(qn_ctx *ctx, int cols, qn_sw_core core, double dt_hours,
                            const qn_sw_threshold *thresholds, int n_thresholds, int n_steps,
                            qn_sw_summary **out, qn_err *err)
{
    qn_sw_summary *s = NULL;
    size_t pixels;
    qn_status st = QN_OK;

    if ((st = check(cols, core, dt_hours, n_thresholds, n_steps, err)) != QN_OK)
        return st;
    QN_TRY(QN_NEW(s, 1, "a summary", err));
    s->ctx = ctx;
    s->n_steps = n_steps;
    s->par = (sw_summary_par){ .plane = (qn_i64)core.cols * core.rows,
                               .dt_hours = dt_hours,
                               .cols = cols,
                               .x0 = core.x0,
                               .y0 = core.y0,
                               .core_cols = core.cols,
                               .core_rows = core.rows,
                               .n_thresholds = n_thresholds,
                               .per_word = n_steps <= SW_NARROW_STEPS ? 2 : 1 };
    for (int i = 0; i < n_thresholds; i++) {
        s->par.above[i] = thresholds[i].above;
        s->par.when[i] = (thresholds[i].by_day ? 1 : 0) | (thresholds[i].by_night ? 2 : 0);
    }
    pixels = (size_t)s->par.plane;
    QN_TRY(qn_sw_buf_new(s->ctx, "summary sums", pixels, SW_SUMS * sizeof(double), &s->sums, err));
    QN_TRY(qn_sw_buf_new(s->ctx, "summary extremes", pixels, SW_EXTREMES * sizeof(float),
                         &s->extremes, err));
    QN_TRY(qn_sw_buf_new(s->ctx, "summary counts", pixels,
                         (size_t)qn_sw_summary_words(n_thresholds, n_steps) * sizeof(u32),
                         &s->counts, err));
    QN_TRY(qn_sw_buf_new(s->ctx, "summary rows", (size_t)core.rows, SW_ROW_WORDS * sizeof(double),
                         &s->part, err));
    QN_TRY(qn_sw_buf_new(s->ctx, "summary records", (size_t)n_steps, SW_ROW_WORDS * sizeof(double),
                         &s->records, err));
    *out = s;
    s = NULL;
out:
    qn_sw_summary_free(s);
    return st;
}

void qn_sw_summary_free(qn_sw_summary *summary)
{
    if (!summary)
        return;
    qn_buf_free(summary->sums);
    qn_buf_free(summary->extremes);
    qn_buf_free(summary->counts);
    qn_buf_free(summary->part);
    qn_buf_free(summary->records);
    free(summary);
}

static qn_range core_of(const qn_sw_summary *s)
{
    return qn_range_2d(s->par.core_cols, s->par.core_rows);
}

qn_status qn_sw_add_summary_clear(qn_sw_summary *summary, qn_graph *graph, qn_err *err)
{
    return stage_sw_summary_clear(graph, "summary", qn_range_1d(summary->par.plane),
                                  summary->par.plane,
                                  qn_sw_summary_words(summary->par.n_thresholds, summary->n_steps),
                                  summary->sums, summary->extremes, summary->counts, err);
}

qn_status qn_sw_add_summary(qn_sw_summary *summary, qn_graph *graph, const qn_sw_step_table *series,
                            qn_buf *tmrt, qn_buf *utci, qn_buf *shadow, qn_err *err)
{
    const sw_summary_par par = summary->par;
    qn_status st = QN_OK;

    QN_TRY(stage_sw_summary(graph, "summary", core_of(summary), par, series->now, series->steps,
                            tmrt, utci, shadow, summary->sums, summary->extremes, summary->counts,
                            err));
    if (par.n_thresholds > 0)
        QN_TRY(stage_sw_summary_above(
            graph, "summary",
            qn_range_3d(par.core_cols, par.core_rows,
                        (par.n_thresholds + par.per_word - 1) / par.per_word),
            par, series->now, series->steps, tmrt, utci, summary->counts, err));
    QN_TRY(stage_sw_row_sums(graph, "summary", qn_range_1d(par.core_rows), par, tmrt, utci, shadow,
                             summary->part, err));
    QN_TRY(stage_sw_row_join(graph, "summary", qn_range_1d(SW_ROW_WORDS), par.core_rows,
                             series->now, summary->part, summary->records, err));
out:
    return st;
}

qn_status qn_sw_add_summary_grid(qn_sw_summary *summary, qn_graph *graph, int which, qn_buf *grid,
                                 qn_err *err)
{
    if (which < 0 || which >= SW_GRIDS + summary->par.n_thresholds)
        return qn_fail(err, QN_ERR_USAGE, "summary grid %d; there are %d", which,
                       SW_GRIDS + summary->par.n_thresholds);
    return stage_sw_summary_grid(graph, "summary", core_of(summary), summary->par, which,
                                 summary->sums, summary->extremes, summary->counts, grid, err);
}

qn_status qn_sw_summary_read(qn_sw_summary *summary, int step, qn_sw_step_sums *out, qn_err *err)
{
    double words[SW_ROW_WORDS];
    qn_status st;

    if (step < 0 || step >= summary->n_steps)
        return qn_fail(err, QN_ERR_USAGE, "record %d of %d", step, summary->n_steps);
    st = qn_buf_read(summary->records, (size_t)step * sizeof words, words, sizeof words, err);
    if (st != QN_OK)
        return st;
    *out = (qn_sw_step_sums){ .tmrt = words[SW_ROW_TMRT],
                              .utci = words[SW_ROW_UTCI],
                              .shadow = words[SW_ROW_SHADOW],
                              .n_tmrt = (qn_i64)words[SW_ROW_N_TMRT],
                              .n_utci = (qn_i64)words[SW_ROW_N_UTCI] };
    return QN_OK;
}
