/* report.c - writes report.html with maps, series and times. */
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

/* `mean` points to a member of the first step; NULL: Tmrt at a point of interest. */
static void add_curve(const qn_sw_job *job, curves *c, qn_page *page, const char *name,
                      const double *mean, size_t poi, int is_dashed)
{
    const size_t n = job->result->n_steps;
    const qn_sw_step *steps = job->result->steps;
    qn_point *points;

    if (c->n == MAX_CURVES)
        return;
    if (!(points = calloc(n, sizeof *points))) {
        page->html.failed = 1;
        return;
    }
    for (size_t r = 0; r < n; r++) {
        points[r].x = (double)(steps[r].minutes - steps[0].minutes) / 60;
        points[r].y = mean ? *(const double *)((const char *)mean + r * sizeof *steps)
                           : (double)qn_sw_figures_at(&job->figures, poi, r)[QN_SW_TMRT];
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
    const qn_sw_step *steps = job->result->steps;
    curves c = { 0 };

    qn_page_section(page, "Series");
    add_curve(job, &c, page, "mean Tmrt", &steps->tmrt_mean, 0, 0);
    add_curve(job, &c, page, "mean UTCI", &steps->utci_mean, 0, 0);
    add_curve(job, &c, page, "air", &steps->ta, 0, 1);
    draw(page, &c, "Means over the raster");
    if (!job->figures.pois.n)
        return;
    for (size_t i = 0; i < job->figures.pois.n; i++)
        add_curve(job, &c, page, job->figures.pois.list[i].name, NULL, i, 0);
    draw(page, &c, "Tmrt at points of interest");
}

/* Maps. */

static qn_status add_maps(const qn_sw_job *job, qn_page *page, qn_err *err)
{
    const size_t n = qn_sw_maps_count(job->maps);
    qn_status st = QN_OK;

    if (!job->options->maps[0] || !job->written)
        return QN_OK;
    qn_page_section(page, "Maps");
    for (size_t i = 0; i < n && i < QN_SW_PICTURES; i++) {
        const qn_sw_picture *p;

        QN_TRY(qn_sw_maps_picture(job, i, &p, err));
        qn_str_addf(&page->html,
                    "<p><img alt=\"%s\" style=\"max-width:100%%\" "
                    "src=\"data:image/png;base64,",
                    p->name);
        qn_str_add_base64(&page->html, p->png, p->bytes);
        qn_str_add(&page->html, "\"/></p>\n");
    }
    if (n > QN_SW_PICTURES)
        qn_page_note(page, "The other maps are in the folder maps.");
out:
    return st;
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
             c->options.sky == QN_SW_ANISOTROPIC ? "anisotropic" : "isotropic",
             job->config->params.person.pose == QN_SW_SITTING ? "sitting" : "standing",
             c->options.corrected
                 ? "; --corrected: pressure, distances and aspects of the ground's view, water, "
                   "marks of missing values, walls without trees"
             : c->options.fix_pressure ? "; --fix-pressure"
             : c->layers.reference     ? "; --reference: missing heights as the reference has them"
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
    char *path = NULL;
    qn_page page = { 0 };
    qn_status st = QN_OK;

    qn_page_begin(&page, "quern solweig",
                  "Mean radiant temperature and comfort of a person at every pixel of a city.");
    add_tiles(job, &page);
    add_conditions(job, &page);
    QN_TRY(add_maps(job, &page, err));
    add_series(job, &page);
    add_times(job, &page);
    QN_TRY(qn_run_folder_path(qn_sw_outputs_folder(job->outputs), "report.html", &path, err));
    QN_TRY(qn_page_write(&page, path, err));
    QN_TRY(qn_run_folder_add(qn_sw_outputs_folder(job->outputs), "report.html", err));
    QN_TRY(qn_run_folder_add(qn_sw_outputs_folder(job->outputs), "report.figures.json", err));
out:
    free(path);
    qn_page_free(&page);
    return st;
}
