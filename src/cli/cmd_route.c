/* cmd_route.c - `quern route`: shows the router's knowledge and measures its choices. */
#include "cli/cmd_route.h"

#include "engine/engine.h"
#include "lab/route/route.h"
#include "util/crossover.h"
#include "util/list.h"
#include "util/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Show. */

static void print_device(const qn_ctx *ctx, int d)
{
    const qn_speed speed = qn_device_speed(ctx, d);
    int is_measured;
    const qn_link link = qn_device_link(ctx, d, &is_measured);
    const char *updated = qn_profile_updated(ctx, d);

    printf("%s  %s\n", qn_device_id(ctx, d), qn_device_get(ctx, d)->name);
    printf("  profile  %s\n", *updated ? updated : "none");
    printf("  speed    launch %.2f us, %.1f GB/s, %.1f Gflop/s (%s)\n", speed.launch_us, speed.gbps,
           speed.gflops, speed.is_measured ? "measured" : "assumed");
    if (!qn_device_get(ctx, d)->unified_memory)
        printf(
            "  link     up %.2f us + %.2f GB/s, down %.2f us + %.2f GB/s, %.1f us per run (%s)\n",
            link.h2d_us, link.h2d_gbps, link.d2h_us, link.d2h_gbps, link.sync_us,
            is_measured ? "measured" : "assumed");
}

static int n_samples(const qn_route_op *op, int d)
{
    int n = 0;

    for (int i = 0; i < qn_route_op_points(op, d); i++)
        n += qn_route_op_point(op, d, i).n;
    return n;
}

static qn_i64 crossover_of(const qn_route_op *op, int d, int m)
{
    return d == QN_CPU_SLOT ? -1 : qn_route_op_crossover(op, d, (qn_residency)m);
}

static qn_status print_ops(const qn_ctx *ctx, qn_err *err)
{
    qn_table table = qn_table_begin("OP", "DEVICE", "POINTS", "SAMPLES", "FIT US",
                                    "FIT US PER ITEM", "RESIDENT", "COLD");
    const qn_route_op *op;
    size_t at = 0;
    char text[32];

    while ((op = qn_route_op_next(ctx, &at)))
        for (int d = 0; d < qn_device_count(ctx); d++) {
            const qn_line fit = qn_route_op_fit(op, d);

            if (!qn_route_op_points(op, d))
                continue;
            qn_table_addf(&table, "%s\t%s\t%d\t%d\t%.3f\t%.3g", qn_route_op_name(op),
                          qn_device_id(ctx, d), qn_route_op_points(op, d), n_samples(op, d),
                          fit.a_us, fit.b_us);
            for (int m = QN_RESIDENT; m <= QN_COLD; m++)
                qn_table_add(&table, qn_crossover_text(crossover_of(op, d, m), text, sizeof text));
        }
    if (qn_table_rows(&table) <= 1) {
        qn_table_free(&table);
        printf("nothing has been measured; run quern calibrate\n");
        return QN_OK;
    }
    return qn_cli_print_table(&table, 0, err);
}

static qn_status print_op(const qn_ctx *ctx, const char *name, qn_err *err)
{
    const qn_route_op *op = qn_route_op_find(ctx, name);
    qn_table table;
    char a[32], b[32];

    if (!op && !qn_op_find(name))
        return qn_fail(err, QN_ERR_USAGE, "unknown op '%s'", name);
    table = qn_table_begin("DEVICE", "SIZE", "MEDIAN US", "MAD US", "SAMPLES");
    for (int d = 0; op && d < qn_device_count(ctx); d++)
        for (int i = 0; i < qn_route_op_points(op, d); i++) {
            const qn_route_point point = qn_route_op_point(op, d, i);

            qn_table_addf(&table, "%s\t%.0f\t%.3f\t%.3f\t%d", qn_device_id(ctx, d), point.size,
                          point.median_us, point.mad_us, point.n);
        }
    for (int d = 1; op && d < qn_device_count(ctx); d++)
        if (qn_route_op_points(op, d))
            printf("%s  threshold resident %s, cold %s\n", qn_device_id(ctx, d),
                   qn_crossover_text(crossover_of(op, d, QN_RESIDENT), a, sizeof a),
                   qn_crossover_text(crossover_of(op, d, QN_COLD), b, sizeof b));
    if (qn_table_rows(&table) <= 1) {
        qn_table_free(&table);
        printf("%s has not been measured; run quern calibrate --op %s\n", name, name);
        return QN_OK;
    }
    return qn_cli_print_table(&table, 0, err);
}

static qn_status run_show(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_profile_load_all(ctx);
    if (args->n_words)
        return print_op(ctx, args->words[0], err);
    for (int d = 0; d < qn_device_count(ctx); d++)
        print_device(ctx, d);
    return print_ops(ctx, err);
}

/* Eval: a trace. */

static const char *const policies[QN_N_POLICIES] = {
    [QN_POLICY_AUTO] = "auto",
    [QN_POLICY_CPU] = "always CPU",
    [QN_POLICY_GPU] = "always GPU",
    [QN_POLICY_STATIC] = "static",
};

/* Decisions of a trace, and the devices of their times. */
typedef struct {
    qn_csv csv;
    qn_explain_row *rows;
    size_t n_rows;
    qn_trial *trials;
    int *routed; /* the device chosen when the trace was made */
    int n;
    const char *devices[QN_REGRET_DEVICES];
    int n_devices;
} trace;

static void trace_free(trace *t)
{
    qn_csv_free(&t->csv);
    free(t->rows);
    free(t->trials);
    free(t->routed);
}

static int by_seq(const void *a, const void *b)
{
    const qn_explain_row *x = a, *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Numbers devices in the order in which they appear, but the CPU first. */
static qn_status find_device(trace *t, const char *id, int *out, qn_err *err)
{
    for (int d = 0; d < t->n_devices; d++)
        if (!strcmp(t->devices[d], id)) {
            *out = d;
            return QN_OK;
        }
    if (t->n_devices == QN_REGRET_DEVICES)
        return qn_fail(err, QN_ERR_INPUT, "%s: more than %d devices", t->csv.name,
                       QN_REGRET_DEVICES);
    t->devices[t->n_devices] = id;
    *out = t->n_devices++;
    return QN_OK;
}

static qn_status add_row(trace *t, const qn_explain_row *row, int is_first, qn_err *err)
{
    qn_trial *trial;
    qn_status st;
    int d = 0;

    if (is_first) {
        trial = &t->trials[t->n];
        *trial = (qn_trial){ .op = row->op, .size = row->size };
        for (int i = 0; i < QN_REGRET_DEVICES; i++)
            trial->us[i] = NAN;
        t->routed[t->n++] = -1;
    }
    trial = &t->trials[t->n - 1];
    if ((st = find_device(t, row->candidate, &d, err)) != QN_OK)
        return st;
    trial->us[d] = row->actual_us;
    if (row->chosen)
        t->routed[t->n - 1] = d;
    return QN_OK;
}

static qn_status trace_read(const char *path, trace *t, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_explain_read(path, &t->csv, &t->rows, &t->n_rows, err));
    qsort(t->rows, t->n_rows, sizeof *t->rows, by_seq);
    QN_TRY(QN_NEW(t->trials, t->n_rows, "decisions", err));
    QN_TRY(QN_NEW(t->routed, t->n_rows, "decisions", err));
    t->devices[t->n_devices++] = "cpu:0";
    for (size_t i = 0; i < t->n_rows; i++)
        QN_TRY(add_row(t, &t->rows[i], i == 0 || t->rows[i].seq != t->rows[i - 1].seq, err));
    if (!t->n)
        st = qn_fail(err, QN_ERR_INPUT, "%s: no decisions", path);
out:
    return st;
}

/* Whether the file has the time of every candidate. */
static int is_measured(const trace *t)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (isnan(t->rows[i].actual_us))
            return 0;
    for (int i = 0; i < t->n; i++)
        if (isnan(t->trials[i].us[QN_CPU_SLOT]))
            return 0;
    return 1;
}

static const qn_trial *find_same(const trace *t, int i)
{
    for (int k = 0; k < i; k++)
        if (t->trials[k].size == t->trials[i].size && !strcmp(t->trials[k].op, t->trials[i].op))
            return &t->trials[k];
    return NULL;
}

/* Runs every decision on every device of the context. */
static qn_status replay(qn_ctx *ctx, trace *t, int samples, qn_err *err)
{
    const char *const cpu = t->devices[0];
    qn_status st = QN_OK;

    for (int i = 0; i < t->n; i++) {
        const qn_trial *same = find_same(t, i);
        const char *was = t->routed[i] >= 0 ? t->devices[t->routed[i]] : cpu;

        t->routed[i] = qn_device_find(ctx, was);
        if (same)
            memcpy(t->trials[i].us, same->us, sizeof same->us);
        else
            QN_TRY(
                qn_eval_op(ctx, t->trials[i].op, t->trials[i].size, samples, t->trials[i].us, err));
    }
    t->n_devices =
        qn_device_count(ctx) < QN_REGRET_DEVICES ? qn_device_count(ctx) : QN_REGRET_DEVICES;
    for (int d = 0; d < t->n_devices; d++)
        t->devices[d] = qn_device_id(ctx, d);
out:
    return st;
}

/* The static policy uses the profile of the best device. */
static void set_thresholds(qn_ctx *ctx, trace *t)
{
    int best = -1;

    if (!qn_devices_select(ctx, 1, &best))
        return;
    for (int i = 0; i < t->n; i++) {
        const qn_route_op *op = qn_route_op_find(ctx, t->trials[i].op);

        if (op && crossover_of(op, best, QN_COLD) > 0)
            t->trials[i].threshold = crossover_of(op, best, QN_COLD);
    }
}

static double routed_us(const trace *t, int skip)
{
    double sum = 0;

    for (int i = skip; i < t->n; i++) {
        const double us = t->routed[i] >= 0 ? t->trials[i].us[t->routed[i]] : NAN;

        sum += isnan(us) ? t->trials[i].us[QN_CPU_SLOT] : us;
    }
    return sum;
}

static void add_policy(qn_table *table, const char *name, double us, double best_us)
{
    qn_table_addf(table, "%s\t%.3f\t%.2f", name, us / 1000,
                  best_us > 0 ? (us / best_us - 1) * 100 : 0);
}

static qn_status print_regret(qn_ctx *ctx, const trace *t, int skip, qn_err *err)
{
    qn_table table = qn_table_begin("POLICY", "MS", "REGRET %");
    qn_regret r;
    const qn_status st = qn_route_regret(t->trials, t->n, t->n_devices, skip, &r, NULL, err);

    if (st != QN_OK) {
        qn_table_free(&table);
        return st;
    }
    printf("%d decisions, the first %d not counted; auto probed %d times; auto chose", t->n, skip,
           r.probes);
    for (int d = 0; d < t->n_devices; d++)
        printf("%s %s %d times", d ? "," : "", t->devices[d], r.decisions[d]);
    printf("\n");
    add_policy(&table, "best", r.best_us, r.best_us);
    add_policy(&table, "as routed", routed_us(t, skip), r.best_us);
    for (int p = 0; p < QN_N_POLICIES; p++)
        add_policy(&table, policies[p], r.us[p], r.best_us);
    qn_metric_set(qn_metric_of(qn_ctx_metrics(ctx), "route_regret", NULL),
                  r.regret[QN_POLICY_AUTO]);
    return qn_cli_print_table(&table, 0, err);
}

static qn_status eval_trace(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    trace t = { .n = 0 };
    int skip;
    qn_status st = QN_OK;

    QN_TRY(qn_cli_input(args->words[0], err));
    QN_TRY(trace_read(args->words[0], &t, err));
    skip = (int)qn_int(args, "skip");
    if (skip >= t.n)
        QN_FAIL(err, QN_ERR_USAGE, "--skip %d leaves nothing of %d decisions", skip, t.n);
    qn_profile_load_all(ctx);
    if (!is_measured(&t))
        QN_TRY(replay(ctx, &t, (int)qn_int(args, "samples"), err));
    set_thresholds(ctx, &t);
    QN_TRY(print_regret(ctx, &t, skip, err));
out:
    trace_free(&t);
    return st;
}

static qn_status run_eval(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    if ((args->n_words > 0) == (qn_text(args, "scenario") != NULL))
        return qn_fail(err, QN_ERR_USAGE, "give either a TRACE.csv or --scenario");
    return args->n_words ? eval_trace(ctx, args, err) : qn_route_eval_scenarios(ctx, args, err);
}

/* The command. */

static const qn_opt eval_options[] = {
    { 0, "scenario", QN_OPT_TEXT, .value = "NAME",
      .help = "built-in batch of vadd tasks instead of a trace, or all" },
    { 0, "samples", QN_OPT_INT, .value = "N", .fallback = "20", .min = 1, .max = 100000,
      .help = "runs per scenario and policy, or per decision that must be measured" },
    { 0, "warmup", QN_OPT_INT, .value = "N", .fallback = "50", .min = 0, .max = 100000,
      .help = "runs of a scenario before the clock starts" },
    { 0, "spread", QN_OPT_INT, .value = "N", .fallback = "1", .min = 1, .max = QN_ROUTE_SIZES,
      .help = "sizes per scenario, doubling, with its own size in the middle" },
    { 0, "seconds", QN_OPT_REAL, .value = "S", .fallback = "10", .min = 0, .max = 3600,
      .help = "time limit per scenario and size, and again for the warm-up" },
    { 0, "skip", QN_OPT_INT, .value = "N", .fallback = "0", .min = 0, .max = 1000000000,
      .help = "number of first decisions of a trace that only train the router" },
    { 0 }
};

static const char *const show_examples[] = { "quern route show vadd", NULL };
static const char *const eval_examples[] = {
    "quern route eval --scenario Uniform-32k --samples 5 --warmup 5 --backend cpu", NULL
};

static const qn_command show_verb = {
    .name = "show",
    .summary = "links, speeds, models and thresholds of the devices",
    .words = "[OP]",
    .max_words = 1,
    .examples = show_examples,
    .run = run_show,
};

static const qn_command eval_verb = {
    .name = "eval",
    .summary = "time lost compared with the best choice, for each policy",
    .words = "[TRACE.csv]",
    .max_words = 1,
    .options = eval_options,
    .notes =
        "TRACE.csv is written by --explain-route. Decisions without times are run on every device\n"
        "of this machine. Regret is the time of a policy / the sum of the best times - 1; \"as\n"
        "routed\" is the choice recorded in the trace, \"auto\" a router that starts without\n"
        "knowledge.\n"
        "\n"
        "Scenarios run under each policy in slices of 0.1 ms, in a new random order each round, "
        "on\n"
        "the same arrays. A figure is the mean over rounds of the difference to the device that "
        "is\n"
        "best when it is always chosen. A fifth of the rounds is left out at either end, but "
        "rounds\n"
        "in which the router measured or explored count in full; +- is the standard error. \"CPU\n"
        "again\" compares the CPU with itself: its difference from 0 is noise. \"worse\" is more\n"
        "than 5 % and twice the standard error, \"unclear\" more than 5 % but less than that.",
    .examples = eval_examples,
    .run = run_eval,
};

static const qn_command *const verbs[] = { &show_verb, &eval_verb, NULL };

const qn_command qn_cmd_route = {
    .name = "route",
    .summary = "show the router's knowledge, and measure how good its choices are",
    .verbs = verbs,
};
