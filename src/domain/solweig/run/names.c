/* names.c - names of rasters, grids, files and time stamps. */
#include "run_impl.h"

#include <stdio.h>
#include <string.h>

/* Planes of a step. */

static const struct {
    const char *name, *unit;
} planes[QN_SW_PLANES] = {
    [QN_SW_TMRT] = { "tmrt", "°C" },     [QN_SW_UTCI] = { "utci", "°C" },
    [QN_SW_PET] = { "pet", "°C" },       [QN_SW_SHADOW] = { "shadow", "sunlit" },
    [QN_SW_KDOWN] = { "kdown", "W/m2" }, [QN_SW_KUP] = { "kup", "W/m2" },
    [QN_SW_LDOWN] = { "ldown", "W/m2" }, [QN_SW_LUP] = { "lup", "W/m2" },
};

const char *qn_sw_plane_name(qn_sw_plane plane)
{
    return planes[plane].name;
}

const char *qn_sw_plane_unit(qn_sw_plane plane)
{
    return planes[plane].unit;
}

static int find(const char *name, size_t length)
{
    for (int i = 0; i < QN_SW_PLANES; i++)
        if (strlen(planes[i].name) == length && !strncmp(planes[i].name, name, length))
            return i;
    return -1;
}

qn_status qn_sw_planes_parse(const char *list, qn_sw_plane_set *out, qn_err *err)
{
    qn_sw_plane_set set = 0;

    if (!strcmp(list, "none")) {
        *out = 0;
        return QN_OK;
    }
    for (;;) {
        const size_t length = strcspn(list, ",");
        const int plane = find(list, length);

        if (plane < 0)
            return qn_fail(
                err, QN_ERR_USAGE,
                "'%.*s' is not an output; there are tmrt, utci, pet, shadow, kdown, kup, "
                "ldown and lup, or none",
                (int)length, list);
        set |= 1u << plane;
        if (!list[length])
            break;
        list += length + 1;
    }
    *out = set;
    return QN_OK;
}

/* Files. */

int qn_sw_grid_count(const qn_sw_scene *scene)
{
    return SW_GRIDS + scene->config->n_thresholds;
}

static void grid_name(const qn_sw_scene *scene, int which, char *out, size_t size)
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
    t = &scene->config->thresholds[which - SW_GRIDS];
    snprintf(out, size, "utci_hours_above_%g%s", (double)t->above,
             t->by_day && t->by_night ? ""
             : t->by_day              ? "_day"
                                      : "_night");
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

/* Rasters of a run. */

/* Number of planes that each time step writes. */
static size_t n_planes(const qn_sw_job *job)
{
    return (size_t)__builtin_popcount(job->written);
}

size_t qn_sw_job_raster(const qn_sw_job *job, size_t step, qn_sw_plane plane)
{
    const unsigned before = job->written & ((1u << plane) - 1);

    return step * n_planes(job) + (size_t)__builtin_popcount(before);
}

size_t qn_sw_job_grid(const qn_sw_job *job, int which)
{
    return job->forcing.n * n_planes(job) + (size_t)which;
}

size_t qn_sw_job_rasters(const qn_sw_job *job)
{
    return qn_sw_job_grid(job, job->options->no_summary ? 0 : qn_sw_grid_count(&job->scene));
}

/* Finds the plane and time step of a raster; returns 0 for a summary grid. */
static int find_step(const qn_sw_job *job, size_t raster, size_t *step, qn_sw_plane *plane)
{
    const size_t n = n_planes(job);
    size_t left = n ? raster % n : 0;
    int p = 0;

    if (raster >= job->forcing.n * n)
        return 0;
    while (!QN_SW_HAS(job->written, p) || left--)
        p++;
    *step = raster / n;
    *plane = (qn_sw_plane)p;
    return 1;
}

void qn_sw_job_raster_name(void *user, size_t raster, char out[QN_SW_OUTPUT_NAME])
{
    const qn_sw_job *job = user;
    char stamp[16], grid[64];
    qn_sw_plane plane;
    size_t step;

    if (find_step(job, raster, &step, &plane)) {
        qn_sw_stamp_name(job->forcing.weather.rows[step].minutes, stamp);
        snprintf(out, QN_SW_OUTPUT_NAME, "%s/%s_%s", qn_sw_plane_name(plane),
                 qn_sw_plane_name(plane), stamp);
    } else {
        grid_name(&job->scene, (int)(raster - qn_sw_job_grid(job, 0)), grid, sizeof grid);
        snprintf(out, QN_SW_OUTPUT_NAME, "summary/%s", grid);
    }
}

qn_status qn_sw_job_see(void *user, size_t raster, const qn_window *part, const float *data,
                        qn_err *err)
{
    qn_sw_job *job = user;
    qn_sw_plane plane;
    size_t step;

    return find_step(job, raster, &step, &plane) ? qn_sw_maps_see(job, step, plane, part, data, err)
                                                 : QN_OK;
}
