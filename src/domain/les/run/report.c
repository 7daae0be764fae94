/* report.c - report.md and report.html, which contains charts and pictures. */
#include "output.h"

#include "util/file.h"
#include "util/page/chart.h"
#include "util/table.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_PICTURES = 6 };

/* Tables both share. */

static qn_table time_table(const qn_les_result *result)
{
    qn_table table = qn_table_begin("Stage", "Wall s", "Share", "Count");

    for (int i = 0; i < QN_LES_TIMES; i++) {
        if (!(result->times[i].wall_s > 0))
            continue;
        qn_table_add(&table, qn_les_phase_name((qn_les_phase)i));
        qn_table_addf(&table, "%.4f", result->times[i].wall_s);
        qn_table_addf(&table, "%.1f %%", 100 * result->times[i].wall_s / result->total_s);
        qn_table_addf(&table, result->times[i].count ? "%lld" : "-",
                      (long long)result->times[i].count);
    }
    return table;
}

static qn_table error_table(const qn_les_result *result)
{
    qn_table table = qn_table_begin("Step", "Window", "Low-pass error", "Low-pass corr.", "Error",
                                    "Corr.", "Energy", "Enstrophy", "Persistence");

    for (int i = 0; i < result->n_compared; i++) {
        const qn_les_compared *c = &result->compared[i];

        qn_table_addf(&table, "%d", c->step);
        qn_table_add(&table, c->window);
        qn_table_addf(&table, "%.4f", c->lp.rel_l2);
        qn_table_addf(&table, "%.4f", c->lp.corr);
        qn_table_addf(&table, "%.4f", c->full.rel_l2);
        qn_table_addf(&table, "%.4f", c->full.corr);
        qn_table_addf(&table, "%.2f %%", 100 * c->full.dE_rel);
        qn_table_addf(&table, "%.2f %%", 100 * c->full.dZ_rel);
        qn_table_addf(&table, "%.4f", c->persistence);
    }
    return table;
}

static qn_table residency_table(const qn_les_residency *res)
{
    qn_table table = qn_table_begin("Transfer", "Bytes");
    const struct {
        const char *name;
        double bytes;
    } rows[] = { { "to the device, whole run", (double)res->all.h2d_bytes },
                 { "from the device, whole run", (double)res->all.d2h_bytes },
                 { "to the device, while stepping", (double)res->loop_h2d_bytes },
                 { "from the device, while stepping", (double)res->loop_d2h_bytes },
                 { "peak device memory", res->device_bytes_peak } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_table_add(&table, rows[i].name);
        qn_table_addf(&table, "%.0f", rows[i].bytes);
    }
    return table;
}

static const char *const reading =
    "Errors compare with the flow at the same step. The low-pass field has only the waves that are "
    "stored; the decoded field adds the others with random phases, which corrects energy, "
    "enstrophy "
    "and spectrum but raises the pointwise error. Fit: steps used for learning. Forecast: later "
    "steps. Persistence: the error of keeping the first frame.";

/* Markdown. */

static void add_md_table(qn_str *md, const char *heading, qn_table table)
{
    qn_str_addf(md, "\n## %s\n\n", heading);
    qn_table_format(&table, QN_TABLE_MARKDOWN, md);
    qn_table_free(&table);
}

static qn_status write_md(const qn_les_options *config, const qn_les_result *result, qn_err *err)
{
    const qn_les_time *sim = &result->times[QN_LES_TIME_SIM];
    qn_str md = { 0 };
    qn_status st;

    qn_str_addf(&md, "# quern les: %d x %d, %d steps\n\n", config->N, config->N, config->steps);
    qn_str_addf(&md, "    %s\n\n", config->command);
    qn_str_addf(&md, "Run %s, status %s, on %s in %s.\n", result->stamp, result->status,
                result->device, config->precision == QN_LES_F64 ? "f64" : "f32");
    if (sim->count)
        qn_str_addf(&md, "%.4f ms per step, zd %.3g, za %.3g.\n",
                    1e3 * sim->wall_s / (double)sim->count, result->stability.zd,
                    result->stability.za);
    if (result->n_compared)
        add_md_table(&md, "Accuracy", error_table(result));
    if (result->n_compared)
        qn_str_addf(&md, "\n%s\n", reading);
    add_md_table(&md, "Time", time_table(result));
    add_md_table(&md, "Residency", residency_table(&result->residency));
    for (int i = 0; i < result->n_flags; i++)
        qn_str_addf(&md, "%s- %s\n", i ? "" : "\n## Flags\n\n", result->flags[i]);
    st = md.failed ? qn_fail(err, QN_ERR_NOMEM, "report.md: no memory to write it")
                   : qn_run_folder_write(result->folder, "report.md", qn_str_get(&md), md.len, err);
    qn_str_free(&md);
    return st;
}

/* The page. */

enum { CURVE_MAX = 4 };

/* Curves of one chart, which are freed together. */
typedef struct curves {
    qn_series series[CURVE_MAX];
    size_t n;
} curves;

static void add_curve(curves *c, qn_page *page, const char *name, const double *x, const double *y,
                      size_t stride, int n, int is_dashed)
{
    qn_point *points = calloc((size_t)n + 1, sizeof *points);

    if (!points) {
        page->html.failed = 1;
        return;
    }
    for (int i = 0; i < n; i++) {
        points[i].x = *(const double *)((const char *)x + (size_t)i * stride);
        points[i].y = *(const double *)((const char *)y + (size_t)i * stride);
    }
    c->series[c->n++] = (qn_series){
        .name = name, .points = points, .n_points = (size_t)n, .is_dashed = is_dashed
    };
}

static void draw(qn_page *page, curves *c, const char *title, qn_axis x, qn_axis y,
                 const qn_mark *mark)
{
    const qn_line_chart chart = { .title = title,
                                  .x = x,
                                  .y = y,
                                  .series = c->series,
                                  .n_series = c->n,
                                  .marks = mark,
                                  .n_marks = mark ? 1 : 0 };

    qn_page_lines(page, &chart, 1);
    for (size_t i = 0; i < c->n; i++)
        free((void *)c->series[i].points);
    *c = (curves){ 0 };
}

/* A point of the error charts, with the step as a double. */
typedef struct error_point {
    double step, lp, full, persistence, corr_lp, corr;
} error_point;

static void add_errors(qn_page *page, const qn_les_options *config, const qn_les_result *result)
{
    const int n = result->n_compared;
    const qn_axis steps = { "step", QN_UNIT_COUNT, 0 };
    error_point *p = calloc((size_t)n + 1, sizeof *p);
    const qn_mark end = { (double)(result->proxy.n_train - 1) * config->encode_every, "forecast",
                          0 };
    const qn_mark *mark =
        result->has_proxy && end.x < config->steps && result->proxy.n_train > 1 ? &end : NULL;
    curves c = { 0 };

    if (!p) {
        page->html.failed = 1;
        return;
    }
    for (int i = 0; i < n; i++) {
        const qn_les_compared *r = &result->compared[i];

        p[i] = (error_point){ r->step,        r->lp.rel_l2, r->full.rel_l2,
                              r->persistence, r->lp.corr,   r->full.corr };
    }
    add_curve(&c, page, "low-pass", &p->step, &p->lp, sizeof *p, n, 0);
    add_curve(&c, page, "decoded", &p->step, &p->full, sizeof *p, n, 0);
    add_curve(&c, page, "persistence", &p->step, &p->persistence, sizeof *p, n, 1);
    draw(page, &c, "Relative error", steps, (qn_axis){ "rel. L2", QN_UNIT_COUNT, 0 }, mark);
    add_curve(&c, page, "low-pass", &p->step, &p->corr_lp, sizeof *p, n, 0);
    add_curve(&c, page, "decoded", &p->step, &p->corr, sizeof *p, n, 0);
    draw(page, &c, "Correlation", steps, (qn_axis){ "correlation", QN_UNIT_COUNT, 0 }, mark);
    free(p);
}

static void add_series(qn_page *page, const qn_les_result *result)
{
    const qn_axis steps = { "step", QN_UNIT_COUNT, 0 };
    const qn_les_row *rows = result->rows;
    const int n = result->n_rows;
    curves c = { 0 };

    if (!n)
        return;
    qn_page_section(page, "Flow");
    add_curve(&c, page, "energy", &rows->step, &rows->energy, sizeof *rows, n, 0);
    draw(page, &c, "Energy", steps, (qn_axis){ "energy", QN_UNIT_COUNT, 0 }, NULL);
    add_curve(&c, page, "enstrophy", &rows->step, &rows->enstrophy, sizeof *rows, n, 0);
    draw(page, &c, "Enstrophy", steps, (qn_axis){ "enstrophy", QN_UNIT_COUNT, 0 }, NULL);
}

static void add_spectrum(qn_page *page, const qn_les_result *result)
{
    const int n = result->n_shells;
    double *k = calloc((size_t)n + 1, sizeof *k);
    curves c = { 0 };

    if (!n || !k) {
        page->html.failed |= !k;
        free(k);
        return;
    }
    for (int i = 0; i < n; i++)
        k[i] = i;
    if (result->shells[0])
        add_curve(&c, page, "first step", k, result->shells[0], sizeof *k, n, 1);
    add_curve(&c, page, "last step", k, result->shells[1], sizeof *k, n, 0);
    /* Rounding errors beyond the last wave would compress the rest of the chart. */
    for (size_t s = 0; s < c.n; s++)
        for (int i = 0; i < n; i++)
            if (c.series[s].points[i].y < 1e-14)
                ((qn_point *)c.series[s].points)[i].y = NAN;
    draw(page, &c, "Energy by wavenumber", (qn_axis){ "k", QN_UNIT_COUNT, 1 },
         (qn_axis){ "E(k)", QN_UNIT_COUNT, 1 }, NULL);
    free(k);
}

/* Embeds some of the pictures, including the first and the last. */
static qn_status add_pictures(qn_page *page, const qn_les_options *config,
                              const qn_les_result *result, qn_err *err)
{
    const int n = result->n_frames < MAX_PICTURES ? result->n_frames : MAX_PICTURES;
    qn_status st = QN_OK;

    if (!n)
        return QN_OK;
    qn_page_section(page, "Pictures");
    qn_page_text(page, result->has_codec ? "Vorticity of the flow, of the decoded field, and their "
                                           "difference, all on the scale of the first step."
                                         : "Vorticity on the scale of the first step.");
    for (int i = 0; i < n; i++) {
        const int at = n > 1 ? i * (result->n_frames - 1) / (n - 1) : 0;
        const int step = result->n_compared > at ? result->compared[at].step : at * config->stride;
        char name[QN_LES_NAME_SIZE], *path, *png = NULL;
        size_t bytes = 0;

        qn_les_frame_name(at, name);
        QN_TRY(qn_run_folder_path(result->folder, name, &path, err));
        st = qn_file_read(path, &png, &bytes, err);
        free(path);
        QN_TRY(st);
        qn_str_addf(&page->html,
                    "<p><img alt=\"step %d\" title=\"step %d\" style=\"max-width:100%%\" "
                    "src=\"data:image/png;base64,",
                    step, step);
        qn_str_add_base64(&page->html, png, bytes);
        qn_str_addf(&page->html, "\"/><br/>step %d</p>\n", step);
        free(png);
    }
out:
    return st;
}

static void add_page_table(qn_page *page, const char *heading, qn_table table)
{
    qn_page_section(page, heading);
    qn_page_table(page, NULL, &table);
    qn_table_free(&table);
}

static void add_tiles(qn_page *page, const qn_les_result *result)
{
    const qn_les_time *sim = &result->times[QN_LES_TIME_SIM];
    char ms[32] = "-", error[32] = "-", total[32];

    if (sim->count)
        snprintf(ms, sizeof ms, "%.4g ms", 1e3 * sim->wall_s / (double)sim->count);
    snprintf(total, sizeof total, "%.3g s", result->total_s);
    if (result->n_compared)
        snprintf(error, sizeof error, "%.3f", result->compared[result->n_compared - 1].lp.rel_l2);
    const qn_fact tiles[] = { { "per step", ms, result->device },
                              { "whole run", total, result->status },
                              { "last error", error, "low-pass, relative" } };
    qn_page_tiles(page, tiles, sizeof tiles / sizeof *tiles);
}

static void add_conditions(qn_page *page, qn_ctx *ctx, const qn_les_options *config,
                           const qn_les_result *result)
{
    char grid[64];

    snprintf(grid, sizeof grid, "%d x %d, %s, %d member%s", config->N, config->N,
             config->precision == QN_LES_F64 ? "f64" : "f32", config->ensemble,
             config->ensemble > 1 ? "s" : "");
    const qn_fact facts[] = { { "run", result->stamp, NULL },
                              { "device", qn_les_device_name(ctx, result), NULL },
                              { "grid", grid, NULL },
                              { "command", config->command, NULL } };
    qn_page_conditions(page, facts, sizeof facts / sizeof *facts);
}

static qn_status write_page(qn_ctx *ctx, const qn_les_options *config, const qn_les_result *result,
                            qn_err *err)
{
    char title[96], *path = NULL;
    qn_page page = { 0 };
    qn_status st = QN_OK;

    snprintf(title, sizeof title, "quern les: %d x %d, %d steps", config->N, config->N,
             config->steps);
    qn_page_begin(&page, title,
                  "Vorticity of a 2-D flow, and the forecast of a learned linear operator.");
    add_tiles(&page, result);
    add_conditions(&page, ctx, config, result);
    if (result->n_compared) {
        qn_page_section(&page, "Accuracy");
        add_errors(&page, config, result);
        qn_page_note(&page, reading);
        add_page_table(&page, "Snapshots", error_table(result));
    }
    QN_TRY(add_pictures(&page, config, result, err));
    add_series(&page, result);
    add_spectrum(&page, result);
    add_page_table(&page, "Time", time_table(result));
    add_page_table(&page, "Residency", residency_table(&result->residency));
    for (int i = 0; i < result->n_flags; i++)
        qn_page_note(&page, result->flags[i]);
    QN_TRY(qn_run_folder_path(result->folder, "report.html", &path, err));
    QN_TRY(qn_page_write(&page, path, err));
    QN_TRY(qn_run_folder_add(result->folder, "report.html", err));
out:
    free(path);
    qn_page_free(&page);
    return st;
}

qn_status qn_les_write_report(qn_ctx *ctx, const qn_les_options *config,
                              const qn_les_result *result, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(write_md(config, result, err));
    QN_TRY(write_page(ctx, config, result, err));
out:
    return st;
}
