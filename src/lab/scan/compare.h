/* compare.h - scans joined on (op, size, residency, backend).
 *
 * The first scan is A; each other one is compared with it as B. Only sizes of both are compared;
 * the others are listed, never interpolated. Where scans have several devices of one backend, the
 * first of A is compared with the first of B, and so on.
 */
#ifndef QN_LAB_SCAN_COMPARE_H
#define QN_LAB_SCAN_COMPARE_H

#include "lab/scan/curves.h"

enum { QN_COMPARE_MAX = 64 }; /* scans of one comparison */

typedef enum { QN_WINS_A, QN_WINS_B, QN_TIE } qn_winner;

/* B / A: a ratio in [0.95, 1.05] is a tie. */
qn_winner qn_compare_winner(double a_us, double b_us);
const char *qn_winner_name(qn_winner winner); /* "A", "B", "tie" */

/* One size of both scans. */
typedef struct qn_match {
    const qn_scan_row *a, *b;
    double ratio; /* B / A median */
    qn_winner winner;
} qn_match;

/* One op, residency and backend of A or B or both. */
typedef struct qn_join {
    const qn_curve *a, *b; /* NULL: missing in that scan */
    qn_match *matches;     /* by ascending size */
    size_t n_matches;
    size_t wins_a, wins_b, ties;
    qn_i64 b_from;           /* first size from which on B wins at every match; 0: none */
    qn_i64 *only_a, *only_b; /* sizes without a partner */
    size_t n_only_a, n_only_b;
} qn_join;

/* A and one other scan. */
typedef struct qn_pair {
    const qn_scan *a, *b;
    qn_join *joins;
    size_t n_joins;
} qn_pair;

typedef struct qn_compare {
    qn_scan *scans; /* owned */
    qn_curves *curves;
    size_t n_scans;
    qn_pair *pairs; /* n_scans - 1 of them */
} qn_compare;

/* The curve among `curves` that `curve` is compared with, or NULL. */
const qn_curve *qn_curve_same(const qn_curves *curves, const qn_curve *curve);

/* Takes ownership of the `n` scans (at least 2), also when it fails. */
qn_status qn_compare_make(qn_scan *scans, size_t n, qn_compare *out, qn_err *err);
void qn_compare_free(qn_compare *compare);

/* Reads the files (2 to QN_COMPARE_MAX) and compares them. Scans of the same name get numbers. */
qn_status qn_compare_read(const char *const *paths, size_t n, qn_compare *out, qn_err *err);

#endif
