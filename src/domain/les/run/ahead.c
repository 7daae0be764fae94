/* ahead.c - what a run will need of compilers, begun before the run needs any of it.
 *
 * Its graphs are made one after the other, each when the one before has run, and each would wait
 * for kernels and transforms of its own. Whatever is named here in vain costs only idle threads.
 */
#include "run_impl.h"

#include "engine/engine.h"
#include "kernel/les/les_codec.h"

/* Smaller flows may well run on the CPU, where the router chooses. */
#define LEAST_WORK 1e7

static const char *const flow_names[2][5] = {
    { "les_flux_f32", "les_look_f32", "les_grid_f32", "les_hash", NULL },
    { "les_flux_f64", "les_look_f64", "les_grid_f64", "les_hash", NULL },
};
static const char *const codec_names[2][6] = {
    { "les_codec_encode_f32", "les_codec_majority", "les_codec_ternary_f32", "les_codec_decode_f32",
      "les_codec_compare_f32", NULL },
    { "les_codec_encode_f64", "les_codec_majority", "les_codec_ternary_f64", "les_codec_decode_f64",
      "les_codec_compare_f64", NULL },
};
static const char *const proxy_names[2][5] = {
    { "les_proxy_frames_f32", "les_proxy_radius", "les_proxy_gemm_f64", "les_proxy_gemm_f32",
      NULL },
    { "les_proxy_frames_f64", "les_proxy_radius", "les_proxy_gemm_f64", NULL },
};

static void begin_transform(const run *r, int device, int batch, int keep)
{
    const qn_fft_shape shape = { .rows = r->config->N,
                                 .cols = r->config->N,
                                 .batch = batch,
                                 .is_f64 = r->config->precision == QN_LES_F64,
                                 .keep = keep };

    qn_fft_begin(r->ctx, device, &shape);
}

void qn_les_run_ahead(const run *r)
{
    const qn_les_options *c = r->config;
    const int is_f64 = c->precision == QN_LES_F64;
    const int device = qn_ctx_likely_device(r->ctx);
    const int keep = c->dealias == QN_LES_DEALIAS_TWO_THIRDS ? (c->N - 1) / 3 : 0;

    if (device == QN_CPU_SLOT ||
        (qn_ctx_pinned(r->ctx) < 0 && (double)c->N * c->N * c->ensemble * c->steps < LEAST_WORK))
        return;
    begin_transform(r, device, 4 * c->ensemble, keep);
    begin_transform(r, device, c->ensemble, 0);
    begin_transform(r, device, c->ensemble, keep);
    qn_compile_begin_named(r->ctx, device, flow_names[is_f64]);
    if (!r->plan.n_frames)
        return;
    begin_transform(r, device, CODEC_BANDS * c->ensemble, 0);
    if (c->ensemble > 1)
        begin_transform(r, device, 2, 0);
    qn_compile_begin_named(r->ctx, device, codec_names[is_f64]);
    if (c->what == QN_LES_WHAT_ALL)
        qn_compile_begin_named(r->ctx, device, proxy_names[is_f64]);
}
