/* frame.c - pictures of fields. */
#include "frame.h"

#include "kernel/les_frame.gen.h"
#include "kernel/les/les_frame.h"

static int zoom_of(const qn_les_options *config)
{
    return config->N >= 256 ? 1 : (256 + config->N - 1) / config->N;
}

qn_les_frame_size qn_les_frame_size_of(const qn_les_options *config, int panels)
{
    const int side = config->N * zoom_of(config);
    const int width = panels * side + (panels - 1) * FRAME_GAP;

    return (qn_les_frame_size){ width, side, (size_t)3 * (size_t)width * (size_t)side };
}

static double inverse_of(double scale)
{
    return scale > 0 ? 1 / scale : 1;
}

qn_status qn_les_add_frame(qn_graph *graph, const qn_les_options *config, int panels, double scale,
                           qn_buf *flow, qn_buf *decoded, qn_buf *rgb, qn_err *err)
{
    const qn_les_frame_size size = qn_les_frame_size_of(config, panels);
    const qn_range pixels = qn_range_2d(size.width, size.height);
    const les_frame_par par = { .inverse = inverse_of(scale),
                                .n = config->N,
                                .zoom = zoom_of(config),
                                .panels = panels,
                                .width = size.width };

    if (config->precision == QN_LES_F64)
        return stage_les_frame_f64(graph, "les.frame", pixels, par, flow, decoded, rgb, err);
    return stage_les_frame_f32(graph, "les.frame", pixels, par, flow, decoded, rgb, err);
}
