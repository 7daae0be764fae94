/* check_export.c - GeoTIFF layers of sites into arrays and places. */
#include "lab/solweig/check/check.h"

#include "lab/solweig/check/check_site.h"
#include "domain/solweig/raster/raster.h"
#include "util/file.h"

#include <stdio.h>
#include <string.h>

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
    qn_sw_check_site_files_free(&files);
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
        QN_TRY(qn_golden_unblock(&g, export_site(&g, sites[i], out, n_layers, err), err));
    if (!*n_layers)
        st = qn_fail(err, QN_ERR_INPUT, "%s has no layers of a site: %s %s", dir,
                     findings.list ? findings.list[0].name : "ga and gbg",
                     findings.list ? findings.list[0].note : "are absent");
out:
    qn_findings_free(&findings);
    return st;
}
