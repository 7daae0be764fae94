/* bal.c - reads bundle adjustment problems: counts, observations, cameras, points. */
#include "domain/fit/read/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name, *at, *end;
    long line;
} reader;

void qn_fit_bal_free(qn_fit_bal *bal)
{
    free(bal->cam);
    free(bal->pt);
    free(bal->u);
    free(bal->v);
    free(bal->cameras);
    free(bal->points);
    *bal = (qn_fit_bal){ 0 };
}

static qn_status next_number(reader *r, double *out, qn_err *err)
{
    char *end;

    for (; r->at < r->end && strchr(" \t\r\n", *r->at); r->at++)
        r->line += *r->at == '\n';
    if (r->at >= r->end)
        return qn_fail(err, QN_ERR_INPUT, "%s:%ld: the file ends before its last number", r->name,
                       r->line);
    *out = strtod(r->at, &end);
    if (end == r->at || !isfinite(*out))
        return qn_fail(err, QN_ERR_INPUT, "%s:%ld: \"%.12s\" is not a finite number", r->name,
                       r->line, r->at);
    r->at = end;
    return QN_OK;
}

static qn_status next_index(reader *r, double below, const char *what, uint32_t *out, qn_err *err)
{
    double number = 0;
    const qn_status st = next_number(r, &number, err);

    if (st != QN_OK)
        return st;
    if (!(number >= 0) || number >= below || number != floor(number))
        return qn_fail(err, QN_ERR_INPUT, "%s:%ld: %s %g is not in 0 .. %.0f", r->name, r->line,
                       what, number, below - 1);
    *out = (uint32_t)number;
    return QN_OK;
}

static qn_status allocate(qn_fit_bal *b, const char *name, qn_err *err)
{
    b->cam = calloc((size_t)b->n_obs + 1, sizeof *b->cam);
    b->pt = calloc((size_t)b->n_obs + 1, sizeof *b->pt);
    b->u = calloc((size_t)b->n_obs + 1, sizeof *b->u);
    b->v = calloc((size_t)b->n_obs + 1, sizeof *b->v);
    b->cameras = calloc((size_t)b->n_cameras * 9 + 1, sizeof *b->cameras);
    b->points = calloc((size_t)b->n_points * 3 + 1, sizeof *b->points);
    if (b->cam && b->pt && b->u && b->v && b->cameras && b->points)
        return QN_OK;
    return qn_fail(err, QN_ERR_NOMEM, "%s: %u observations", name, b->n_obs);
}

qn_status qn_fit_bal_parse(const char *name, const char *text, size_t bytes, qn_fit_bal *out,
                           qn_err *err)
{
    reader r = { name, text, text + bytes, 1 };
    qn_fit_bal b = { 0 };
    qn_status st = QN_OK;

    QN_TRY(next_index(&r, INT32_MAX, "number of cameras", &b.n_cameras, err));
    QN_TRY(next_index(&r, INT32_MAX, "number of points", &b.n_points, err));
    QN_TRY(next_index(&r, INT32_MAX, "number of observations", &b.n_obs, err));
    /* Every number takes at least two bytes, so a short file cannot demand much memory. */
    if (((uint64_t)b.n_obs * 4 + (uint64_t)b.n_cameras * 9 + (uint64_t)b.n_points * 3) * 2 >
        bytes + 2)
        QN_FAIL(err, QN_ERR_INPUT,
                "%s: %zu bytes cannot hold %u cameras, %u points and %u "
                "observations",
                name, bytes, b.n_cameras, b.n_points, b.n_obs);
    QN_TRY(allocate(&b, name, err));
    for (uint32_t k = 0; k < b.n_obs; k++) {
        QN_TRY(next_index(&r, b.n_cameras, "camera", &b.cam[k], err));
        QN_TRY(next_index(&r, b.n_points, "point", &b.pt[k], err));
        QN_TRY(next_number(&r, &b.u[k], err));
        QN_TRY(next_number(&r, &b.v[k], err));
    }
    for (size_t k = 0; k < (size_t)b.n_cameras * 9; k++)
        QN_TRY(next_number(&r, &b.cameras[k], err));
    for (size_t k = 0; k < (size_t)b.n_points * 3; k++)
        QN_TRY(next_number(&r, &b.points[k], err));
    *out = b;
    b = (qn_fit_bal){ 0 };
out:
    qn_fit_bal_free(&b);
    return st;
}
