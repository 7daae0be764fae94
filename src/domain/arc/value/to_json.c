/* to_json.c - values as JSON, with the short forms for grids, places and cells. */
#include "domain/arc/value/op_names.h"
#include "domain/arc/value/text.h"

#include <stdlib.h>

static int is_pair(const qn_arc_value *v)
{
    return v->kind == QN_ARC_TUPLE && v->n == 2 && v->items[0].kind == QN_ARC_INT &&
           v->items[1].kind == QN_ARC_INT;
}

static int is_cell(const qn_arc_value *v)
{
    return v->kind == QN_ARC_TUPLE && v->n == 2 && v->items[0].kind == QN_ARC_INT &&
           is_pair(&v->items[1]);
}

static int is_row_of_digits(const qn_arc_value *v)
{
    if (v->kind != QN_ARC_TUPLE || v->n < 1)
        return 0;
    for (int i = 0; i < v->n; i++) {
        if (v->items[i].kind != QN_ARC_INT || v->items[i].number < 0 || v->items[i].number > 9)
            return 0;
    }
    return 1;
}

static int is_grid_of_digits(const qn_arc_value *v)
{
    if (v->n < 1)
        return 0;
    for (int i = 0; i < v->n; i++) {
        if (!is_row_of_digits(&v->items[i]) || v->items[i].n != v->items[0].n)
            return 0;
    }
    return 1;
}

static int all_items(const qn_arc_value *v, int (*is_item)(const qn_arc_value *))
{
    for (int i = 0; i < v->n; i++) {
        if (!is_item(&v->items[i]))
            return 0;
    }
    return 1;
}

/* One item of each short form. */

static json_t *row_text(const qn_arc_value *row)
{
    char *const digits = malloc((size_t)row->n + 1);
    json_t *text;

    if (!digits)
        return NULL;
    for (int i = 0; i < row->n; i++)
        digits[i] = (char)('0' + row->items[i].number);
    text = json_stringn(digits, (size_t)row->n);
    free(digits);
    return text;
}

static json_t *place_list(const qn_arc_value *pair)
{
    return json_pack("[I, I]", (json_int_t)pair->items[0].number,
                     (json_int_t)pair->items[1].number);
}

static json_t *cell_list(const qn_arc_value *cell)
{
    const qn_arc_value *const place = cell->items[1].items;

    return json_pack("[I, I, I]", (json_int_t)cell->items[0].number, (json_int_t)place[0].number,
                     (json_int_t)place[1].number);
}

/* Containers. */

/* Adds every item, in the given form, to `list`; drops the list when that fails. */
static json_t *with_items(json_t *list, const qn_arc_value *v,
                          json_t *(*form)(const qn_arc_value *))
{
    for (int i = 0; i < v->n && list; i++) {
        if (json_array_append_new(list, form(&v->items[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *under(const char *key, json_t *content)
{
    json_t *const made = content ? json_object() : NULL;

    if (!made) {
        json_decref(content);
        return NULL;
    }
    if (json_object_set_new(made, key, content) != 0) {
        json_decref(made);
        return NULL;
    }
    return made;
}

static json_t *tuple_json(const qn_arc_value *v)
{
    if (is_grid_of_digits(v))
        return under("g", with_items(json_array(), v, row_text));
    return under("t", with_items(json_array(), v, qn_arc_to_json));
}

static json_t *set_json(const qn_arc_value *v)
{
    if (v->n > 0 && all_items(v, is_pair))
        return under("x", with_items(json_array(), v, place_list));
    if (v->n > 0 && all_items(v, is_cell))
        return under("o", with_items(json_array(), v, cell_list));
    return under("s", with_items(json_array(), v, qn_arc_to_json));
}

static json_t *closure_json(const qn_arc_value *v)
{
    json_t *const list = json_array();

    if (json_array_append_new(list, json_string(qn_arc_form_name((int)v->number))) != 0) {
        json_decref(list);
        return NULL;
    }
    return under("f", with_items(list, v, qn_arc_to_json));
}

json_t *qn_arc_to_json(const qn_arc_value *value)
{
    switch (value->kind) {
    case QN_ARC_NONE:
        return json_null();
    case QN_ARC_BOOL:
        return json_boolean(value->number);
    case QN_ARC_INT:
        return json_integer(value->number);
    case QN_ARC_TUPLE:
        return tuple_json(value);
    case QN_ARC_SET:
        return set_json(value);
    case QN_ARC_PRIM:
        return under("f", json_string(qn_arc_op_name((int)value->number)));
    case QN_ARC_CLOS:
        return closure_json(value);
    case QN_ARC_BAD:
        return under("bad", json_pack("[s, i]", qn_arc_code_name((int)value->number), value->step));
    }
    return NULL;
}
