/* svf.c - sky view factors from arrays to arrays. */
#include "api.h"

#include "domain/solweig/view/view.h"

#include <string.h>

static void hand_out(const qn_solweig_layers *layers, const qn_sw_place *place,
                     const qn_sw_svf_arrays *arrays, float *maps, uint8_t *matrices)
{
    const qn_sw_window at = qn_sw_api_window(layers, place);
    const size_t cells = (size_t)layers->rows * (size_t)layers->cols;
    const size_t bytes = (size_t)arrays->n_bytes;

    qn_sw_api_clear(maps, QN_SW_SVF_MAPS * cells);
    for (size_t i = 0; i < QN_SW_SVF_MAPS; i++)
        qn_sw_api_paste(arrays->map[i], at, layers->cols, sizeof(float), maps + i * cells);
    if (!matrices)
        return;
    memset(matrices, 0, QN_SW_SVF_MATRICES * cells * bytes);
    for (size_t i = 0; i < QN_SW_SVF_MATRICES; i++)
        qn_sw_api_paste(arrays->matrix[i], at, layers->cols, bytes, matrices + i * cells * bytes);
}

qn_status qn_solweig_svf(qn_ctx *ctx, const qn_solweig_layers *layers,
                         const qn_solweig_svf_options *options, float *maps, uint8_t *matrices,
                         qn_err *err)
{
    static const qn_solweig_svf_options defaults = { 0 };
    const qn_solweig_svf_options *o = options ? options : &defaults;
    const qn_sw_load_options load = qn_sw_api_load(layers);
    qn_sw_svf_options job = { .share = 1, .tile = o->tile };
    qn_sw_svf_arrays arrays = { 0 };
    qn_sw_surface surface = { 0 };
    qn_status st = QN_OK;

    if (o->tile < 0)
        return qn_fail(err, QN_ERR_USAGE, "tiles of %lld pixels", (long long)o->tile);
    QN_TRY(qn_sw_api_patches(o->patches, &job.patch_option, err));
    QN_TRY(qn_sw_surface_load(&load, &surface, NULL, err));
    QN_TRY(qn_sw_svf_compute(ctx, &surface, &job, &arrays, NULL, err));
    hand_out(layers, &surface.dsm.place, &arrays, maps, matrices);
out:
    qn_sw_svf_arrays_free(&arrays);
    qn_sw_surface_free(&surface);
    return st;
}
