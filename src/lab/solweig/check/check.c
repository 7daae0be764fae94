/* check.c - the list of checks. */
#include "lab/solweig/check/check_impl.h"
#include "util/str.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A check with several parts has a row for each, so that a blocked part does not stop the others.
 */
static const struct {
    const char *name, *about; /* about NULL: a further part */
    qn_sw_check_fn run;
    int is_day;
} checks[] = {
    { "weather", "sun, clearness, weather files, figures that every pixel shares",
      qn_sw_check_weather, 0 },
    { "weather", NULL, qn_sw_check_clearness, 0 },
    { "weather", NULL, qn_sw_check_epw, 0 },
    { "weather", NULL, qn_sw_check_days, 0 },
    { "tables", "patches, luminance of the sky, coefficients, materials", qn_sw_check_tables, 0 },
    { "prep", "heights as layers are made ready", qn_sw_check_prep, 0 },
    { "walls", "heights and aspects of walls", qn_sw_check_walls, 0 },
    { "walls", NULL, qn_sw_check_walls_ga, 0 },
    { "shadow", "shadows of suns, on ground and walls", qn_sw_check_shadow, 0 },
    { "svf", "sky view factors, and bits of patches", qn_sw_check_svf, 0 },
    { "svf", NULL, qn_sw_check_svf_ga, 0 },
    { "svf", NULL, qn_sw_check_svf_gbg, 0 },
    { "gvf", "the view of ground and walls", qn_sw_check_gvf, 0 },
    { "gvf", NULL, qn_sw_check_gvf_umep, 0 },
    { "radiation", "light and heat from the sides, isotropic sky", qn_sw_check_radiation, 0 },
    { "aniso", "light and heat of a sky of patches", qn_sw_check_aniso, 0 },
    { "points", "ground temperature, delay, Tmrt of given values", qn_sw_check_points, 0 },
    { "points", NULL, qn_sw_check_delays, 0 },
    { "points", NULL, qn_sw_check_tmrt, 0 },
    { "comfort", "UTCI and PET", qn_sw_check_comfort, 0 },
    { "comfort", NULL, qn_sw_check_utci_points, 0 },
    { "comfort", NULL, qn_sw_check_utci_grid, 0 },
    { "comfort", NULL, qn_sw_check_pet_points, 0 },
    { "comfort", NULL, qn_sw_check_pet_grid, 0 },
    { "ga", "whole days at Gustav Adolfs torg", qn_sw_check_ga, 1 },
    { "gbg", "whole days at Kronenhuset", qn_sw_check_gbg, 1 },
};

enum { N_CHECKS = sizeof checks / sizeof *checks };

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

int qn_sw_check_at(int i, qn_sw_check_info *out)
{
    for (int k = 0; k < N_CHECKS; k++)
        if (checks[k].about && i-- == 0) {
            *out = (qn_sw_check_info){ checks[k].name, checks[k].about, checks[k].is_day };
            return 1;
        }
    return 0;
}

static int is_wanted(int check, const char *word)
{
    return !strcmp(word, checks[check].name) || !strcmp(word, "all") ||
           !strcmp(word, checks[check].is_day ? "days" : "stages");
}

int qn_sw_check_is_name(const char *name)
{
    for (int i = 0; i < N_CHECKS; i++)
        if (is_wanted(i, name))
            return 1;
    return 0;
}

static int is_in_list(int check, const char *list)
{
    return qn_list_has(list, checks[check].name) || qn_list_has(list, "all") ||
           qn_list_has(list, checks[check].is_day ? "days" : "stages");
}

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
    for (int i = 0; i < N_CHECKS; i++) {
        qn_golden g = { .ctx = ctx, .dir = dir, .part = checks[i].name, .findings = findings };

        if (!is_in_list(i, list))
            continue;
        QN_TRY(qn_golden_unblock(&g, checks[i].run(&g, err), err));
    }
    QN_TRY(qn_findings_complete(findings, err));
out:
    return st;
}
