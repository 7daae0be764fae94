/* csv.c - the reader: one pass that splits and unquotes the text in place.
 *
 * Unquoting only shortens a field, so the write position never passes the read position and no
 * field needs its own memory. The bytes may be anything: the result is a table or an error with a
 * line number.
 */
#include "util/csv.h"
#include "util/file.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    qn_csv *csv;
    char *at, *end;
    size_t line; /* of `at` */
    size_t comment_room, row_room;
    char *fields[QN_CSV_MAX_FIELDS];
    size_t n_fields;
    qn_err *err;
} reader;

static qn_status fail_at(const reader *r, size_t line, const char *what)
{
    return qn_fail(r->err, QN_ERR_INPUT, "%s:%zu: %s", r->csv->name, line, what);
}

/* qn_grown, with an error if out of memory. */
static void *grown(void *list, size_t n, size_t *room, size_t size, const reader *r)
{
    void *more = qn_grown(list, n, room, size);

    if (!more)
        qn_fail(r->err, QN_ERR_NOMEM, "%s:%zu: no memory for %zu entries", r->csv->name, r->line,
                n + 1);
    return more;
}

/* Steps over "\n", "\r\n" or the end of the text; returns 0 if `at` is at none of them. */
static int take_line_end(reader *r)
{
    if (r->at == r->end)
        return 1;
    if (*r->at == '\r' && r->end - r->at > 1 && r->at[1] == '\n')
        r->at++;
    if (*r->at != '\n')
        return 0;
    r->at++;
    r->line++;
    return 1;
}

static qn_status take_comment(reader *r)
{
    qn_csv *csv = r->csv;
    char *start = r->at + 1;
    char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));

    if (!stop)
        stop = r->end;
    if (stop - start > QN_CSV_MAX_RECORD)
        return qn_fail(r->err, QN_ERR_INPUT, "%s:%zu: comment exceeds the limit of %d bytes",
                       r->csv->name, r->line, QN_CSV_MAX_RECORD);
    char **comments = grown(csv->comments, csv->n_comments, &r->comment_room, sizeof *comments, r);
    if (!comments)
        return QN_ERR_NOMEM;
    csv->comments = comments;
    r->at = stop < r->end ? stop + 1 : stop;
    r->line++;
    if (stop > start && stop[-1] == '\r')
        stop--;
    *stop = '\0';
    while (*start == ' ')
        start++;
    csv->comments[csv->n_comments++] = start;
    return QN_OK;
}

/* Reads the field at `at` up to its comma or line end; the caller reads that. */
static qn_status take_field(reader *r, char **field, char **field_end)
{
    char *to = r->at;

    *field = to;
    if (r->at == r->end || *r->at != '"') {
        while (r->at < r->end && *r->at != ',' && *r->at != '\n' && *r->at != '"')
            r->at++;
        if (r->at < r->end && *r->at == '"')
            return fail_at(r, r->line, "quote inside a field that does not start with one");
        if (r->at > to && r->at < r->end && *r->at == '\n' && r->at[-1] == '\r')
            r->at--;
        *field_end = r->at;
        return QN_OK;
    }

    const size_t first_line = r->line;
    for (r->at++; r->at < r->end; r->at++) {
        if (*r->at == '"') {
            if (r->end - r->at < 2 || r->at[1] != '"')
                break;
            r->at++;
        } else if (*r->at == '\n') {
            r->line++;
        }
        *to++ = *r->at;
    }
    if (r->at == r->end)
        return fail_at(r, first_line, "quote is never closed");
    r->at++;
    *field_end = to;
    return QN_OK;
}

/* Splits one row into r->fields. The separator after a field is read before the field's NUL is
 * written, since the NUL of an unquoted field overwrites it. */
static qn_status take_row(reader *r)
{
    const char *start = r->at;
    const size_t first_line = r->line;
    char *field = NULL;
    char *field_end = NULL;

    for (r->n_fields = 0;;) {
        if (r->n_fields == QN_CSV_MAX_FIELDS)
            return qn_fail(r->err, QN_ERR_INPUT, "%s:%zu: row exceeds the limit of %d fields",
                           r->csv->name, first_line, QN_CSV_MAX_FIELDS);
        const qn_status st = take_field(r, &field, &field_end);
        if (st != QN_OK)
            return st;
        if (r->at - start > QN_CSV_MAX_RECORD)
            return qn_fail(r->err, QN_ERR_INPUT, "%s:%zu: row exceeds the limit of %d bytes",
                           r->csv->name, first_line, QN_CSV_MAX_RECORD);
        r->fields[r->n_fields++] = field;
        const int is_last = take_line_end(r);
        if (!is_last && *r->at != ',')
            return fail_at(r, r->line, "text after a closing quote");
        if (!is_last)
            r->at++;
        *field_end = '\0';
        if (is_last)
            return QN_OK;
    }
}

static qn_status keep_header(reader *r, size_t line)
{
    qn_csv *csv = r->csv;

    for (size_t i = 0; i < r->n_fields; i++) {
        for (size_t k = 0; k < i; k++) {
            if (!strcmp(r->fields[i], r->fields[k]))
                return qn_fail(r->err, QN_ERR_INPUT, "%s:%zu: column \"%.60s\" appears twice",
                               csv->name, line, r->fields[i]);
        }
    }
    if (!(csv->header = malloc(r->n_fields * sizeof *csv->header)))
        return qn_fail(r->err, QN_ERR_NOMEM, "%s: no memory for %zu columns", csv->name,
                       r->n_fields);
    memcpy(csv->header, r->fields, r->n_fields * sizeof *csv->header);
    csv->n_cols = r->n_fields;
    return QN_OK;
}

static qn_status keep_row(reader *r, size_t line)
{
    qn_csv *csv = r->csv;
    size_t line_room = r->row_room;
    size_t cell_room = r->row_room;

    if (r->n_fields != csv->n_cols)
        return qn_fail(r->err, QN_ERR_INPUT, "%s:%zu: expected %zu fields, found %zu", csv->name,
                       line, csv->n_cols, r->n_fields);
    size_t *lines = grown(csv->lines, csv->n_rows, &line_room, sizeof *lines, r);
    if (!lines)
        return QN_ERR_NOMEM;
    csv->lines = lines;
    char **cells = grown(csv->cells, csv->n_rows, &cell_room, csv->n_cols * sizeof *cells, r);
    if (!cells)
        return QN_ERR_NOMEM;
    csv->cells = cells;
    r->row_room = line_room;
    memcpy(cells + csv->n_rows * csv->n_cols, r->fields, csv->n_cols * sizeof *cells);
    lines[csv->n_rows++] = line;
    return QN_OK;
}

static qn_status read_all(reader *r)
{
    qn_status st = QN_OK;

    while (r->at < r->end) {
        const size_t line = r->line;
        if (take_line_end(r))
            continue;
        if (*r->at == '#') {
            QN_TRY(take_comment(r));
            continue;
        }
        QN_TRY(take_row(r));
        QN_TRY(r->csv->header ? keep_row(r, line) : keep_header(r, line));
    }
    if (!r->csv->header)
        st = qn_fail(r->err, QN_ERR_INPUT, "%s: no header line", r->csv->name);
out:
    return st;
}

/* A NUL would end a field early and hide the rest. */
static qn_status refuse_nul(const reader *r)
{
    const char *nul = memchr(r->at, '\0', (size_t)(r->end - r->at));
    size_t line = 1;

    if (!nul)
        return QN_OK;
    for (const char *c = r->at; c < nul; c++)
        line += *c == '\n';
    return fail_at(r, line, "NUL byte; this is not a text file");
}

/* Takes ownership of `text`, which has one writable byte after its `bytes`. */
static qn_status parse_owned(const char *name, char *text, size_t bytes, qn_csv *out, qn_err *err)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    qn_status st = QN_OK;
    qn_csv csv = { .text = text, .name = strdup(name) };
    reader r = { .csv = &csv, .at = text, .end = text + bytes, .line = 1, .err = err };

    if (!csv.name)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for its name", name);
    if (bytes >= 3 && !memcmp(text, byte_order_mark, 3))
        r.at += 3;
    QN_TRY(refuse_nul(&r));
    QN_TRY(read_all(&r));
    *out = csv;
    return QN_OK;
out:
    qn_csv_free(&csv);
    return st;
}

qn_status qn_csv_parse(const char *name, const char *text, size_t bytes, qn_csv *out, qn_err *err)
{
    char *copy = bytes < SIZE_MAX ? malloc(bytes + 1) : NULL;

    if (!copy)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", name, bytes);
    if (bytes)
        memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    return parse_owned(name, copy, bytes, out, err);
}

qn_status qn_csv_read(const char *path, qn_csv *out, qn_err *err)
{
    char *text;
    size_t bytes;
    const qn_status st = qn_file_read_most(path, QN_MOST_TABLE, &text, &bytes, err);

    return st == QN_OK ? parse_owned(path, text, bytes, out, err) : st;
}

void qn_csv_free(qn_csv *csv)
{
    free(csv->name);
    free(csv->text);
    free(csv->comments);
    free(csv->header);
    free(csv->cells);
    free(csv->lines);
    *csv = (qn_csv){ 0 };
}
