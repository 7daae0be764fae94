/* tables.c - tables of a scan, and of a comparison of scans. */
#include "lab/scan/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CURVES = 40 }; /* columns of one table; a context has at most 16 devices */

const char *qn_residency_text(qn_residency residency)
{
    return residency == QN_COLD ? "cold: inputs on the host, result back on the host"
                                : "resident: data in place, nothing copied";
}

/* A time with its unit; "-" for NaN. */
static void add_us(qn_table *table, double us)
{
    char text[32];

    qn_table_add(table, qn_unit_format(QN_UNIT_US, us, 4, text, sizeof text));
}

static void add_median(qn_table *table, const qn_scan_row *row)
{
    add_us(table, row ? row->median_us : NAN);
}

/* The curve with the smallest median at `size`; NULL if none has that size. */
static const qn_curve *fastest(const qn_curve *from, const qn_curve *to, qn_i64 size)
{
    const qn_curve *best = NULL;
    double best_us = INFINITY;

    for (const qn_curve *c = from; c < to; c++) {
        const qn_scan_row *row = qn_curve_at(c, size);

        if (row && row->median_us < best_us) {
            best_us = row->median_us;
            best = c;
        }
    }
    return best;
}

static void add_size(qn_table *table, const qn_curve *from, const qn_curve *to, qn_i64 size)
{
    const qn_curve *best = fastest(from, to, size);

    qn_table_addf(table, "%lld", (long long)size);
    for (const qn_curve *c = from; c < to; c++) {
        const qn_scan_row *row = qn_curve_at(c, size);

        add_median(table, row);
        if (c == best)
            qn_table_mark(table);
        add_us(table, row ? row->p90_us : NAN);
    }
    qn_table_add(table, best ? qn_curve_label(best) : "-");
}

qn_table qn_scan_size_table(const qn_curve *from, const qn_curve *to)
{
    const char *names[2 * MAX_CURVES + 3];
    qn_i64 *sizes = NULL;
    size_t n_sizes = 0, n = 0;
    qn_err unheard;
    qn_table table;

    if (to - from > MAX_CURVES)
        to = from + MAX_CURVES;
    names[n++] = "Size";
    for (const qn_curve *c = from; c < to; c++) {
        names[n++] = qn_curve_label(c);
        names[n++] = "p90";
    }
    names[n++] = "Winner";
    names[n] = NULL;
    table = qn_table_begin_list(names);
    if (qn_curves_sizes(from, to, &sizes, &n_sizes, &unheard) != QN_OK)
        table.failed = 1;
    for (size_t i = 0; i < n_sizes; i++)
        add_size(&table, from, to, sizes[i]);
    free(sizes);
    return table;
}

static void add_crossing(qn_table *table, qn_i64 size)
{
    if (size)
        qn_table_addf(table, "%lld", (long long)size);
    else
        qn_table_add(table, "none");
}

static void add_curve(qn_table *table, const qn_curves *curves, const qn_curve *curve)
{
    const qn_curve *cpu = qn_curve_cpu(curves, curve);
    const qn_scan_row *last = curve->rows[curve->n - 1];
    qn_crossover crossover;
    qn_err unheard;

    qn_table_add(table, curve->op);
    qn_table_add(table, qn_residency_name(curve->residency));
    qn_table_add(table, qn_curve_label(curve));
    qn_table_addf(table, "%zu", curve->n);
    add_us(table, curve->rows[0]->median_us);
    add_us(table, last->median_us);
    if (!cpu || !qn_curve_is_device(curve)) {
        qn_table_add(table, "-");
        qn_table_add(table, "-");
        return;
    }
    if (qn_curve_crossover(curve, cpu, &crossover, &unheard) != QN_OK) {
        table->failed = 1;
        return;
    }
    add_crossing(table, crossover.crossover);
    add_crossing(table, crossover.first_win);
}

qn_table qn_scan_crossover_table(const qn_curves *curves)
{
    qn_table table = qn_table_begin("Op", "Residency", "Device", "Sizes", "Smallest", "Largest",
                                    "Crossover", "First win");

    for (size_t i = 0; i < curves->n; i++)
        add_curve(&table, curves, &curves->list[i]);
    return table;
}

/* "CPU 5, cuda:0 8" */
static void add_wins(qn_table *table, const qn_curve *from, const qn_curve *to, const qn_i64 *sizes,
                     size_t n_sizes)
{
    qn_str text = { 0 };

    for (const qn_curve *c = from; c < to; c++) {
        size_t wins = 0;

        for (size_t i = 0; i < n_sizes; i++)
            wins += fastest(from, to, sizes[i]) == c;
        qn_str_addf(&text, "%s%s %zu", c > from ? "; " : "", qn_curve_label(c), wins);
    }
    table->failed |= text.failed;
    qn_table_add(table, from->op);
    qn_table_add(table, qn_residency_name(from->residency));
    qn_table_addf(table, "%zu", n_sizes);
    qn_table_add(table, qn_str_get(&text));
    qn_str_free(&text);
}

qn_table qn_scan_wins_table(const qn_curves *curves)
{
    qn_table table = qn_table_begin("Op", "Residency", "Sizes", "Wins");
    size_t end;

    for (size_t at = 0; at < curves->n; at = end) {
        const qn_curve *from = &curves->list[at];
        qn_i64 *sizes;
        qn_err unheard;
        size_t n;

        end = qn_curves_residency_end(curves, at);
        if (qn_curves_sizes(from, curves->list + end, &sizes, &n, &unheard) != QN_OK) {
            table.failed = 1;
            break;
        }
        add_wins(&table, from, curves->list + end, sizes, n);
        free(sizes);
    }
    return table;
}

/* Comparisons. */

static const qn_curve *either(const qn_join *join)
{
    return join->a ? join->a : join->b;
}

static void add_key(qn_table *table, const qn_curve *curve)
{
    qn_table_add(table, curve->op);
    qn_table_add(table, qn_residency_name(curve->residency));
    if (curve->rank)
        qn_table_addf(table, "%s (%d)", curve->backend, curve->rank + 1);
    else
        qn_table_add(table, curve->backend);
}

static void add_missing(qn_table *table, const qn_i64 *sizes, size_t n)
{
    qn_str text = { 0 };

    for (size_t i = 0; i < n; i++)
        qn_str_addf(&text, "%s%lld", i ? " " : "", (long long)sizes[i]);
    table->failed |= text.failed;
    qn_table_add(table, n ? qn_str_get(&text) : "-");
    qn_str_free(&text);
}

qn_table qn_compare_counts_table(const qn_pair *pair)
{
    qn_table table = qn_table_begin("Op", "Residency", "Backend", "Compared", "A wins", "B wins",
                                    "Ties", "B wins from", "Missing in A", "Missing in B");

    for (size_t i = 0; i < pair->n_joins; i++) {
        const qn_join *join = &pair->joins[i];

        add_key(&table, either(join));
        qn_table_addf(&table, "%zu", join->n_matches);
        qn_table_addf(&table, "%zu", join->wins_a);
        qn_table_addf(&table, "%zu", join->wins_b);
        qn_table_addf(&table, "%zu", join->ties);
        add_crossing(&table, join->b_from);
        add_missing(&table, join->only_b, join->n_only_b);
        add_missing(&table, join->only_a, join->n_only_a);
    }
    return table;
}

qn_table qn_compare_match_table(const qn_pair *pair)
{
    qn_table table =
        qn_table_begin("Op", "Residency", "Backend", "Size", "A", "B", "B / A", "Winner");

    for (size_t i = 0; i < pair->n_joins; i++) {
        const qn_join *join = &pair->joins[i];

        for (size_t m = 0; m < join->n_matches; m++) {
            const qn_match *match = &join->matches[m];

            add_key(&table, join->a);
            qn_table_addf(&table, "%lld", (long long)match->a->size);
            add_us(&table, match->a->median_us);
            if (match->winner == QN_WINS_A)
                qn_table_mark(&table);
            add_us(&table, match->b->median_us);
            if (match->winner == QN_WINS_B)
                qn_table_mark(&table);
            if (isfinite(match->ratio))
                qn_table_addf(&table, "%.3f", match->ratio);
            else
                qn_table_add(&table, "-");
            qn_table_add(&table, qn_winner_name(match->winner));
        }
    }
    return table;
}

/* All scans side by side. */

static qn_table begin_wide(const qn_compare *compare, const char *const *first, size_t n_first)
{
    const char *names[QN_COMPARE_MAX + 8];
    size_t n = 0;

    for (size_t i = 0; i < n_first; i++)
        names[n++] = first[i];
    for (size_t s = 0; s < compare->n_scans; s++)
        names[n++] = compare->scans[s].name;
    names[n] = NULL;
    return qn_table_begin_list(names);
}

/* One row per size that any scan has for this curve. */
static void add_curve_rows(qn_table *table, const qn_compare *compare, const qn_curve *curve)
{
    const qn_curve *same[QN_COMPARE_MAX];
    qn_i64 at = 0;

    for (size_t s = 0; s < compare->n_scans; s++)
        same[s] = qn_curve_same(&compare->curves[s], curve);
    for (;;) {
        qn_i64 next = INT64_MAX;

        for (size_t s = 0; s < compare->n_scans; s++)
            for (size_t i = 0; same[s] && i < same[s]->n; i++)
                if (same[s]->rows[i]->size > at && same[s]->rows[i]->size < next)
                    next = same[s]->rows[i]->size;
        if (next == INT64_MAX)
            return;
        at = next;
        add_key(table, curve);
        qn_table_addf(table, "%lld", (long long)at);
        for (size_t s = 0; s < compare->n_scans; s++)
            add_median(table, same[s] ? qn_curve_at(same[s], at) : NULL);
    }
}

qn_table qn_compare_all_table(const qn_compare *compare)
{
    static const char *const first[] = { "Op", "Residency", "Backend", "Size" };
    qn_table table = begin_wide(compare, first, 4);

    for (size_t s = 0; s < compare->n_scans; s++) {
        for (size_t i = 0; i < compare->curves[s].n; i++) {
            const qn_curve *curve = &compare->curves[s].list[i];
            int is_new = 1;

            for (size_t k = 0; k < s && is_new; k++)
                is_new = !qn_curve_same(&compare->curves[k], curve);
            if (is_new)
                add_curve_rows(&table, compare, curve);
        }
    }
    return table;
}

/* All values of a key: "cuda:0 ..., opencl:0 ...". */
static void add_fact_cell(qn_table *table, const qn_scan *scan, const char *key)
{
    qn_str text = { 0 };

    for (size_t i = 0; i < scan->n_facts; i++)
        if (!strcmp(scan->facts[i].key, key))
            qn_str_addf(&text, "%s%s", text.len ? "; " : "", scan->facts[i].value);
    table->failed |= text.failed;
    qn_table_add(table, text.len ? qn_str_get(&text) : "-");
    qn_str_free(&text);
}

qn_table qn_compare_facts_table(const qn_compare *compare)
{
    static const char *const first[] = { "Condition" };
    static const char *const keys[] = { "version", "date",    "host", "device",
                                        "driver",  "threads", "seed", "command" };
    qn_table table = begin_wide(compare, first, 1);

    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        qn_table_add(&table, keys[k]);
        for (size_t s = 0; s < compare->n_scans; s++)
            add_fact_cell(&table, &compare->scans[s], keys[k]);
    }
    return table;
}
