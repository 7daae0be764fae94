/* sums.c - energies of a sum: (volume - target)^2 and the like. */
#include "domain/fit/problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

qn_status qn_fit_problem_begin_sum(qn_fit_problem *problem, const char *name, double target,
                                   double weight, int *set, qn_err *err)
{
    static const double one = 1;
    static const uint8_t is_fixed = 1;
    qn_fit_total *more;
    char factor[64];
    qn_status st = QN_OK;

    if (!isfinite(target) || !isfinite(weight) || weight < 0)
        return qn_fail(err, QN_ERR_INPUT, "%s: a target of %g and a weight of %g", name, target,
                       weight);
    if (!(more = realloc(problem->sums, (size_t)(problem->n_sums + 1) * sizeof *more)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: a sum", name);
    problem->sums = more;
    snprintf(factor, sizeof factor, "%.50s factor", name);
    QN_TRY(qn_fit_problem_add_set(problem, factor, 1, 1, &one, set, err));
    QN_TRY(qn_fit_problem_fix(problem, *set, &is_fixed, err));
    problem->sets[*set].is_hidden = 1;
    problem->sums[problem->n_sums++] = (qn_fit_total){ .target = target,
                                                       .weight = weight,
                                                       .factor = problem->sets[*set].first,
                                                       .first_group = problem->n_groups };
out:
    return st;
}

void qn_fit_problem_end_sum(qn_fit_problem *problem)
{
    qn_fit_total *sum = &problem->sums[problem->n_sums - 1];

    sum->n_groups = problem->n_groups - sum->first_group;
}
