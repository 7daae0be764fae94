/* tile_read.c - what comes back from a tile: cores, pixels, summary grids. */
#include "tile_impl.h"

/* Where a plane lies: its buffer, and which of the buffer's planes it is. */
typedef struct source {
    qn_buf *buf;
    int plane;
} source;

static source source_of(const qn_sw_tile *tile, qn_sw_plane plane)
{
    switch (plane) {
    case QN_SW_TMRT:
        return (source){ tile->tmrt, 0 };
    case QN_SW_UTCI:
        return (source){ tile->utci, 0 };
    case QN_SW_PET:
        return (source){ tile->pet, 0 };
    case QN_SW_SHADOW:
        return (source){ tile->shade, 0 };
    case QN_SW_KDOWN:
        return (source){ tile->radiation->planes, SW_KDOWN };
    case QN_SW_KUP:
        return (source){ tile->radiation->planes, SW_KUP };
    case QN_SW_LDOWN:
        return (source){ tile->radiation->planes, SW_LDOWN };
    case QN_SW_LUP:
        return (source){ tile->gvf->lup, SW_ALL };
    case QN_SW_PLANES:
        break;
    }
    return (source){ NULL, 0 };
}

const char *qn_sw_tile_stage_name(const qn_sw_tile *tile, qn_sw_plane plane)
{
    switch (plane) {
    case QN_SW_TMRT:
        return "tmrt";
    case QN_SW_UTCI:
        return "utci";
    case QN_SW_PET:
        return "pet";
    case QN_SW_SHADOW:
        return "shadow";
    case QN_SW_LUP:
        return "delay";
    default:
        return tile->scene->config->sky == QN_SW_SKY_ANISO ? "aniso" : "radiation";
    }
}

/* Bytes before pixel (row, col) of the raster. */
static size_t offset_of(const qn_sw_tile *tile, int plane, qn_i64 row, qn_i64 col)
{
    const qn_sw_window *seen = &tile->place.seen;

    return ((size_t)plane * qn_sw_window_pixels(seen) +
            (size_t)((row - seen->row) * seen->cols + col - seen->col)) *
           sizeof(float);
}

qn_status qn_sw_tile_read(qn_sw_tile *tile, qn_sw_plane plane, float *out, qn_err *err)
{
    const qn_sw_window *core = &tile->place.core;
    const source from = source_of(tile, plane);

    return qn_buf_read_rect(from.buf, offset_of(tile, from.plane, core->row, core->col),
                            (size_t)core->cols * sizeof(float), (size_t)core->rows,
                            (size_t)tile->place.seen.cols * sizeof(float), out, err);
}

qn_status qn_sw_tile_pixel(qn_sw_tile *tile, qn_sw_plane plane, qn_i64 row, qn_i64 col, float *out,
                           qn_err *err)
{
    const source from = source_of(tile, plane);

    return qn_buf_read(from.buf, offset_of(tile, from.plane, row, col), out, sizeof *out, err);
}

/* When all rows are done the shadow of the last one is not needed any more: grids go there. */
qn_status qn_sw_tile_grid(qn_sw_tile *tile, int which, float *out, qn_err *err)
{
    const size_t bytes = qn_sw_window_pixels(&tile->place.core) * sizeof *out;
    qn_ctx *ctx = tile->scene->ctx;
    qn_buf *grid = tile->shade;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(ctx, "summary grid", &graph, err));
    QN_TRY(qn_sw_add_summary_grid(tile->summary, graph, which, grid, err));
    QN_TRY(qn_sw_tile_pin(tile, graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(qn_buf_read(grid, 0, out, bytes, err));
out:
    qn_graph_free(graph);
    return st;
}
