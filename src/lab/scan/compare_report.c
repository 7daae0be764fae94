/* compare_report.c - a comparison as tables, on a terminal and as Markdown. */
#include "lab/scan/report.h"

#include "util/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void add_us(qn_table *table, const qn_scan_row *row)
{
    char text[32];

    qn_table_add(table,
                 qn_unit_format(QN_UNIT_US, row ? row->median_us : NAN, 4, text, sizeof text));
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
        if (join->b_from)
            qn_table_addf(&table, "%lld", (long long)join->b_from);
        else
            qn_table_add(&table, "none");
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
            add_us(&table, match->a);
            if (match->winner == QN_WINS_A)
                qn_table_mark(&table);
            add_us(&table, match->b);
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
            add_us(table, same[s] ? qn_curve_at(same[s], at) : NULL);
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

/* Terminal and Markdown. */

qn_status qn_compare_print(const qn_compare *compare, FILE *to, qn_err *err)
{
    for (size_t i = 0; i + 1 < compare->n_scans; i++) {
        const qn_pair *pair = &compare->pairs[i];
        qn_table table = qn_compare_counts_table(pair);

        fprintf(to, "%sA = %s, B = %s\n", i ? "\n" : "", pair->a->name, pair->b->name);
        if (!qn_report_print_table(&table, to))
            return qn_fail(err, QN_ERR_IO, "cannot print a table of %zu curves", pair->n_joins);
    }
    return QN_OK;
}

static void add_table(qn_str *out, qn_table table)
{
    qn_table_format(&table, QN_TABLE_MARKDOWN, out);
    qn_str_add(out, "\n");
    qn_table_free(&table);
}

static qn_status write_md(const qn_compare *compare, const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    qn_str out = { 0 };

    qn_str_add(&out, "# quern compare\n\n");
    add_table(&out, qn_compare_facts_table(compare));
    for (size_t i = 0; i + 1 < compare->n_scans; i++) {
        const qn_pair *pair = &compare->pairs[i];

        qn_str_addf(&out, "## A = %s, B = %s\n\n", pair->a->name, pair->b->name);
        add_table(&out, qn_compare_counts_table(pair));
        add_table(&out, qn_compare_match_table(pair));
    }
    if (compare->n_scans > 2) {
        qn_str_add(&out, "## All scans\n\n");
        add_table(&out, qn_compare_all_table(compare));
    }
    qn_str_add(&out, "## Notes\n\n"
                     "- Times are medians. A ratio B / A from 0.95 to 1.05 is a tie.\n"
                     "- \"B wins from\" is the first compared size from which on B wins at every "
                     "compared size.\n"
                     "- Sizes that one scan lacks are listed and not compared.\n");
    st = qn_file_write_str(path, &out, err);
    qn_str_free(&out);
    return st;
}

qn_status qn_compare_save(const qn_compare *compare, const char *prefix, qn_err *err)
{
    qn_status st = QN_OK;
    char path[4096];

    QN_TRY(qn_make_parent(prefix, err));
    QN_TRY(qn_report_path(prefix, ".md", path, sizeof path, err));
    QN_TRY(write_md(compare, path, err));
    QN_TRY(qn_report_path(prefix, ".html", path, sizeof path, err));
    QN_TRY(qn_compare_write_html(compare, path, err));
out:
    return st;
}
