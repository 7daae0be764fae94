/* ic_box.c - ic = box: the stages on the device, and one step on the host.
 *
 * The host computes mean and deviation from exact integers in double precision, so that no device
 * rounds them differently, and sends these two numbers back.
 */
#include "ic.h"

#include "kernel/les_box.gen.h"
#include "kernel/les_box_field.gen.h"

#include <math.h>

_Static_assert((int)QN_LES_BOX_MOMENTS == (int)BOX_MOMENTS, "one layout of the moments");

void qn_les_box_scale(int n, const qn_i64 moments[QN_LES_BOX_MOMENTS], double scale[2])
{
    const double area = (double)n * n;
    const double square = (double)moments[BOX_HIGH] * 16777216.0 + (double)moments[BOX_LOW];
    const double mu = (double)moments[BOX_SUM] / area;
    const double var = square / area - mu * mu;

    scale[0] = mu;
    scale[1] = 1 / sqrt(var);
}

static qn_status scale_on_host(void *user, void *const *data, QN_UNUSED qn_err *err)
{
    const qn_les_options *config = user;
    const qn_i64 *moments = data[0];
    double *scale = data[1];

    for (int b = 0; b < config->ensemble; b++)
        qn_les_box_scale(config->N, moments + BOX_MOMENTS * b, scale + 2 * b);
    return QN_OK;
}

qn_status qn_les_ic_box(qn_graph *graph, const qn_les_options *config, qn_buf *field,
                        qn_buf *moments, qn_err *err)
{
    const int n = config->N, members = config->ensemble;
    const size_t cells = (size_t)n * (size_t)n * (size_t)members, count = (size_t)members;
    const int n_chunks = (int)(((qn_i64)n * n + BOX_CHUNK - 1) / BOX_CHUNK);
    const qn_range points = qn_range_3d(n, n, members);
    const les_box_par par = { .seed = config->seed, .n = n, .reach = config->ic_width / 2 };
    const qn_arg_mode modes[2] = { QN_ARG_IN, QN_ARG_OUT };
    qn_buf *noise, *rows, *cols, *part, *scale;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_temp(graph, "noise", cells * sizeof(i32), &noise, err));
    QN_TRY(qn_graph_temp(graph, "row sums", cells * sizeof(i32), &rows, err));
    QN_TRY(qn_graph_temp(graph, "box sums", cells * sizeof(i32), &cols, err));
    QN_TRY(qn_graph_temp(graph, "moments of chunks",
                         count * (size_t)n_chunks * BOX_MOMENTS * sizeof(i64), &part, err));
    QN_TRY(qn_graph_temp(graph, "mean and deviation", count * 2 * sizeof(double), &scale, err));
    if (!moments)
        QN_TRY(qn_graph_temp(graph, "moments", count * BOX_MOMENTS * sizeof(i64), &moments, err));

    QN_TRY(stage_les_box_noise(graph, "les.ic.noise", points, par, noise, err));
    QN_TRY(stage_les_box_rows(graph, "les.ic.rows", points, par, noise, rows, err));
    QN_TRY(stage_les_box_cols(graph, "les.ic.cols", points, par, rows, cols, err));
    QN_TRY(stage_les_box_part(graph, "les.ic.part", qn_range_2d(n_chunks, members), par, n_chunks,
                              cols, part, err));
    QN_TRY(stage_les_box_join(graph, "les.ic.join", qn_range_1d(members), n_chunks, part, moments,
                              err));

    qn_buf *const host[2] = { moments, scale };
    QN_TRY(
        qn_graph_host(graph, "les.ic.scale", scale_on_host, (void *)config, host, modes, 2, err));
    if (config->precision == QN_LES_F64)
        QN_TRY(stage_les_box_field_f64(graph, "les.ic.field", points, n, cols, scale, field, err));
    else
        QN_TRY(stage_les_box_field_f32(graph, "les.ic.field", points, n, cols, scale, field, err));
out:
    return st;
}
