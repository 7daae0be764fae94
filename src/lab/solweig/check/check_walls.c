/* check_walls.c - heights and aspects of walls, made from the DSM. */
#include "lab/solweig/check/check_site.h"
#include "domain/solweig/shadow/shadow.h"

#include <stdio.h>
#include <stdlib.h>

static const float wall_limit = 1; /* metres, of all reference data */

typedef struct wall_maps {
    float *height, *degrees;
} wall_maps;

static qn_status make_walls(qn_golden *g, const float *dsm, int rows, int cols, float pixel_m,
                            wall_maps *out, qn_err *err)
{
    const size_t n = (size_t)rows * (size_t)cols, bytes = n * sizeof(float);
    qn_buf *ground = NULL, *height = NULL, *degrees = NULL, *radians = NULL;
    qn_sw_wall_filters *walls = NULL;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_upload(g, dsm, bytes, &ground, err));
    QN_TRY(qn_golden_fresh(g, bytes, &height, err));
    QN_TRY(qn_golden_fresh(g, bytes, &degrees, err));
    QN_TRY(qn_golden_fresh(g, bytes, &radians, err));
    QN_TRY(qn_sw_walls_new(g->ctx, rows, cols, pixel_m, wall_limit, &walls, err));
    QN_TRY(qn_graph_new(g->ctx, "walls", &graph, err));
    QN_TRY(qn_sw_add_walls(walls, graph, ground, height, degrees, radians, err));
    QN_TRY(qn_golden_finish(&graph, err));
    QN_TRY(qn_golden_download(height, n, &out->height, err));
    QN_TRY(qn_golden_download(degrees, n, &out->degrees, err));
out:
    qn_graph_free(graph);
    qn_sw_walls_free(walls);
    qn_buf_free(ground);
    qn_buf_free(height);
    qn_buf_free(degrees);
    qn_buf_free(radians);
    return st;
}

static void free_walls(wall_maps *maps)
{
    free(maps->height);
    free(maps->degrees);
}

qn_status qn_sw_check_walls(qn_golden *g, qn_err *err)
{
    const qn_limit exact = { 0 };
    qn_sw_check_site s = { 0 };
    wall_maps maps = { 0 };
    qn_window w;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_athens(g, &s, err));
    QN_TRY(make_walls(g, s.dsm, s.rows, s.cols, s.pixel_m, &maps, err));
    w = qn_sw_golden_window_of(s.params, "window_100", s.rows, s.cols);
    qn_golden_compare_all(g, "athens/in_wall_height.npy", maps.height, (qn_i64)s.rows * s.cols,
                          exact);
    qn_sw_golden_compare(g, "athens/walls_refrun_height_win100.npy", maps.height, s.cols, w, exact);
    qn_sw_golden_compare(g, "athens/walls_refrun_aspect_win100.npy", maps.degrees, s.cols, w,
                         exact);
out:
    free_walls(&maps);
    qn_sw_check_site_free(&s);
    return st;
}

qn_status qn_sw_check_walls_ga(qn_golden *g, qn_err *err)
{
    const qn_limit exact = { 0 };
    qn_sw_check_site s = { 0 };
    wall_maps maps = { 0 };
    qn_i64 n;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_of(g, "ga", &s, err));
    QN_TRY(make_walls(g, s.dsm, s.rows, s.cols, s.pixel_m, &maps, err));
    n = (qn_i64)s.rows * s.cols;
    qn_golden_compare_all(g, "ga/prep_wall_height.npy", maps.height, n, exact);
    qn_golden_compare_all(g, "ga/prep_wall_aspect.npy", maps.degrees, n, exact);
out:
    free_walls(&maps);
    qn_sw_check_site_free(&s);
    return st;
}
