/* read.h - reads data: NIST regression sets, separated values, bundle adjustment problems, gzip.
 *
 * Readers take bytes, so they work without files; `name` begins error messages.
 */
#ifndef QN_FIT_READ_READ_H
#define QN_FIT_READ_READ_H

#include "util/status.h"

#include <quern/fit.h>

/* Folders (files.c). */

/* Looks a name up in each of `folders` (ended by NULL). Refuses absolute names and ".." unless
 * `allow_any`. qn_fit_folders_read can be the `read` of qn_fit_files, with a qn_fit_folders as
 * user. */
typedef struct qn_fit_folders {
    const char *const *folders;
    int allow_any;
} qn_fit_folders;

qn_status qn_fit_folders_read(void *user, const char *name, char **data, size_t *bytes,
                              qn_err *err);

/* Writes the folder of a path ("." if it has none) to `out`. */
void qn_fit_folder_of(const char *path, char *out, size_t size);

/* Whether a name is relative, not empty and without "..". */
int qn_fit_name_is_safe(const char *name);

/* Gzip (files.c). */

/* Unpacks *data if it is a gzip file; otherwise leaves it unchanged. */
qn_status qn_fit_gunzip(const char *name, char **data, size_t *bytes, qn_err *err);

/* Tables (tables.c). */

enum { QN_FIT_MAX_COLUMNS = 64 };

/* Columns of equal length, each its own array. Zero-initialised is empty. */
typedef struct qn_fit_table {
    int n_cols;
    qn_i64 n_rows;
    char names[QN_FIT_MAX_COLUMNS][32];
    double *cols[QN_FIT_MAX_COLUMNS];
} qn_fit_table;

void qn_fit_table_free(qn_fit_table *table);
qn_status qn_fit_table_add_row(qn_fit_table *table, const double *row, qn_i64 *room, qn_err *err);

/* The table of those columns whose file is `file`; *is_found is 0 if there are none. */
qn_status qn_fit_columns_read(const qn_fit_column *columns, size_t n, const char *file,
                              qn_fit_table *out, int *is_found, qn_err *err);

/* The numbers of a .dat file of NIST; columns y, x or y, x1, x2, as its last header says. */
qn_status qn_fit_nist_parse(const char *name, const char *text, size_t bytes, qn_fit_table *out,
                            qn_err *err);

/* Separated values. The header names the columns; without one they are c1, c2, ... */
qn_status qn_fit_csv_parse(const char *name, const char *text, size_t bytes, int has_header,
                           char separator, qn_fit_table *out, qn_err *err);

/* The files of a program. The caller frees *data, which is followed by a NUL. `table` (may be NULL)
 * supplies a table that is in memory; if it has none of that name, *is_found is 0. */
typedef struct qn_fit_files {
    qn_status (*read)(void *user, const char *name, char **data, size_t *bytes, qn_err *err);
    qn_status (*table)(void *user, const char *name, qn_fit_table *out, int *is_found, qn_err *err);
    void *user;
} qn_fit_files;

/* Bundle adjustment (bal.c). */

typedef struct qn_fit_bal {
    uint32_t n_cameras, n_points, n_obs;
    uint32_t *cam, *pt; /* per observation */
    double *u, *v;
    double *cameras; /* 9 each: angle-axis, translation, f, k1, k2 */
    double *points;  /* 3 each */
} qn_fit_bal;

qn_status qn_fit_bal_parse(const char *name, const char *text, size_t bytes, qn_fit_bal *out,
                           qn_err *err);
void qn_fit_bal_free(qn_fit_bal *bal);

#endif
