/* report.h - results of scans: curves over sizes, comparisons of scans, and files of both. */
#ifndef QN_LAB_SCAN_REPORT_H
#define QN_LAB_SCAN_REPORT_H

#include "lab/document.h"
#include "lab/owned.h"
#include "lab/scan/scan.h"
#include "util/crossover.h"

/* Curves (curves.c): the rows of a scan as lines over sizes, and the sizes at which they cross. */

/* One op on one device with one residency. Rows and names are borrowed from the scan. */
typedef struct qn_curve {
    const char *op, *backend, *device;
    qn_residency residency;
    int rank;                 /* of the device among those of its backend in the scan, from 0 */
    const qn_scan_row **rows; /* by ascending size */
    size_t n;
} qn_curve;

/* Ordered by op, residency (cold first), then CPU, one-thread CPU, devices. */
typedef struct qn_curves {
    qn_curve *list;
    size_t n;
    const qn_scan_row **rows; /* referred to by the curves */
} qn_curves;

/* Fails only when out of memory. */
qn_status qn_curves_make(qn_owned *owned, const qn_scan *scan, qn_curves *out, qn_err *err);

/* The row of that size, or NULL. */
const qn_scan_row *qn_curve_at(const qn_curve *curve, qn_i64 size);

/* The CPU's curve of the same op and residency, or NULL. */
const qn_curve *qn_curve_cpu(const qn_curves *curves, const qn_curve *curve);

/* Whether it is the curve of a device, to be compared with that of the CPU. */
int qn_curve_is_device(const qn_curve *curve);

/* "CPU", "CPU, 1 thread", "cuda:0". */
const char *qn_curve_label(const qn_curve *curve);

/* The 90 % rule over the sizes of `cpu`. A size without a row of the device does not count as a
 * win. */
qn_status qn_curve_crossover(const qn_curve *device, const qn_curve *cpu, qn_crossover *out,
                             qn_err *err);

/* Distinct sizes of the curves [from, to), ascending; the caller frees *out. */
qn_status qn_curves_sizes(const qn_curve *from, const qn_curve *to, qn_i64 **out, size_t *n,
                          qn_err *err);

/* One past the last curve from `at` on with the same op, or with the same op and residency. */
size_t qn_curves_op_end(const qn_curves *curves, size_t at);
size_t qn_curves_residency_end(const qn_curves *curves, size_t at);

/* Comparisons (compare.c): scans joined on (op, size, residency, backend).
 *
 * The first scan is A; every other scan is compared with it as B. Only sizes in both are compared;
 * the others are listed, never interpolated. If scans have several devices of one backend, the
 * first of A is compared with the first of B, and so on. */

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

/* One op, residency and backend in A, B or both. */
typedef struct qn_join {
    const qn_curve *a, *b; /* NULL: missing in that scan */
    qn_match *matches;     /* by ascending size */
    size_t n_matches;
    size_t wins_a, wins_b, ties;
    qn_i64 b_from;           /* smallest size from which B wins every match; 0: none */
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
    qn_owned owned; /* all of these and what they point to, except the scans */
} qn_compare;

/* The curve among `curves` that `curve` is compared with, or NULL. */
const qn_curve *qn_curve_same(const qn_curves *curves, const qn_curve *curve);

/* Takes ownership of the `n` scans (at least 2), even if it fails. */
qn_status qn_compare_make(qn_scan *scans, size_t n, qn_compare *out, qn_err *err);
void qn_compare_free(qn_compare *compare);

/* Reads the files (2 to QN_COMPARE_MAX) and compares them. Scans with the same name are
 * numbered. */
qn_status qn_compare_read(const char *const *paths, size_t n, qn_compare *out, qn_err *err);

/* Files and tables. */

/* Writes PREFIX.csv, PREFIX.md, PREFIX.html and PREFIX.json; makes the folder. */
qn_status qn_scan_save(const qn_scan *scan, const char *prefix, qn_err *err);

/* Prints the table of crossovers. */
qn_status qn_scan_print(const qn_scan *scan, FILE *to, qn_err *err);

/* Writes PREFIX.md and PREFIX.html; makes the folder. */
qn_status qn_compare_save(const qn_compare *compare, const char *prefix, qn_err *err);

/* Prints wins, sizes from which the second always wins, and missing sizes. */
qn_status qn_compare_print(const qn_compare *compare, FILE *to, qn_err *err);

/* Prints and frees the table, its header in capitals as in all tables on a terminal. */
qn_status qn_report_print_table(qn_table *table, FILE *to, qn_err *err);

/* Tables of a scan (tables.c): median and p90 of every curve in [from, to) by size, and the
 * fastest; for each curve its sizes, times at both ends, crossover and first win against the CPU;
 * and per op and residency, at how many sizes each curve is the fastest. */
qn_table qn_scan_size_table(const qn_curve *from, const qn_curve *to);
qn_table qn_scan_crossover_table(const qn_curves *curves);
qn_table qn_scan_wins_table(const qn_curves *curves);

/* Tables of a comparison (tables.c): counts per curve; every pair of times; every scan's median by
 * op, size, residency and backend, "-" if a scan has none; the conditions of every scan. */
qn_table qn_compare_counts_table(const qn_pair *pair);
qn_table qn_compare_match_table(const qn_pair *pair);
qn_table qn_compare_all_table(const qn_compare *compare);
qn_table qn_compare_facts_table(const qn_compare *compare);

/* "cold: ..." and "resident: ..." in a sentence each. */
const char *qn_residency_text(qn_residency residency);

/* The data of a qn_line_chart for all curves of a scan: entry i belongs to curve i. */
typedef struct qn_drawing {
    qn_series *series;
    qn_mark *marks;   /* label NULL: the curve has no crossover */
    qn_point *points; /* of all curves, one after the other */
    char (*labels)[64], (*notes)[64];
} qn_drawing;

qn_status qn_drawing_make(qn_owned *owned, const qn_curves *curves, qn_drawing *out, qn_err *err);

#endif
