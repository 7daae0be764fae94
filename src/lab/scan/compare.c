/* compare.c - scans joined on (op, size, residency, backend), and the document about them, with a
 * panel per host, all on the same scales. */
#include "lab/scan/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tie_low = 0.95, tie_high = 1.05;

qn_winner qn_compare_winner(double a_us, double b_us)
{
    /* A product, not a quotient: A may be 0 on a simulated device that costs nothing. */
    if (b_us < tie_low * a_us)
        return QN_WINS_B;
    return b_us > tie_high * a_us ? QN_WINS_A : QN_TIE;
}

const char *qn_winner_name(qn_winner winner)
{
    static const char *const names[] = { "A", "B", "tie" };

    return names[winner];
}

/* One curve of A with one of B. */

static int is_same(const qn_curve *a, const qn_curve *b)
{
    return !strcmp(a->op, b->op) && a->residency == b->residency &&
           !strcmp(a->backend, b->backend) && a->rank == b->rank;
}

const qn_curve *qn_curve_same(const qn_curves *curves, const qn_curve *curve)
{
    for (size_t i = 0; i < curves->n; i++)
        if (is_same(&curves->list[i], curve))
            return &curves->list[i];
    return NULL;
}

static void add_match(qn_join *join, const qn_scan_row *a, const qn_scan_row *b)
{
    const qn_match match = { a, b, b->median_us / a->median_us,
                             qn_compare_winner(a->median_us, b->median_us) };

    join->matches[join->n_matches++] = match;
    join->wins_a += match.winner == QN_WINS_A;
    join->wins_b += match.winner == QN_WINS_B;
    join->ties += match.winner == QN_TIE;
}

static void join_sizes(qn_join *join)
{
    const size_t n_a = join->a ? join->a->n : 0, n_b = join->b ? join->b->n : 0;
    size_t i = 0, k = 0;

    while (i < n_a || k < n_b) {
        const qn_scan_row *a = i < n_a ? join->a->rows[i] : NULL;
        const qn_scan_row *b = k < n_b ? join->b->rows[k] : NULL;

        if (a && b && a->size == b->size) {
            add_match(join, a, b);
            i++;
            k++;
        } else if (a && (!b || a->size < b->size)) {
            join->only_a[join->n_only_a++] = a->size;
            i++;
        } else {
            join->only_b[join->n_only_b++] = b->size;
            k++;
        }
    }
    for (size_t m = join->n_matches; m-- > 0 && join->matches[m].winner == QN_WINS_B;)
        join->b_from = join->matches[m].a->size;
}

static qn_status make_join(qn_owned *owned, const qn_curve *a, const qn_curve *b, qn_join *join,
                           qn_err *err)
{
    const size_t n_a = a ? a->n : 0, n_b = b ? b->n : 0;
    qn_status st = QN_OK;

    *join = (qn_join){ .a = a, .b = b };
    QN_TRY(qn_owned_memory(owned, n_a * sizeof *join->matches, &join->matches, err));
    QN_TRY(qn_owned_memory(owned, n_a * sizeof *join->only_a, &join->only_a, err));
    QN_TRY(qn_owned_memory(owned, n_b * sizeof *join->only_b, &join->only_b, err));
    join_sizes(join);
out:
    return st;
}

/* Pairs of scans. */

/* The curves of A in their order, then those only in B. */
static qn_status make_pair(qn_compare *compare, size_t b, qn_pair *pair, qn_err *err)
{
    const qn_curves *of_a = &compare->curves[0], *of_b = &compare->curves[b];
    qn_owned *owned = &compare->owned;
    qn_status st = QN_OK;

    pair->a = &compare->scans[0];
    pair->b = &compare->scans[b];
    QN_TRY(qn_owned_memory(owned, (of_a->n + of_b->n) * sizeof *pair->joins, &pair->joins, err));
    for (size_t i = 0; i < of_a->n; i++) {
        const qn_curve *curve = &of_a->list[i];

        QN_TRY(make_join(owned, curve, qn_curve_same(of_b, curve), &pair->joins[pair->n_joins++],
                         err));
    }
    for (size_t i = 0; i < of_b->n; i++)
        if (!qn_curve_same(of_a, &of_b->list[i]))
            QN_TRY(make_join(owned, NULL, &of_b->list[i], &pair->joins[pair->n_joins++], err));
out:
    return st;
}

void qn_compare_free(qn_compare *compare)
{
    qn_owned_free(&compare->owned, 0);
    for (size_t i = 0; i < compare->n_scans; i++)
        qn_scan_free(&compare->scans[i]);
    free(compare->scans);
    *compare = (qn_compare){ 0 };
}

qn_status qn_compare_make(qn_scan *scans, size_t n, qn_compare *out, qn_err *err)
{
    qn_compare compare = { .scans = scans, .n_scans = n };
    qn_status st = QN_OK;

    QN_TRY(qn_owned_memory(&compare.owned, n * sizeof *compare.curves, &compare.curves, err));
    QN_TRY(qn_owned_memory(&compare.owned, n * sizeof *compare.pairs, &compare.pairs, err));
    for (size_t i = 0; i < n; i++)
        QN_TRY(qn_curves_make(&compare.owned, &scans[i], &compare.curves[i], err));
    for (size_t i = 1; i < n; i++)
        QN_TRY(make_pair(&compare, i, &compare.pairs[i - 1], err));
    *out = compare;
    compare = (qn_compare){ 0 };
out:
    qn_compare_free(&compare);
    return st;
}

/* Adds numbers to equal names, such as those of files scan.csv in two folders. It works backwards,
 * so that names are compared before they are numbered. */
static qn_status name_apart(qn_scan *scans, size_t n, qn_err *err)
{
    for (size_t i = n; i-- > 0;) {
        int number = 1;
        char *name;

        for (size_t k = 0; k < i; k++)
            number += !strcmp(scans[k].name, scans[i].name);
        if (number == 1)
            continue;
        if (asprintf(&name, "%s (%d)", scans[i].name, number) < 0)
            return qn_fail(err, QN_ERR_NOMEM, "comparison: no memory for a name");
        free(scans[i].name);
        scans[i].name = name;
    }
    return QN_OK;
}

qn_status qn_compare_read(const char *const *paths, size_t n, qn_compare *out, qn_err *err)
{
    qn_scan *scans;
    qn_status st = QN_OK;

    if (n < 2 || n > QN_COMPARE_MAX)
        return qn_fail(err, QN_ERR_USAGE, "%zu scans to compare, the limits are 2 and %d", n,
                       QN_COMPARE_MAX);
    if (!(scans = calloc(n, sizeof *scans)))
        return qn_fail(err, QN_ERR_NOMEM, "comparison: no memory for %zu scans", n);
    for (size_t i = 0; i < n; i++)
        QN_TRY(qn_scan_read(paths[i], &scans[i], err));
    QN_TRY(name_apart(scans, n, err));
    st = qn_compare_make(scans, n, out, err);
    scans = NULL; /* now owned by the result */
out:
    for (size_t i = 0; scans && i < n; i++)
        qn_scan_free(&scans[i]);
    free(scans);
    return st;
}

/* The document. */

enum { MAX_HOSTS = QN_COMPARE_MAX, MAX_MARKS = 16 };

/* Series and marks of one panel. */
typedef struct panel {
    qn_series *series;
    size_t n_series;
    qn_mark marks[MAX_MARKS];
    size_t n_marks;
} panel;

typedef struct page_data {
    const qn_compare *compare;
    qn_drawing *drawings; /* one per scan */
    const char *hosts[MAX_HOSTS];
    size_t n_hosts;
    panel panels[MAX_HOSTS];
    qn_series *series;  /* divided among the panels of one chart */
    char (*names)[128]; /* of the series */
    size_t n_names;
    qn_owned owned; /* the arrays */
} page_data;

static const char *host_of(const qn_scan *scan)
{
    return qn_scan_fact_of(scan, "host");
}

static void find_hosts(page_data *d)
{
    for (size_t s = 0; s < d->compare->n_scans; s++) {
        const char *host = host_of(&d->compare->scans[s]);
        int is_new = 1;

        for (size_t h = 0; h < d->n_hosts && is_new; h++)
            is_new = strcmp(d->hosts[h], host) != 0;
        if (is_new)
            d->hosts[d->n_hosts++] = host;
    }
}

static qn_status prepare(page_data *d, qn_err *err)
{
    const size_t n = d->compare->n_scans;
    qn_status st = QN_OK;
    size_t n_curves = 0;

    find_hosts(d);
    for (size_t s = 0; s < n; s++)
        n_curves += d->compare->curves[s].n;
    QN_TRY(qn_owned_memory(&d->owned, n * sizeof *d->drawings, &d->drawings, err));
    QN_TRY(qn_owned_memory(&d->owned, n_curves * sizeof *d->series, &d->series, err));
    QN_TRY(qn_owned_memory(&d->owned, n_curves * sizeof *d->names, &d->names, err));
    for (size_t s = 0; s < n; s++)
        QN_TRY(qn_drawing_make(&d->owned, &d->compare->curves[s], &d->drawings[s], err));
out:
    return st;
}

/* The curves of one scan that belong to the chart of (op, residency). */
static void add_scan(page_data *d, size_t s, const qn_curve *like, panel *p)
{
    const qn_curves *curves = &d->compare->curves[s];

    for (size_t i = 0; i < curves->n; i++) {
        const qn_curve *curve = &curves->list[i];
        const int color = (int)(p->n_series % 8) + 1;
        char *name = d->names[d->n_names];

        if (strcmp(curve->op, like->op) || curve->residency != like->residency)
            continue;
        snprintf(name, sizeof d->names[0], "%s: %s", d->compare->scans[s].name,
                 qn_curve_label(curve));
        p->series[p->n_series] = d->drawings[s].series[i];
        p->series[p->n_series].name = name;
        p->series[p->n_series++].color = color;
        d->n_names++;
        if (d->drawings[s].marks[i].label && p->n_marks < MAX_MARKS) {
            p->marks[p->n_marks] = d->drawings[s].marks[i];
            p->marks[p->n_marks++].color = color;
        }
    }
}

static void add_charts(qn_page *page, page_data *d, const qn_curve *like)
{
    qn_line_chart charts[MAX_HOSTS];
    size_t n = 0;

    d->n_names = 0;
    for (size_t h = 0; h < d->n_hosts; h++) {
        panel *p = &d->panels[n];

        *p = (panel){ .series = d->series + d->n_names };
        for (size_t s = 0; s < d->compare->n_scans; s++)
            if (!strcmp(host_of(&d->compare->scans[s]), d->hosts[h]))
                add_scan(d, s, like, p);
        if (!p->n_series)
            continue;
        charts[n++] = (qn_line_chart){
            .title = d->hosts[h],
            .x = { "size", QN_UNIT_COUNT, 1 },
            .y = { "median time", QN_UNIT_US, 1 },
            .series = p->series,
            .n_series = p->n_series,
            .marks = p->marks,
            .n_marks = p->n_marks,
            .high_name = "p90",
        };
    }
    qn_page_lines(page, charts, n);
}

/* Whether an earlier curve, in this scan or one before it, has the same op and residency. */
static int was_drawn(const qn_compare *compare, size_t scan, size_t at)
{
    const qn_curve *curve = &compare->curves[scan].list[at];

    for (size_t s = 0; s <= scan; s++) {
        const size_t n = s < scan ? compare->curves[s].n : at;

        for (size_t i = 0; i < n; i++) {
            const qn_curve *c = &compare->curves[s].list[i];

            if (!strcmp(c->op, curve->op) && c->residency == curve->residency)
                return 1;
        }
    }
    return 0;
}

static void add_all_charts(qn_page *page, page_data *d)
{
    const qn_compare *compare = d->compare;

    for (size_t s = 0; s < compare->n_scans; s++) {
        for (size_t i = 0; i < compare->curves[s].n; i++) {
            const qn_curve *curve = &compare->curves[s].list[i];
            char heading[96];

            if (was_drawn(compare, s, i))
                continue;
            snprintf(heading, sizeof heading, "%s, %s", curve->op,
                     qn_residency_name(curve->residency));
            qn_page_section(page, heading);
            add_charts(page, d, curve);
        }
    }
}

static void add_pair(qn_document *doc, const qn_pair *pair)
{
    char heading[256];

    snprintf(heading, sizeof heading, "A = %s, B = %s", pair->a->name, pair->b->name);
    qn_document_section(doc, heading);
    qn_document_table(doc, "Wins, and sizes missing in one of them", qn_compare_counts_table(pair));
    qn_document_table(doc, "Sizes in both", qn_compare_match_table(pair));
}

qn_status qn_compare_save(const qn_compare *compare, const char *prefix, qn_err *err)
{
    page_data d = { .compare = compare };
    qn_document doc = { 0 };
    char lead[128];
    qn_status st = QN_OK;

    QN_TRY(prepare(&d, err));
    snprintf(lead, sizeof lead,
             "%zu scans of %zu host%s, joined on op, size, residency and backend.",
             compare->n_scans, d.n_hosts, d.n_hosts == 1 ? "" : "s");
    qn_document_begin(&doc, "quern compare", lead);
    qn_document_table(&doc, NULL, qn_compare_facts_table(compare));
    add_all_charts(&doc.page, &d);
    for (size_t i = 0; i + 1 < compare->n_scans; i++)
        add_pair(&doc, &compare->pairs[i]);
    if (compare->n_scans > 2) {
        qn_document_section(&doc, "All scans");
        qn_document_table(&doc, NULL, qn_compare_all_table(compare));
    }
    qn_document_note(&doc, "Times are medians, whiskers end at the 90th percentile. A ratio B / A "
                           "from 0.95 to 1.05 is a tie.");
    qn_document_note(&doc, "\"B wins from\" is the smallest compared size from which B wins at "
                           "every compared size.");
    qn_document_note(&doc, "Sizes missing in one scan are listed and not compared.");
    QN_TRY(qn_document_save(&doc, prefix, err));
out:
    qn_document_free(&doc);
    qn_owned_free(&d.owned, 0);
    return st;
}

qn_status qn_compare_print(const qn_compare *compare, FILE *to, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t i = 0; st == QN_OK && i + 1 < compare->n_scans; i++) {
        const qn_pair *pair = &compare->pairs[i];
        qn_table table = qn_compare_counts_table(pair);

        fprintf(to, "%sA = %s, B = %s\n", i ? "\n" : "", pair->a->name, pair->b->name);
        st = qn_report_print_table(&table, to, err);
    }
    return st;
}
