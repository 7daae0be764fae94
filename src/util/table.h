/* table.h - tables for terminals, Markdown, JSON and report pages.
 *
 * Cells are added row by row. A column is right-aligned if all of its cells are numbers, with or
 * without a unit ("1.5", "4.1 %", "12.0 MiB"); "-" and empty cells fit any column. If memory runs
 * out, the printing call reports it, so adding cells needs no checks.
 */
#ifndef QN_UTIL_TABLE_H
#define QN_UTIL_TABLE_H

#include "util/status.h"
#include "util/str.h"

#include <stdio.h>

typedef struct qn_cell {
    char *text;
    int is_strong;
} qn_cell;

typedef struct qn_table {
    qn_cell *cells; /* the first row is the header */
    size_t n_cols, n_cells, room;
    int failed;
} qn_table;

typedef enum qn_table_form { QN_TABLE_TEXT, QN_TABLE_JSON, QN_TABLE_MARKDOWN } qn_table_form;

/* qn_table_begin("ID", "NAME", ...); end with qn_table_print or qn_table_free. */
#define qn_table_begin(...) qn_table_begin_list((const char *const[]){ __VA_ARGS__, NULL })
qn_table qn_table_begin_list(const char *const *names); /* ends in NULL */
void qn_table_free(qn_table *table);

/* Control characters become spaces. */
void qn_table_add(qn_table *table, const char *text);
/* "%d\t%.3f" adds two cells; for texts that may contain tabs, use qn_table_add. */
__attribute__((format(printf, 2, 3))) void qn_table_addf(qn_table *table, const char *format, ...);
void qn_table_mark(qn_table *table); /* the last cell is bold if the form supports it */

/* Number of rows; an incomplete row is filled with empty cells. */
size_t qn_table_rows(const qn_table *table);
const qn_cell *qn_table_at(const qn_table *table, size_t row, size_t col); /* row 0: the header */
int qn_table_is_right(const qn_table *table, size_t col);

/* JSON is an array of objects; keys are the headers in lower case with '_' for other characters,
 * and must differ. A column of plain numbers has JSON numbers, "-" is null. */
void qn_table_format(const qn_table *table, qn_table_form form, qn_str *out);

/* Prints and frees the table. */
qn_status qn_table_print(qn_table *table, FILE *to, qn_table_form form, qn_err *err);

#endif
