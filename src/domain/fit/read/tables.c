/* tables.c - reads tables: NIST regression sets, separated values, columns in memory. */
#include "domain/fit/read/read.h"

#include "util/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tables. */

void qn_fit_table_free(qn_fit_table *table)
{
    for (int c = 0; c < table->n_cols; c++)
        free(table->cols[c]);
    *table = (qn_fit_table){ 0 };
}

qn_status qn_fit_table_add_row(qn_fit_table *table, const double *row, qn_i64 *room, qn_err *err)
{
    if (table->n_rows == *room) {
        const qn_i64 wanted = *room ? *room * 2 : 64;

        for (int c = 0; c < table->n_cols; c++) {
            double *more = realloc(table->cols[c], (size_t)wanted * sizeof *more);

            if (!more)
                return qn_fail(err, QN_ERR_NOMEM, "table of %lld rows", (long long)wanted);
            table->cols[c] = more;
        }
        *room = wanted;
    }
    for (int c = 0; c < table->n_cols; c++)
        table->cols[c][table->n_rows] = row[c];
    table->n_rows++;
    return QN_OK;
}

/* Lines. */

/* Copies the next line to `line`, without its end and at most 255 bytes; returns 0 past the last
 * line. */
static int next_line(const char *text, size_t bytes, size_t *at, char *line)
{
    const char *end;
    size_t n;

    if (*at >= bytes)
        return 0;
    end = memchr(text + *at, '\n', bytes - *at);
    n = end ? (size_t)(end - text) - *at : bytes - *at;
    snprintf(line, 256, "%.*s", n < 255 ? (int)n : 255, text + *at);
    line[strcspn(line, "\r")] = 0;
    *at += n + 1;
    return 1;
}

/* Reads up to `room` numbers of a line; returns -1 if it contains anything else. */
static int numbers_of(const char *line, double *out, int room)
{
    int n = 0;

    for (;;) {
        char *end;
        const double value = strtod(line, &end);

        if (end == line)
            return line[strspn(line, " \t")] ? -1 : n;
        if (n == room || !isfinite(value))
            return -1;
        out[n++] = value;
        line = end;
    }
}

/* NIST. */

/* "Data:   y              x1            x2", the last line of that kind. */
static void name_columns(const char *line, qn_fit_table *t)
{
    const char *at = line + 5;

    t->n_cols = 0;
    while (t->n_cols < 8) {
        int used = 0;

        if (sscanf(at, " %31s%n", t->names[t->n_cols], &used) < 1)
            break;
        at += used;
        t->n_cols++;
    }
}

qn_status qn_fit_nist_parse(const char *name, const char *text, size_t bytes, qn_fit_table *out,
                            qn_err *err)
{
    qn_fit_table t = { 0 };
    qn_status st = QN_OK;
    size_t at = 0;
    qn_i64 room = 0;
    char line[256];
    long at_line = 0, data_line = 0;

    while (next_line(text, bytes, &at, line))
        if (++at_line && !strncmp(line, "Data:", 5))
            data_line = at_line;
    at = 0;
    for (at_line = 1; next_line(text, bytes, &at, line); at_line++) {
        double row[8];
        int n;

        if (at_line == data_line)
            name_columns(line, &t);
        if (at_line <= data_line || !data_line)
            continue;
        n = numbers_of(line, row, 8);
        if (n == 0)
            continue;
        if (n != t.n_cols)
            QN_FAIL(err, QN_ERR_INPUT, "%s:%ld: not a row of %d numbers", name, at_line, t.n_cols);
        QN_TRY(qn_fit_table_add_row(&t, row, &room, err));
    }
    if (t.n_cols < 2 || t.n_rows == 0)
        QN_FAIL(err, QN_ERR_INPUT, "%s: no line \"Data:\" with two or more columns and rows", name);
    *out = t;
    t = (qn_fit_table){ 0 };
out:
    qn_fit_table_free(&t);
    return st;
}

/* Separated values. */

/* qn_csv_parse expects commas and a header: other forms are rewritten for it. */
static char *with_commas(const char *text, size_t bytes, int has_header, char separator, size_t *n)
{
    char *copy = malloc(bytes + 16 * QN_FIT_MAX_COLUMNS + 1);
    size_t at = 0, columns = 1;

    if (!copy)
        return NULL;
    for (size_t k = 0; !has_header && k < bytes && text[k] != '\n'; k++)
        columns += text[k] == separator;
    for (size_t c = 0; !has_header && c < columns && c < QN_FIT_MAX_COLUMNS; c++)
        at += (size_t)sprintf(copy + at, c ? ",c%zu" : "c%zu", c + 1);
    if (!has_header)
        copy[at++] = '\n';
    for (size_t k = 0; k < bytes; k++)
        copy[at++] = text[k] == separator ? ',' : text[k];
    copy[at] = 0;
    *n = at;
    return copy;
}

qn_status qn_fit_csv_parse(const char *name, const char *text, size_t bytes, int has_header,
                           char separator, qn_fit_table *out, qn_err *err)
{
    qn_fit_table t = { 0 };
    qn_csv csv = { 0 };
    qn_status st = QN_OK;
    double row[QN_FIT_MAX_COLUMNS];
    qn_i64 room = 0;
    size_t n = 0;
    char *copy = with_commas(text, bytes, has_header, separator, &n);

    if (!copy)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: %zu bytes", name, bytes);
    QN_TRY(qn_csv_parse(name, copy, n, &csv, err));
    if (csv.n_cols > QN_FIT_MAX_COLUMNS)
        QN_FAIL(err, QN_ERR_LIMIT, "%s: %zu columns (limit %d)", name, csv.n_cols,
                QN_FIT_MAX_COLUMNS);
    t.n_cols = (int)csv.n_cols;
    for (int c = 0; c < t.n_cols; c++) {
        const char *word = csv.header[c] + strspn(csv.header[c], " \t");

        snprintf(t.names[c], sizeof t.names[c], "%.*s", (int)strcspn(word, " \t\r"), word);
    }
    for (size_t r = 0; r < csv.n_rows; r++) {
        for (size_t c = 0; c < csv.n_cols; c++)
            QN_TRY(qn_csv_f64(&csv, r, c, -HUGE_VAL, HUGE_VAL, &row[c], err));
        QN_TRY(qn_fit_table_add_row(&t, row, &room, err));
    }
    *out = t;
    t = (qn_fit_table){ 0 };
out:
    free(copy);
    qn_csv_free(&csv);
    qn_fit_table_free(&t);
    return st;
}

/* Columns in memory. */

static double number_at(const qn_fit_column *c, qn_i64 row)
{
    static const qn_i64 sizes[] = { sizeof(double), sizeof(float), sizeof(int64_t) };
    const char *at = (const char *)c->data + row * (c->stride ? c->stride : sizes[c->type]);
    double f64;
    float f32;
    int64_t i64;

    switch (c->type) {
    case QN_FIT_COLUMN_F64:
        memcpy(&f64, at, sizeof f64);
        return f64;
    case QN_FIT_COLUMN_F32:
        memcpy(&f32, at, sizeof f32);
        return f32;
    default:
        memcpy(&i64, at, sizeof i64);
        return (double)i64;
    }
}

static qn_status check_column(const qn_fit_column *c, const qn_fit_table *t, qn_err *err)
{
    if (!c->name || !c->name[0] || strlen(c->name) >= sizeof t->names[0])
        return qn_fail(err, QN_ERR_USAGE, "%s: the name of a column has 1 to %zu bytes", c->file,
                       sizeof t->names[0] - 1);
    if (c->type < QN_FIT_COLUMN_F64 || c->type > QN_FIT_COLUMN_I64)
        return qn_fail(err, QN_ERR_USAGE, "%s: column %s has the unknown type %d", c->file, c->name,
                       c->type);
    if (c->count < 0 || c->count > INT32_MAX || (c->count && !c->data))
        return qn_fail(err, QN_ERR_USAGE, "%s: column %s has %lld rows (0 to %d) at %p", c->file,
                       c->name, (long long)c->count, INT32_MAX, c->data);
    if (t->n_cols == QN_FIT_MAX_COLUMNS)
        return qn_fail(err, QN_ERR_LIMIT, "%s: more than %d columns", c->file, QN_FIT_MAX_COLUMNS);
    if (t->n_cols && c->count != t->n_rows)
        return qn_fail(err, QN_ERR_USAGE, "%s: column %s has %lld rows, column %s has %lld",
                       c->file, c->name, (long long)c->count, t->names[0], (long long)t->n_rows);
    return QN_OK;
}

static qn_status add_column(const qn_fit_column *c, qn_fit_table *t, qn_err *err)
{
    double *to;
    qn_status st = QN_OK;

    QN_TRY(check_column(c, t, err));
    if (!(to = malloc(((size_t)c->count + 1) * sizeof *to)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: a column of %lld rows", c->file,
                       (long long)c->count);
    snprintf(t->names[t->n_cols], sizeof t->names[0], "%s", c->name);
    t->cols[t->n_cols++] = to;
    t->n_rows = c->count;
    for (qn_i64 row = 0; row < c->count; row++) {
        to[row] = number_at(c, row);
        if (!isfinite(to[row]))
            return qn_fail(err, QN_ERR_INPUT, "%s: column %s, row %lld: %g is not finite", c->file,
                           c->name, (long long)row + 1, to[row]);
    }
out:
    return st;
}

qn_status qn_fit_columns_read(const qn_fit_column *columns, size_t n, const char *file,
                              qn_fit_table *out, int *is_found, qn_err *err)
{
    qn_fit_table t = { 0 };
    qn_status st = QN_OK;

    *is_found = 0;
    for (size_t k = 0; k < n; k++)
        if (!strcmp(columns[k].file, file))
            QN_TRY(add_column(&columns[k], &t, err));
    *is_found = t.n_cols > 0;
    if (*is_found)
        *out = t;
    t = (qn_fit_table){ 0 };
out:
    qn_fit_table_free(&t);
    return st;
}
