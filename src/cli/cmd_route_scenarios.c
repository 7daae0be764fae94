/* cmd_route_scenarios.c - `quern route eval --scenario`: batches under every way of choosing. */
#include "cli/cmd_route.h"

#include "domain/tasks/scenario.h"
#include "engine/context.h"
#include "engine/route/route_eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One scenario at one size: what each way of choosing takes, and the best there is. */
typedef struct {
    const char *name;
    int halvings; /* of the scenario's own sizes; negative: doublings */
    qn_batch_times times;
    double best_us;
} cell;

static void finish_cell(cell *c)
{
    c->best_us = INFINITY;
    for (int d = 0; d < QN_REGRET_DEVICES; d++)
        if (c->times.device_us[d] < c->best_us)
            c->best_us = c->times.device_us[d];
}

static qn_status eval_cell(qn_ctx *ctx, const qn_args *args, const qn_scenario *s, cell *c,
                           qn_err *err)
{
    qn_i64 sizes[QN_SCENARIO_TASKS];
    const qn_batch_plan plan = { sizes,
                                 s->n_tasks,
                                 (int)qn_int(args, "warmup"),
                                 (int)qn_int(args, "samples"),
                                 qn_real(args, "seconds"),
                                 args->global.seed };
    qn_status st;

    for (int t = 0; t < s->n_tasks; t++) {
        const qn_i64 n = s->sizes[t];

        sizes[t] = c->halvings < 0 ? n << -c->halvings : n >> c->halvings;
    }
    if ((st = qn_eval_batch(ctx, &plan, &c->times, err)) == QN_OK)
        finish_cell(c);
    return st;
}

static void size_text(int halvings, char *out, size_t room)
{
    snprintf(out, room, halvings > 0 ? "1/%d" : "%d", 1 << (halvings > 0 ? halvings : -halvings));
}

static void add_cell(qn_table *table, const char *name, const char *size, const double *policy_us,
                     double best_us)
{
    qn_table_add(table, name);
    qn_table_add(table, size);
    qn_table_addf(table, "%.1f", best_us);
    for (int p = 0; p < QN_N_POLICIES; p++) {
        qn_table_addf(table, "%.1f", policy_us[p]);
        qn_table_addf(table, "%.1f", (policy_us[p] / best_us - 1) * 100);
    }
}

/* Times of several cells added up. */
static void add_sum(qn_table *table, const char *name, const cell *cells, int n, double *regret)
{
    double policy_us[QN_N_POLICIES] = { 0 }, best_us = 0;

    for (int i = 0; i < n; i++) {
        for (int p = 0; p < QN_N_POLICIES; p++)
            policy_us[p] += cells[i].times.policy_us[p];
        best_us += cells[i].best_us;
    }
    add_cell(table, name, "all", policy_us, best_us);
    *regret = policy_us[QN_POLICY_AUTO] / best_us - 1;
}

static void print_worst(const cell *cells, int n)
{
    const cell *worst = cells;
    double most = -INFINITY;
    char size[16];
    int n_over = 0, n_rounds = 0, n_aside = 0;

    for (int i = 0; i < n; i++) {
        const qn_batch_times *t = &cells[i].times;
        const double fixed = fmin(t->policy_us[QN_POLICY_CPU], t->policy_us[QN_POLICY_GPU]);
        const double excess = t->policy_us[QN_POLICY_AUTO] / fixed - 1;

        n_over += excess > 0.05;
        n_rounds += t->n_rounds;
        n_aside += t->n_aside;
        if (excess > most) {
            most = excess;
            worst = &cells[i];
        }
    }
    size_text(worst->halvings, size, sizeof size);
    printf("auto against the better of always CPU and always GPU: worst %+.1f %% (%s, size %s), "
           "%d of %d more than 5 %% worse\n"
           "%d rounds; %d runs were stopped by the machine and set aside\n",
           100 * most, worst->name, size, n_over, n, n_rounds, n_aside);
}

static qn_status print_cells(qn_ctx *ctx, const cell *cells, int n, int n_sizes, qn_err *err)
{
    qn_table table = qn_table_begin("SCENARIO", "SIZE", "BEST US", "AUTO US", "AUTO %", "CPU US",
                                    "CPU %", "GPU US", "GPU %", "STATIC US", "STATIC %");
    double regret = 0;
    char size[16];
    qn_status st;

    for (int i = 0; i < n; i++) {
        size_text(cells[i].halvings, size, sizeof size);
        add_cell(&table, cells[i].name, size, cells[i].times.policy_us, cells[i].best_us);
        if (n_sizes > 1 && (i + 1) % n_sizes == 0)
            add_sum(&table, cells[i].name, cells + i + 1 - n_sizes, n_sizes, &regret);
    }
    add_sum(&table, "total", cells, n, &regret);
    qn_metric_set(qn_metric_of(ctx->metrics, "route_regret", NULL), regret);
    if ((st = qn_route_print(&table, err)) == QN_OK)
        print_worst(cells, n);
    return st;
}

qn_status qn_route_eval_scenarios(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *wanted = qn_text(args, "scenario");
    const int n_sizes = (int)qn_int(args, "sizes");
    const qn_scenario *only = qn_scenario_find(wanted);
    cell *cells = calloc((size_t)(qn_scenario_count() * n_sizes), sizeof *cells);
    int n = 0;
    qn_status st = QN_OK;

    if (!cells)
        return qn_fail(err, QN_ERR_NOMEM, "%d sizes: out of host memory", n_sizes);
    if (!only && strcmp(wanted, "all") != 0) {
        st = qn_fail(err, QN_ERR_USAGE, "no scenario '%s'; quern tasks run --help names them",
                     wanted);
        goto out;
    }
    for (int i = 0; i < qn_scenario_count(); i++)
        for (int k = 0; k < n_sizes && (!only || only == qn_scenario_at(i)); k++) {
            cells[n] = (cell){ .name = qn_scenario_at(i)->name, .halvings = n_sizes / 2 - k };
            QN_TRY(eval_cell(ctx, args, qn_scenario_at(i), &cells[n], err));
            n++;
        }
    QN_TRY(print_cells(ctx, cells, n, n_sizes, err));
out:
    free(cells);
    return st;
}
