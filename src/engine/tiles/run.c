/* run.c - takes tiles through their phases, and again on the CPU if a device lost their results. */
#include "engine/device/context.h"

#include "util/clock.h"

#include <stdlib.h>

enum { MOST_IN_FLIGHT = 2 };

typedef enum phase { BEGIN, COMPUTE, COLLECT } phase;

typedef struct driver {
    qn_ctx *ctx;
    const qn_tile_work *work;
    qn_tiles_stats stats;
    int n_in_flight;
} driver;

static void clear(const driver *d, qn_tile_slot *slot)
{
    d->work->clear(d->work->user, slot);
}

static qn_status one_phase(const driver *d, qn_tile_slot *slot, phase which, qn_err *err)
{
    const qn_tile_work *w = d->work;
    qn_status (*const call)(void *, qn_tile_slot *, qn_err *) = which == BEGIN     ? w->begin
                                                                : which == COMPUTE ? w->compute
                                                                                   : w->collect;

    return call ? call(w->user, slot, err) : QN_OK;
}

static qn_status redo(driver *d, qn_tile_slot *slot, phase last, qn_err *err)
{
    qn_status st = QN_OK;

    if (slot->stage)
        QN_TRY(qn_fallback_note(d->ctx, slot->stage, err));
    *err = (qn_err){ .text = "" };
    clear(d, slot);
    d->stats.n_redone++;
    slot->is_on_cpu = 1;
    slot->stage = d->work->stage;
    for (int p = BEGIN; p <= (int)last; p++)
        QN_TRY(one_phase(d, slot, (phase)p, err));
out:
    return st;
}

/* Runs a phase of a tile; `err` is not NULL. */
static qn_status run_phase(driver *d, qn_tile_slot *slot, phase which, qn_err *err)
{
    const qn_status st = one_phase(d, slot, which, err);

    return qn_status_is_device_fault(st) && !slot->is_on_cpu ? redo(d, slot, which, err) : st;
}

static qn_status begin(driver *d, qn_tile_slot *slot, const qn_tile *tile, qn_err *err)
{
    slot->tile = *tile;
    slot->is_on_cpu = 0;
    slot->stage = d->work->stage;
    slot->start_us = qn_now_us();
    if (++d->n_in_flight > d->stats.peak_in_flight)
        d->stats.peak_in_flight = d->n_in_flight;
    return run_phase(d, slot, BEGIN, err);
}

static qn_status collect(driver *d, qn_tile_slot *slot, qn_err *err)
{
    const qn_status st = run_phase(d, slot, COLLECT, err);

    clear(d, slot);
    d->n_in_flight--;
    return st;
}

qn_status qn_tiles_run(qn_ctx *ctx, const qn_tiles *tiles, const qn_tile_work *work,
                       qn_tiles_stats *stats, qn_err *err)
{
    driver d = { .ctx = ctx, .work = work };
    qn_tile_slot slots[MOST_IN_FLIGHT] = { { .index = 0 }, { .index = 1 } };
    qn_tile_slot *slot = slots, *before = NULL; /* begun, not yet collected */
    qn_status st = QN_OK;
    qn_err own;

    err = qn_err_begin(err, &own);
    qn_ctx_pack_memory(ctx);
    for (qn_i64 i = 0; i < qn_tiles_count(tiles); i++) {
        const qn_tile tile = qn_tiles_at(tiles, i);

        if (work->is_done && work->is_done(work->user, i))
            continue;
        QN_TRY(begin(&d, slot, &tile, err));
        if (before)
            QN_TRY(collect(&d, before, err));
        before = NULL;
        QN_TRY(run_phase(&d, slot, COMPUTE, err));
        if (tiles->n_in_flight == 1) {
            QN_TRY(collect(&d, slot, err));
        } else {
            before = slot;
            slot = &slots[!slot->index];
        }
    }
    if (before)
        QN_TRY(collect(&d, before, err));
    if (stats)
        *stats = d.stats;
out:
    for (int i = 0; st != QN_OK && i < MOST_IN_FLIGHT; i++)
        clear(&d, &slots[i]);
    return st;
}

qn_status qn_tile_pin(const qn_tile_slot *slot, qn_graph *graph, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; slot->is_on_cpu && i < qn_graph_get_stats(graph).n_stages; i++)
        QN_TRY(qn_graph_pin(graph, i, "cpu", err));
out:
    return st;
}

/* Windows. */

qn_status qn_tile_upload(qn_ctx *ctx, const char *name, const float *raster, qn_i64 cols,
                         const qn_window *window, qn_buf **out, qn_err *err)
{
    void *host = NULL;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(ctx, name, qn_window_pixels(window) * sizeof *raster, out, err));
    QN_TRY(qn_buf_host(*out, QN_HOST_DISCARD, &host, err));
    qn_window_cut(raster, cols, window, sizeof *raster, host);
out:
    return st;
}

qn_status qn_tile_download(const qn_tile_source *from, const qn_window *window, void *raster,
                           qn_i64 cols, qn_err *err)
{
    const size_t line = (size_t)window->cols * from->bytes, rows = (size_t)window->rows;
    const size_t pitch = (size_t)from->pitch * from->bytes;
    void *packed = NULL;
    qn_status st = QN_OK;

    if (window->cols == cols)
        return qn_buf_read_rect(from->buf, from->offset, line, rows, pitch,
                                (char *)raster + (size_t)window->row * line, err);
    if (!(packed = malloc(line * rows)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a tile of %lld x %lld pixels",
                       (long long)window->rows, (long long)window->cols);
    QN_TRY(qn_buf_read_rect(from->buf, from->offset, line, rows, pitch, packed, err));
    qn_window_paste(packed, window, from->bytes, raster, cols);
out:
    free(packed);
    return st;
}
