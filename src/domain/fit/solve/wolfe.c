/* wolfe.c - line search for the strong Wolfe conditions. */
#include "domain/fit/solve/gradient_solver.h"

#include <math.h>

enum { MAX_TRIALS = 20 };
#define DECREASE  1e-4
#define CURVATURE 0.9
#define EXPANSION 10

void qn_fit_search_begin(qn_fit_search *search, double cost, double slope, double first)
{
    *search = (qn_fit_search){ .start = { 0, cost, slope }, .trial = first, .widest = HUGE_VAL };
    search->before = search->low = search->start;
}

/* The minimum of the cubic through both points with their slopes; NaN where there is none. */
static double cubic(qn_fit_point a, qn_fit_point b)
{
    const double d = a.slope + b.slope - 3 * (a.cost - b.cost) / (a.at - b.at);
    const double e = copysign(sqrt(d * d - a.slope * b.slope), b.at - a.at);

    return b.at - (b.at - a.at) * (b.slope + e - d) / (b.slope - a.slope + 2 * e);
}

/* The next trial inside the bracket, but not within a tenth of its ends. */
static qn_fit_search_state narrow(qn_fit_search *s)
{
    const double width = s->high.at - s->low.at;
    const double lowest = cubic(s->low, s->high);
    const double share = (lowest - s->low.at) / width;

    s->trial = s->low.at + width * (isfinite(share) ? fmin(fmax(share, 0.1), 0.9) : 0.5);
    return fabs(width) > 1e-16 * fmax(fabs(s->low.at), fabs(s->high.at)) ? QN_FIT_SEARCH_ON
                                                                         : QN_FIT_SEARCH_FAILED;
}

static qn_fit_search_state bracket(qn_fit_search *s, qn_fit_point low, qn_fit_point high)
{
    s->is_bracketed = 1;
    s->low = low;
    s->high = high;
    return narrow(s);
}

static qn_fit_search_state widen(qn_fit_search *s, qn_fit_point now)
{
    const double lowest = cubic(s->before, now);
    const double least = now.at + 0.1 * (now.at - s->before.at);
    const double most = fmin(EXPANSION * now.at, 0.5 * (now.at + s->widest));

    s->before = now;
    s->trial = isfinite(lowest) ? fmin(fmax(lowest, least), most) : most;
    return QN_FIT_SEARCH_ON;
}

qn_fit_search_state qn_fit_search_step(qn_fit_search *search, double cost, double slope)
{
    qn_fit_search *s = search;
    const qn_fit_point now = { s->trial, cost, slope };
    const int is_low = cost <= s->start.cost + DECREASE * now.at * s->start.slope;
    const int is_flat = fabs(slope) <= -CURVATURE * s->start.slope;

    if (++s->n_trials >= MAX_TRIALS && !(is_low && is_flat))
        return QN_FIT_SEARCH_FAILED;
    if (!isfinite(cost) || !isfinite(slope)) {
        s->widest = now.at;
        s->is_bracketed = 0;
        s->trial = s->before.at + 0.1 * (now.at - s->before.at);
        return QN_FIT_SEARCH_ON;
    }
    if (is_low && is_flat && (!s->is_bracketed || cost < s->low.cost))
        return QN_FIT_SEARCH_FOUND;
    if (s->is_bracketed) {
        if (!is_low || cost >= s->low.cost)
            s->high = now;
        else {
            if (slope * (s->high.at - s->low.at) >= 0)
                s->high = s->low;
            s->low = now;
        }
        return narrow(s);
    }
    if (!is_low || (s->n_trials > 1 && cost >= s->before.cost))
        return bracket(s, s->before, now);
    return slope >= 0 ? bracket(s, now, s->before) : widen(s, now);
}
