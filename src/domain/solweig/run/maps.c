/* maps.c - PNG maps of the requested hours, drawn from rasters as they are written. */
#include "run_impl.h"

#include "util/file.h"
#include "util/list.h"
#include "util/str.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct map {
    size_t step;
    qn_sw_plane plane;
} map;

struct qn_sw_maps {
    map *list; /* by step, then by plane */
    size_t n;
    qn_sw_map_grid grid; /* of the raster being written */
    qn_sw_picture first[QN_SW_PICTURES];
};

qn_status qn_sw_maps_new(const qn_sw_job *job, qn_sw_maps **out, qn_err *err)
{
    qn_sw_date_filter filter;
    qn_sw_maps *maps = NULL;
    qn_status st = QN_OK;

    if (!job->options->maps[0] || !job->written)
        return QN_OK;
    QN_TRY(qn_sw_date_filter_parse(NULL, NULL, job->options->maps, &filter, err));
    QN_TRY(QN_NEW(maps, 1, "maps", err));
    QN_TRY(QN_NEW(maps->list, job->forcing.n * QN_SW_PLANES, "maps", err));
    for (size_t step = 0; step < job->forcing.n; step++)
        for (int p = 0; p < QN_SW_PLANES; p++)
            if (QN_SW_HAS(job->written, p) &&
                qn_sw_date_passes(&filter, job->forcing.weather.rows[step].minutes))
                maps->list[maps->n++] = (map){ .step = step, .plane = (qn_sw_plane)p };
    *out = maps;
    maps = NULL;
out:
    qn_sw_maps_free(maps);
    return st;
}

void qn_sw_maps_free(qn_sw_maps *maps)
{
    if (!maps)
        return;
    qn_sw_map_grid_free(&maps->grid);
    for (int i = 0; i < QN_SW_PICTURES; i++)
        free(maps->first[i].png);
    free(maps->list);
    free(maps);
}

size_t qn_sw_maps_count(const qn_sw_maps *maps)
{
    return maps ? maps->n : 0;
}

/* "tmrt_20060726_1300". */
static void stem_of(const qn_sw_job *job, const map *m, char out[64])
{
    char stamp[16];

    qn_sw_stamp_name(job->forcing.weather.rows[m->step].minutes, stamp);
    snprintf(out, 64, "%s_%s", qn_sw_plane_name(m->plane), stamp);
}

/* Writes the map, and stores it for the report if it is one of the first. */
static qn_status draw(qn_sw_job *job, size_t number, qn_err *err)
{
    qn_sw_maps *maps = job->maps;
    const map *m = &maps->list[number];
    char stem[64], name[80], title[64], iso[20];
    const qn_sw_map look = { .title = title,
                             .unit = qn_sw_plane_unit(m->plane),
                             .pixel_size = job->result->place.pixel_size };
    qn_sw_picture picture = { 0 };
    qn_status st = QN_OK;

    qn_sw_stamp_iso(job->forcing.weather.rows[m->step].minutes, iso);
    snprintf(title, sizeof title, "%s %s", qn_sw_plane_name(m->plane), iso);
    stem_of(job, m, stem);
    snprintf(name, sizeof name, "maps/%s.png", stem);
    QN_TRY(qn_sw_map_encode(name, &maps->grid, &look, &picture.png, &picture.bytes, err));
    QN_TRY(qn_run_folder_write(qn_sw_outputs_folder(job->outputs), name, picture.png, picture.bytes,
                               err));
    if (number < QN_SW_PICTURES) {
        free(maps->first[number].png);
        maps->first[number] = picture;
        picture.png = NULL;
    }
out:
    qn_sw_map_grid_free(&maps->grid);
    free(picture.png);
    return st;
}

qn_status qn_sw_maps_see(qn_sw_job *job, size_t step, qn_sw_plane plane, const qn_window *part,
                         const float *data, qn_err *err)
{
    const qn_sw_place *place = &job->result->place;
    qn_sw_maps *maps = job->maps;
    qn_status st = QN_OK;
    size_t i = 0;

    while (maps && i < maps->n && (maps->list[i].step != step || maps->list[i].plane != plane))
        i++;
    if (!maps || i == maps->n)
        return QN_OK;
    if (part->row == 0) {
        qn_sw_map_grid_free(&maps->grid);
        QN_TRY(qn_sw_map_grid_new(place->rows, place->cols, 0, &maps->grid, err));
    }
    qn_sw_map_grid_add(&maps->grid, part, data);
    if (qn_sw_map_grid_is_full(&maps->grid))
        QN_TRY(draw(job, i, err));
out:
    return st;
}

/* A map drawn by the interrupted run is read from its file. */
qn_status qn_sw_maps_picture(const qn_sw_job *job, size_t i, const qn_sw_picture **out, qn_err *err)
{
    qn_sw_picture *picture = &job->maps->first[i];
    char stem[64], *path = NULL;
    qn_status st = QN_OK;

    stem_of(job, &job->maps->list[i], stem);
    snprintf(picture->name, sizeof picture->name, "%s", stem);
    if (!picture->png) {
        QN_TRY(qn_text_new(&path, err, "%s/maps/%s.png", job->options->out, stem));
        QN_TRY(qn_file_read(path, &picture->png, &picture->bytes, err));
    }
    *out = picture;
out:
    free(path);
    return st;
}
