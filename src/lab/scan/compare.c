/* compare.c - scans joined on (op, size, residency, backend). */
#include "lab/scan/compare.h"

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

static qn_status make_join(const qn_curve *a, const qn_curve *b, qn_join *join, qn_err *err)
{
    const size_t n_a = a ? a->n : 0, n_b = b ? b->n : 0;

    *join = (qn_join){ .a = a, .b = b };
    join->matches = calloc(n_a + 1, sizeof *join->matches);
    join->only_a = calloc(n_a + 1, sizeof *join->only_a);
    join->only_b = calloc(n_b + 1, sizeof *join->only_b);
    if (!join->matches || !join->only_a || !join->only_b)
        return qn_fail(err, QN_ERR_NOMEM, "comparison: no memory for %zu sizes", n_a + n_b);
    join_sizes(join);
    return QN_OK;
}

/* Pairs of scans. */

/* The curves of A in their order, then those that only B has. */
static qn_status make_pair(const qn_compare *compare, size_t b, qn_pair *pair, qn_err *err)
{
    const qn_curves *of_a = &compare->curves[0], *of_b = &compare->curves[b];
    qn_status st = QN_OK;

    pair->a = &compare->scans[0];
    pair->b = &compare->scans[b];
    if (!(pair->joins = calloc(of_a->n + of_b->n + 1, sizeof *pair->joins))) {
        st = qn_fail(err, QN_ERR_NOMEM, "comparison: no memory for %zu curves", of_a->n + of_b->n);
        goto out;
    }
    for (size_t i = 0; i < of_a->n; i++) {
        const qn_curve *curve = &of_a->list[i];

        QN_TRY(make_join(curve, qn_curve_same(of_b, curve), &pair->joins[pair->n_joins++], err));
    }
    for (size_t i = 0; i < of_b->n; i++)
        if (!qn_curve_same(of_a, &of_b->list[i]))
            QN_TRY(make_join(NULL, &of_b->list[i], &pair->joins[pair->n_joins++], err));
out:
    return st;
}

static void free_pair(qn_pair *pair)
{
    for (size_t i = 0; i < pair->n_joins; i++) {
        free(pair->joins[i].matches);
        free(pair->joins[i].only_a);
        free(pair->joins[i].only_b);
    }
    free(pair->joins);
}

void qn_compare_free(qn_compare *compare)
{
    for (size_t i = 0; compare->pairs && i + 1 < compare->n_scans; i++)
        free_pair(&compare->pairs[i]);
    for (size_t i = 0; compare->curves && i < compare->n_scans; i++)
        qn_curves_free(&compare->curves[i]);
    for (size_t i = 0; i < compare->n_scans; i++)
        qn_scan_free(&compare->scans[i]);
    free(compare->pairs);
    free(compare->curves);
    free(compare->scans);
    *compare = (qn_compare){ 0 };
}

qn_status qn_compare_make(qn_scan *scans, size_t n, qn_compare *out, qn_err *err)
{
    qn_compare compare = { .scans = scans, .n_scans = n };
    qn_status st = QN_OK;

    compare.curves = calloc(n, sizeof *compare.curves);
    compare.pairs = calloc(n, sizeof *compare.pairs);
    if (!compare.curves || !compare.pairs) {
        st = qn_fail(err, QN_ERR_NOMEM, "comparison: no memory for %zu scans", n);
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        QN_TRY(qn_curves_make(&scans[i], &compare.curves[i], err));
    for (size_t i = 1; i < n; i++)
        QN_TRY(make_pair(&compare, i, &compare.pairs[i - 1], err));
    *out = compare;
    compare = (qn_compare){ 0 };
out:
    qn_compare_free(&compare);
    return st;
}

/* Two files scan.csv of two folders must not look like one. From the last to the first, so that
 * names are compared before they get their numbers. */
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
    scans = NULL; /* taken over */
out:
    for (size_t i = 0; scans && i < n; i++)
        qn_scan_free(&scans[i]);
    free(scans);
    return st;
}
