/* check_site.c - sites of the reference data. */
#include "lab/solweig/check/check_impl.h"
#include "util/file.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const float radians = 0.017453292519943295f;

/* Heights. */

qn_status qn_sw_check_site_athens(qn_golden *g, qn_sw_check_site *out, qn_err *err)
{
    qn_sw_check_site s = { 0 };
    size_t n;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_json(g, "athens/params.json", &s.params, err));
    s.rows = qn_golden_count(s.params, "rows");
    s.cols = qn_golden_count(s.params, "cols");
    s.pixel_m = qn_golden_float(s.params, "pixel_size_m");
    s.max_height = qn_golden_float(s.params, "max_height_m");
    s.max_dist = qn_golden_float(s.params, "max_shadow_distance_m");
    n = (size_t)s.rows * (size_t)s.cols;
    QN_TRY(qn_golden_floats(g, "athens/in_dsm.npy", n, &s.dsm, err));
    QN_TRY(qn_golden_floats(g, "athens/in_cdsm.npy", n, &s.canopy, err));
    QN_TRY(qn_golden_floats(g, "athens/in_tdsm.npy", n, &s.trunk, err));
    QN_TRY(qn_golden_floats(g, "athens/in_wall_height.npy", n, &s.wall_height, err));
    QN_TRY(qn_golden_floats(g, "athens/in_wall_aspect.npy", n, &s.wall_aspect, err));
    *out = s;
out:
    return st;
}

/* The first file of the folder that begins with one of two words and has this ending. */
static qn_status find_layer(qn_golden *g, const char *folder, const char *const words[2],
                            const char *ending, char **out, qn_err *err)
{
    char path[QN_GOLDEN_PATH + 300];
    qn_status st = QN_OK;

    *out = NULL;
    for (int i = 0; i < 2 && !*out && words[i]; i++) {
        qn_golden_names names;

        QN_TRY(qn_golden_list(g, folder, words[i], ending, &names, err));
        if (names.n) {
            snprintf(path, sizeof path, "%s/%s/%s%s%s", g->dir, folder, words[i], names.list[0],
                     ending);
            QN_TRY(qn_owned_memory(&g->owned, strlen(path) + 1, out, err));
            memcpy(*out, path, strlen(path) + 1);
        }
    }
out:
    return st;
}

/* All layers must come from files of one kind: GeoTIFF, or arrays with a place. */
static qn_status find_layers(qn_golden *g, const char *folder, const char *ending,
                             qn_sw_check_site_files *out, qn_err *err)
{
    static const struct {
        const char *words[2];
        size_t at;
    } layers[] = {
        { { "DSM" }, offsetof(qn_sw_check_site_files, dsm) },
        { { "DEM" }, offsetof(qn_sw_check_site_files, dem) },
        { { "CDSM" }, offsetof(qn_sw_check_site_files, cdsm) },
        { { "LC", "landcover" }, offsetof(qn_sw_check_site_files, land_cover) },
    };
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        QN_TRY(find_layer(g, folder, layers[i].words, ending,
                          (char **)(void *)((char *)out + layers[i].at), err));
out:
    return st;
}

qn_status qn_sw_check_site_find(qn_golden *g, const char *folder, qn_sw_check_site_files *out,
                                qn_err *err)
{
    char name[64];
    int has_tif;
    qn_status st = QN_OK;

    *out = (qn_sw_check_site_files){ 0 };
    QN_TRY(find_layers(g, folder, "tif", out, err));
    has_tif = out->dsm != NULL;
    if (!has_tif || !qn_sw_has_geotiff()) {
        QN_TRY(find_layers(g, folder, "npy", out, err));
    }
    snprintf(name, sizeof name, "%s/DSM*.tif", folder);
    if (!out->dsm) {
        qn_golden_add_why(g, QN_FINDING_SKIPPED, name,
                          has_tif ? "there is no GDAL to read it, and no .npy beside it"
                                  : "absent");
        g->is_blocked = 1;
        st = qn_fail(err, QN_ERR_INPUT, "%s cannot be read", name);
    }
out:
    return st;
}

qn_status qn_sw_check_site_surface(qn_golden *g, const char *folder, qn_sw_surface *out,
                                   qn_err *err)
{
    qn_sw_check_site_files files = { 0 };
    qn_err local = { .text = "" };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_find(g, folder, &files, err));
    const qn_sw_layer_options options = { .dsm_file = files.dsm,
                                          .dem_file = files.dem,
                                          .cdsm_file = files.cdsm,
                                          .landcover_file = files.land_cover,
                                          .reference = 1 };

    if ((st = qn_sw_surface_load(&options, out, NULL, &local)) != QN_OK) {
        qn_golden_add_why(g, QN_FINDING_OUT, folder, "cannot be read: %s", local.text);
        g->is_blocked = 1;
        qn_fail(err, st, "%s", local.text);
    }
out:
    return st;
}

static void drop_surface(void *surface)
{
    qn_sw_surface_free(surface);
}

qn_status qn_sw_check_site_of(qn_golden *g, const char *folder, qn_sw_check_site *out, qn_err *err)
{
    qn_sw_surface *s;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&g->owned, sizeof *s, &s, err));
    QN_TRY(qn_sw_check_site_surface(g, folder, s, err));
    QN_TRY(qn_owned_add(&g->owned, s, drop_surface, err));
    *out = (qn_sw_check_site){ .rows = (int)s->dsm.place.rows,
                               .cols = (int)s->dsm.place.cols,
                               .pixel_m = (float)s->dsm.place.pixel_size,
                               .max_height = qn_sw_relief_of(s).max_height,
                               .dsm = s->dsm.data,
                               .canopy = s->cdsm.data,
                               .trunk = s->tdsm.data };
out:
    return st;
}

/* On devices. */

qn_sw_ray_limits qn_sw_check_site_reach(const qn_sw_check_site *site, float max_dist)
{
    return (qn_sw_ray_limits){ .rows = site->rows,
                               .cols = site->cols,
                               .px = site->pixel_m,
                               .max_height = site->max_height,
                               .max_dist = max_dist };
}

/* The greatest height of the site. */
static float highest(const qn_sw_check_site *site, size_t n)
{
    float most = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        most = fmaxf(most, site->dsm[i]);
        if (site->canopy)
            most = fmaxf(most, fmaxf(site->canopy[i], site->trunk[i]));
    }
    return most;
}

static qn_status upload_walls(qn_golden *g, const qn_sw_check_site *site, size_t n,
                              qn_sw_height_bufs *layers, qn_err *err)
{
    float *aspect;
    qn_status st = QN_OK;

    QN_TRY(qn_golden_floats_new(g, n, 0, &aspect, err));
    for (size_t i = 0; i < n; i++)
        aspect[i] = site->wall_aspect[i] * radians;
    QN_TRY(qn_golden_upload(g, site->wall_height, n * sizeof(float), &layers->wall_height, err));
    QN_TRY(qn_golden_upload(g, aspect, n * sizeof(float), &layers->wall_aspect, err));
out:
    return st;
}

qn_status qn_sw_check_city_open(qn_golden *g, const qn_sw_check_site *site, qn_window core,
                                qn_sw_check_city *out, qn_err *err)
{
    const size_t n = (size_t)site->rows * (size_t)site->cols, bytes = n * sizeof(float);
    const qn_sw_area area = { .rows = site->rows,
                              .cols = site->cols,
                              .core_row = (int)core.row,
                              .core_col = (int)core.col,
                              .core_rows = (int)core.rows,
                              .core_cols = (int)core.cols,
                              .gmax = highest(site, n) };
    qn_graph *graph;
    qn_status st = QN_OK;

    *out = (qn_sw_check_city){ .site = site };
    QN_TRY(qn_golden_upload(g, site->dsm, bytes, &out->layers.dsm, err));
    if (site->canopy) {
        QN_TRY(qn_golden_upload(g, site->canopy, bytes, &out->layers.canopy, err));
        QN_TRY(qn_golden_upload(g, site->trunk, bytes, &out->layers.trunk, err));
    }
    if (site->wall_height)
        QN_TRY(upload_walls(g, site, n, &out->layers, err));
    QN_TRY(qn_sw_shadow_new(g->ctx, &area, &out->layers, &out->shadow, err));
    QN_TRY(qn_owned_add(&g->owned, out->shadow, qn_sw_drop_shadow, err));
    out->cells = core.rows ? (size_t)core.rows * (size_t)core.cols : n;
    QN_TRY(qn_golden_graph(g, "cover", &graph, err));
    QN_TRY(qn_sw_add_cover(out->shadow, graph, err));
    QN_TRY(qn_run_graph(graph, err));
out:
    return st;
}

qn_status qn_sw_check_city_views(qn_golden *g, qn_sw_check_city *city, int patch_option,
                                 qn_sw_check_views *out, qn_err *err)
{
    const qn_sw_ray_limits limits = qn_sw_check_site_reach(city->site, 0);
    qn_graph *graph;
    qn_status st = QN_OK;

    *out = (qn_sw_check_views){ 0 };
    QN_TRY(qn_golden_refuse(g, city->site->params ? "athens/params.json" : g->part,
                            qn_sw_sky_new(g->ctx, patch_option, &limits, &out->sky, err), err));
    QN_TRY(qn_owned_add(&g->owned, out->sky, qn_sw_drop_sky, err));
    QN_TRY(qn_golden_fresh(g, city->cells * SW_SVF_PLANES * sizeof(float), &out->svf, err));
    for (int i = 0; i < 3; i++)
        QN_TRY(qn_golden_fresh(g, city->cells * (size_t)out->sky->n_words * sizeof(uint32_t),
                               &out->words[i], err));
    const qn_sw_views views = { out->svf, out->words[0], out->words[1], out->words[2] };

    QN_TRY(qn_golden_graph(g, "svf", &graph, err));
    QN_TRY(qn_sw_add_svf(city->shadow, graph, out->sky, &views, err));
    QN_TRY(qn_run_graph(graph, err));
out:
    return st;
}

/* Layers as plain arrays. */

static qn_status export_layer(const char *layer, const char *folder, qn_err *err)
{
    const char *slash = strrchr(layer, '/'), *name = slash ? slash + 1 : layer;
    const char *dot = strrchr(name, '.');
    char path[QN_GOLDEN_PATH + 300];
    qn_sw_raster raster = { 0 };
    qn_status st = QN_OK;

    snprintf(path, sizeof path, "%s/%.*s.npy", folder,
             (int)(dot ? (size_t)(dot - name) : strlen(name)), name);
    QN_TRY(qn_sw_raster_read(layer, NULL, &raster, err));
    QN_TRY(qn_sw_raster_write(path, &raster, err));
    QN_TRY(qn_sw_place_json_write(path, &raster.place, err));
out:
    qn_sw_raster_free(&raster);
    return st;
}

static qn_status export_site(qn_golden *g, const char *site, const char *out, int *n_layers,
                             qn_err *err)
{
    qn_sw_check_site_files files = { 0 };
    char folder[QN_GOLDEN_PATH];
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_find(g, site, &files, err));
    const char *const layers[] = { files.dsm, files.dem, files.cdsm, files.land_cover };

    snprintf(folder, sizeof folder, "%s/%s", out, site);
    QN_TRY(qn_make_dirs(folder, err));
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (!layers[i])
            continue;
        QN_TRY(export_layer(layers[i], folder, err));
        ++*n_layers;
    }
out:
    return st;
}

qn_status qn_sw_check_export(const char *dir, const char *out, int *n_layers, qn_err *err)
{
    static const char *const sites[] = { "ga", "gbg" };
    qn_findings findings = { 0 };
    qn_golden g = { .dir = dir, .part = "export", .findings = &findings };
    qn_status st = QN_OK;

    *n_layers = 0;
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        QN_TRY(qn_golden_end(&g, 0, export_site(&g, sites[i], out, n_layers, err), err));
    if (!*n_layers)
        st = qn_fail(err, QN_ERR_INPUT, "%s has no layers of a site: %s %s", dir,
                     findings.list ? findings.list[0].name : "ga and gbg",
                     findings.list ? findings.list[0].note : "are absent");
out:
    qn_findings_free(&findings);
    return st;
}
