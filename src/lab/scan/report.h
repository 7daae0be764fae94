/* report.h - a scan, or a comparison of scans, as files for people and programs.
 *
 * Tables are made once (tables.c) and printed as text, Markdown and HTML.
 */
#ifndef QN_LAB_SCAN_REPORT_H
#define QN_LAB_SCAN_REPORT_H

#include "lab/scan/compare.h"
#include "lab/scan/curves.h"
#include "util/page/chart.h"
#include "util/table.h"

#include <jansson.h>

/* Writes PREFIX.csv, PREFIX.md, PREFIX.html and PREFIX.json; makes the folder. */
qn_status qn_scan_save(const qn_scan *scan, const char *prefix, qn_err *err);

/* Prints the table of crossovers. */
qn_status qn_scan_print(const qn_scan *scan, FILE *to, qn_err *err);

/* Writes PREFIX.md and PREFIX.html; makes the folder. */
qn_status qn_compare_save(const qn_compare *compare, const char *prefix, qn_err *err);

/* Prints wins, sizes from which the second always wins, and missing sizes. */
qn_status qn_compare_print(const qn_compare *compare, FILE *to, qn_err *err);

/* Shared by the report files. */

/* Prints and frees the table, its header in capitals as in all tables on a terminal. 0 on failure. */
int qn_report_print_table(qn_table *table, FILE *to);

/* PREFIX and an ending, into a path of at most `size` bytes. */
qn_status qn_report_path(const char *prefix, const char *ending, char *out, size_t size,
                         qn_err *err);

/* Median and p90 of every curve in [from, to) by size, and the fastest. */
qn_table qn_scan_size_table(const qn_curve *from, const qn_curve *to);

/* Per curve: sizes, time at both ends, crossover and first win against the CPU. */
qn_table qn_scan_crossover_table(const qn_curves *curves);

/* Per op and residency: at how many sizes each was the fastest. */
qn_table qn_scan_wins_table(const qn_curves *curves);

/* "cold: ..." and "resident: ..." in a sentence each. */
const char *qn_residency_text(qn_residency residency);

/* 1 to 8, one colour per device of a scan on all its charts. */
int qn_curve_color(const qn_curves *curves, const qn_curve *curve);

/* The data of a qn_line_chart for all curves of a scan: entry i belongs to curve i. */
typedef struct qn_drawing {
    qn_series *series;
    qn_mark *marks;   /* label NULL: the curve has no crossover */
    qn_point *points; /* of all curves, one after the other */
    char (*labels)[64], (*notes)[64];
} qn_drawing;

qn_status qn_drawing_make(const qn_curves *curves, qn_drawing *out, qn_err *err);
void qn_drawing_free(qn_drawing *drawing);

/* The HTML files; report_html.c and compare_html.c. */
qn_status qn_scan_write_html(const qn_scan *scan, const qn_curves *curves, const char *path,
                             qn_err *err);
qn_status qn_compare_write_html(const qn_compare *compare, const char *path, qn_err *err);

/* Tables of a comparison: counts per curve, and every pair of times. */
qn_table qn_compare_counts_table(const qn_pair *pair);
qn_table qn_compare_match_table(const qn_pair *pair);
/* Every scan's median by op, size, residency and backend; "-" where a scan has none. */
qn_table qn_compare_all_table(const qn_compare *compare);
/* Conditions of every scan side by side. */
qn_table qn_compare_facts_table(const qn_compare *compare);

#endif
