/* from_json.c - JSON into values; errors give the position as a path.
 *
 * The path grows on the way down and is cut on the way back, so it costs nothing until a fault is
 * reported.
 */
#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "kernel/arc/arc_value.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_DEPTH = 256 };

typedef struct reader {
    qn_arc_heap *heap;
    const char *where;
    char path[200]; /* "/s/3/t/1" */
    int depth;
    qn_err *err;
} reader;

__attribute__((format(printf, 2, 3))) static qn_status refuse(reader *r, const char *format, ...)
{
    char text[200];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn_fail(r->err, QN_ERR_INPUT, "%s%s: %s", r->where, r->path, text);
}

/* Appends "/key/i" to the path; returns where to cut it again. */
static size_t enter(reader *r, const char *key, size_t i)
{
    const size_t at = strlen(r->path);

    snprintf(r->path + at, sizeof r->path - at, "/%s/%zu", key, i);
    r->depth++;
    return at;
}

static void leave(reader *r, size_t at)
{
    r->path[at] = '\0';
    r->depth--;
}

static qn_status new_values(reader *r, size_t n, qn_arc_value **out)
{
    if (n > INT_MAX)
        return refuse(r, "%zu items exceed %d", n, INT_MAX);
    if (!(*out = qn_arc_values(r->heap, (int)n)))
        return qn_fail(r->err, QN_ERR_NOMEM, "%s%s: no memory for %zu values", r->where, r->path,
                       n);
    return QN_OK;
}

static qn_status read_value(reader *r, const json_t *json, qn_arc_value *out);

/* Containers. */

typedef qn_status item_reader(reader *r, const json_t *json, qn_arc_value *out);

/* Reads each entry of a list, except the first `skip`, with `read_item`. */
static qn_status read_list(reader *r, const char *key, const json_t *list, size_t skip,
                           item_reader *read_item, qn_arc_value **out)
{
    qn_status st = QN_OK;
    qn_arc_value *items = NULL;

    if (!json_is_array(list))
        return refuse(r, "\"%s\" is not a list", key);
    QN_TRY(new_values(r, json_array_size(list) - skip, &items));
    for (size_t i = skip; i < json_array_size(list); i++) {
        const size_t at = enter(r, key, i);

        QN_TRY(read_item(r, json_array_get(list, i), &items[i - skip]));
        leave(r, at);
    }
    *out = items;
out:
    return st;
}

/* A row of digits as text. */
static qn_status read_row(reader *r, const json_t *json, qn_arc_value *out)
{
    const char *const text = json_string_value(json);
    const size_t n = json_string_length(json);
    qn_arc_value *items = NULL;
    qn_status st;

    if (!text || n == 0)
        return refuse(r, "not a row of digits");
    if ((st = new_values(r, n, &items)) != QN_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return refuse(r, "column %zu of the row is not a digit", i + 1);
        items[i] = (qn_arc_value){ .kind = QN_ARC_INT, .number = text[i] - '0' };
    }
    *out = (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = (int)n, .items = items };
    return QN_OK;
}

static qn_status read_grid(reader *r, const json_t *list, qn_arc_value *out)
{
    qn_arc_value *rows = NULL;
    const qn_status st = read_list(r, "g", list, 0, read_row, &rows);
    const int n = (int)json_array_size(list);

    if (st != QN_OK)
        return st;
    if (n == 0)
        return refuse(r, "a grid without rows");
    for (int i = 1; i < n; i++) {
        if (rows[i].n != rows[0].n)
            return refuse(r, "row %d of the grid has %d columns, the first %d", i, rows[i].n,
                          rows[0].n);
    }
    *out = (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = n, .items = rows };
    return QN_OK;
}

/* [i, j], or [colour, i, j] as (colour, (i, j)). */
static qn_status read_place(reader *r, const json_t *json, qn_arc_value *out)
{
    const size_t n = json_array_size(json);
    qn_arc_value *items = NULL;
    qn_status st;

    if (n < 2)
        return refuse(r, "not a list of whole numbers");
    if ((st = new_values(r, n == 3 ? 4 : 2, &items)) != QN_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        const json_t *const number = json_array_get(json, i);

        if (!json_is_integer(number))
            return refuse(r, "not a list of whole numbers");
        items[n == 3 && i > 0 ? i + 1 : i] =
            (qn_arc_value){ .kind = QN_ARC_INT, .number = json_integer_value(number) };
    }
    if (n == 3)
        items[1] = (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = 2, .items = items + 2 };
    *out = (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = 2, .items = items };
    return QN_OK;
}

static qn_status read_pair(reader *r, const json_t *json, qn_arc_value *out)
{
    return json_array_size(json) == 2 ? read_place(r, json, out) : refuse(r, "not [i, j]");
}

static qn_status read_cell(reader *r, const json_t *json, qn_arc_value *out)
{
    return json_array_size(json) == 3 ? read_place(r, json, out) : refuse(r, "not [colour, i, j]");
}

static qn_status read_tuple(reader *r, const json_t *list, qn_arc_value *out)
{
    qn_arc_value *items = NULL;
    const qn_status st = read_list(r, "t", list, 0, read_value, &items);

    if (st == QN_OK)
        *out =
            (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = (int)json_array_size(list), .items = items };
    return st;
}

static qn_status read_set(reader *r, const char *key, const json_t *list, qn_arc_value *out)
{
    item_reader *const read_item = *key == 'x' ? read_pair : *key == 'o' ? read_cell : read_value;
    qn_arc_value *items = NULL;
    const qn_status st = read_list(r, key, list, 0, read_item, &items);

    if (st == QN_OK)
        *out = qn_arc_set_of(items, (int)json_array_size(list));
    return st;
}

/* Functions. */

/* The form of the closures that a primitive of that name makes, or -1. */
static int form_of(const char *name)
{
    for (int form = 0; form < ARC_FORM_CONST; form++)
        if (strcmp(qn_arc_form_name(form), name) == 0)
            return form;
    return -1;
}

static int arity_of(const qn_arc_value *function)
{
    return function->kind == QN_ARC_PRIM ? qn_arc_op_arity((int)function->number) : function->step;
}

/* Binding one of two arguments leaves one, one of three leaves two; any other function is taken to
 * have four. */
static int bound_arity(const qn_arc_value *function)
{
    const int arity = arity_of(function);

    return arity == 2 ? 1 : arity == 3 ? 2 : 3;
}

static int is_function(const qn_arc_value *v)
{
    return v->kind == QN_ARC_PRIM || v->kind == QN_ARC_CLOS;
}

static qn_status read_primitive(reader *r, const char *name, qn_arc_value *out)
{
    const int op = qn_arc_op_named(name, strlen(name));

    if (op < 0)
        return refuse(r, "no primitive is called \"%.60s\"", name);
    *out = (qn_arc_value){ .kind = QN_ARC_PRIM, .number = op };
    return QN_OK;
}

static qn_status read_closure(reader *r, const json_t *list, qn_arc_value *out)
{
    const char *const name = json_string_value(json_array_get(list, 0));
    const int op = name ? qn_arc_op_named(name, strlen(name)) : -1;
    const int form = op < 0 ? -1 : form_of(name);
    const int n = (int)json_array_size(list) - 1;
    qn_arc_value *captured = NULL;
    qn_status st;

    if (form < 0)
        return refuse(r, "\"f\" does not start with a maker of closures");
    if (n != qn_arc_op_arity(op))
        return refuse(r, "%s takes %d values, not %d", name, qn_arc_op_arity(op), n);
    if ((st = read_list(r, "f", list, 1, read_value, &captured)) != QN_OK)
        return st;
    if (!is_function(&captured[0]))
        return refuse(r, "the first value of %s is not a function", name);
    if (form == ARC_FORM_POWER && (captured[1].kind != QN_ARC_INT || captured[1].number < 1))
        return refuse(r, "the second value of power is not a number from 1 on");
    if (form == ARC_FORM_POWER && captured[1].number == 1) {
        *out = captured[0];
        return QN_OK;
    }
    *out = (qn_arc_value){ .kind = QN_ARC_CLOS,
                           .n = n,
                           .number = form,
                           .step = form == ARC_FORM_RBIND || form == ARC_FORM_LBIND
                                       ? bound_arity(&captured[0])
                                       : 1,
                           .which = qn_arc_closure_number(r->heap),
                           .items = captured };
    return QN_OK;
}

/* Any value. */

static qn_status read_object(reader *r, const json_t *json, qn_arc_value *out)
{
    void *const only = json_object_iter((json_t *)json);
    const char *const key = only ? json_object_iter_key(only) : "";
    const json_t *const content = only ? json_object_iter_value(only) : NULL;

    if (json_object_size(json) != 1 || strlen(key) != 1 || !strchr("tgsxof", *key))
        return refuse(r, "not an object with one of the keys t, g, s, x, o, f");
    switch (*key) {
    case 't':
        return read_tuple(r, content, out);
    case 'g':
        return read_grid(r, content, out);
    case 'f':
        return json_is_string(content) ? read_primitive(r, json_string_value(content), out)
                                       : read_closure(r, content, out);
    default:
        return read_set(r, key, content, out);
    }
}

static qn_status read_value(reader *r, const json_t *json, qn_arc_value *out)
{
    if (r->depth > MOST_DEPTH)
        return refuse(r, "nested deeper than %d", MOST_DEPTH);
    switch (json_typeof(json)) {
    case JSON_NULL:
        *out = (qn_arc_value){ .kind = QN_ARC_NONE };
        return QN_OK;
    case JSON_TRUE:
    case JSON_FALSE:
        *out = (qn_arc_value){ .kind = QN_ARC_BOOL, .number = json_is_true(json) };
        return QN_OK;
    case JSON_INTEGER:
        *out = (qn_arc_value){ .kind = QN_ARC_INT, .number = json_integer_value(json) };
        return QN_OK;
    case JSON_OBJECT:
        return read_object(r, json, out);
    default:
        return refuse(r, "not a value: expected a whole number, true, false, null or an object");
    }
}

qn_status qn_arc_from_json(const json_t *json, const char *where, qn_arc_heap *heap,
                           qn_arc_value *out, qn_err *err)
{
    reader r = { .heap = heap, .where = where, .err = err };
    qn_arc_value made = { .kind = QN_ARC_NONE };
    const qn_status st = read_value(&r, json, &made);

    if (st == QN_OK)
        *out = made;
    return st;
}
