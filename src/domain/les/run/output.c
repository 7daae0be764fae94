/* output.c - arrays and tables of a run. */
#include "output.h"

#include "util/csv.h"
#include "util/file.h"
#include "util/npy.h"

#include <stdio.h>
#include <string.h>

void qn_les_path(const qn_les_options *config, const qn_les_result *result, const char *name,
                 char *out, size_t size)
{
    snprintf(out, size, "%s/les_%s_%s", config->out, result->stamp, name);
}

qn_status qn_les_write_field(const qn_les_options *config, const qn_les_result *result,
                             const char *name, int step, int members, const void *data, qn_err *err)
{
    const qn_i64 n = config->N;
    char path[QN_OPTION_TEXT_BYTES + 80], file[48];
    qn_npy array = { .type = config->precision == QN_LES_F64 ? QN_NPY_F8 : QN_NPY_F4,
                     .n_dims = members > 1 ? 3 : 2,
                     .data = (void *)data };

    if (members > 1)
        array.dims[0] = members;
    array.dims[array.n_dims - 2] = array.dims[array.n_dims - 1] = n;
    snprintf(file, sizeof file, "%s_t%06d.npy", name, step);
    qn_les_path(config, result, file, path, sizeof path);
    return qn_npy_write(path, &array, err);
}

qn_status qn_les_write_array(const qn_les_options *config, const char *name, int type, int n_dims,
                             const qn_i64 *dims, const void *data, qn_err *err)
{
    char path[QN_OPTION_TEXT_BYTES + 80];
    qn_npy array = { .type = (qn_npy_type)type, .n_dims = n_dims, .data = (void *)data };

    memcpy(array.dims, dims, (size_t)n_dims * sizeof *dims);
    snprintf(path, sizeof path, "%s/%s.npy", config->out, name);
    return qn_npy_write(path, &array, err);
}

qn_status qn_les_write_series(const qn_les_options *config, const qn_les_result *result,
                              qn_err *err)
{
    static const char *const names[] = { "step",         "time",    "energy", "enstrophy",
                                         "palinstrophy", "max_abs", "mean",   "kurtosis" };
    char path[QN_OPTION_TEXT_BYTES + 80];
    qn_out out = { 0 };
    qn_status st = QN_OK;

    qn_les_path(config, result, "series.csv", path, sizeof path);
    QN_TRY(qn_out_open(path, &out, err));
    qn_csv_writer w = { .to = out.file };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        qn_csv_put(&w, names[i]);
    qn_csv_end_row(&w);
    for (int i = 0; i < result->n_rows; i++) {
        const qn_les_row *row = &result->rows[i];
        const double values[] = { row->time,    row->energy, row->enstrophy, row->palinstrophy,
                                  row->max_abs, row->mean,   row->kurtosis };

        qn_csv_putf(&w, "%.0f", row->step);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            qn_csv_putf(&w, "%.17g", values[k]);
        qn_csv_end_row(&w);
    }
    QN_TRY(qn_out_commit(&out, err));
out:
    qn_out_abort(&out);
    return st;
}

qn_status qn_les_write_spectrum(const qn_les_options *config, const qn_les_result *result,
                                qn_err *err)
{
    char path[QN_OPTION_TEXT_BYTES + 80];
    qn_out out = { 0 };
    qn_status st = QN_OK;

    qn_les_path(config, result, "spectrum.csv", path, sizeof path);
    QN_TRY(qn_out_open(path, &out, err));
    qn_csv_writer w = { .to = out.file };
    qn_csv_put(&w, "k");
    if (result->shells[0])
        qn_csv_put(&w, "start");
    qn_csv_put(&w, "end");
    qn_csv_end_row(&w);
    for (int k = 0; k < result->n_shells; k++) {
        qn_csv_putf(&w, "%d", k);
        if (result->shells[0])
            qn_csv_putf(&w, "%.17g", result->shells[0][k]);
        qn_csv_putf(&w, "%.17g", result->shells[1][k]);
        qn_csv_end_row(&w);
    }
    QN_TRY(qn_out_commit(&out, err));
out:
    qn_out_abort(&out);
    return st;
}
