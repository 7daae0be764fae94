/* page.c - a result as an HTML page: how it ended, the history of the cost, parameters, a mesh. */
#include "domain/fit/run/run.h"

#include "domain/fit/show/show.h"
#include "util/file.h"
#include "util/page/chart.h"
#include "util/temp_dir.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_SCALARS = 60, PICTURE_SIDE = 480 };

/* History. */

typedef struct {
    qn_point *cost, *gradient, *rejected;
    size_t n, n_rejected;
    qn_arena memory;
} course;

/* The iterations of all solves, numbered consecutively. */
static int make_course(const qn_fit_result *r, course *c)
{
    size_t n = 1;

    for (int s = 0; s < r->n_solves; s++)
        n += (size_t)r->solves[s].report.n_history;
    c->cost = qn_arena_zeros(&c->memory, n, sizeof *c->cost);
    c->gradient = qn_arena_zeros(&c->memory, n, sizeof *c->gradient);
    c->rejected = qn_arena_zeros(&c->memory, n, sizeof *c->rejected);
    if (c->memory.failed)
        return 0;
    for (int s = 0; s < r->n_solves; s++)
        for (int k = 0; k < r->solves[s].report.n_history; k++) {
            const qn_fit_iteration *rec = &r->solves[s].report.history[k];

            c->cost[c->n] = (qn_point){ .x = (double)c->n, .y = rec->cost > 0 ? rec->cost : NAN };
            c->gradient[c->n] = (qn_point){ .x = (double)c->n,
                                            .y = rec->gradient_max > 0 ? rec->gradient_max : NAN };
            c->rejected[c->n] = c->cost[c->n];
            if (k == 0 || rec->is_accepted)
                c->rejected[c->n].y = NAN;
            else
                c->n_rejected++;
            c->n++;
        }
    return 1;
}

static void add_course(qn_page *page, const qn_fit_result *r)
{
    const qn_axis steps = { "iteration", QN_UNIT_COUNT, 0 };
    course c = { 0 };

    if (!make_course(r, &c)) {
        page->html.failed = 1;
        goto out;
    }
    const qn_series costs[] = {
        { .name = "cost", .points = c.cost, .n_points = c.n },
        { .name = "step rejected", .points = c.rejected, .n_points = c.n, .is_dashed = 1 },
    };
    const qn_series gradients[] = {
        { .name = "largest entry of the gradient", .points = c.gradient, .n_points = c.n }
    };
    const qn_line_chart charts[] = { { .title = "Cost",
                                       .x = steps,
                                       .y = { "cost", QN_UNIT_COUNT, 1 },
                                       .series = costs,
                                       .n_series = c.n_rejected ? 2 : 1 },
                                     { .title = "Gradient",
                                       .x = steps,
                                       .y = { "max |g|", QN_UNIT_COUNT, 1 },
                                       .series = gradients,
                                       .n_series = 1 } };

    qn_page_section(page, "Course");
    for (size_t k = 0; k < 2; k++)
        qn_page_lines(page, &charts[k], 1);
out:
    qn_arena_clear(&c.memory);
}

/* Tables. */

static void add_parameters(qn_page *page, const qn_fit_problem *p, const qn_fit_result *r)
{
    qn_table table = qn_table_begin("Parameter", "Value", "Std. deviation", "Start");
    const uint32_t left = qn_fit_list_parameters(p, r, SHOWN_SCALARS, "%.6g", &table);
    char note[300];

    qn_page_section(page, "Parameters");
    qn_page_table(page, NULL, &table);
    qn_table_free(&table);
    if (left) {
        snprintf(note, sizeof note, "And %u more.", left);
        qn_page_note(page, note);
    }
    if (r->no_covariance[0]) {
        snprintf(note, sizeof note, "No standard deviations: %s.", r->no_covariance);
        qn_page_note(page, note);
    }
}

static void add_groups(qn_page *page, const qn_fit_problem *p, const qn_fit_report *r)
{
    qn_table table = qn_table_begin("Term", "Instances", "Rows each", "Cost");

    for (int k = 0; k < p->n_groups; k++) {
        qn_table_add(&table, p->groups[k].name);
        qn_table_addf(&table, "%lld", (long long)p->groups[k].n);
        qn_table_addf(&table, "%d", p->groups[k].n_rows);
        qn_table_addf(&table, "%.10g", r->group_costs[k]);
    }
    qn_page_section(page, "Terms");
    qn_page_table(page, NULL, &table);
    qn_table_free(&table);
}

/* The mesh. */

static qn_status add_mesh(qn_page *page, const qn_fit_text *text, const qn_fit_result *r,
                          qn_err *err)
{
    qn_temp_dir dir = { .path = "" };
    qn_fit_mesh mesh;
    const int set = qn_fit_mesh_set(text, &mesh);
    char path[1100], *png = NULL;
    size_t bytes;
    qn_status st = QN_OK;

    if (set < 0)
        return QN_OK;
    const uint32_t first = text->problem->sets[set].first;

    mesh.pos = text->problem->x + first;
    QN_TRY(qn_temp_dir_make(&dir, err));
    snprintf(path, sizeof path, "%s/mesh.png", dir.path);
    QN_TRY(qn_fit_show_mesh(path, &mesh, r->start + first, PICTURE_SIDE, err));
    QN_TRY(qn_file_read(path, &png, &bytes, err));
    qn_page_section(page, "Mesh");
    qn_str_add(&page->html, "<p><img alt=\"the mesh before and after\" style=\"max-width:100%\" "
                            "src=\"data:image/png;base64,");
    qn_str_add_base64(&page->html, png, bytes);
    qn_str_add(&page->html, "\"/><br/>before, and after</p>\n");
out:
    free(png);
    qn_temp_dir_remove(&dir);
    return st;
}

/* The page. */

static void add_head(qn_page *page, const qn_fit_result *r, const qn_fit_options *options,
                     const qn_fit_problem *p, const char *device_name)
{
    const qn_fit_solved *last = &r->solves[r->n_solves - 1];
    char cost[32], steps[32], seconds[32], from[48], size[96];

    snprintf(cost, sizeof cost, "%.6g", last->report.final_cost);
    snprintf(from, sizeof from, "from %.6g", r->solves[0].report.initial_cost);
    snprintf(steps, sizeof steps, "%d", last->report.n_accepted + last->report.n_rejected);
    snprintf(seconds, sizeof seconds, "%.3g s", r->seconds);
    snprintf(size, sizeof size, "%lld rows, %u free parameters", (long long)last->report.n_rows,
             p->n_free);
    const qn_fact tiles[] = { { "cost", cost, from },
                              { "iterations", steps, qn_fit_end_name(last->report.end) },
                              { "whole run", seconds, last->device } };
    const qn_fact facts[] = { { "ended", last->report.text, NULL },
                              { "problem", size, NULL },
                              { "solver", last->report.solver, last->report.linear },
                              { "device", device_name, NULL },
                              { "precision", r->precision == QN_FIT_F64 ? "f64" : "f32", NULL },
                              { "command", options->command, NULL } };

    qn_page_tiles(page, tiles, sizeof tiles / sizeof *tiles);
    qn_page_conditions(page, facts, sizeof facts / sizeof *facts);
}

qn_status qn_fit_write_page(qn_ctx *ctx, const char *path, const qn_fit_text *text,
                            const qn_fit_result *result, const qn_fit_options *options, qn_err *err)
{
    const qn_fit_solved *last = &result->solves[result->n_solves - 1];
    char title[200];
    qn_page page = { 0 };
    qn_status st = QN_OK;

    snprintf(title, sizeof title, "quern fit: %.150s", qn_fit_base_name(options));
    qn_page_begin(&page, title, NULL);
    add_head(&page, result, options, text->problem, qn_fit_device_name(ctx, last));
    add_course(&page, result);
    QN_TRY(add_mesh(&page, text, result, err));
    add_parameters(&page, text->problem, result);
    add_groups(&page, text->problem, &last->report);
    QN_TRY(qn_page_write(&page, path, err));
out:
    qn_page_free(&page);
    return st;
}
