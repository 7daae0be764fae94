/* sums.c - objectives with squared sums of energies, in two passes.
 *
 * The first pass uses factors of 1 and gives the sums. The second uses 2 weight (sum - target), so
 * that its gradients are those of the squares; costs are corrected afterwards.
 */
#include "domain/fit/model/model_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct qn_fit_sums {
    const qn_fit_problem *problem;
    double *x;     /* the point, with its own factors */
    double *costs; /* of each sum: weight times the squared distance from its target */
};

qn_status qn_fit_sums_new(const qn_fit_problem *problem, qn_fit_sums **out, qn_err *err)
{
    qn_fit_sums *s;

    *out = NULL;
    if (!problem->n_sums)
        return QN_OK;
    if (!(s = calloc(1, sizeof *s)))
        return qn_fail(err, QN_ERR_NOMEM, "%d sums", problem->n_sums);
    s->problem = problem;
    s->x = calloc((size_t)problem->n_scalars + 1, sizeof *s->x);
    s->costs = calloc((size_t)problem->n_sums, sizeof *s->costs);
    if (!s->x || !s->costs) {
        qn_fit_sums_free(s);
        return qn_fail(err, QN_ERR_NOMEM, "%d sums over %u parameters", problem->n_sums,
                       problem->n_scalars);
    }
    *out = s;
    return QN_OK;
}

void qn_fit_sums_free(qn_fit_sums *sums)
{
    if (!sums)
        return;
    free(sums->x);
    free(sums->costs);
    free(sums);
}

static double sum_of(const qn_fit_host *host, const qn_fit_total *sum)
{
    double total = 0;

    for (int k = 0; k < sum->n_groups; k++)
        total += qn_fit_host_group_cost(host, sum->first_group + k);
    return total;
}

/* Replaces the costs of the scaled rows by those of the squares. */
static double correct_cost(const qn_fit_sums *s, const qn_fit_host *host, double cost)
{
    for (int k = 0; k < s->problem->n_sums; k++)
        cost += s->costs[k] - sum_of(host, &s->problem->sums[k]);
    return cost;
}

qn_status qn_fit_sums_cost(qn_fit_sums *s, qn_fit_host *host, const double *x, double *cost,
                           qn_fit_bad *bad, qn_err *err)
{
    qn_status st = QN_OK;

    memcpy(s->x, x, s->problem->n_scalars * sizeof *s->x);
    for (int k = 0; k < s->problem->n_sums; k++)
        s->x[s->problem->sums[k].factor] = 1;
    QN_TRY(qn_fit_host_cost(host, s->x, cost, bad, err));
    for (int k = 0; k < s->problem->n_sums; k++) {
        const qn_fit_total *sum = &s->problem->sums[k];
        const double off = sum_of(host, sum) - sum->target;

        s->costs[k] = sum->weight * off * off;
        s->x[sum->factor] = 2 * sum->weight * off;
    }
    *cost = correct_cost(s, host, *cost);
out:
    return st;
}

qn_status qn_fit_sums_gradient(qn_fit_sums *s, qn_fit_host *host, const double *x, double *cost,
                               double *gradient, qn_fit_bad *bad, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_fit_sums_cost(s, host, x, cost, bad, err));
    if (bad->group >= 0 || !isfinite(*cost))
        goto out;
    QN_TRY(qn_fit_host_gradient(host, s->x, cost, gradient, bad, err));
    *cost = correct_cost(s, host, *cost);
out:
    return st;
}

int qn_fit_sums_group_cost(const qn_fit_sums *s, int group, double *cost)
{
    for (int k = 0; k < s->problem->n_sums; k++) {
        const qn_fit_total *sum = &s->problem->sums[k];

        if (group < sum->first_group || group >= sum->first_group + sum->n_groups)
            continue;
        *cost = group == sum->first_group ? s->costs[k] : 0;
        return 1;
    }
    return 0;
}
