/* csv.h - comma-separated tables with a header line.
 *
 * Fields follow RFC 4180: quotes around commas, quotes and line ends, a doubled quote inside.
 * Lines that start with '#' are comments, kept in order; empty lines are skipped. Lines end in
 * \n or \r\n. Every row has as many fields as the header. Errors name the line.
 */
#ifndef QN_UTIL_CSV_H
#define QN_UTIL_CSV_H

#include "util/status.h"

#include <stdio.h>

enum {
    QN_CSV_MAX_FIELDS = 1024,
    QN_CSV_MAX_RECORD = 1 << 20 /* bytes of one row, or of one comment */
};

/* Zero-initialised: empty. Strings live as long as the table. */
typedef struct qn_csv {
    char *name; /* for messages: the path */
    char *text; /* the content, split in place; all strings below point into it */
    char **comments;
    size_t n_comments;
    char **header;
    size_t n_cols;
    char **cells;  /* row by row */
    size_t *lines; /* where each row starts in the file, from 1 */
    size_t n_rows;
} qn_csv;

qn_status qn_csv_read(const char *path, qn_csv *out, qn_err *err);
qn_status qn_csv_parse(const char *name, const char *text, size_t bytes, qn_csv *out, qn_err *err);
void qn_csv_free(qn_csv *csv);

const char *qn_csv_get(const qn_csv *csv, size_t row, size_t col);

/* The column called `name`; -1, or the error "FILE: no column ...". */
int qn_csv_find(const qn_csv *csv, const char *name);
qn_status qn_csv_column(const qn_csv *csv, const char *name, size_t *col, qn_err *err);

/* The value in the first comment "# key value" or "# key: value"; NULL if there is none. */
const char *qn_csv_comment(const qn_csv *csv, const char *key);

/* A cell as a number. Other text, an empty cell, NaN and values outside [min, max] are errors that
 * name file, line and column. */
qn_status qn_csv_i64(const qn_csv *csv, size_t row, size_t col, qn_i64 min, qn_i64 max, qn_i64 *out,
                     qn_err *err);
qn_status qn_csv_f64(const qn_csv *csv, size_t row, size_t col, double min, double max, double *out,
                     qn_err *err);

/* Writing. */

/* Start with { .to = file }. Check for failed writes with ferror(to) or qn_out_commit. */
typedef struct qn_csv_writer {
    FILE *to;
    size_t n_fields;   /* in this row so far */
    int is_bare_empty; /* the row so far is one empty field */
} qn_csv_writer;

void qn_csv_put_comment(qn_csv_writer *w, const char *key, const char *value); /* "# key value" */
void qn_csv_put(qn_csv_writer *w, const char *text); /* one field, quoted where needed */
/* For numbers: the formatted text has at most 127 bytes. */
__attribute__((format(printf, 2, 3))) void qn_csv_putf(qn_csv_writer *w, const char *format, ...);
void qn_csv_end_row(qn_csv_writer *w);

#endif
