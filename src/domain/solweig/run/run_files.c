/* run_files.c - names of grids, paths, and the order of what is written at the end. */
#include "run_impl.h"

#include <stdarg.h>
#include <stdio.h>

int qn_sw_grid_count(const qn_sw_scene *scene)
{
    return SW_GRIDS + scene->n_thresholds;
}

void qn_sw_grid_name(const qn_sw_scene *scene, int which, char *out, size_t size)
{
    static const char *const names[SW_GRIDS] = {
        [SW_GRID_TMRT_MEAN] = "tmrt_mean",        [SW_GRID_TMRT_MAX] = "tmrt_max",
        [SW_GRID_TMRT_MIN] = "tmrt_min",          [SW_GRID_TMRT_DAY] = "tmrt_day_mean",
        [SW_GRID_TMRT_NIGHT] = "tmrt_night_mean", [SW_GRID_UTCI_MEAN] = "utci_mean",
        [SW_GRID_UTCI_MAX] = "utci_max",          [SW_GRID_UTCI_MIN] = "utci_min",
        [SW_GRID_UTCI_DAY] = "utci_day_mean",     [SW_GRID_UTCI_NIGHT] = "utci_night_mean",
        [SW_GRID_SUN_HOURS] = "sun_hours",        [SW_GRID_SHADE_HOURS] = "shade_hours",
    };
    const qn_sw_threshold *t;

    if (which < SW_GRIDS) {
        snprintf(out, size, "%s", names[which]);
        return;
    }
    t = &scene->thresholds[which - SW_GRIDS];
    snprintf(out, size, "utci_hours_above_%g%s", (double)t->above,
             t->by_day && t->by_night ? ""
             : t->by_day              ? "_day"
                                      : "_night");
}

qn_status qn_sw_job_path(const qn_sw_job *job, char path[QN_SW_PATH], qn_err *err,
                         const char *format, ...)
{
    const int n = snprintf(path, QN_SW_PATH, "%s/", job->config->out);
    va_list args;
    int more = 0;

    if (n > 0 && n < QN_SW_PATH) {
        va_start(args, format);
        more = vsnprintf(path + n, QN_SW_PATH - (size_t)n, format, args);
        va_end(args);
    }
    if (n <= 0 || more < 0 || n + more >= QN_SW_PATH)
        return qn_fail(err, QN_ERR_LIMIT, "%s: the path has over %d bytes", job->config->out,
                       QN_SW_PATH - 1);
    return QN_OK;
}

void qn_sw_stamp_name(qn_i64 minutes, char out[16])
{
    const qn_sw_date d = qn_sw_date_of(minutes);

    snprintf(out, 16, "%04d%02d%02d_%02d%02d", d.year % 10000, d.month, d.day, d.hour, d.minute);
}

void qn_sw_stamp_iso(qn_i64 minutes, char out[20])
{
    const qn_sw_date d = qn_sw_date_of(minutes);

    snprintf(out, 20, "%04d-%02d-%02dT%02d:%02d", d.year % 10000, d.month, d.day, d.hour, d.minute);
}

qn_status qn_sw_job_files(qn_sw_job *job, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_sw_write_rows(job, err));
    QN_TRY(qn_sw_write_pois(job, err));
    QN_TRY(qn_sw_write_maps(job, err));
    QN_TRY(qn_sw_write_metadata(job, err));
    QN_TRY(qn_sw_write_report(job, err));
out:
    return st;
}
