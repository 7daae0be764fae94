/* check_walls.c - checks prepared heights, and the walls made from them. */
#include "lab/solweig/check/check_impl.h"

#include <stdio.h>

static const float wall_limit = 1; /* metres, of all reference data */
static const qn_limit exact = { 0 };

typedef struct wall_maps {
    float *height, *degrees;
} wall_maps;

static qn_status make_walls(qn_golden *g, const qn_sw_check_site *s, wall_maps *out, qn_err *err)
{
    const size_t n = (size_t)s->rows * (size_t)s->cols, bytes = n * sizeof(float);
    qn_buf *ground, *height, *degrees, *radians;
    qn_sw_wall_filters *walls;
    qn_graph *graph;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_upload(g, s->dsm, bytes, &ground, err));
    QN_TRY(qn_golden_fresh(g, bytes, &height, err));
    QN_TRY(qn_golden_fresh(g, bytes, &degrees, err));
    QN_TRY(qn_golden_fresh(g, bytes, &radians, err));
    QN_TRY(qn_sw_walls_new(g->ctx, s->rows, s->cols, s->pixel_m, wall_limit, &walls, err));
    QN_TRY(qn_owned_add(&g->owned, walls, qn_sw_drop_walls, err));
    QN_TRY(qn_golden_graph(g, "walls", &graph, err));
    QN_TRY(qn_sw_add_walls(walls, graph, ground, height, degrees, radians, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_golden_download(g, height, n, &out->height, err));
    QN_TRY(qn_golden_download(g, degrees, n, &out->degrees, err));
out:
    return st;
}

qn_status qn_sw_check_walls(qn_golden *g, qn_err *err)
{
    qn_sw_check_site s = { 0 };
    wall_maps maps = { 0 };
    qn_window w;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_athens(g, &s, err));
    QN_TRY(make_walls(g, &s, &maps, err));
    w = qn_sw_golden_window_of(s.params, "window_100", s.rows, s.cols);
    qn_golden_compare_all(g, "athens/in_wall_height.npy", maps.height, (qn_i64)s.rows * s.cols,
                          exact);
    qn_sw_golden_compare(g, "athens/walls_refrun_height_win100.npy", maps.height, s.cols, w, exact);
    qn_sw_golden_compare(g, "athens/walls_refrun_aspect_win100.npy", maps.degrees, s.cols, w,
                         exact);
out:
    return st;
}

qn_status qn_sw_check_walls_ga(qn_golden *g, qn_err *err)
{
    qn_sw_check_site s = { 0 };
    wall_maps maps = { 0 };
    qn_i64 n;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_of(g, "ga", &s, err));
    QN_TRY(make_walls(g, &s, &maps, err));
    n = (qn_i64)s.rows * s.cols;
    qn_golden_compare_all(g, "ga/prep_wall_height.npy", maps.height, n, exact);
    qn_golden_compare_all(g, "ga/prep_wall_aspect.npy", maps.degrees, n, exact);
out:
    return st;
}

/* Prepared heights of a site. */
qn_status qn_sw_check_prep(qn_golden *g, qn_err *err)
{
    const qn_limit near = { .abs = 1e-5 };
    qn_sw_surface s = { 0 };
    qn_i64 n;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_surface(g, "ga", &s, err));
    n = (qn_i64)qn_sw_elems(&s.dsm.place);
    qn_golden_compare_all(g, "ga/prep_dsm.npy", s.dsm.data, n, near);
    qn_golden_compare_all(g, "ga/prep_cdsm.npy", s.cdsm.data, n, near);
    qn_golden_compare_all(g, "ga/prep_tdsm.npy", s.tdsm.data, n, near);
out:
    qn_sw_surface_free(&s);
    return st;
}
