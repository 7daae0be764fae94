/* regret.c - how much time a policy loses on a trace with times measured on every device. */
#include "lab/route/route.h"
#include "util/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The router's knowledge of the trace so far. */
typedef struct {
    qn_map ops; /* name -> learner */
    int n_devices;
} learners;

typedef struct {
    qn_route_op *op;
    /* Device of the last decision in each octave of sizes: hysteresis applies only between similar
     * sizes. */
    signed char by_octave[64];
} learner;

static learner *find_learner(learners *all, const char *name)
{
    learner *l = qn_map_get(&all->ops, name);

    if (l || !(l = calloc(1, sizeof *l)))
        return l;
    memset(l->by_octave, -1, sizeof l->by_octave);
    if (!(l->op = qn_route_op_new(name)) || qn_map_put(&all->ops, name, l) != QN_OK) {
        qn_route_op_free(l->op);
        free(l);
        return NULL;
    }
    return l;
}

static void free_learners(learners *all)
{
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&all->ops, &at))) {
        qn_route_op_free(((learner *)entry->value)->op);
        free(entry->value);
    }
    qn_map_free(&all->ops);
}

/* A device about which nothing is known is assumed to be as fast as the CPU. */
static qn_route_case case_of(const learner *l, const qn_trial *t, int n_devices, int present)
{
    const qn_line typical = { 3, 1e-3 };
    const qn_line prior =
        qn_route_op_points(l->op, QN_CPU_SLOT) > 1 ? qn_route_op_fit(l->op, QN_CPU_SLOT) : typical;
    const double cpu_us = qn_route_predict_us(l->op, QN_CPU_SLOT, (double)t->size, prior);
    qn_route_case c = { .size = (double)t->size, .bound = -1, .present = present };

    for (int d = 0; d < n_devices; d++)
        if (!isnan(t->us[d])) {
            c.devices |= 1u << d;
            c.prior[d] = qn_route_op_points(l->op, d) ? prior : (qn_line){ cpu_us, 0 };
        }
    return c;
}

static int decide(learner *l, const qn_trial *t, int n_devices, int *is_probe)
{
    signed char *present = &l->by_octave[(int)log2(t->size < 1 ? 1 : (double)t->size)];
    const qn_route_case c = case_of(l, t, n_devices, *present);
    const qn_route_choice choice = qn_route_choose(NULL, l->op, &c);
    const int device = choice.device;

    if (device < 0)
        return -1;
    *is_probe = choice.why == QN_WHY_PROBE;
    if (*is_probe)
        qn_route_spend(l->op, t->us[device] - choice.predicted_us[choice.settled]);
    *present = (signed char)choice.settled;
    qn_route_observe(l->op, device, (double)t->size, t->us[device]);
    return device;
}

static int best_of(const qn_trial *t, int first, int n_devices)
{
    int best = -1;

    for (int d = first; d < n_devices; d++)
        if (!isnan(t->us[d]) && (best < 0 || t->us[d] < t->us[best]))
            best = d;
    return best;
}

/* The device of the policy "always GPU": the one with the least total time over the trace. */
static int best_device(const qn_trial *trace, int n, int n_devices)
{
    int best = -1;
    double best_us = INFINITY;

    for (int d = 1; d < n_devices; d++) {
        double us = 0;

        for (int i = 0; i < n; i++)
            us += isnan(trace[i].us[d]) ? trace[i].us[QN_CPU_SLOT] : trace[i].us[d];
        if (us < best_us) {
            best_us = us;
            best = d;
        }
    }
    return best;
}

static double time_on(const qn_trial *t, int device)
{
    return device >= 0 && !isnan(t->us[device]) ? t->us[device] : t->us[QN_CPU_SLOT];
}

static qn_status check(const qn_trial *trace, int n, int n_devices, qn_err *err)
{
    if (n_devices < 1 || n_devices > QN_REGRET_DEVICES)
        return qn_fail(err, QN_ERR_USAGE, "trace over %d devices; 1 to %d are possible", n_devices,
                       QN_REGRET_DEVICES);
    for (int i = 0; i < n; i++)
        for (int d = 0; d < n_devices; d++)
            if (!(trace[i].us[d] > 0) && !(d > 0 && isnan(trace[i].us[d])))
                return qn_fail(err, QN_ERR_INPUT,
                               "decision %d of the trace: time %g us on device %d", i,
                               trace[i].us[d], d);
    return QN_OK;
}

qn_status qn_route_regret(const qn_trial *trace, int n, int n_devices, int skip, qn_regret *out,
                          int *chosen, qn_err *err)
{
    learners all = { .n_devices = n_devices };
    qn_regret sum = { 0 };
    qn_status st = QN_OK;
    int gpu;

    QN_TRY(check(trace, n, n_devices, err));
    gpu = best_device(trace, n, n_devices);
    for (int i = 0; i < n; i++) {
        const qn_trial *t = &trace[i];
        learner *l = find_learner(&all, t->op);
        int is_probe = 0, device;

        if (!l)
            QN_FAIL(err, QN_ERR_NOMEM, "trace of %d decisions: out of host memory", n);
        device = decide(l, t, n_devices, &is_probe);
        if (chosen)
            chosen[i] = device;
        if (i < skip)
            continue;
        sum.best_us += t->us[best_of(t, 0, n_devices)];
        sum.us[QN_POLICY_AUTO] += t->us[device];
        sum.us[QN_POLICY_CPU] += t->us[QN_CPU_SLOT];
        sum.us[QN_POLICY_GPU] += time_on(t, gpu);
        sum.us[QN_POLICY_STATIC] +=
            time_on(t, t->threshold && t->size >= t->threshold ? gpu : QN_CPU_SLOT);
        sum.probes += is_probe;
        sum.decisions[device]++;
    }
    for (int p = 0; p < QN_N_POLICIES; p++)
        sum.regret[p] = sum.best_us > 0 ? sum.us[p] / sum.best_us - 1 : 0;
    *out = sum;
out:
    free_learners(&all);
    return st;
}
