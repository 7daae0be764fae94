/* cmd_route_scenarios.c - `quern route eval --scenario`: runs batches under every policy. */
#include "cli/cmd_route.h"

#include "lab/tasks/bench.h"
#include "engine/engine.h"
#include "lab/route/route.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One scenario at one size. */
typedef struct {
    const char *name;
    int halvings; /* of the scenario's own sizes; negative: doublings */
    qn_batch_times times;
} cell;

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

    for (int t = 0; t < s->n_tasks; t++) {
        const qn_i64 n = s->sizes[t];

        sizes[t] = c->halvings < 0 ? n << -c->halvings : n >> c->halvings;
    }
    return qn_eval_batch(ctx, &plan, &c->times, err);
}

static void size_text(int halvings, char *out, size_t room)
{
    snprintf(out, room, halvings > 0 ? "1/%d" : "%d", 1 << (halvings > 0 ? halvings : -halvings));
}

/* Whether it is more than 5 % worse; and by more than its error, so that it is no accident. */
static int is_worse(const qn_estimate *more, double base_us)
{
    return more->us > 0.05 * base_us;
}

static int is_surely_worse(const qn_estimate *more, double base_us)
{
    return more->us - 2 * more->se_us > 0.05 * base_us;
}

static const char *verdict(const qn_estimate *more, double base_us)
{
    return !is_worse(more, base_us) ? "ok" : is_surely_worse(more, base_us) ? "worse" : "unclear";
}

static void add_share(qn_table *table, double us, double base_us)
{
    if (isnan(us) || !(base_us > 0))
        qn_table_add(table, "-");
    else
        qn_table_addf(table, "%.1f", 100 * us / base_us);
}

static void add_row(qn_table *table, const char *name, const char *size, const qn_batch_times *t)
{
    const qn_estimate *more = &t->more_us[QN_POLICY_AUTO];

    qn_table_addf(table, "%s\t%s\t%.1f\t%.1f", name, size, t->best_us, t->best_us + more->us);
    add_share(table, more->us, t->best_us);
    add_share(table, more->se_us, t->best_us);
    qn_table_add(table, verdict(more, t->best_us));
    add_share(table, t->more_us[QN_POLICY_CPU].us, t->best_us);
    add_share(table, t->more_us[QN_POLICY_GPU].us, t->best_us);
    add_share(table, t->more_us[QN_POLICY_STATIC].us, t->best_us);
    add_share(table, t->again_us.us, t->cpu_us);
    add_share(table, t->again_us.se_us, t->cpu_us);
}

static void add_estimate(qn_estimate *sum, const qn_estimate *one)
{
    sum->us += one->us;
    sum->se_us = hypot(sum->se_us, one->se_us);
}

static qn_batch_times sum_of(const cell *cells, int n)
{
    qn_batch_times sum = { 0 };

    for (int i = 0; i < n; i++) {
        const qn_batch_times *t = &cells[i].times;

        sum.best_us += t->best_us;
        sum.cpu_us += t->cpu_us;
        sum.n_rounds += t->n_rounds;
        sum.n_special += t->n_special;
        add_estimate(&sum.again_us, &t->again_us);
        for (int p = 0; p < QN_N_POLICIES; p++)
            add_estimate(&sum.more_us[p], &t->more_us[p]);
    }
    return sum;
}

static void print_worst(const cell *cells, int n)
{
    const cell *worst = cells;
    double most = -INFINITY;
    char size[16];
    int n_worse = 0, n_surely = 0;

    for (int i = 0; i < n; i++) {
        const qn_batch_times *t = &cells[i].times;
        const qn_estimate *more = &t->more_us[QN_POLICY_AUTO];

        n_worse += is_worse(more, t->best_us);
        n_surely += is_surely_worse(more, t->best_us);
        if (more->us / t->best_us > most) {
            most = more->us / t->best_us;
            worst = &cells[i];
        }
    }
    size_text(worst->halvings, size, sizeof size);
    printf("auto against the best fixed choice: worst %+.1f %% (%s, size %s), %d of %d more than 5 "
           "%% worse, %d of them by more than twice the standard error\n",
           100 * most, worst->name, size, n_worse, n, n_surely);
}

/* Prints how much one choice differs from itself. */
static void print_noise(const cell *cells, int n)
{
    double square = 0, most = 0;

    for (int i = 0; i < n; i++) {
        const double share = cells[i].times.again_us.us / cells[i].times.cpu_us;

        square += share * share / n;
        most = fabs(share) > fabs(most) ? share : most;
    }
    printf("the CPU against itself: %.1f %% in the root mean square, at most %+.1f %%\n",
           100 * sqrt(square), 100 * most);
}

static qn_status print_cells(qn_ctx *ctx, const cell *cells, int n, int n_sizes, qn_err *err)
{
    qn_table table = qn_table_begin("SCENARIO", "SIZE", "BEST US", "AUTO US", "AUTO %", "+- %",
                                    "VERDICT", "CPU %", "GPU %", "STATIC %", "CPU AGAIN %", "+- %");
    const qn_batch_times total = sum_of(cells, n);
    qn_status st;

    for (int i = 0; i < n; i++) {
        char size[16];

        size_text(cells[i].halvings, size, sizeof size);
        add_row(&table, cells[i].name, size, &cells[i].times);
        if (n_sizes > 1 && (i + 1) % n_sizes == 0) {
            const qn_batch_times sum = sum_of(cells + i + 1 - n_sizes, n_sizes);

            add_row(&table, cells[i].name, "all", &sum);
        }
    }
    add_row(&table, "total", "all", &total);
    qn_metric_set(qn_metric_of(qn_ctx_metrics(ctx), "route_regret", NULL),
                  total.more_us[QN_POLICY_AUTO].us / total.best_us);
    if ((st = qn_cli_print_table(&table, 0, err)) != QN_OK)
        return st;
    print_worst(cells, n);
    print_noise(cells, n);
    printf("%d rounds; the router timed or tried something in %d of them\n", total.n_rounds,
           total.n_special);
    return QN_OK;
}

qn_status qn_route_eval_scenarios(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *wanted = qn_text(args, "scenario");
    const int n_sizes = (int)qn_int(args, "spread");
    const qn_scenario *only = qn_scenario_find(wanted);
    cell *cells;
    int n = 0;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(cells, qn_scenario_count() * n_sizes, "sizes of scenarios", err));
    if (!only && strcmp(wanted, "all") != 0)
        QN_FAIL(err, QN_ERR_USAGE, "no scenario '%s'; quern tasks run --help lists them", wanted);
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
