/* radiation.c - the stages of radiation. */
#include "radiation.h"

#include "kernel/sw_aniso.gen.h"
#include "kernel/sw_iso.gen.h"
#include "kernel/sw_radiation.gen.h"

#include "engine/engine.h"
#include "util/list.h"

#include <stdlib.h>

enum { ANISO_LANES = 64 };

sw_body qn_sw_body_standing(void)
{
    return (sw_body){ .wall_albedo = 0.2f,
                      .wall_emissivity = 0.9f,
                      .abs_k = 0.7f,
                      .abs_l = 0.97f,
                      .f_up = 0.06f,
                      .f_side = 0.22f,
                      .f_cyl = 0.28f };
}

/* 0.166666 is not exactly a sixth, but the reference uses it. */
sw_body qn_sw_body_sitting(void)
{
    sw_body body = qn_sw_body_standing();

    body.f_up = 0.166666f;
    body.f_side = 0.166666f;
    body.f_cyl = 0.2f;
    body.box = 1;
    return body;
}

qn_status qn_sw_radiation_new(qn_ctx *ctx, int cols, int rows, const sw_body *body,
                              const qn_sw_step_table *series, int bits, qn_sw_radiation **out,
                              qn_err *err)
{
    qn_sw_radiation *r = NULL;
    size_t bytes = 0;
    qn_status st = QN_OK;

    if (cols < 1 || rows < 1)
        return qn_fail(err, QN_ERR_USAGE, "radiation on %d x %d pixels", cols, rows);
    QN_TRY(QN_NEW(r, 1, "radiation", err));
    *r = (qn_sw_radiation){ .ctx = ctx, .body = *body, .rows = rows };
    r->par = (sw_sky_par){ .plane = (qn_i64)cols * rows,
                           .cols = cols,
                           .n_patches = series->n_patches,
                           .bits = bits,
                           .is_aniso = series->n_patches > 0 };
    QN_TRY(qn_size_mul((size_t)r->par.plane,
                       (r->par.is_aniso ? SW_RADIATION_PLANES : SW_ISO_PLANES) * sizeof(float),
                       "radiation", &bytes, err));
    QN_TRY(qn_buf_new(ctx, "radiation", bytes, &r->planes, err));
    *out = r;
    r = NULL;
out:
    qn_sw_radiation_free(r);
    return st;
}

void qn_sw_radiation_free(qn_sw_radiation *radiation)
{
    if (!radiation)
        return;
    qn_buf_free(radiation->planes);
    free(radiation);
}

static qn_range pixels_of(const qn_sw_radiation *r)
{
    return qn_range_2d(r->par.cols, r->rows);
}

qn_status qn_sw_add_aniso(qn_sw_radiation *radiation, qn_graph *graph,
                          const qn_sw_step_table *series, const qn_sw_sky_bits *bits, qn_buf *svf,
                          qn_buf *veg, qn_buf *shadow, qn_buf *lup, qn_buf *alb, qn_buf *nosh,
                          qn_err *err)
{
    const int is_given = radiation->par.bits == SW_BITS_GIVEN;
    const qn_range groups =
        qn_range_2d((radiation->par.cols + ANISO_LANES - 1) / ANISO_LANES, radiation->rows);
    qn_status st = QN_OK;

    if (!series->n_patches || (is_given && (!bits->veg || !bits->vb)))
        return qn_fail(err, QN_ERR_USAGE, "a sky of patches needs %s",
                       series->n_patches ? "the bits of vegetation" : "their luminance");
    QN_TRY(stage_sw_aniso(graph, "aniso", groups, radiation->par, radiation->body, series->now,
                          series->steps, series->sky, series->patches, bits->bldg,
                          is_given ? bits->veg : bits->bldg, is_given ? bits->vb : bits->bldg, svf,
                          shadow, lup, radiation->planes, err));
    QN_TRY(stage_sw_kup(graph, "radiation", pixels_of(radiation), radiation->par, radiation->body,
                        series->now, series->steps, svf, veg, shadow, lup, alb, nosh,
                        radiation->planes, err));
out:
    return st;
}

qn_status qn_sw_add_iso(qn_sw_radiation *radiation, qn_graph *graph, const qn_sw_step_table *series,
                        qn_buf *svf, qn_buf *shadow, qn_buf *lup, qn_buf *alb, qn_buf *nosh,
                        qn_err *err)
{
    return stage_sw_iso(graph, "radiation", pixels_of(radiation), radiation->par, radiation->body,
                        series->now, series->steps, svf, shadow, lup, alb, nosh, radiation->planes,
                        err);
}

qn_status qn_sw_add_tmrt(qn_sw_radiation *radiation, qn_graph *graph,
                         const qn_sw_step_table *series, qn_buf *lup, qn_buf *shadow, qn_buf *tmrt,
                         qn_err *err)
{
    if (radiation->par.is_aniso)
        return stage_sw_tmrt(graph, "tmrt", pixels_of(radiation), radiation->par, radiation->body,
                             series->now, series->steps, radiation->planes, lup, tmrt, err);
    return stage_sw_tmrt_iso(graph, "tmrt", pixels_of(radiation), radiation->par, radiation->body,
                             series->now, series->steps, radiation->planes, lup, shadow, tmrt, err);
}
