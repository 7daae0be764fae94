/* check_athens_shadow.c - shadows of suns over Athens.
 *
 * Suns are those named in params.json, and those of files with angles in their names,
 * shadow_az<degrees>_alt<degrees>_*. An array smaller than the raster covers its middle.
 */
#include "lab/solweig/check/check_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const qn_limit exact = { 0 };
static const qn_limit near_umep = { .abs = 2e-5 };
static const qn_limit near_exact = { .abs = 1e-6 };

/* shadow, wall_sun, then the planes SW_DETAIL_*. */
typedef struct sun_planes {
    float *sun, *detail;
} sun_planes;

static qn_status cast(qn_golden *g, qn_sw_check_city *city, qn_sw_beam sun, sun_planes *out,
                      qn_err *err)
{
    const qn_sw_ray_limits limits = qn_sw_check_site_reach(city->site, city->site->max_dist);
    const size_t bytes = city->cells * sizeof(float);
    const int32_t first = 0;
    qn_sw_shade shade = { 0 };
    qn_buf *which;
    qn_sw_rays *rays;
    qn_graph *graph;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_fresh(g, bytes, &shade.shadow, err));
    QN_TRY(qn_golden_fresh(g, bytes, &shade.wall_sun, err));
    QN_TRY(qn_golden_fresh(g, bytes * SW_DETAIL_PLANES, &shade.detail, err));
    QN_TRY(qn_golden_upload(g, &first, sizeof first, &which, err));
    QN_TRY(qn_golden_refuse(g, "athens/params.json",
                            qn_sw_rays_new(g->ctx, &limits, &sun, 1, &rays, err), err));
    QN_TRY(qn_owned_add(&g->owned, rays, qn_sw_drop_rays, err));
    QN_TRY(qn_golden_graph(g, "shadow", &graph, err));
    QN_TRY(qn_sw_add_shadow(city->shadow, graph, rays, which, &shade, err));
    QN_TRY(qn_run_graph(graph, err));
    QN_TRY(qn_golden_download(g, shade.wall_sun, city->cells, &out->sun, err));
    QN_TRY(qn_golden_download(g, shade.detail, city->cells * SW_DETAIL_PLANES, &out->detail, err));
out:
    return st;
}

/* The window in the middle of the raster that a file covers; without the file, the whole raster. */
static qn_window window_in(const qn_golden *g, const char *file, const qn_sw_check_site *s)
{
    qn_window w = { .rows = s->rows, .cols = s->cols };
    char path[QN_GOLDEN_PATH];
    qn_npy array = { 0 };

    qn_golden_path(g, file, path);
    if (qn_npy_read(path, &array, NULL) == QN_OK && array.n_dims == 2 && array.dims[0] <= s->rows &&
        array.dims[1] <= s->cols)
        w = (qn_window){ .row = (s->rows - array.dims[0]) / 2,
                         .col = (s->cols - array.dims[1]) / 2,
                         .rows = array.dims[0],
                         .cols = array.dims[1] };
    qn_npy_free(&array);
    return w;
}

/* A file with values at pixels with walls, in the order of rows; elsewhere they are 0. */
static void compare_at_walls(qn_golden *g, const char *name, const char *what,
                             const qn_sw_check_site *s, const float *got, qn_limit limit)
{
    const size_t all = (size_t)s->rows * (size_t)s->cols;
    char file[128];
    float *values;
    qn_i64 n = 0, n_stray = 0;

    snprintf(file, sizeof file, "athens/shadow_%s_%s_at_walls.npy", name, what);
    if (qn_golden_floats_new(g, all, 0, &values, NULL) != QN_OK) {
        qn_golden_add_why(g, QN_FINDING_OUT, file, "no memory");
        return;
    }
    for (size_t i = 0; i < all; i++) {
        if (s->wall_height[i] > 0)
            values[n++] = got[i];
        else
            n_stray += got[i] != 0;
    }
    if (n_stray)
        qn_golden_add_why(g, QN_FINDING_OUT, file, "%lld pixels without a wall are not 0",
                          (long long)n_stray);
    else
        qn_golden_compare_all(g, file, values, n, limit);
}

static qn_status check_sun(qn_golden *g, qn_sw_check_city *city, const char *name, qn_sw_beam sun,
                           int has_walls, qn_err *err)
{
    static const char *const kinds[] = { "bldg", "veg", "vegblocksbldg" };
    const qn_sw_check_site *s = city->site;
    const size_t n_owned = g->owned.n;
    sun_planes planes;
    char file[128];
    qn_status st = QN_OK;

    QN_TRY(cast(g, city, sun, &planes, err));
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "athens/shadow_%s_%s.npy", name, kinds[i]);
        qn_sw_golden_compare(g, file, planes.detail + i * city->cells, s->cols,
                             window_in(g, file, s), exact);
    }
    if (has_walls) {
        compare_at_walls(g, name, "wall_sh", s, planes.detail + SW_DETAIL_WALL_SH * city->cells,
                         near_umep);
        compare_at_walls(g, name, "wall_sun", s, planes.sun, near_umep);
        compare_at_walls(g, name, "wall_shveg", s,
                         planes.detail + SW_DETAIL_WALL_SHVEG * city->cells, near_exact);
    }
out:
    qn_owned_free(&g->owned, n_owned);
    return st;
}

/* 1 for names such as "az133_alt12". */
static int is_sun(const char *name, qn_sw_beam *out)
{
    char *end;

    if (strncmp(name, "az", 2) != 0)
        return 0;
    out->azimuth = strtof(name + 2, &end);
    if (end == name + 2 || strncmp(end, "_alt", 4) != 0)
        return 0;
    name = end + 4;
    out->altitude = strtof(name, &end);
    out->psi = 1;
    return end != name && !*end;
}

/* Suns by the angles in the names of their files. */
static qn_status check_by_name(qn_golden *g, qn_sw_check_city *city, qn_err *err)
{
    qn_golden_names names = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_golden_list(g, "athens", "shadow_", "_bldg.npy", &names, err));
    for (size_t i = 0; i < names.n; i++) {
        char walls[160];
        qn_sw_beam sun;

        if (!is_sun(names.list[i], &sun))
            continue;
        snprintf(walls, sizeof walls, "athens/shadow_%s_wall_sun_at_walls.npy", names.list[i]);
        QN_TRY(check_sun(g, city, names.list[i], sun, qn_golden_has(g, walls), err));
    }
out:
    return st;
}

qn_status qn_sw_check_shadow(qn_golden *g, qn_err *err)
{
    qn_sw_check_site site = { 0 };
    qn_sw_check_city city = { 0 };
    const char *name;
    json_t *angles;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_athens(g, &site, err));
    QN_TRY(qn_sw_check_city_open(g, &site, (qn_window){ 0 }, &city, err));
    json_object_foreach(json_object_get(site.params, "sun"), name, angles)
    {
        const qn_sw_beam sun = { (float)json_number_value(json_array_get(angles, 0)),
                                 (float)json_number_value(json_array_get(angles, 1)), 1 };

        QN_TRY(check_sun(g, &city, name, sun, 1, err));
    }
    QN_TRY(check_by_name(g, &city, err));
out:
    return st;
}
