/* svf_flight.c - heights up, march word by word, sums. */
#include "svf_flight.h"

#include "util/clock.h"

#include <stdio.h>
#include <string.h>

enum { DEVICE_SIZE = 32 };

/* Memory of a tile. */

void qn_sw_flight_clear(qn_sw_flight *s)
{
    qn_graph_free(s->graph);
    s->graph = NULL;
    qn_sw_shadow_free(s->shadow);
    s->shadow = NULL;
    qn_buf_free(s->views.svf);
    qn_buf_free(s->views.bldg);
    qn_buf_free(s->views.veg);
    qn_buf_free(s->views.vb);
    s->views = (qn_sw_views){ 0 };
    for (int i = 0; i < QN_SW_FLIGHT_LAYERS; i++) {
        qn_buf_free(s->layers[i]);
        s->layers[i] = NULL;
    }
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++) {
        qn_buf_free(s->bytes[i]);
        s->bytes[i] = NULL;
    }
}

void qn_sw_flight_free(qn_sw_flight *s)
{
    qn_sw_flight_clear(s);
    qn_sw_sky_free(s->sky);
    s->sky = NULL;
}

static qn_status upload_layer(qn_sw_flight *s, int i, const qn_sw_raster *layer, float *stage,
                              qn_err *err)
{
    static const char *const names[QN_SW_FLIGHT_LAYERS] = { "sw dsm", "sw canopy", "sw trunk" };
    const qn_sw_window *w = &s->at.area;
    const size_t bytes = (size_t)w->rows * (size_t)w->cols * sizeof(float);
    qn_status st = QN_OK;

    for (qn_i64 r = 0; r < w->rows; r++)
        memcpy(stage + r * w->cols, layer->data + (w->row + r) * layer->place.cols + w->col,
               (size_t)w->cols * sizeof(float));
    QN_TRY(qn_buf_new(s->ctx, names[i], bytes, &s->layers[i], err));
    QN_TRY(qn_buf_write(s->layers[i], 0, stage, bytes, err));
out:
    return st;
}

/* Rays depend on the shape of a tile alone. */
static qn_status make_sky(qn_sw_flight *s, const qn_sw_svf_plan *plan, qn_err *err)
{
    const qn_sw_window *w = &s->at.area;
    qn_sw_reach reach = plan->reach;
    qn_status st = QN_OK;

    if (s->sky && s->sky_rows == w->rows && s->sky_cols == w->cols)
        return QN_OK;
    qn_sw_sky_free(s->sky);
    s->sky = NULL;
    reach.rows = (int)w->rows;
    reach.cols = (int)w->cols;
    QN_TRY(qn_sw_sky_new(s->ctx, plan->patch_option, &reach, &s->sky, err));
    s->sky_rows = w->rows;
    s->sky_cols = w->cols;
out:
    return st;
}

static qn_status make_results(qn_sw_flight *s, qn_err *err)
{
    const size_t cells = (size_t)s->at.core.rows * (size_t)s->at.core.cols;
    const size_t words = cells * (size_t)s->sky->n_words * sizeof(uint32_t);
    qn_status st = QN_OK;

    QN_TRY(qn_buf_new(s->ctx, "sw svf", cells * SW_SVF_PLANES * sizeof(float), &s->views.svf, err));
    QN_TRY(qn_buf_new(s->ctx, "sw bldg", words, &s->views.bldg, err));
    QN_TRY(qn_buf_new(s->ctx, "sw veg", words, &s->views.veg, err));
    QN_TRY(qn_buf_new(s->ctx, "sw vb", words, &s->views.vb, err));
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        QN_TRY(qn_buf_new(s->ctx, "sw patch bytes", cells * (size_t)s->sky->n_bytes, &s->bytes[i],
                          err));
out:
    return st;
}

qn_status qn_sw_flight_open(qn_sw_flight *s, qn_ctx *ctx, const qn_sw_surface *surface,
                            const qn_sw_svf_plan *plan, qn_i64 tile, float *stage, qn_err *err)
{
    const qn_sw_raster *const layers[QN_SW_FLIGHT_LAYERS] = { &surface->dsm, &surface->cdsm,
                                                              &surface->tdsm };
    qn_status st = QN_OK;
    qn_sw_area area;

    s->ctx = ctx;
    s->tile = tile;
    s->at = qn_sw_tiles_at(&plan->tiles, tile);
    s->start_us = qn_now_us();
    area = (qn_sw_area){ .rows = (int)s->at.area.rows,
                         .cols = (int)s->at.area.cols,
                         .core_row = (int)(s->at.core.row - s->at.area.row),
                         .core_col = (int)(s->at.core.col - s->at.area.col),
                         .core_rows = (int)s->at.core.rows,
                         .core_cols = (int)s->at.core.cols,
                         .gmax = plan->gmax };
    for (int i = 0; i < (plan->has_veg ? QN_SW_FLIGHT_LAYERS : 1); i++)
        QN_TRY(upload_layer(s, i, layers[i], stage, err));
    QN_TRY(make_sky(s, plan, err));
    QN_TRY(make_results(s, err));
    QN_TRY(qn_sw_shadow_new(
        s->ctx, &area,
        &(qn_sw_layers){ .dsm = s->layers[0], .canopy = s->layers[1], .trunk = s->layers[2] },
        &s->shadow, err));
out:
    return st;
}

/* Parts of a tile's work. */

/* Runs the graph that was built in `s`. */
static qn_status run(qn_sw_flight *s, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; s->is_on_cpu && i < qn_graph_get_stats(s->graph).n_stages; i++)
        QN_TRY(qn_graph_pin(s->graph, i, "cpu", err));
    QN_TRY(qn_graph_run(s->graph, err));
out:
    return st;
}

/* Word `w` of the march; the first makes what marches need before it. */
static qn_status add_word(qn_sw_flight *s, int w, qn_err *err)
{
    qn_status st = QN_OK;

    if (w == 0)
        QN_TRY(qn_sw_add_cover(s->shadow, s->graph, err));
    QN_TRY(qn_sw_add_svf_words(s->shadow, s->graph, s->sky, w, w + 1, &s->views, err));
out:
    return st;
}

static qn_status add_sums(qn_sw_flight *s, qn_err *err)
{
    qn_buf *const words[QN_SW_SVF_MATRICES] = { s->views.bldg, s->views.veg, s->views.vb };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_add_svf_finish(s->shadow, s->graph, s->sky, &s->views, err));
    for (int i = 0; i < QN_SW_SVF_MATRICES; i++)
        QN_TRY(qn_sw_add_svf_bytes(s->shadow, s->graph, s->sky, words[i], s->bytes[i], err));
out:
    return st;
}

qn_status qn_sw_flight_start(qn_sw_flight *s, int word, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_graph_new(s->ctx, "svf", &s->graph, err));
    QN_TRY(word < s->sky->n_words ? add_word(s, word, err) : add_sums(s, err));
    QN_TRY(run(s, err));
out:
    return st;
}

qn_status qn_sw_flight_wait(qn_sw_flight *s, char *device, qn_err *err)
{
    const qn_status st = qn_graph_wait(s->graph, err);

    if (st == QN_OK && qn_graph_stage_device(s->graph, 0))
        snprintf(device, DEVICE_SIZE, "%s", qn_graph_stage_device(s->graph, 0));
    qn_graph_free(s->graph);
    s->graph = NULL;
    return st;
}
