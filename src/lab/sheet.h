/* sheet.h - rows of a struct as named columns: on a terminal, in Markdown, on pages, as CSV, as
 * JSON.
 *
 * Columns define once how the members of a row are named and written. A number that was not
 * measured is NaN: "-" in tables, an empty cell in CSV, null in JSON.
 */
#ifndef QN_LAB_SHEET_H
#define QN_LAB_SHEET_H

#include "util/csv.h"
#include "util/json.h"
#include "util/table.h"

#include <stddef.h>

typedef enum { QN_CELL_CHARS, QN_CELL_STRING, QN_CELL_WHOLE, QN_CELL_REAL } qn_cell_kind;

typedef struct qn_column {
    const char *title; /* in tables; NULL: left out */
    const char *key;   /* in CSV and JSON; NULL: left out */
    qn_cell_kind kind;
    size_t at, size;          /* of the member */
    const char *shown;        /* of reals: printf format in tables; NULL: "%.4g" */
    const char *stored;       /* of reals: printf format in CSV; NULL: "%.9g" */
    double per;               /* of reals: divisor; 0: 1 */
    const char *const *words; /* of whole numbers: a word for each value, ended by NULL */
    qn_i64 least;             /* of whole numbers that are read */
    int is_flag;              /* 0 or 1, true or false in JSON */
    int hides_zero;           /* of whole numbers: 0 is "-" in tables */
    int zero_is_null;         /* of whole numbers: in JSON */
    int may_lack;             /* JSON leaves NaN out */
} qn_column;

/* The kind of a member follows from its C type: char[], a string, double, or an integer of 4 or 8
 * bytes. The key comes after the title, then other members of qn_column: { QN_COLUMN(row, us, "MS",
 * "ms", .per = 1e3) } */
#define QN_COLUMN(row_, member_, title_, ...)                                                      \
    .kind = _Generic(&((row_ *)0)->member_, char(*)[sizeof((row_ *)0)->member_]: QN_CELL_CHARS,    \
                     char **: QN_CELL_STRING, const char **: QN_CELL_STRING,                       \
                     double *: QN_CELL_REAL, default: QN_CELL_WHOLE),                              \
    .at = offsetof(row_, member_), .size = sizeof((row_ *)0)->member_, .title = (title_),          \
    .key = __VA_ARGS__

typedef struct qn_sheet {
    const qn_column *columns;
    size_t n_columns;
    const void *rows;
    size_t n_rows, row_size;
} qn_sheet;

#define QN_SHEET(columns_, rows_, n_)                                                              \
    ((qn_sheet){ columns_, sizeof columns_ / sizeof *columns_, rows_, n_, sizeof *(rows_) })

qn_table qn_sheet_table(const qn_sheet *sheet);
json_t *qn_sheet_json(const qn_sheet *sheet); /* an array of objects; NULL when out of memory */
void qn_sheet_csv(const qn_sheet *sheet, qn_csv_writer *to); /* a header, then rows */
qn_status qn_sheet_save_csv(const char *path, const qn_sheet *sheet, qn_err *err);

/* Reads row number `row` of a file with these columns, in any order, into *out. Numbers must not be
 * negative. Missing columns are reported first. */
qn_status qn_sheet_check(const qn_sheet *sheet, const qn_csv *csv, qn_err *err);
qn_status qn_sheet_read(const qn_sheet *sheet, const qn_csv *csv, size_t row, void *out,
                        qn_err *err);

/* Appends a copy of a row to a list of `n` with capacity `room`. */
#define QN_SHEET_ADD(list_, n_, room_, row_, err_)                                                 \
    qn_sheet_add(&(list_), &(n_), &(room_), row_, sizeof *(list_), err_)
qn_status qn_sheet_add(void *list, size_t *n, size_t *room, const void *row, size_t size,
                       qn_err *err);

/* Writes and releases JSON; NULL, such as from a failed json_pack, is QN_ERR_NOMEM. */
qn_status qn_sheet_save(const char *path, json_t *json, qn_err *err);

#endif
