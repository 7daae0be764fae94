/* poi.c - series as CSV: of the whole raster, and of points. */
#include "run_impl.h"

#include "util/csv.h"
#include "util/file.h"

#include <math.h>

/* An empty field where there is no number. */
static void put(qn_csv_writer *w, double value, const char *format)
{
    char text[32];

    snprintf(text, sizeof text, format, value);
    qn_csv_put(w, isfinite(value) ? text : "");
}

static void put_row(qn_csv_writer *w, const qn_sw_row_result *r)
{
    const double values[] = {
        r->ta,      r->rh,           r->ws,          r->global,    r->direct,
        r->diffuse, r->sun_altitude, r->sun_azimuth, r->clearness, r->diffuse_fraction
    };
    char stamp[20];

    qn_sw_stamp_iso(r->minutes, stamp);
    qn_csv_put(w, stamp);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        put(w, values[i], "%.6g");
    qn_csv_put(w, r->is_day ? "1" : "0");
    put(w, r->tmrt_mean, "%.5f");
    put(w, r->utci_mean, "%.5f");
    put(w, r->sun_fraction, "%.6f");
    qn_csv_putf(w, "%lld", (long long)r->n_valid);
    qn_csv_end_row(w);
}

qn_status qn_sw_write_rows(const qn_sw_job *job, qn_err *err)
{
    static const char *const header[] = {
        "datetime",  "ta",           "rh",           "ws",        "global",           "direct",
        "diffuse",   "sun_altitude", "sun_azimuth",  "clearness", "diffuse_fraction", "is_daytime",
        "tmrt_mean", "utci_mean",    "sun_fraction", "n_valid"
    };
    char path[QN_SW_PATH];
    qn_out out = { 0 };
    qn_csv_writer w;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_job_path(job, path, err, "timeseries.csv"));
    QN_TRY(qn_out_open(path, &out, err));
    w = (qn_csv_writer){ .to = out.file };
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        qn_csv_put(&w, header[i]);
    qn_csv_end_row(&w);
    for (size_t r = 0; r < job->result->n_rows; r++)
        put_row(&w, &job->result->rows[r]);
    QN_TRY(qn_out_commit(&out, err));
out:
    qn_out_abort(&out);
    return st;
}

qn_status qn_sw_write_pois(const qn_sw_job *job, qn_err *err)
{
    const qn_sw_rows *rows = &job->rows;
    char path[QN_SW_PATH], stamp[20];
    qn_out out = { 0 };
    qn_csv_writer w;
    qn_status st = QN_OK;

    if (!job->config->pois)
        return QN_OK;
    QN_TRY(qn_sw_job_path(job, path, err, "pois.csv"));
    QN_TRY(qn_out_open(path, &out, err));
    w = (qn_csv_writer){ .to = out.file };
    qn_csv_put(&w, "name");
    qn_csv_put(&w, "datetime");
    for (int p = 0; p < QN_SW_PLANES; p++)
        qn_csv_put(&w, qn_sw_plane_name((qn_sw_plane)p));
    qn_csv_end_row(&w);
    for (size_t i = 0; i < rows->pois.n; i++)
        for (size_t r = 0; r < rows->n_rows; r++) {
            qn_sw_stamp_iso(job->result->rows[r].minutes, stamp);
            qn_csv_put(&w, rows->pois.list[i].name);
            qn_csv_put(&w, stamp);
            for (int p = 0; p < QN_SW_PLANES; p++)
                put(&w, (double)qn_sw_rows_at(rows, i, r)[p], "%.7g");
            qn_csv_end_row(&w);
        }
    QN_TRY(qn_out_commit(&out, err));
out:
    qn_out_abort(&out);
    return st;
}
