/* maps.c - pictures of the hours that were asked for, made from the rasters that were written. */
#include "run_impl.h"

#include "domain/solweig/picture/map_png.h"
#include "util/file.h"

static qn_status draw(const qn_sw_job *job, qn_sw_plane plane, qn_i64 minutes, qn_err *err)
{
    char path[QN_SW_PATH], title[64], stamp[16], iso[20];
    const char *name = qn_sw_plane_name(plane);
    qn_sw_map map = { .title = title,
                      .unit = qn_sw_plane_unit(plane),
                      .pixel_size = job->result->place.pixel_size };
    qn_sw_raster raster = { 0 };
    qn_status st = QN_OK;

    qn_sw_stamp_name(minutes, stamp);
    qn_sw_stamp_iso(minutes, iso);
    snprintf(title, sizeof title, "%s %s", name, iso);
    QN_TRY(qn_sw_job_path(job, path, err, "%s/%s_%s.%s", name, name, stamp,
                          qn_sw_has_geotiff() ? "tif" : "npy"));
    QN_TRY(qn_sw_raster_read(path, NULL, &raster, err));
    QN_TRY(qn_sw_job_path(job, path, err, "maps/%s_%s.png", name, stamp));
    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_sw_map_write(path, raster.data, raster.place.rows, raster.place.cols, &map, err));
out:
    qn_sw_raster_free(&raster);
    return st;
}

qn_status qn_sw_write_maps(const qn_sw_job *job, qn_err *err)
{
    qn_sw_date_filter filter;
    qn_status st = QN_OK;

    if (!job->config->maps)
        return QN_OK;
    QN_TRY(qn_sw_date_filter_parse(NULL, NULL, job->config->maps, &filter, err));
    for (size_t r = 0; r < job->result->n_rows; r++) {
        const qn_i64 minutes = job->result->rows[r].minutes;

        for (int p = 0; qn_sw_date_passes(&filter, minutes) && p < QN_SW_PLANES; p++)
            if (QN_SW_HAS(job->written, p))
                QN_TRY(draw(job, (qn_sw_plane)p, minutes, err));
    }
out:
    return st;
}
