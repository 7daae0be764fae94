/* check.c - the list of checks. */
#include "lab/solweig/check/check_impl.h"
#include "util/str.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const qn_check qn_sw_checks[] = {
    { "weather", "sun, clearness, weather files, figures that every pixel shares",
      qn_sw_check_weather, "stages" },
    { "weather", NULL, qn_sw_check_clearness, "stages" },
    { "weather", NULL, qn_sw_check_epw, "stages" },
    { "weather", NULL, qn_sw_check_days, "stages" },
    { "tables", "patches, luminance of the sky, coefficients, materials", qn_sw_check_tables,
      "stages" },
    { "prep", "preparation of heights", qn_sw_check_prep, "stages" },
    { "walls", "heights and aspects of walls", qn_sw_check_walls, "stages" },
    { "walls", NULL, qn_sw_check_walls_ga, "stages" },
    { "shadow", "shadows of suns, on ground and walls", qn_sw_check_shadow, "stages" },
    { "svf", "sky view factors, and bits of patches", qn_sw_check_svf, "stages" },
    { "svf", NULL, qn_sw_check_svf_ga, "stages" },
    { "svf", NULL, qn_sw_check_svf_gbg, "stages" },
    { "gvf", "the view of ground and walls", qn_sw_check_gvf, "stages" },
    { "gvf", NULL, qn_sw_check_gvf_umep, "stages" },
    { "radiation", "light and heat from the sides, isotropic sky", qn_sw_check_radiation,
      "stages" },
    { "aniso", "light and heat of a sky of patches", qn_sw_check_aniso, "stages" },
    { "points", "ground temperature, delay, Tmrt of given values", qn_sw_check_points, "stages" },
    { "points", NULL, qn_sw_check_delays, "stages" },
    { "points", NULL, qn_sw_check_tmrt, "stages" },
    { "comfort", "UTCI and PET", qn_sw_check_comfort, "stages" },
    { "comfort", NULL, qn_sw_check_utci_points, "stages" },
    { "comfort", NULL, qn_sw_check_utci_grid, "stages" },
    { "comfort", NULL, qn_sw_check_pet_points, "stages" },
    { "comfort", NULL, qn_sw_check_pet_grid, "stages" },
    { "ga", "whole days at Gustav Adolfs torg", qn_sw_check_ga, "days" },
    { "gbg", "whole days at Kronenhuset", qn_sw_check_gbg, "days" },
    { NULL, NULL, NULL, NULL },
};

/* Windows. */

qn_window qn_sw_golden_window_of(const json_t *object, const char *key, qn_i64 rows, qn_i64 cols)
{
    const json_t *list = json_object_get(object, key);
    qn_i64 at[4];

    for (size_t i = 0; i < 4; i++)
        at[i] = json_integer_value(json_array_get(list, i));
    if (at[0] < 0 || at[1] < at[0] || at[1] > rows || at[2] < 0 || at[3] < at[2] || at[3] > cols)
        return (qn_window){ 0 };
    return (qn_window){ .row = at[0], .col = at[2], .rows = at[1] - at[0], .cols = at[3] - at[2] };
}

void qn_sw_golden_compare(qn_golden *g, const char *file, const float *got, qn_i64 pitch,
                          qn_window window, qn_limit limit)
{
    const float *first = got ? got + window.row * pitch + window.col : NULL;

    qn_golden_compare(g, file, first, pitch, window.rows, window.cols, limit);
}

/* The list. */

static qn_status find_folder(const char *dir, qn_err *err)
{
    static const char *const known[] = { "athens", "points", "ga", "gbg", "weather", "tables" };
    char path[QN_GOLDEN_PATH];
    struct stat is;

    if (stat(dir, &is) != 0 || !S_ISDIR(is.st_mode))
        return qn_fail(err, QN_ERR_INPUT, "cannot read the folder %s", dir);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, known[i]);
        if (stat(path, &is) == 0 && S_ISDIR(is.st_mode))
            return QN_OK;
    }
    return qn_fail(err, QN_ERR_INPUT,
                   "%s has none of the folders athens, points, ga, gbg, weather and tables", dir);
}

qn_status qn_sw_check_run(qn_ctx *ctx, const char *dir, const char *list, qn_findings *findings,
                          qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(find_folder(dir, err));
    QN_TRY(qn_checks_run(qn_sw_checks, list, ctx, dir, findings, err));
out:
    return st;
}
