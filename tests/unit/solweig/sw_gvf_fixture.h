/* sw_gvf_fixture.h - a surface, and the view of it in a step, for tests of the ground view. */
#ifndef QN_TESTS_SW_GVF_FIXTURE_H
#define QN_TESTS_SW_GVF_FIXTURE_H

#include "sw_surface_fixture.h"

#include "domain/solweig/ground/gvf.h"

/* A surface and a step on a device. */

typedef struct surface {
    qn_sw_gvf_options options;
    sw_moment step;
    float *albedo, *emissivity, *wall_height, *wall_aspect, *wall_sun, *shadow, *svf;
    float *tg; /* of pixels; NULL: that of their classes */
    uint8_t *buildings, *class_of;
} surface;

typedef struct view {
    float *lup, *alb, *nosh; /* planes */
} view;

static inline void view_free(view *v)
{
    free(v->lup);
    free(v->alb);
    free(v->nosh);
}

static inline size_t pixels_in(const surface *s)
{
    return (size_t)s->options.cols * (size_t)s->options.rows;
}

static inline void surface_free(surface *s)
{
    free(s->albedo);
    free(s->emissivity);
    free(s->wall_height);
    free(s->wall_aspect);
    free(s->wall_sun);
    free(s->shadow);
    free(s->svf);
    free(s->tg);
    free(s->buildings);
    free(s->class_of);
}

/* The output of stage ground, with a separate temperature at every pixel. */
static inline void write_ground(qn_sw_gvf *gvf, const surface *s)
{
    float *excess, *reflect;
    const float air = s->step.ta_k;

    must(qn_buf_host(gvf->excess, QN_HOST_UPDATE, (void **)&excess, &failure));
    must(qn_buf_host(gvf->reflect, QN_HOST_UPDATE, (void **)&reflect, &failure));
    for (int y = 0; y < gvf->par.rows; y++)
        for (int x = 0; x < gvf->par.cols; x++) {
            const int p = y * gvf->par.cols + x;
            const int at = (y + gvf->par.pad) * gvf->par.stride + x + gvf->par.pad;
            const float warm = s->tg[p] * s->shadow[p] + air, e = s->step.sbc * s->emissivity[p];
            const float seen = s->albedo[p] * s->shadow[p];

            excess[at] = e * ((warm * warm) * (warm * warm)) - e * ((air * air) * (air * air));
            reflect[at] = s->wall_sun[p] > 0 ? -seen : seen;
        }
}

typedef enum { PRODUCTION, UMEP } variant;

static inline view view_of(const place *at, const surface *s, variant how)
{
    const size_t n = pixels_in(s), planes = s->options.has_sides ? SW_DIRS : 1;
    qn_ctx *ctx = open_place(at);
    qn_sw_step_table *series = plain_series(ctx, &s->step, 1);
    qn_sw_ground_maps maps = { .class_of = filled(ctx, "class", s->class_of, n),
                               .buildings = filled(ctx, "buildings", s->buildings, n),
                               .albedo = floats_buf(ctx, s->albedo, n),
                               .emissivity = floats_buf(ctx, s->emissivity, n),
                               .wall_height = floats_buf(ctx, s->wall_height, n),
                               .wall_aspect = floats_buf(ctx, s->wall_aspect, n) };
    qn_buf *shadow = floats_buf(ctx, s->shadow, n), *wall_sun = floats_buf(ctx, s->wall_sun, n);
    qn_buf *svf = floats_buf(ctx, s->svf ? s->svf : s->shadow, n), *steps = NULL;
    qn_sw_gvf *gvf = NULL;
    qn_graph *graph = NULL;
    view v;

    must_do(qn_sw_gvf_new(ctx, &s->options, &gvf, &err));
    must(qn_graph_new(ctx, "geometry", &graph, &failure));
    must(qn_sw_add_gvf_geometry(gvf, graph, &maps, &failure));
    run_graph(graph);
    graph = NULL;
    must(qn_graph_new(ctx, "thermal", &graph, &failure));
    if (s->tg)
        write_ground(gvf, s);
    else
        must(qn_sw_add_ground(gvf, graph, series, &maps, shadow, wall_sun, svf, &failure));
    if (how == UMEP) {
        int *row_col = malloc(2 * SW_RAYS * (size_t)gvf->par.second * sizeof *row_col);

        assert_non_null(row_col);
        qn_sw_gvf_steps(gvf->par.second, row_col);
        steps =
            filled(ctx, "steps", row_col, 2 * SW_RAYS * (size_t)gvf->par.second * sizeof *row_col);
        free(row_col);
        must(qn_sw_add_gvf_umep(gvf, graph, series, &maps, steps, wall_sun, &failure));
    } else {
        must(qn_sw_add_gvf_thermal(gvf, graph, series, &maps, &failure));
    }
    must(qn_graph_run(graph, &failure));
    must(qn_graph_wait(graph, &failure));
    v = (view){ read_floats(gvf->lup, planes * n), read_floats(gvf->alb, planes * n),
                read_floats(gvf->nosh, planes * n) };
    qn_graph_free(graph);
    qn_sw_gvf_free(gvf);
    qn_sw_step_table_free(series);
    qn_buf_free(steps);
    qn_buf_free(shadow);
    qn_buf_free(wall_sun);
    qn_buf_free(svf);
    qn_buf_free(maps.class_of);
    qn_buf_free(maps.buildings);
    qn_buf_free(maps.albedo);
    qn_buf_free(maps.emissivity);
    qn_buf_free(maps.wall_height);
    qn_buf_free(maps.wall_aspect);
    qn_ctx_close(ctx);
    return v;
}

/* Open ground of one kind in full sun. */
static inline surface field(int cols, int rows)
{
    const size_t n = (size_t)cols * (size_t)rows;
    surface s = { .options = { .cols = cols,
                               .rows = rows,
                               .has_walls = 1,
                               .pixel_m = 1,
                               .height_m = 1.75f,
                               .wall_albedo = 0.2f,
                               .water_class = 3 },
                  .step = step_of(noon_row()) };

    s.albedo = constant(n, 0.15f);
    s.emissivity = constant(n, 0.95f);
    s.wall_height = constant(n, 0);
    s.wall_aspect = constant(n, 0);
    s.wall_sun = constant(n, 0);
    s.shadow = constant(n, 1);
    s.svf = constant(n, 1);
    s.buildings = malloc(n);
    assert_non_null(s.buildings);
    memset(s.buildings, 1, n);
    s.class_of = calloc(n, 1);
    return s;
}

#endif
