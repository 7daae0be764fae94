/* sheet.c - columns of structs. */
#include "lab/sheet.h"

#include "util/file.h"
#include "util/list.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Members. */

static double real_of(const qn_column *c, const char *row)
{
    double value;

    memcpy(&value, row + c->at, sizeof value);
    return c->per > 0 ? value / c->per : value;
}

static qn_i64 whole_of(const qn_column *c, const char *row)
{
    qn_i64 wide = 0;
    int32_t narrow = 0;

    if (c->size == sizeof wide)
        memcpy(&wide, row + c->at, sizeof wide);
    else
        memcpy(&narrow, row + c->at, sizeof narrow);
    return c->size == sizeof wide ? wide : narrow;
}

/* NULL when it is a number. */
static const char *text_of(const qn_column *c, const char *row)
{
    const char *text = NULL;

    if (c->kind == QN_CELL_CHARS)
        return row + c->at;
    if (c->words)
        return c->words[whole_of(c, row)];
    if (c->kind == QN_CELL_STRING)
        memcpy(&text, row + c->at, sizeof text);
    return c->kind == QN_CELL_STRING && !text ? "" : text;
}

/* Tables. */

static void show(qn_table *table, const qn_column *c, const char *row)
{
    const char *text = text_of(c, row);

    if (text)
        qn_table_add(table, text[0] ? text : "-");
    else if (c->kind == QN_CELL_REAL && isnan(real_of(c, row)))
        qn_table_add(table, "-");
    else if (c->kind == QN_CELL_REAL)
        qn_table_addf(table, c->shown ? c->shown : "%.4g", real_of(c, row));
    else if (c->hides_zero && !whole_of(c, row))
        qn_table_add(table, "-");
    else
        qn_table_addf(table, "%lld", (long long)whole_of(c, row));
}

qn_table qn_sheet_table(const qn_sheet *sheet)
{
    const char *titles[64] = { NULL };
    size_t n = 0;
    qn_table table;

    for (size_t c = 0; c < sheet->n_columns && n < 63; c++)
        if (sheet->columns[c].title)
            titles[n++] = sheet->columns[c].title;
    table = qn_table_begin_list(titles);
    for (size_t r = 0; r < sheet->n_rows; r++)
        for (size_t c = 0; c < sheet->n_columns; c++)
            if (sheet->columns[c].title)
                show(&table, &sheet->columns[c], (const char *)sheet->rows + r * sheet->row_size);
    return table;
}

/* JSON. */

static json_t *value_of(const qn_column *c, const char *row)
{
    const char *text = text_of(c, row);
    const qn_i64 whole = c->kind == QN_CELL_WHOLE ? whole_of(c, row) : 0;

    return text                        ? qn_json_text(text)
           : c->kind == QN_CELL_REAL   ? qn_json_number(real_of(c, row))
           : c->is_flag                ? json_boolean(whole)
           : c->zero_is_null && !whole ? json_null()
                                       : json_integer(whole);
}

static json_t *object_of(const qn_sheet *sheet, const char *row)
{
    json_t *object = json_object();

    for (const qn_column *c = sheet->columns; c < sheet->columns + sheet->n_columns; c++) {
        const int is_lacking = c->may_lack && isnan(real_of(c, row));

        if (!c->key || is_lacking)
            continue;
        if (json_object_set_new(object, c->key, value_of(c, row))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

json_t *qn_sheet_json(const qn_sheet *sheet)
{
    json_t *list = json_array();

    for (size_t r = 0; r < sheet->n_rows; r++)
        if (json_array_append_new(
                list, object_of(sheet, (const char *)sheet->rows + r * sheet->row_size))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

qn_status qn_sheet_save(const char *path, json_t *json, qn_err *err)
{
    const qn_status st = json ? qn_json_write(path, json, err)
                              : qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path);

    json_decref(json);
    return st;
}

/* CSV. */

static void put(qn_csv_writer *to, const qn_column *c, const char *row)
{
    const char *text = text_of(c, row);

    if (text)
        qn_csv_put(to, text);
    else if (c->kind == QN_CELL_WHOLE)
        qn_csv_putf(to, "%lld", (long long)whole_of(c, row));
    else if (isnan(real_of(c, row)))
        qn_csv_put(to, "");
    else
        qn_csv_putf(to, c->stored ? c->stored : "%.9g", real_of(c, row));
}

void qn_sheet_csv(const qn_sheet *sheet, qn_csv_writer *to)
{
    for (size_t c = 0; c < sheet->n_columns; c++)
        if (sheet->columns[c].key)
            qn_csv_put(to, sheet->columns[c].key);
    qn_csv_end_row(to);
    for (size_t r = 0; r < sheet->n_rows; r++) {
        for (size_t c = 0; c < sheet->n_columns; c++)
            if (sheet->columns[c].key)
                put(to, &sheet->columns[c], (const char *)sheet->rows + r * sheet->row_size);
        qn_csv_end_row(to);
    }
}

qn_status qn_sheet_save_csv(const char *path, const qn_sheet *sheet, qn_err *err)
{
    qn_out out = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_out_open(path, &out, err));
    qn_sheet_csv(sheet, &(qn_csv_writer){ .to = out.file });
    QN_TRY(qn_out_commit(&out, err));
out:
    qn_out_abort(&out);
    return st;
}

/* Reading. */

static qn_status read_chars(const qn_column *c, const qn_csv *csv, size_t row, size_t col,
                            char *out, qn_err *err)
{
    const char *text = qn_csv_get(csv, row, col);

    if (!*text || strlen(text) >= c->size)
        return qn_fail(err, QN_ERR_INPUT, "%s:%zu: %s has %zu bytes, the limits are 1 and %zu",
                       csv->name, csv->lines[row], c->key, strlen(text), c->size - 1);
    memcpy(out, text, strlen(text) + 1);
    return QN_OK;
}

static qn_status read_word(const qn_column *c, const qn_csv *csv, size_t row, size_t col,
                           qn_i64 *out, qn_err *err)
{
    const char *text = qn_csv_get(csv, row, col);
    qn_str known = { 0 };

    for (*out = 0; c->words[*out]; ++*out)
        if (!strcmp(c->words[*out], text))
            return QN_OK;
    for (qn_i64 k = *out; k-- > 0;)
        qn_str_addf(&known, "%s%s", known.len ? " or " : "", c->words[k]);
    qn_fail(err, QN_ERR_INPUT, "%s:%zu: %s \"%.60s\" is not %s", csv->name, csv->lines[row], c->key,
            text, qn_str_get(&known));
    qn_str_free(&known);
    return QN_ERR_INPUT;
}

static qn_status read_cell(const qn_column *c, const qn_csv *csv, size_t row, char *out,
                           qn_err *err)
{
    qn_status st = QN_OK;
    size_t col;
    qn_i64 whole;
    double real;

    QN_TRY(qn_csv_column(csv, c->key, &col, err));
    if (c->kind == QN_CELL_CHARS)
        return read_chars(c, csv, row, col, out, err);
    if (c->kind == QN_CELL_REAL) {
        QN_TRY(qn_csv_f64(csv, row, col, 0, FLT_MAX, &real, err));
        memcpy(out, &real, sizeof real);
        return QN_OK;
    }
    if (c->words)
        QN_TRY(read_word(c, csv, row, col, &whole, err));
    else
        QN_TRY(qn_csv_i64(csv, row, col, c->least, c->is_flag ? 1 : INT64_MAX, &whole, err));
    const int32_t narrow = (int32_t)whole;

    memcpy(out, c->size == sizeof whole ? (const void *)&whole : (const void *)&narrow, c->size);
out:
    return st;
}

qn_status qn_sheet_check(const qn_sheet *sheet, const qn_csv *csv, qn_err *err)
{
    qn_status st = QN_OK;
    size_t col;

    for (size_t c = 0; c < sheet->n_columns; c++)
        if (sheet->columns[c].key)
            QN_TRY(qn_csv_column(csv, sheet->columns[c].key, &col, err));
out:
    return st;
}

qn_status qn_sheet_read(const qn_sheet *sheet, const qn_csv *csv, size_t row, void *out,
                        qn_err *err)
{
    qn_status st = QN_OK;

    for (const qn_column *c = sheet->columns; c < sheet->columns + sheet->n_columns; c++)
        if (c->key)
            QN_TRY(read_cell(c, csv, row, (char *)out + c->at, err));
out:
    return st;
}

/* Lists. */

qn_status qn_sheet_add(void *list, size_t *n, size_t *room, const void *row, size_t size,
                       qn_err *err)
{
    char *rows;

    memcpy(&rows, list, sizeof rows);
    if (!(rows = qn_grown(rows, *n, room, size)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu rows", *n + 1);
    memcpy(rows + *n * size, row, size);
    memcpy(list, &rows, sizeof rows);
    ++*n;
    return QN_OK;
}
