/* report.c - report.html: maps, series, times, on one page. */
#include "run_impl.h"

#include "util/page/chart.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_CURVES = 8 };

/* Curves. */

typedef struct curves {
    qn_series series[MAX_CURVES];
    size_t n;
} curves;

static double mean_tmrt(const qn_sw_job *job, size_t poi, size_t step)
{
    (void)poi;
    return job->result->steps[step].tmrt_mean;
}

static double mean_utci(const qn_sw_job *job, size_t poi, size_t step)
{
    (void)poi;
    return job->result->steps[step].utci_mean;
}

static double air(const qn_sw_job *job, size_t poi, size_t step)
{
    (void)poi;
    return job->result->steps[step].ta;
}

static double tmrt_at(const qn_sw_job *job, size_t poi, size_t step)
{
    return (double)qn_sw_figures_at(&job->figures, poi, step)[QN_SW_TMRT];
}

static void add_curve(const qn_sw_job *job, curves *c, qn_page *page, const char *name,
                      double (*value)(const qn_sw_job *, size_t, size_t), size_t poi, int is_dashed)
{
    const size_t n = job->result->n_steps;
    qn_point *points;

    if (c->n == MAX_CURVES)
        return;
    if (!(points = calloc(n, sizeof *points))) {
        page->html.failed = 1;
        return;
    }
    for (size_t r = 0; r < n; r++) {
        points[r].x = (double)(job->result->steps[r].minutes - job->result->steps[0].minutes) / 60;
        points[r].y = value(job, poi, r);
    }
    c->series[c->n++] =
        (qn_series){ .name = name, .points = points, .n_points = n, .is_dashed = is_dashed };
}

static void draw(qn_page *page, curves *c, const char *title)
{
    const qn_line_chart chart = { .title = title,
                                  .x = { "hours since the first step", QN_UNIT_COUNT, 0 },
                                  .y = { "°C", QN_UNIT_COUNT, 0 },
                                  .series = c->series,
                                  .n_series = c->n };

    qn_page_lines(page, &chart, 1);
    for (size_t i = 0; i < c->n; i++)
        free((void *)c->series[i].points);
    *c = (curves){ 0 };
}

static void add_series(const qn_sw_job *job, qn_page *page)
{
    curves c = { 0 };

    qn_page_section(page, "Series");
    add_curve(job, &c, page, "mean Tmrt", mean_tmrt, 0, 0);
    add_curve(job, &c, page, "mean UTCI", mean_utci, 0, 0);
    add_curve(job, &c, page, "air", air, 0, 1);
    draw(page, &c, "Means over the raster");
    if (!job->figures.pois.n)
        return;
    for (size_t i = 0; i < job->figures.pois.n; i++)
        add_curve(job, &c, page, job->figures.pois.list[i].name, tmrt_at, i, 0);
    draw(page, &c, "Tmrt at points of interest");
}

/* Maps. */

static void add_maps(const qn_sw_job *job, qn_page *page)
{
    const size_t n = qn_sw_maps_count(job->maps);

    if (!job->config->maps || !job->written)
        return;
    qn_page_section(page, "Maps");
    for (size_t i = 0; i < n && i < QN_SW_PICTURES; i++) {
        const qn_sw_picture *p = qn_sw_maps_picture(job->maps, i);

        qn_str_addf(&page->html,
                    "<p><img alt=\"%s\" style=\"max-width:100%%\" "
                    "src=\"data:image/png;base64,",
                    p->name);
        qn_str_add_base64(&page->html, p->png, p->bytes);
        qn_str_add(&page->html, "\"/></p>\n");
    }
    if (n > QN_SW_PICTURES)
        qn_page_note(page, "The other maps are in the folder maps.");
}

/* Figures. */

static void add_tiles(const qn_sw_job *job, qn_page *page)
{
    const qn_sw_run_result *r = job->result;
    double most = -INFINITY;
    char hottest[32], total[32], step[32];

    for (size_t i = 0; i < r->n_steps; i++)
        most = fmax(most, r->steps[i].tmrt_mean);
    snprintf(hottest, sizeof hottest, "%.1f °C", most);
    snprintf(total, sizeof total, "%.3g s", r->times.total_s);
    snprintf(step, sizeof step, "%.3g ms", 1e3 * r->times.step_mean_s);
    const qn_fact tiles[] = { { "hottest step", hottest, "mean Tmrt" },
                              { "whole run", total, NULL },
                              { "per step and tile", step, NULL } };
    qn_page_tiles(page, tiles, isnan(r->times.step_mean_s) ? 2 : 3);
}

static void add_conditions(const qn_sw_job *job, qn_page *page)
{
    const qn_sw_run_result *r = job->result;
    const qn_sw_run_config *c = job->config;
    char grid[64], steps[64], tiles[96], mode[200], first[20];

    qn_sw_stamp_iso(r->steps[0].minutes, first);
    snprintf(grid, sizeof grid, "%lld x %lld pixels of %g m", (long long)r->place.rows,
             (long long)r->place.cols, r->place.pixel_size);
    snprintf(steps, sizeof steps, "%zu from %s", r->n_steps, first);
    snprintf(tiles, sizeof tiles, "%lld, limited by %s, %.0f bytes per pixel",
             (long long)qn_tiles_count(&r->plan), r->plan.limited_by, r->plan.cost.device);
    snprintf(mode, sizeof mode, "%s sky, %s%s",
             c->sky == QN_SW_ANISOTROPIC ? "anisotropic" : "isotropic",
             job->params.person.pose == QN_SW_SITTING ? "sitting" : "standing",
             c->corrected
                 ? "; --corrected: pressure, distances and aspects of the ground's view, water, "
                   "marks of missing values, walls without trees"
             : c->fix_pressure ? "; --fix-pressure"
             : c->reference    ? "; --reference: missing heights as the reference has them"
                               : "");
    const qn_fact facts[] = { { "grid", grid, NULL },
                              { "steps", steps, NULL },
                              { "tiles", tiles, NULL },
                              { "mode", mode, NULL } };
    qn_page_conditions(page, facts, sizeof facts / sizeof *facts);
}

static void add_times(const qn_sw_job *job, qn_page *page)
{
    const qn_sw_run_times *t = &job->result->times;
    const struct {
        const char *name;
        double seconds;
    } list[] = { { "layers", t->load_s },
                 { "walls", t->walls_s },
                 { job->result->svf_was_read ? "start of tiles (sky view read)"
                                             : "start of tiles with sky view",
                   t->svf_s },
                 { "steps", t->steps_s },
                 { "copying cores", t->stitch_ms * 1e-3 },
                 { "files", t->write_s },
                 { "all", t->total_s } };
    qn_table table = qn_table_begin("Stage", "Wall s");

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        qn_table_add(&table, list[i].name);
        qn_table_addf(&table, "%.4f", list[i].seconds);
    }
    qn_page_section(page, "Time");
    qn_page_table(page, NULL, &table);
    qn_table_free(&table);
}

qn_status qn_sw_write_report(const qn_sw_job *job, qn_err *err)
{
    char path[QN_SW_PATH];
    qn_page page = { 0 };
    qn_status st = QN_OK;

    qn_page_begin(&page, "quern solweig",
                  "Mean radiant temperature and comfort of a person at every pixel of a city.");
    add_tiles(job, &page);
    add_conditions(job, &page);
    add_maps(job, &page);
    add_series(job, &page);
    add_times(job, &page);
    QN_TRY(qn_sw_job_path(job, path, err, "report.html"));
    QN_TRY(qn_page_write(&page, path, err));
out:
    qn_page_free(&page);
    return st;
}
