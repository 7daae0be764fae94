/* tile_run.c - a graph a tile, once more on the CPU where a device has lost its results. */
#include "tile_run.h"

#include "domain/solweig/view/of_device.h"

#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

typedef enum { ANYWHERE, ON_CPU } where;

static qn_status pin_all(qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; i < qn_graph_get_stats(graph).n_stages; i++)
        QN_TRY(qn_graph_pin(graph, i, "cpu", err));
out:
    return st;
}

static qn_status run_tile(qn_ctx *ctx, const qn_sw_tile_cut *at, const qn_sw_tile_work *work,
                          where runs, qn_err *err)
{
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(ctx, work->stage, &graph, err));
    QN_TRY(work->build(work->user, at, graph, err));
    if (runs == ON_CPU)
        QN_TRY(pin_all(graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_graph_wait(graph, err));
    QN_TRY(work->collect(work->user, at, err));
out:
    qn_graph_free(graph);
    work->clear(work->user);
    return st;
}

qn_status qn_sw_tiles_run(qn_ctx *ctx, const qn_sw_tiles *tiles, const qn_sw_tile_work *work,
                          qn_err *err)
{
    qn_status st = QN_OK;

    qn_ctx_pack_memory(ctx);
    for (qn_i64 i = 0; i < qn_sw_tiles_count(tiles); i++) {
        const qn_sw_tile_cut at = qn_sw_tiles_at(tiles, i);

        st = run_tile(ctx, &at, work, ANYWHERE, err);
        if (qn_sw_is_of_device(st)) {
            QN_TRY(qn_fallback_note(ctx, work->stage, err));
            st = run_tile(ctx, &at, work, ON_CPU, err);
        }
        QN_TRY(st);
    }
out:
    return st;
}

/* Windows. */

qn_status qn_sw_window_upload(qn_ctx *ctx, const char *name, const qn_sw_raster *from,
                              const qn_sw_window *window, qn_buf **out, qn_err *err)
{
    const size_t line = (size_t)window->cols * sizeof(float);
    void *host = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, name, line * (size_t)window->rows, out, err));
    QN_TRY(qn_buf_host(*out, QN_HOST_DISCARD, &host, err));
    for (qn_i64 r = 0; r < window->rows; r++)
        memcpy((char *)host + (size_t)r * line,
               from->data + (window->row + r) * from->place.cols + window->col, line);
out:
    return st;
}

qn_status qn_sw_window_collect(qn_ctx *ctx, qn_buf *buf, qn_i64 pitch, qn_i64 row, qn_i64 col,
                               const qn_sw_window *window, qn_sw_raster *to, qn_err *err)
{
    const size_t line = (size_t)window->cols * sizeof(float);
    const size_t offset = (size_t)(row * pitch + col) * sizeof(float);
    float *packed = malloc(line * (size_t)window->rows);
    qn_status st = QN_OK;

    if (!packed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a tile of %lld x %lld pixels",
                       (long long)window->rows, (long long)window->cols);
    QN_TRY(qn_buf_read_rect(buf, offset, line, (size_t)window->rows, (size_t)pitch * sizeof(float),
                            packed, err));
    for (qn_i64 r = 0; r < window->rows; r++)
        memcpy(to->data + (window->row + r) * to->place.cols + window->col,
               packed + r * window->cols, line);
out:
    free(packed);
    return st;
}
