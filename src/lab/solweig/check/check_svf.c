/* check_svf.c - view factors and bits of patches: Athens, and the sites with trees. */
#include "lab/solweig/check/check_impl.h"

#include <stdio.h>
#include <string.h>

enum { PATCH_OPTION = 2 };

static const char *const plane_names[SW_SVF_PLANES] = { "svf",    "svf_n",  "svf_e", "svf_s",
                                                        "svf_w",  "veg",    "veg_n", "veg_e",
                                                        "veg_s",  "veg_w",  "aveg",  "aveg_n",
                                                        "aveg_e", "aveg_s", "aveg_w" };

/* There are files by UMEP for the north and the east; the others are optional. */
static const char *const umep_names[] = { "total", "north", "east", "south", "west" };

static const qn_limit near_reference = { .abs = 5e-6 };
static const qn_limit near_umep = { .abs = 1e-5 };

/* Athens. */

/* UMEP lets leaves shade the patch at the zenith, the reference does not: under a canopy, and only
 * there, UMEP's vegetation is less by exactly the weight of that patch. */
static void compare_umep_veg(qn_golden *g, const char *file, const float *veg, qn_i64 pitch,
                             qn_window w)
{
    const double zenith = 0.0109262;
    qn_tally tally = { .limit = near_umep };
    char path[QN_GOLDEN_PATH];
    qn_npy want = { 0 };

    qn_golden_path(g, file, path);
    if (!qn_golden_has(g, file) || qn_npy_read(path, &want, NULL) != QN_OK ||
        qn_npy_elems(&want) != w.rows * w.cols) {
        qn_npy_free(&want);
        qn_sw_golden_compare(g, file, veg, pitch, w, near_umep);
        return;
    }
    for (qn_i64 i = 0; i < w.rows * w.cols; i++) {
        const double got = (double)veg[(w.row + i / w.cols) * pitch + w.col + i % w.cols];
        const double umep = qn_npy_at(&want, i);
        const int is_under_leaves = got - umep > zenith / 2;

        qn_tally_add(&tally, got, is_under_leaves ? umep + zenith : umep);
    }
    qn_golden_add(g, &tally, "%s, zenith aside", file);
    qn_npy_free(&want);
}

static qn_status compare_bits(qn_golden *g, qn_sw_check_city *city, const qn_sw_check_views *views,
                              qn_window w, qn_err *err)
{
    static const char *const kinds[] = { "bldg", "veg", "vb" };
    const size_t n = city->cells * (size_t)views->sky->n_bytes;
    const qn_i64 n_bytes = views->sky->n_bytes;
    uint8_t *bytes;
    float *values;
    qn_buf *packed;
    qn_graph *graph;
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&g->owned, n, &bytes, err));
    QN_TRY(qn_golden_floats_new(g, n, 0, &values, err));
    QN_TRY(qn_golden_fresh(g, n, &packed, err));
    for (int i = 0; i < 3; i++) {
        char file[64];

        QN_TRY(qn_golden_graph(g, "bits", &graph, err));
        QN_TRY(qn_sw_add_svf_bytes(city->shadow, graph, views->sky, views->words[i], packed, err));
        QN_TRY(qn_run_graph(graph, err));
        QN_TRY(qn_buf_read(packed, 0, bytes, n, err));
        for (size_t k = 0; k < n; k++)
            values[k] = bytes[k];
        snprintf(file, sizeof file, "athens/shmat_win64_%s.npy", kinds[i]);
        qn_sw_golden_compare(g, file, values, city->site->cols * n_bytes,
                             (qn_window){ w.row, w.col * n_bytes, w.rows, w.cols * n_bytes },
                             (qn_limit){ 0 });
    }
out:
    return st;
}

qn_status qn_sw_check_svf(qn_golden *g, qn_err *err)
{
    qn_sw_check_site site = { 0 };
    qn_sw_check_city city = { 0 };
    qn_sw_check_views views = { 0 };
    float *svf;
    qn_window w;
    char file[64];
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_athens(g, &site, err));
    QN_TRY(qn_sw_check_city_open(g, &site, (qn_window){ 0 }, &city, err));
    QN_TRY(qn_sw_check_city_views(g, &city, PATCH_OPTION, &views, err));
    QN_TRY(qn_golden_download(g, views.svf, SW_SVF_PLANES * city.cells, &svf, err));
    w = qn_sw_golden_window_of(site.params, "window_100", site.rows, site.cols);
    for (size_t i = 0; i < SW_SVF_PLANES; i++) {
        snprintf(file, sizeof file, "athens/svf_win100_%s.npy", plane_names[i]);
        qn_sw_golden_compare(g, file, svf + i * city.cells, site.cols, w, near_reference);
    }
    qn_golden_compare_all(g, "athens/svf_total_umep.npy", svf, (qn_i64)city.cells, near_umep);
    for (size_t d = 1; d < 5; d++) {
        snprintf(file, sizeof file, "athens/svf_%s_umep_win100.npy", umep_names[d]);
        if (d <= 2 || qn_golden_has(g, file))
            qn_sw_golden_compare(g, file, svf + d * city.cells, site.cols, w, near_umep);
    }
    compare_umep_veg(g, "athens/svf_veg_umep_win100.npy", svf + SW_SVF_VEG * city.cells, site.cols,
                     w);
    QN_TRY(compare_bits(g, &city, &views,
                        qn_sw_golden_window_of(site.params, "window_64", site.rows, site.cols),
                        err));
out:
    return st;
}

/* Sites with trees. */

/* Every plane in the folder, svf_<plane>.npy; `total` is the first of them. */
static qn_status check_site(qn_golden *g, const char *folder, const char *total, qn_err *err)
{
    qn_sw_check_site site = { 0 };
    qn_sw_check_city city = { 0 };
    qn_sw_check_views views = { 0 };
    float *svf;
    char file[64];
    qn_status st = QN_OK;

    QN_TRY(qn_sw_check_site_of(g, folder, &site, err));
    QN_TRY(qn_sw_check_city_open(g, &site, (qn_window){ 0 }, &city, err));
    QN_TRY(qn_sw_check_city_views(g, &city, PATCH_OPTION, &views, err));
    QN_TRY(qn_golden_download(g, views.svf, SW_SVF_PLANES * city.cells, &svf, err));
    snprintf(file, sizeof file, "%s/svf_%s.npy", folder, total);
    qn_golden_compare_all(g, file, svf, (qn_i64)city.cells, near_reference);
    for (size_t i = 1; i < SW_SVF_PLANES; i++) {
        snprintf(file, sizeof file, "%s/svf_%s.npy", folder, plane_names[i]);
        if (!strcmp(total, plane_names[0]) || qn_golden_has(g, file))
            qn_golden_compare_all(g, file, svf + i * city.cells, (qn_i64)city.cells,
                                  near_reference);
    }
out:
    return st;
}

qn_status qn_sw_check_svf_ga(qn_golden *g, qn_err *err)
{
    return check_site(g, "ga", "svf", err);
}

qn_status qn_sw_check_svf_gbg(qn_golden *g, qn_err *err)
{
    return check_site(g, "gbg", "total", err);
}
