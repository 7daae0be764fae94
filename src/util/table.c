/* table.c - prints one set of cells as text, Markdown or JSON. */
#include "util/table.h"
#include "util/json.h"
#include "util/list.h"
#include "util/utf8.h"

#include <ctype.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const qn_cell empty_cell = { .text = "" };

qn_table qn_table_begin_list(const char *const *names)
{
    qn_table table = { 0 };
    size_t n = 0;

    while (names[n])
        n++;
    table.n_cols = n;
    for (size_t i = 0; i < n; i++)
        qn_table_add(&table, names[i]);
    return table;
}

void qn_table_free(qn_table *table)
{
    for (size_t i = 0; i < table->n_cells; i++)
        free(table->cells[i].text);
    free(table->cells);
    *table = (qn_table){ 0 };
}

void qn_table_add(qn_table *table, const char *text)
{
    qn_str clean = { 0 };

    qn_cell *more = qn_grown(table->cells, table->n_cells, &table->room, sizeof *more);

    if (!more) {
        table->failed = 1;
        return;
    }
    table->cells = more;
    qn_utf8_add_clean(&clean, text);
    qn_str_add_n(&clean, "", 0);
    if (clean.failed) {
        table->failed = 1;
        qn_str_free(&clean);
        return;
    }
    table->cells[table->n_cells++] = (qn_cell){ .text = clean.data };
}

void qn_table_addf(qn_table *table, const char *format, ...)
{
    char *text = NULL, *next;
    va_list args;

    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0) {
        table->failed = 1;
        return;
    }
    for (char *cell = text; cell; cell = next) {
        if ((next = strchr(cell, '\t')))
            *next++ = '\0';
        qn_table_add(table, cell);
    }
    free(text);
}

void qn_table_mark(qn_table *table)
{
    if (table->n_cells > table->n_cols)
        table->cells[table->n_cells - 1].is_strong = 1;
}

size_t qn_table_rows(const qn_table *table)
{
    return table->n_cols ? (table->n_cells + table->n_cols - 1) / table->n_cols : 0;
}

const qn_cell *qn_table_at(const qn_table *table, size_t row, size_t col)
{
    const size_t i = row * table->n_cols + col;

    return i < table->n_cells ? &table->cells[i] : &empty_cell;
}

static int is_neutral(const char *text)
{
    return !text[0] || !strcmp(text, "-");
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Length of the JSON number at the start of `text`; 0 if there is none. */
static size_t number_size(const char *text)
{
    const char *at = text + (*text == '-');
    size_t digits = count_digits(at);

    if (digits == 0 || (at[0] == '0' && digits > 1))
        return 0;
    at += digits;
    if (*at == '.') {
        if (!(digits = count_digits(at + 1)))
            return 0;
        at += 1 + digits;
    }
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
        if ((digits = count_digits(exponent)))
            at = exponent + digits;
    }
    return (size_t)(at - text);
}

/* A number, perhaps followed by a short unit: "+12 %", "1.5x", "640.0 KiB". */
static int is_quantity(const char *text)
{
    text += *text == '+';
    const size_t size = number_size(text);
    if (!size)
        return 0;
    const char *unit = text + size;
    unit += *unit == ' ';
    const size_t n = qn_utf8_count(unit);
    return n <= 4 && !strpbrk(unit, "0123456789 :.,-");
}

static int is_number(const char *text)
{
    return text[0] && number_size(text) == strlen(text);
}

/* Whether `test` holds for at least one cell of the column, and the others are neutral. */
static int column_is(const qn_table *table, size_t col, int (*test)(const char *))
{
    int seen = 0;

    for (size_t row = 1; row < qn_table_rows(table); row++) {
        const char *text = qn_table_at(table, row, col)->text;
        if (is_neutral(text))
            continue;
        if (!test(text))
            return 0;
        seen = 1;
    }
    return seen;
}

int qn_table_is_right(const qn_table *table, size_t col)
{
    return column_is(table, col, is_quantity);
}

/* Text and Markdown. */

/* Appends the cell in the given form. */
static void add_cell(const qn_cell *cell, qn_table_form form, qn_str *out)
{
    if (form == QN_TABLE_TEXT) {
        qn_str_add(out, cell->text);
        return;
    }
    const char *mark = cell->is_strong && cell->text[0] ? "**" : "";
    qn_str_add(out, mark);
    for (const char *c = cell->text; *c; c++) {
        if (*c == '|')
            qn_str_add(out, "\\");
        qn_str_add_n(out, c, 1);
    }
    qn_str_add(out, mark);
}

/* Does not allocate, so that out-of-memory cannot change the width between two calls. */
static size_t cell_width(const qn_cell *cell, qn_table_form form)
{
    size_t width = qn_utf8_count(cell->text);

    if (form == QN_TABLE_TEXT)
        return width;
    for (const char *c = cell->text; *c; c++)
        width += *c == '|';
    return width + (cell->is_strong && cell->text[0] ? 4 : 0);
}

static size_t column_width(const qn_table *table, size_t col, qn_table_form form)
{
    size_t width = form == QN_TABLE_MARKDOWN ? 3 : 0;

    for (size_t row = 0; row < qn_table_rows(table); row++) {
        const size_t cell = cell_width(qn_table_at(table, row, col), form);
        width = cell > width ? cell : width;
    }
    return width;
}

static void add_repeated(qn_str *out, char c, size_t n)
{
    while (n-- > 0)
        qn_str_add_n(out, &c, 1);
}

static void trim_line(qn_str *out)
{
    while (!out->failed && out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

static void add_rule(const size_t *widths, const int *rights, size_t n, qn_str *out)
{
    for (size_t col = 0; col < n; col++) {
        qn_str_add(out, "| ");
        add_repeated(out, '-', widths[col] - (size_t)rights[col]);
        qn_str_add(out, rights[col] ? ": " : " ");
    }
    qn_str_add(out, "|\n");
}

static void add_row(const qn_table *table, size_t row, const size_t *widths, const int *rights,
                    qn_table_form form, qn_str *out)
{
    for (size_t col = 0; col < table->n_cols; col++) {
        const qn_cell *cell = qn_table_at(table, row, col);
        const size_t pad = widths[col] - cell_width(cell, form);
        qn_str_add(out, form == QN_TABLE_MARKDOWN ? "| " : col ? "  " : "");
        add_repeated(out, ' ', rights[col] ? pad : 0);
        add_cell(cell, form, out);
        add_repeated(out, ' ', rights[col] ? 0 : pad);
        qn_str_add(out, form == QN_TABLE_MARKDOWN ? " " : "");
    }
    if (form == QN_TABLE_MARKDOWN)
        qn_str_add(out, "|");
    else
        trim_line(out);
    qn_str_add(out, "\n");
}

static void format_aligned(const qn_table *table, qn_table_form form, qn_str *out)
{
    const size_t n = table->n_cols;
    size_t *widths = calloc(n + 1, sizeof *widths);
    int *rights = calloc(n + 1, sizeof *rights);

    if (!widths || !rights) {
        out->failed = 1;
        goto out;
    }
    for (size_t col = 0; col < n; col++) {
        widths[col] = column_width(table, col, form);
        rights[col] = qn_table_is_right(table, col);
    }
    for (size_t row = 0; row < qn_table_rows(table); row++) {
        add_row(table, row, widths, rights, form, out);
        if (row == 0 && form == QN_TABLE_MARKDOWN)
            add_rule(widths, rights, n, out);
    }
out:
    free(widths);
    free(rights);
}

/* JSON. */

static void add_key(const char *name, qn_str *out)
{
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        const char low = c >= 0x80 || isalnum(c) ? (char)tolower(c) : '_';
        qn_str_add_n(out, &low, 1);
    }
}

static json_t *cell_value(const char *text, int is_numeric)
{
    if (!strcmp(text, "-") || (is_numeric && !text[0]))
        return json_null();
    json_t *number = is_numeric ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
    return number ? number : qn_json_text(text); /* 1e999 looks like a number but is not one */
}

static json_t *row_object(const qn_table *table, size_t row, const int *numeric)
{
    json_t *object = json_object();

    for (size_t col = 0; col < table->n_cols; col++) {
        const char *text = qn_table_at(table, row, col)->text;
        qn_str key = { 0 };

        add_key(qn_table_at(table, 0, col)->text, &key);
        qn_json_put(&object, qn_str_get(&key), key.failed ? NULL : cell_value(text, numeric[col]));
        qn_str_free(&key);
    }
    return object;
}

static char *dump_rows(const qn_table *table, const int *numeric)
{
    json_t *list = json_array();
    char *text = NULL;

    for (size_t row = 1; row < qn_table_rows(table); row++)
        qn_json_push(&list, row_object(table, row, numeric));
    if (list)
        text = json_dumps(list, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(list);
    return text;
}

static void format_json(const qn_table *table, qn_str *out)
{
    int *numeric = calloc(table->n_cols + 1, sizeof *numeric);
    char *text = NULL;

    for (size_t col = 0; numeric && col < table->n_cols; col++)
        numeric[col] = column_is(table, col, is_number);
    if (numeric && (text = dump_rows(table, numeric))) {
        qn_str_add(out, text);
        qn_str_add(out, "\n");
    } else {
        out->failed = 1;
    }
    free(text);
    free(numeric);
}

void qn_table_format(const qn_table *table, qn_table_form form, qn_str *out)
{
    if (table->failed)
        out->failed = 1;
    else if (form == QN_TABLE_JSON)
        format_json(table, out);
    else
        format_aligned(table, form, out);
}

qn_status qn_table_print(qn_table *table, FILE *to, qn_table_form form, qn_err *err)
{
    const size_t n = qn_table_rows(table);
    qn_str text = { 0 };
    qn_status st = QN_OK;

    qn_table_format(table, form, &text);
    if (text.failed)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory to print a table of %zu rows", n);
    else if (fwrite(qn_str_get(&text), 1, text.len, to) != text.len || fflush(to) != 0)
        st = qn_fail(err, QN_ERR_IO, "cannot write a table of %zu rows: %s", n, strerror(errno));
    qn_str_free(&text);
    qn_table_free(table);
    return st;
}
