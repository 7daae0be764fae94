/* check.c - the list of checks, and findings. */
#include "lab/solweig/check/check_impl.h"

#include "util/list.h"
#include "util/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A check with several parts has a row for each: a part that is blocked does not keep the others
 * from being run. */
static const struct {
    const char *name, *about; /* about NULL: a further part */
    qn_sw_check_fn run;
    int is_day;
} checks[] = {
    { "weather", "sun, clearness, weather files, what every pixel shares", qn_sw_check_weather, 0 },
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

/* Findings. */

void qn_sw_report_free(qn_sw_report *report)
{
    free(report->list);
    *report = (qn_sw_report){ 0 };
}

static qn_sw_finding *next_finding(qn_sw_golden *g)
{
    qn_sw_report *report = g->report;
    qn_sw_finding *f;
    qn_sw_finding *more = qn_grown(report->list, report->n, &report->room, sizeof *more);

    if (!more) {
        report->has_lost = 1;
        return NULL;
    }
    report->list = more;
    f = &report->list[report->n++];
    memset(f, 0, sizeof *f);
    snprintf(f->stage, sizeof f->stage, "%s", g->stage);
    return f;
}

static void settle(qn_sw_golden *g, qn_sw_finding *f, qn_sw_verdict verdict)
{
    f->verdict = verdict;
    g->report->n_out += verdict == QN_SW_OUT;
    g->report->n_skipped += verdict == QN_SW_SKIPPED;
}

void qn_sw_tally_add(qn_sw_tally *tally, double got, double want)
{
    const qn_sw_limit *limit = &tally->limit;
    const int is_same = got == want || (isnan(got) && isnan(want));
    const double off = is_same ? 0 : isfinite(got - want) ? fabs(got - want) : INFINITY;

    tally->n++;
    tally->n_equal += is_same;
    tally->n_beyond += !is_same && !(off <= limit->abs + limit->rel * fabs(want));
    tally->sum += off;
    tally->most = fmax(tally->most, off);
}

static void print_limit(const qn_sw_limit *limit, char *out, size_t size)
{
    qn_str text = { 0 };

    if (limit->abs > 0 || limit->rel <= 0)
        qn_str_addf(&text, "%g", limit->abs);
    if (limit->rel > 0)
        qn_str_addf(&text, "%s%g rel", limit->abs > 0 ? " + " : "", limit->rel);
    if (limit->share > 0)
        qn_str_addf(&text, " on %g %%, all %g", 100 * limit->share, limit->most);
    snprintf(out, size, "%s", qn_str_get(&text));
    qn_str_free(&text);
}

void qn_sw_golden_tell(qn_sw_golden *g, const qn_sw_tally *tally, const char *name, ...)
{
    const qn_sw_limit *limit = &tally->limit;
    const double n = (double)tally->n, beyond = (double)tally->n_beyond;
    qn_sw_finding *f = next_finding(g);
    int is_ok = tally->n > 0;
    va_list list;

    if (!f)
        return;
    va_start(list, name);
    vsnprintf(f->name, sizeof f->name, name, list);
    va_end(list);
    if (limit->share > 0)
        is_ok = is_ok && beyond <= (1 - limit->share) * n && tally->most <= limit->most;
    else
        is_ok = is_ok && tally->n_beyond == 0;
    print_limit(limit, f->limit, sizeof f->limit);
    f->n = tally->n;
    f->mean_abs_diff = tally->n ? tally->sum / n : 0;
    f->max_abs_diff = tally->most;
    f->equal_pct = tally->n ? 100 * (double)tally->n_equal / n : 0;
    settle(g, f, is_ok ? QN_SW_OK : QN_SW_OUT);
}

void qn_sw_golden_tell_why(qn_sw_golden *g, qn_sw_verdict verdict, const char *name,
                           const char *why, ...)
{
    qn_sw_finding *f = next_finding(g);
    va_list list;

    if (!f)
        return;
    snprintf(f->name, sizeof f->name, "%s", name);
    va_start(list, why);
    vsnprintf(f->limit, sizeof f->limit, why, list);
    va_end(list);
    settle(g, f, verdict);
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
    char word[24];

    while (*list) {
        const size_t n = strcspn(list, ",");

        snprintf(word, sizeof word, "%.*s", (int)n, list);
        if (is_wanted(check, word))
            return 1;
        list += n + (list[n] == ',');
    }
    return 0;
}

static qn_status find_folder(const char *dir, qn_err *err)
{
    static const char *const known[] = { "athens", "points", "ga", "gbg", "weather", "tables" };
    char path[QN_SW_PATH_BYTES];
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

qn_status qn_sw_check_run(qn_ctx *ctx, const char *dir, const char *list, qn_sw_report *report,
                          qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(find_folder(dir, err));
    for (int i = 0; i < N_CHECKS; i++) {
        qn_sw_golden g = { .ctx = ctx, .dir = dir, .stage = checks[i].name, .report = report };

        if (!is_in_list(i, list))
            continue;
        QN_TRY(qn_sw_golden_go_on(&g, checks[i].run(&g, err), err));
    }
    if (report->has_lost)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for more than %zu findings", report->n);
out:
    return st;
}
