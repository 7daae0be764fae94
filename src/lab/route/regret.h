/* regret.h - the choices of the router compared with the best choices in hindsight. */
#ifndef QN_LAB_ROUTE_REGRET_H
#define QN_LAB_ROUTE_REGRET_H

#include <quern/route.h>

enum { QN_REGRET_DEVICES = 16 };

/* One decision of a trace, measured on every device. */
typedef struct qn_trial {
    const char *op;
    qn_i64 size;
    double us[QN_REGRET_DEVICES]; /* device 0 is the CPU; NaN: cannot run there */
    qn_i64 threshold;             /* of the static policy; 0: never leave the CPU */
} qn_trial;

typedef enum {
    QN_POLICY_AUTO,
    QN_POLICY_CPU,
    QN_POLICY_GPU,
    QN_POLICY_STATIC,
    QN_N_POLICIES
} qn_policy;

/* Regret = time of a policy / sum of the best times - 1. */
typedef struct qn_regret {
    double best_us;
    double us[QN_N_POLICIES];
    double regret[QN_N_POLICIES];
    int probes;                       /* of the auto policy */
    int decisions[QN_REGRET_DEVICES]; /* of the auto policy, by device */
} qn_regret;

/* A router without knowledge decides the trace, one decision after the other, and learns only from
 * the times of the devices it chose. The first `skip` decisions train it, but do not count.
 * `chosen` gets the device of every decision; NULL is fine. */
qn_status qn_route_regret(const qn_trial *trace, int n, int n_devices, int skip, qn_regret *out,
                          int *chosen, qn_err *err);

#endif
