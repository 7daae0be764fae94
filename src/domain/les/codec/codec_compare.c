/* codec_compare.c - how far a decoded field is from the true one. */
#include "codec_parts.h"

#include "kernel/les_codec_compare.gen.h"

#include <math.h>

_Static_assert((int)PAIR_SUMS <= (int)QN_LES_SUMS, "room for all sums of a pair");

/* Shells 1 .. k_mid, as far as the grid has them. */
static int shells_of(const qn_les_options *config)
{
    const int last = (int)rint(config->N / sqrt(2.0));

    return config->k_mid < last ? (int)config->k_mid : last;
}

qn_status qn_les_codec_add_compare(qn_les_codec *codec, qn_graph *graph, qn_buf *a, qn_buf *b,
                                   qn_buf *sums, int row, qn_err *err)
{
    const int n = codec->par.n, n_shells = shells_of(codec->config);
    const double q = 2 * M_PI / codec->config->L;
    const qn_fft_shape shape = qn_les_shape(codec, 2);
    const size_t rows = (size_t)n * sizeof(double);
    qn_buf *pair, *spectra, *energy, *shell;
    qn_status st = QN_OK;

    QN_TRY(qn_graph_temp(graph, "sums of rows", PAIR_PLAIN * rows, &pair, err));
    QN_TRY(qn_graph_temp(graph, "energy of rows", 2 * rows, &energy, err));
    QN_TRY(qn_graph_temp(graph, "shells", 2 * (size_t)n_shells * sizeof(double), &shell, err));
    QN_TRY(qn_les_temp_fields(codec, graph, "pair of fields", 2, &spectra, err));
    QN_TRY(
        STAGE(codec, les_pair_part, graph, "les.compare.sums", qn_range_1d(n), n, a, b, pair, err));
    QN_TRY(STAGE(codec, les_pair_pad, graph, "les.compare.pad", qn_les_cells(codec, 2), n, a, b,
                 spectra, err));
    QN_TRY(qn_graph_fft(graph, "les.compare.spectra", &shape, QN_FFT_FORWARD, spectra, 0, err));
    QN_TRY(STAGE(codec, les_energy_part, graph, "les.compare.energy", qn_range_2d(n, 2), n, q,
                 spectra, energy, err));
    QN_TRY(STAGE(codec, les_shell, graph, "les.compare.shells", qn_range_2d(n_shells, 2), n,
                 n_shells, q, spectra, shell, err));
    QN_TRY(STAGE(codec, les_pair_join, graph, "les.compare.join", qn_range_1d(1), n, n_shells, row,
                 QN_LES_SUMS, pair, energy, shell, sums, err));
out:
    return st;
}

qn_les_errors qn_les_errors_of(const qn_les_options *config, const double sums[QN_LES_SUMS])
{
    const double cells = (double)config->N * config->N;
    const double ea = sums[PAIR_ENERGY_A] / (cells * cells);
    const double eb = sums[PAIR_ENERGY_B] / (cells * cells);
    const double za = sums[PAIR_AA] / cells / 2, zb = sums[PAIR_BB] / cells / 2;
    const double cov = sums[PAIR_AB] - sums[PAIR_A] * sums[PAIR_B] / cells;
    const double var_a = sums[PAIR_AA] - sums[PAIR_A] * sums[PAIR_A] / cells;
    const double var_b = sums[PAIR_BB] - sums[PAIR_B] * sums[PAIR_B] / cells;

    return (qn_les_errors){ .rel_l2 = sqrt(sums[PAIR_DIFF]) / (sqrt(sums[PAIR_AA]) + 1e-12),
                            .corr = var_a > 0 && var_b > 0 ? cov / sqrt(var_a * var_b) : 0,
                            .dE = eb - ea,
                            .dZ = zb - za,
                            .dE_rel = ea > 0 ? (eb - ea) / ea : 0,
                            .dZ_rel = za > 0 ? (zb - za) / za : 0,
                            .spectrum_err = sums[PAIR_SPECTRUM] };
}
