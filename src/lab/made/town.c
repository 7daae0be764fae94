/* town.c - blocks, streets and trees from hashed numbers. */
#include "lab/made/town.h"

#include "domain/solweig/raster/raster.h"
#include "util/file.h"
#include "util/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PERIOD = 60, STREET = 16, COURT = 14, TREE_STEP = 9, SEED = 20060726 };

#define GROUND 10.0f /* metres above the sea */

/* 0 to 1. */
static float dice(int what, qn_i64 a, qn_i64 b)
{
    return 0.5f * (1 + qn_random_float((uint64_t)(SEED + what), (uint64_t)(a * 100003 + b)));
}

/* Height of the roof at a pixel above the ground, as a fraction of the relief; 0: no roof. */
static float roof_at(qn_i64 row, qn_i64 col)
{
    const qn_i64 r = row % PERIOD, c = col % PERIOD;
    const qn_i64 from = STREET + COURT, to = PERIOD - COURT;

    if (r < STREET || c < STREET)
        return 0;
    if (r >= from && r < to && c >= from && c < to)
        return 0; /* the court */
    if (row / PERIOD == 0 && col / PERIOD == 0)
        return 1; /* the tower, as high as the relief */
    /* Four houses per block, most of them low. */
    const float height = dice(0, row / (PERIOD / 2), col / (PERIOD / 2));

    return 0.15f + 0.75f * height * height;
}

/* Height of the crown over a pixel of open ground; 0: no tree. */
static float crown_at(qn_i64 row, qn_i64 col)
{
    const qn_i64 i = row / TREE_STEP, j = col / TREE_STEP;
    const float dr = (float)(row % TREE_STEP) - 4, dc = (float)(col % TREE_STEP) - 4;
    const float radius = 1.5f + 3 * dice(2, i, j), top = 4 + 12 * dice(3, i, j);
    const float off = sqrtf(dr * dr + dc * dc) / radius;

    return dice(1, i, j) < 0.45f && off < 1 ? top * (1 - 0.3f * off * off) : 0;
}

qn_status qn_town_make(const qn_made_town *made, qn_sw_surface *out, qn_err *err)
{
    const double side = (double)made->side;
    const qn_sw_place place = { .rows = made->side,
                                .cols = made->side,
                                .transform = { 0, 1, 0, side, 0, -1 },
                                .pixel_size = 1 };
    qn_sw_surface s = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_raster_new(&place, &s.dsm, err));
    if (made->has_trees)
        QN_TRY(qn_sw_raster_new(&place, &s.cdsm, err));
    for (qn_i64 i = 0; i < made->side * made->side; i++) {
        const qn_i64 row = i / made->side, col = i % made->side;
        const float roof = roof_at(row, col);

        s.dsm.data[i] = GROUND + roof * (float)made->relief;
        if (made->has_trees)
            s.cdsm.data[i] = roof > 0 ? 0 : crown_at(row, col);
    }
    *out = s;
    s = (qn_sw_surface){ 0 };
out:
    qn_sw_surface_free(&s);
    return st;
}

static qn_status save_layer(const char *folder, const char *name, const qn_sw_raster *layer,
                            qn_err *err)
{
    char *path = NULL;
    qn_status st;

    if (!layer->data)
        return QN_OK;
    if (asprintf(&path, "%s/%s.npy", folder, name) < 0)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", folder);
    st = qn_sw_raster_write(path, layer, err);
    free(path);
    return st;
}

qn_status qn_town_save(const qn_sw_surface *town, const char *folder, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_make_dirs(folder, err));
    QN_TRY(save_layer(folder, "dsm", &town->dsm, err));
    QN_TRY(save_layer(folder, "cdsm", &town->cdsm, err));
out:
    return st;
}

static qn_i64 mirrored(qn_i64 i, qn_i64 n)
{
    return i / n % 2 ? n - 1 - i % n : i % n;
}

static qn_status mirror(qn_sw_raster *raster, int down, int across, qn_err *err)
{
    qn_sw_place place = raster->place; /* its names are borrowed */
    qn_sw_raster larger = { 0 };
    qn_status st = QN_OK;

    if (!raster->data)
        return QN_OK;
    place.rows *= down;
    place.cols *= across;
    QN_TRY(qn_sw_raster_new(&place, &larger, err));
    for (qn_i64 r = 0; r < place.rows; r++)
        for (qn_i64 c = 0; c < place.cols; c++)
            larger.data[r * place.cols + c] =
                raster->data[mirrored(r, raster->place.rows) * raster->place.cols +
                             mirrored(c, raster->place.cols)];
    larger.is_integer = raster->is_integer;
    qn_sw_raster_free(raster);
    *raster = larger;
out:
    return st;
}

qn_status qn_town_mirror(qn_sw_surface *surface, int down, int across, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(mirror(&surface->dsm, down, across, err));
    QN_TRY(mirror(&surface->dem, down, across, err));
    QN_TRY(mirror(&surface->cdsm, down, across, err));
    QN_TRY(mirror(&surface->tdsm, down, across, err));
out:
    return st;
}
