/* compare_html.c - any number of scans on one page: a panel per host, all on the same scales. */
#include "lab/scan/report.h"

#include <stdlib.h>
#include <string.h>

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
    qn_series *series;  /* what the panels of one chart share out */
    char (*names)[128]; /* of the series */
    size_t n_names;
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
    d->drawings = calloc(n, sizeof *d->drawings);
    d->series = calloc(n_curves + 1, sizeof *d->series);
    d->names = calloc(n_curves + 1, sizeof *d->names);
    if (!d->drawings || !d->series || !d->names) {
        st = qn_fail(err, QN_ERR_NOMEM, "chart: no memory for %zu curves", n_curves);
        goto out;
    }
    for (size_t s = 0; s < n; s++)
        QN_TRY(qn_drawing_make(&d->compare->curves[s], &d->drawings[s], err));
out:
    return st;
}

static void release(page_data *d)
{
    for (size_t s = 0; d->drawings && s < d->compare->n_scans; s++)
        qn_drawing_free(&d->drawings[s]);
    free(d->drawings);
    free(d->series);
    free(d->names);
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

/* Is there an earlier curve, in this scan or in one before it, with the same op and residency? */
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

static void add_page_table(qn_page *page, const char *caption, qn_table table)
{
    qn_page_table(page, caption, &table);
    qn_table_free(&table);
}

/* Of every scan: where, on what, when. */
static void add_conditions(qn_page *page, const qn_compare *compare)
{
    for (size_t s = 0; s < compare->n_scans; s++) {
        const qn_scan *scan = &compare->scans[s];
        qn_fact *facts = calloc(scan->n_facts + 1, sizeof *facts);
        size_t n = 0;

        if (!facts) {
            page->html.failed = 1;
            return;
        }
        facts[n++] = (qn_fact){ "scan", scan->name, s ? "B" : "A" };
        for (size_t i = 0; i < scan->n_facts; i++)
            if (strcmp(scan->facts[i].key, "note"))
                facts[n++] = (qn_fact){ scan->facts[i].key, scan->facts[i].value, NULL };
        qn_page_conditions(page, facts, n);
        free(facts);
    }
}

static void add_pair(qn_page *page, const qn_pair *pair)
{
    char heading[256];

    snprintf(heading, sizeof heading, "A = %s, B = %s", pair->a->name, pair->b->name);
    qn_page_section(page, heading);
    add_page_table(page, "Wins, and sizes that one of them lacks", qn_compare_counts_table(pair));
    add_page_table(page, "Sizes that both have", qn_compare_match_table(pair));
}

qn_status qn_compare_write_html(const qn_compare *compare, const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    page_data d = { .compare = compare };
    qn_page page = { 0 };
    char lead[128];

    QN_TRY(prepare(&d, err));
    snprintf(lead, sizeof lead,
             "%zu scans of %zu host%s, joined on op, size, residency and backend.",
             compare->n_scans, d.n_hosts, d.n_hosts == 1 ? "" : "s");
    qn_page_begin(&page, "quern compare", lead);
    add_all_charts(&page, &d);
    for (size_t i = 0; i + 1 < compare->n_scans; i++)
        add_pair(&page, &compare->pairs[i]);
    if (compare->n_scans > 2) {
        qn_page_section(&page, "All scans");
        add_page_table(&page, NULL, qn_compare_all_table(compare));
    }
    qn_page_section(&page, "Conditions");
    add_conditions(&page, compare);
    qn_page_note(&page,
                 "Times are medians, whiskers end at the 90th percentile. A ratio B / A from "
                 "0.95 to 1.05 is a tie. Sizes that one scan lacks are listed and not "
                 "compared.");
    QN_TRY(qn_page_write(&page, path, err));
out:
    qn_page_free(&page);
    release(&d);
    return st;
}
