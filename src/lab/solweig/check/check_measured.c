/* check_measured.c - a run and the reference against measurements.
 *
 * A measured hour belongs to the row that is stamped in it.
 */
#include "lab/solweig/check/check.h"

#include "lab/solweig/check/check_days.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct measuring {
    qn_csv measured;
    qn_sw_measured_list *out;
} measuring;

void qn_sw_measured_free(qn_sw_measured_list *list)
{
    free(list->list);
    *list = (qn_sw_measured_list){ 0 };
}

/* Sums over pairs of a modelled and a measured value. */
typedef struct pair_sums {
    double n, a, b, aa, bb, ab, dd;
} pair_sums;

static void add_pair(pair_sums *s, double a, double b)
{
    s->n++;
    s->a += a;
    s->b += b;
    s->aa += a * a;
    s->bb += b * b;
    s->ab += a * b;
    s->dd += (a - b) * (a - b);
}

static qn_sw_fit fit_of(const pair_sums *s)
{
    const double va = s->aa - s->a * s->a / s->n, vb = s->bb - s->b * s->b / s->n;

    return (qn_sw_fit){ .rmse = sqrt(s->dd / s->n),
                        .bias = (s->a - s->b) / s->n,
                        .correlation = (s->ab - s->a * s->b / s->n) / sqrt(va * vb) };
}

/* The measured Tmrt of the hour of a row; NaN where there is none. */
static double measured_at(const qn_csv *measured, const qn_sw_date *date)
{
    const double day = date->year * 10000.0 + date->month * 100.0 + date->day;

    for (size_t i = 0; i < measured->n_rows; i++)
        if (qn_golden_cell(measured, i, "day") == day &&
            qn_golden_cell(measured, i, "hour") == date->hour)
            return qn_golden_cell(measured, i, "Tmrt");
    return NAN;
}

static qn_status add_day(measuring *m, const qn_sw_measured *found, qn_err *err)
{
    qn_sw_measured *more = realloc(m->out->list, (m->out->n + 1) * sizeof *more);

    if (!more)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu days", m->out->n + 1);
    m->out->list = more;
    more[m->out->n++] = *found;
    return QN_OK;
}

static int has_hours(const measuring *m, const qn_sw_day *day)
{
    for (size_t i = 0; i < day->weather.n_rows; i++)
        if (!isnan(measured_at(&m->measured, &day->weather.rows[i].date)))
            return 1;
    return 0;
}

static qn_status measure_day(qn_golden *g, const qn_sw_day *day, qn_err *err)
{
    measuring *m = g->user;
    const size_t n = day->weather.n_rows;
    double *tmrt = calloc(n + 1, sizeof *tmrt);
    pair_sums ours = { 0 }, reference = { 0 };
    qn_sw_measured found = { 0 };
    qn_status st = QN_OK;

    QN_TRY(tmrt ? QN_OK : qn_fail(err, QN_ERR_NOMEM, "%zu rows", n));
    if (!has_hours(m, day))
        goto out;
    QN_TRY(qn_sw_day_at_poi(g, day, tmrt, err));
    for (size_t i = 0; i < n && i < day->series.n_rows; i++) {
        const double measured = measured_at(&m->measured, &day->weather.rows[i].date);

        if (isnan(measured))
            continue;
        add_pair(&ours, tmrt[i], measured);
        add_pair(&reference, qn_golden_cell(&day->series, i, "poi_tmrt"), measured);
    }
    snprintf(found.day, sizeof found.day, "%s", day->kind);
    found.n_hours = (int)ours.n;
    found.ours = fit_of(&ours);
    found.reference = fit_of(&reference);
    QN_TRY(add_day(m, &found, err));
out:
    free(tmrt);
    return st;
}

qn_status qn_sw_check_measured(qn_ctx *ctx, const char *dir, qn_sw_measured_list *out, qn_err *err)
{
    qn_findings findings = { 0 };
    measuring m = { .out = out };
    qn_golden g = { .ctx = ctx, .dir = dir, .part = "measured", .findings = &findings, .user = &m };
    char path[QN_GOLDEN_PATH];
    qn_status st = QN_OK;

    qn_golden_path(&g, "ga/measurements_ga.csv", path);
    QN_TRY(qn_csv_read(path, &m.measured, err));
    QN_TRY(qn_sw_each_day(&g, "ga", measure_day, err));
    if (!out->n)
        st = qn_fail(err, QN_ERR_INPUT, "%s has no day that %s is about%s%s", dir,
                     "ga/measurements_ga.csv", findings.n ? "; " : "",
                     findings.n ? findings.list[0].note : "");
out:
    qn_csv_free(&m.measured);
    qn_findings_free(&findings);
    return st;
}
