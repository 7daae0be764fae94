/* npy.c - NumPy arrays: a magic word, a header in Python syntax, the data.
 *
 * The header may use a small part of Python: a dictionary with the three keys in any order, quoted
 * strings, True or False, and a tuple of whole numbers.
 */
#include "util/npy.h"
#include "util/file.h"
#include "util/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAGIC_BYTES = 6, ALIGN = 64, MAX_HEADER = QN_NPY_MAX_HEAD - 12 };

static const char magic[MAGIC_BYTES + 1] = "\x93NUMPY";

static const struct {
    const char *name;
    size_t bytes;
} types[QN_NPY_TYPES] = {
    [QN_NPY_F8] = { "<f8", 8 }, [QN_NPY_F4] = { "<f4", 4 }, [QN_NPY_I4] = { "<i4", 4 },
    [QN_NPY_I1] = { "|i1", 1 }, [QN_NPY_U1] = { "|u1", 1 },
};

const char *qn_npy_type_name(qn_npy_type type)
{
    return types[type].name;
}

size_t qn_npy_elem_bytes(qn_npy_type type)
{
    return types[type].bytes;
}

qn_i64 qn_npy_elems(const qn_npy *array)
{
    qn_i64 n = 1;

    for (int i = 0; i < array->n_dims; i++)
        n *= array->dims[i];
    return n;
}

double qn_npy_at(const qn_npy *array, qn_i64 i)
{
    switch (array->type) {
    case QN_NPY_F8:
        return ((const double *)array->data)[i];
    case QN_NPY_F4:
        return (double)((const float *)array->data)[i];
    case QN_NPY_I4:
        return ((const int32_t *)array->data)[i];
    case QN_NPY_I1:
        return ((const int8_t *)array->data)[i];
    default:
        return ((const uint8_t *)array->data)[i];
    }
}

/* The header. */

/* A position in the text of a header. */
typedef struct {
    const char *name, *at, *end;
    qn_err *err;
} cursor;

static qn_status fail_at(cursor *c, const char *wanted)
{
    const size_t left = (size_t)(c->end - c->at);
    char seen[24];
    size_t n = 0;

    for (; n < sizeof seen - 1 && n < left && c->at[n] != '\n'; n++)
        seen[n] = c->at[n] >= ' ' && c->at[n] <= '~' ? c->at[n] : '?';
    seen[n] = 0;
    return qn_fail(c->err, QN_ERR_INPUT, "%s: header: %s expected, not '%s'", c->name, wanted,
                   n ? seen : "its end");
}

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && strchr(" \t\n\r", *c->at) && *c->at)
        c->at++;
}

/* Steps over `what` if it comes next. */
static int take(cursor *c, const char *what)
{
    const size_t n = strlen(what);

    skip_blanks(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, what, n) != 0)
        return 0;
    c->at += n;
    return 1;
}

/* A quoted string without escapes, at most `size` - 1 bytes. */
static qn_status take_string(cursor *c, char *out, size_t size)
{
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return fail_at(c, "a string");

    const char *from = c->at + 1;
    const char *to = memchr(from, *c->at, (size_t)(c->end - from));

    if (!to || (size_t)(to - from) >= size)
        return fail_at(c, "a short string");
    memcpy(out, from, (size_t)(to - from));
    out[to - from] = 0;
    c->at = to + 1;
    return QN_OK;
}

static qn_status take_type(cursor *c, qn_npy *out)
{
    char name[16];
    qn_status st = take_string(c, name, sizeof name);

    if (st != QN_OK)
        return st;
    for (int i = 0; i < QN_NPY_TYPES; i++) {
        if (strcmp(name, types[i].name) == 0) {
            out->type = (qn_npy_type)i;
            return QN_OK;
        }
    }
    return qn_fail(c->err, QN_ERR_INPUT,
                   "%s: elements of type '%s' are not one of <f8, <f4, <i4, |i1, |u1", c->name,
                   name);
}

static qn_status take_order(cursor *c, qn_npy *out)
{
    out->is_fortran = take(c, "True");
    return out->is_fortran || take(c, "False") ? QN_OK : fail_at(c, "True or False");
}

static qn_status take_extent(cursor *c, qn_i64 *out)
{
    qn_i64 value = 0;

    skip_blanks(c);
    if (c->at == c->end || *c->at < '0' || *c->at > '9')
        return fail_at(c, "an extent");
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        value = value * 10 + (*c->at - '0');
        if (value > (qn_i64)QN_MOST_ARRAY)
            return qn_fail(c->err, QN_ERR_INPUT, "%s: an extent is above the limit of %zu", c->name,
                           QN_MOST_ARRAY);
    }
    *out = value;
    return QN_OK;
}

static qn_status take_shape(cursor *c, qn_npy *out)
{
    qn_status st = QN_OK;

    out->n_dims = 0;
    if (!take(c, "("))
        return fail_at(c, "a tuple");
    while (!take(c, ")")) {
        if (out->n_dims == QN_NPY_MAX_DIMS)
            return qn_fail(c->err, QN_ERR_INPUT, "%s: more than %d dimensions", c->name,
                           QN_NPY_MAX_DIMS);
        QN_TRY(take_extent(c, &out->dims[out->n_dims]));
        out->n_dims++;
        if (!take(c, ",") && (skip_blanks(c), c->at == c->end || *c->at != ')'))
            return fail_at(c, "a comma");
    }
out:
    return st;
}

static qn_status take_dictionary(cursor *c, qn_npy *out)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };
    unsigned seen = 0;
    qn_status st = QN_OK;

    if (!take(c, "{"))
        return fail_at(c, "a dictionary");
    while (!take(c, "}")) {
        char key[24];
        unsigned bit = 0;

        QN_TRY(take_string(c, key, sizeof key));
        if (!take(c, ":"))
            return fail_at(c, "a colon");
        if (strcmp(key, "descr") == 0) {
            bit = DESCR;
            QN_TRY(take_type(c, out));
        } else if (strcmp(key, "fortran_order") == 0) {
            bit = ORDER;
            QN_TRY(take_order(c, out));
        } else if (strcmp(key, "shape") == 0) {
            bit = SHAPE;
            QN_TRY(take_shape(c, out));
        }
        if (!bit || (seen & bit))
            return qn_fail(c->err, QN_ERR_INPUT, "%s: header: key '%s' is %s", c->name, key,
                           bit ? "there twice" : "unknown");
        seen |= bit;
        if (!take(c, ",") && (skip_blanks(c), c->at == c->end || *c->at != '}'))
            return fail_at(c, "a comma");
    }
    if (seen != ALL)
        return qn_fail(c->err, QN_ERR_INPUT, "%s: header: '%s' is missing", c->name,
                       !(seen & DESCR)   ? "descr"
                       : !(seen & ORDER) ? "fortran_order"
                                         : "shape");
    skip_blanks(c);
    if (c->at != c->end)
        return fail_at(c, "nothing more");
out:
    return st;
}

static qn_status check_size(const char *name, const qn_npy *array, qn_err *err)
{
    size_t bytes = types[array->type].bytes;

    /* Each extent is at most QN_MOST_ARRAY, but their product may be anything. */
    for (int i = 0; i < array->n_dims; i++) {
        const size_t extent = (size_t)array->dims[i];

        if (extent && bytes > QN_MOST_ARRAY / extent)
            return qn_fail(err, QN_ERR_INPUT, "%s: the array is larger than the limit of %zu bytes",
                           name, QN_MOST_ARRAY);
        bytes *= extent;
    }
    return QN_OK;
}

qn_status qn_npy_parse(const char *name, const char *text, size_t bytes, qn_npy *out,
                       size_t *data_at, qn_err *err)
{
    const unsigned char *byte = (const unsigned char *)text;
    qn_npy array = { 0 };
    qn_status st = QN_OK;

    if (bytes < MAGIC_BYTES || memcmp(text, magic, MAGIC_BYTES) != 0)
        return qn_fail(err, QN_ERR_INPUT, "%s: not a NumPy array: the magic word is missing", name);
    if (bytes < MAGIC_BYTES + 4)
        return qn_fail(err, QN_ERR_INPUT, "%s: ends after %zu bytes, inside its header", name,
                       bytes);
    if ((byte[6] != 1 && byte[6] != 2) || byte[7] != 0)
        return qn_fail(err, QN_ERR_INPUT, "%s: format version %d.%d is neither 1.0 nor 2.0", name,
                       byte[6], byte[7]);

    const size_t from = byte[6] == 1 ? 10 : 12;
    size_t len = byte[8] | (size_t)byte[9] << 8;

    if (bytes < from)
        return qn_fail(err, QN_ERR_INPUT, "%s: ends after %zu bytes, inside its header", name,
                       bytes);
    if (from == 12)
        len |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    if (len > MAX_HEADER)
        return qn_fail(err, QN_ERR_INPUT, "%s: header of %zu bytes exceeds the limit of %d", name,
                       len, MAX_HEADER);
    if (bytes < from + len)
        return qn_fail(err, QN_ERR_INPUT, "%s: ends after %zu bytes, inside its header of %zu",
                       name, bytes, from + len);

    cursor c = { name, text + from, text + from + len, err };
    QN_TRY(take_dictionary(&c, &array));
    QN_TRY(check_size(name, &array, err));
    *out = array;
    *data_at = from + len;
out:
    return st;
}

/* Files. */

/* Copies `from`, where the first index is fastest, to `to`, where the last is. */
static void reorder(const qn_npy *array, const char *from, char *to)
{
    const size_t size = types[array->type].bytes;
    const qn_i64 n = qn_npy_elems(array);
    qn_i64 at[QN_NPY_MAX_DIMS] = { 0 };

    for (qn_i64 k = 0; k < n; k++) {
        qn_i64 place = 0;

        for (int d = 0; d < array->n_dims; d++)
            place = place * array->dims[d] + at[d];
        memcpy(to + (size_t)place * size, from + (size_t)k * size, size);
        for (int d = 0; d < array->n_dims && ++at[d] == array->dims[d]; d++)
            at[d] = 0;
    }
}

/* Stores the data in C order; data in Fortran order are reordered and freed. */
static qn_status take_data(const char *path, char *data, size_t bytes, qn_npy *array, qn_err *err)
{
    array->data = data;
    if (!array->is_fortran)
        return QN_OK;
    if ((array->data = malloc(bytes ? bytes : 1)))
        reorder(array, data, array->data);
    free(data);
    array->is_fortran = 0;
    return array->data ? QN_OK
                       : qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", path, bytes);
}

/* Reads `want` bytes of data; the first `n` of them were read with the header. */
static qn_status read_data(const char *path, FILE *file, const char *first, size_t n, size_t want,
                           char **out, qn_err *err)
{
    char *data = malloc(want ? want : 1);

    if (!data)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", path, want);
    memcpy(data, first, n < want ? n : want);
    if (n < want)
        n += fread(data + n, 1, want - n, file);
    n += fgetc(file) != EOF;
    if (n != want) {
        free(data);
        return qn_fail(err, QN_ERR_INPUT, "%s: %zu bytes of data, but its shape needs %zu", path, n,
                       want);
    }
    *out = data;
    return QN_OK;
}

/* Reads the header first, to compare the size of the file with it before reading the data. */
qn_status qn_npy_read(const char *path, qn_npy *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_npy array = { 0 };
    char *head = malloc(QN_NPY_MAX_HEAD), *data = NULL;
    size_t bytes = 0, at = 0;
    FILE *file = NULL;
    int fd = -1;

    QN_TRY(qn_file_open(path, QN_MOST_ARRAY + QN_NPY_MAX_HEAD, &fd, &bytes, err));
    if (!head || !(file = fdopen(fd, "rb"))) {
        close(fd);
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory to read it", path);
    }
    const size_t n = fread(head, 1, QN_NPY_MAX_HEAD, file);
    QN_TRY(qn_npy_parse(path, head, n, &array, &at, err));

    const size_t want = (size_t)qn_npy_elems(&array) * types[array.type].bytes;
    if (bytes && bytes - at != want)
        QN_FAIL(err, QN_ERR_INPUT, "%s: %zu bytes of data, but its shape needs %zu", path,
                bytes - at, want);
    QN_TRY(read_data(path, file, head + at, n - at, want, &data, err));
    QN_TRY(take_data(path, data, want, &array, err));
    *out = array;
out:
    if (file)
        fclose(file);
    free(head);
    return st;
}

static void add_shape(qn_str *s, int n_dims, const qn_i64 *dims)
{
    qn_str_add(s, "(");
    for (int i = 0; i < n_dims; i++)
        qn_str_addf(s, "%s%lld", i ? ", " : "", (long long)dims[i]);
    qn_str_add(s, n_dims == 1 ? ",)" : ")");
}

qn_status qn_npy_read_as(const char *path, qn_npy_type type, int n_dims, const qn_i64 *dims,
                         qn_npy *out, qn_err *err)
{
    qn_npy array = { 0 };
    qn_str is = { 0 }, want = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_npy_read(path, &array, err));
    if (array.type != type || array.n_dims != n_dims ||
        (n_dims && memcmp(array.dims, dims, (size_t)n_dims * sizeof *dims) != 0)) {
        add_shape(&is, array.n_dims, array.dims);
        add_shape(&want, n_dims, dims);
        QN_FAIL(err, QN_ERR_INPUT, "%s: %s of shape %s; must be %s of shape %s", path,
                types[array.type].name, qn_str_get(&is), types[type].name, qn_str_get(&want));
    }
    *out = array;
    array = (qn_npy){ 0 };
out:
    qn_str_free(&is);
    qn_str_free(&want);
    qn_npy_free(&array);
    return st;
}

void qn_npy_free(qn_npy *array)
{
    free(array->data);
    *array = (qn_npy){ 0 };
}

void qn_npy_add_header(const qn_npy *array, qn_str *out)
{
    qn_str text = { 0 };

    qn_str_addf(&text,
                "{'descr': '%s', 'fortran_order': False, 'shape': ", types[array->type].name);
    add_shape(&text, array->n_dims, array->dims);
    qn_str_add(&text, ", }");
    while ((MAGIC_BYTES + 4 + text.len + 1) % ALIGN && !text.failed)
        qn_str_add(&text, " ");
    qn_str_add(&text, "\n");

    const unsigned char lead[] = { 1, 0, (unsigned char)text.len, (unsigned char)(text.len >> 8) };
    qn_str_add_n(out, magic, MAGIC_BYTES);
    qn_str_add_n(out, (const char *)lead, sizeof lead);
    qn_str_add_n(out, qn_str_get(&text), text.len);
    out->failed |= text.failed;
    qn_str_free(&text);
}

qn_status qn_npy_commit(qn_out *out, const qn_npy *array, qn_err *err)
{
    const size_t bytes = (size_t)qn_npy_elems(array) * types[array->type].bytes;
    qn_str header = { 0 };
    qn_status st = QN_OK;

    qn_npy_add_header(array, &header);
    if (header.failed) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its header", out->path);
        qn_out_abort(out);
    } else {
        (void)!fwrite(header.data, 1, header.len, out->file); /* the commit reports an error */
        if (bytes)
            (void)!fwrite(array->data, 1, bytes, out->file);
        st = qn_out_commit(out, err);
    }
    qn_str_free(&header);
    return st;
}

qn_status qn_npy_write(const char *path, const qn_npy *array, qn_err *err)
{
    qn_out out;
    const qn_status st = qn_out_open(path, &out, err);

    return st == QN_OK ? qn_npy_commit(&out, array, err) : st;
}
