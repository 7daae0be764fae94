/* check_ops.c - compares operations and composites with values of 60 digits.
 *
 * Each operation is one finding: its worst error, as a fraction of the allowed error.
 */
#include "lab/fit/check/check_impl.h"
#include "lab/fit/check/records.h"

#include <math.h>
#include <string.h>

static const char *const exact[] = { "neg",   "abs",    "sign",  "min", "max",  "floor", "ceil",
                                     "round", "trunc",  "eq",    "ne",  "lt",   "le",    "gt",
                                     "ge",    "select", "clamp", "mod", "relu", NULL };
static const char *const rounded[] = { "add",  "sub",      "mul",        "div",       "square",
                                       "cube", "recip",    "sqrt",       "rsqrt",     "fma",
                                       "lerp", "div_safe", "recip_safe", "sqrt_safe", NULL };

static int is_among(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (!strcmp(*list, name))
            return 1;
    return 0;
}

/* |got - want| as a fraction of tolerance * size; infinite if one of them is NaN. Below 1e-300,
 * references of 60 digits have no digits left where 1 - s was computed. */
static double share(double got, double want, double tolerance, double size)
{
    const double off = fabs(got - want);

    if (isnan(want) || isinf(want))
        return (isnan(want) ? isnan(got) : got == want) ? 0 : INFINITY;
    if (off <= (tolerance > 0 ? 1e-300 : 0))
        return 0;
    return off / (tolerance * fmax(size, 1e-300));
}

static double worse(double a, double b)
{
    return isnan(b) ? INFINITY : fmax(a, b);
}

static double judge_op(const qn_fit_golden *g, int k)
{
    const qn_fit_records *f = &g->list[k];
    const double tolerance = is_among(exact, f->op) ? 0 : is_among(rounded, f->op) ? 1e-15 : 1e-14;
    double worst = 0;

    for (int i = 0; i < f->n; i++) {
        const double want = f->value[i];

        worst = worse(worst, share(qn_fit_golden_value(g, k, i, 0), want, tolerance, fabs(want)));
        for (int a = 0; a < f->n_args; a++) {
            const double partial = f->jac[i * f->n_args + a];

            worst = worse(
                worst, share(qn_fit_golden_partial(g, k, i, 0, a), partial, 1e-13, fabs(partial)));
        }
    }
    return worst;
}

static double largest(const double *list, int n)
{
    double most = 0;

    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(list[k]));
    return most;
}

static double judge_composite(const qn_fit_golden *g, int k)
{
    const qn_fit_records *f = &g->list[k];
    double worst = 0;

    for (int i = 0; i < f->n; i++) {
        const double size = fmax(largest(&f->value[i * f->n_rows], f->n_rows), 1);

        for (int row = 0; row < f->n_rows; row++) {
            const double *want = &f->jac[(i * f->n_rows + row) * f->n_args];
            const double row_size = largest(want, f->n_args);

            worst = worse(worst, share(qn_fit_golden_value(g, k, i, row),
                                       f->value[i * f->n_rows + row], 1e-12, size));
            for (int a = 0; a < f->n_args; a++)
                worst = worse(
                    worst, share(qn_fit_golden_partial(g, k, i, row, a), want[a], 1e-12, row_size));
        }
    }
    return worst;
}

static qn_status check(qn_golden *g, const char *file, double (*judge)(const qn_fit_golden *, int),
                       qn_err *err)
{
    qn_fit_golden golden = { .n = 0 };
    char path[QN_GOLDEN_PATH];
    qn_status st = QN_OK;

    if (!qn_golden_has(g, file)) {
        qn_golden_add_why(g, QN_FINDING_SKIPPED, file, "absent");
        return QN_OK;
    }
    qn_golden_path(g, file, path);
    QN_TRY(qn_fit_golden_load(path, &golden, err));
    QN_TRY(qn_fit_golden_run(g->ctx, &golden, err));
    for (int k = 0; k < golden.n; k++) {
        const qn_fit_records *r = &golden.list[k];

        qn_finding_below(g->findings, g->part, (qn_i64)r->n * r->n_rows * (1 + r->n_args),
                         judge(&golden, k), 1, "%s: worst error, as a fraction of the tolerance",
                         r->op);
    }
out:
    qn_fit_golden_free(&golden);
    return st;
}

qn_status qn_fit_check_ops(qn_golden *g, qn_err *err)
{
    return check(g, "golden/ops.json", judge_op, err);
}

qn_status qn_fit_check_composites(qn_golden *g, qn_err *err)
{
    return check(g, "golden/composites.json", judge_composite, err);
}
