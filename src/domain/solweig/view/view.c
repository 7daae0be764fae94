/* view.c - shared code of the maps: tiles, and files in the format of their name. */
#include "view.h"

/* Tiles. */

qn_status qn_sw_tiles_of(qn_ctx *ctx, const qn_sw_place *place, qn_tiles_needs *needs,
                         qn_tiles *out, qn_err *err)
{
    if (place->rows < 1 || place->cols < 1 || place->rows > QN_MAX_AXIS ||
        place->cols > QN_MAX_AXIS)
        return qn_fail(err, QN_ERR_LIMIT, "raster of %lld x %lld pixels, sides must be 1 to %d",
                       (long long)place->rows, (long long)place->cols, QN_MAX_AXIS);
    needs->rows = place->rows;
    needs->cols = place->cols;
    needs->cost.widest = sizeof(float);
    *out = qn_tiles_plan_on(ctx, needs);
    return QN_OK;
}

qn_sw_area qn_sw_area_of(const qn_tile *tile, float gmax)
{
    const qn_window *outer = &tile->outer, *padded = &tile->padded;

    return (qn_sw_area){ .rows = (int)outer->rows,
                         .cols = (int)outer->cols,
                         .core_row = (int)(padded->row - outer->row),
                         .core_col = (int)(padded->col - outer->col),
                         .core_rows = (int)padded->rows,
                         .core_cols = (int)padded->cols,
                         .gmax = gmax };
}

qn_status qn_sw_heights_upload(qn_ctx *ctx, const qn_sw_surface *s, int has_veg,
                               const qn_tile *tile, qn_sw_height_bufs *out, qn_err *err)
{
    const qn_i64 cols = s->dsm.place.cols;
    const qn_window *w = &tile->outer;
    qn_status st = QN_OK;

    QN_TRY(qn_tile_upload(ctx, "sw dsm", s->dsm.data, cols, w, &out->dsm, err));
    if (has_veg) {
        QN_TRY(qn_tile_upload(ctx, "sw canopy", s->cdsm.data, cols, w, &out->canopy, err));
        QN_TRY(qn_tile_upload(ctx, "sw trunk", s->tdsm.data, cols, w, &out->trunk, err));
    }
out:
    return st;
}

void qn_sw_heights_free(qn_sw_height_bufs *bufs)
{
    qn_buf_free(bufs->dsm);
    qn_buf_free(bufs->canopy);
    qn_buf_free(bufs->trunk);
    qn_buf_free(bufs->wall_height);
    qn_buf_free(bufs->wall_aspect);
    *bufs = (qn_sw_height_bufs){ 0 };
}

qn_status qn_sw_tile_start(const qn_tile_slot *slot, qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_tile_pin(slot, graph, err));
    QN_TRY(qn_graph_run(graph, err));
out:
    return st;
}

/* Files. */

qn_status qn_sw_map_check(const char *path, qn_err *err)
{
    if (qn_sw_has_ending(path, ".tif") && !qn_sw_has_geotiff())
        return qn_fail(err, QN_ERR_UNSUPPORTED, "%s: this build has no GDAL to write it; use .npy",
                       path);
    if (!qn_sw_has_ending(path, ".tif") && !qn_sw_has_ending(path, ".npy") &&
        !qn_sw_has_ending(path, ".png"))
        return qn_fail(err, QN_ERR_USAGE, "%s does not end with .tif, .npy or .png", path);
    return QN_OK;
}

qn_status qn_sw_map_out(const char *path, const qn_sw_raster *raster, const qn_sw_map *map,
                        qn_err *err)
{
    if (qn_sw_has_ending(path, ".png"))
        return qn_sw_map_write(path, raster->data, raster->place.rows, raster->place.cols, map,
                               err);
    return qn_sw_raster_write(path, raster, err);
}

const char *qn_sw_map_ending(const qn_sw_place *place)
{
    return place->is_placed && qn_sw_has_geotiff() ? ".tif" : ".npy";
}
