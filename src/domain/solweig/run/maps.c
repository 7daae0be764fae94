/* maps.c - PNG maps of the requested hours, drawn as soon as all pixels of a plane are known.
 *
 * A map gathers the planes that are on their way to files. Those of tiles that an interrupted run
 * has finished are read from its files.
 */
#include "run_impl.h"

#include <stdio.h>
#include <stdlib.h>

/* All maps of a run in tiles are unfinished until its last tile. More of them lie in files. */
static const double most_bytes = 1 << 30;

typedef struct map {
    size_t step;
    qn_sw_plane plane;
    qn_sw_map_grid grid; /* empty before the first pixels and after the last */
    qn_i64 n_tiles;      /* the tile that was added last has number n_tiles - 1 */
} map;

struct qn_sw_maps {
    map *list; /* by step, then by plane */
    size_t n;
    qn_sw_picture first[QN_SW_PICTURES];
    int is_mapped;
};

qn_status qn_sw_maps_new(const qn_sw_job *job, qn_sw_maps **out, qn_err *err)
{
    const qn_sw_place *place = &job->result->place;
    qn_sw_date_filter filter;
    qn_sw_maps *maps = NULL;
    qn_status st = QN_OK;

    if (!job->config->maps || !job->outputs || !job->written)
        return QN_OK;
    QN_TRY(qn_sw_date_filter_parse(NULL, NULL, job->config->maps, &filter, err));
    maps = calloc(1, sizeof *maps);
    if (!maps || !(maps->list = calloc(job->forcing.n * QN_SW_PLANES, sizeof *maps->list))) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for maps of %zu steps", job->forcing.n);
        goto out;
    }
    for (size_t step = 0; step < job->forcing.n; step++)
        for (int p = 0; p < QN_SW_PLANES; p++)
            if (QN_SW_HAS(job->written, p) &&
                qn_sw_date_passes(&filter, job->forcing.weather.rows[step].minutes))
                maps->list[maps->n++] = (map){ .step = step, .plane = (qn_sw_plane)p };
    maps->is_mapped =
        qn_tiles_count(&job->result->plan) > 1 &&
        (double)maps->n * (double)qn_sw_map_grid_bytes(place->rows, place->cols) > most_bytes;
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
    for (size_t i = 0; i < maps->n; i++)
        qn_sw_map_grid_free(&maps->list[i].grid);
    for (int i = 0; i < QN_SW_PICTURES; i++)
        free(maps->first[i].png);
    free(maps->list);
    free(maps);
}

size_t qn_sw_maps_count(const qn_sw_maps *maps)
{
    return maps ? maps->n : 0;
}

const qn_sw_picture *qn_sw_maps_picture(const qn_sw_maps *maps, size_t i)
{
    return &maps->first[i];
}

/* Writes the map, and holds it for the report if it is among the first. */
static qn_status draw(qn_sw_job *job, size_t number, qn_err *err)
{
    qn_sw_maps *maps = job->maps;
    map *m = &maps->list[number];
    const qn_i64 minutes = job->forcing.weather.rows[m->step].minutes;
    const char *name = qn_sw_plane_name(m->plane);
    char path[64], title[64], stamp[16], iso[20];
    const qn_sw_map look = { .title = title,
                             .unit = qn_sw_plane_unit(m->plane),
                             .pixel_size = job->result->place.pixel_size };
    qn_sw_picture picture = { 0 };
    qn_status st = QN_OK;

    qn_sw_stamp_name(minutes, stamp);
    qn_sw_stamp_iso(minutes, iso);
    snprintf(title, sizeof title, "%s %s", name, iso);
    snprintf(path, sizeof path, "maps/%s_%s.png", name, stamp);
    snprintf(picture.name, sizeof picture.name, "%s %s", name, stamp);
    QN_TRY(qn_sw_map_encode(path, &m->grid, &look, &picture.png, &picture.bytes, err));
    QN_TRY(qn_sw_outputs_write_file(job->outputs, path, picture.png, picture.bytes, err));
    if (number < QN_SW_PICTURES) {
        free(maps->first[number].png);
        maps->first[number] = picture;
        picture.png = NULL;
    }
out:
    qn_sw_map_grid_free(&m->grid);
    free(picture.png);
    return st;
}

/* A tile that is redone comes with the same pixels once more. */
static qn_status add(qn_sw_job *job, size_t number, const qn_tile *tile, const float *data,
                     qn_err *err)
{
    const qn_sw_place *place = &job->result->place;
    map *m = &job->maps->list[number];
    qn_sw_map_grid *grid = &m->grid;
    qn_status st = QN_OK;

    if (m->n_tiles == tile->number + 1)
        return QN_OK;
    m->n_tiles = tile->number + 1;
    if (!grid->block.data)
        QN_TRY(qn_sw_map_grid_new(place->rows, place->cols, job->maps->is_mapped, grid, err));
    qn_sw_map_grid_add(grid, &tile->core, data);
    if (qn_sw_map_grid_is_full(grid))
        QN_TRY(draw(job, number, err));
out:
    return st;
}

qn_status qn_sw_maps_add(qn_sw_job *job, const qn_sw_step_slot *slot, qn_err *err)
{
    const qn_sw_maps *maps = job->maps;
    qn_status st = QN_OK;

    for (size_t i = 0; maps && i < maps->n && maps->list[i].step <= slot->step; i++)
        if (maps->list[i].step == slot->step)
            QN_TRY(add(job, i, &slot->tile, slot->plane[maps->list[i].plane], err));
out:
    return st;
}

qn_status qn_sw_maps_load(qn_sw_job *job, const qn_tile *tile, qn_err *err)
{
    const qn_sw_maps *maps = job->maps;
    float *data = NULL;
    qn_status st = QN_OK;

    if (!maps)
        return QN_OK;
    if (!(data = malloc(qn_window_pixels(&tile->core) * sizeof *data)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for maps of tile %lld",
                       (long long)tile->number);
    for (size_t i = 0; i < maps->n; i++) {
        const map *m = &maps->list[i];

        QN_TRY(qn_sw_outputs_read(job->outputs, qn_sw_plane_name(m->plane),
                                  job->forcing.weather.rows[m->step].minutes, tile->core, data,
                                  err));
        QN_TRY(add(job, i, tile, data, err));
    }
out:
    free(data);
    return st;
}
