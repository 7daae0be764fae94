/* to_json.c - values as JSON, with the short forms for grids, places and cells. */
#include "domain/arc/value/value.h"

#include <stdlib.h>

static int is_whole(const qn_arc_value *v)
{
    return v->kind == QN_ARC_INT;
}

static int is_digit(const qn_arc_value *v)
{
    return v->kind == QN_ARC_INT && v->number >= 0 && v->number <= 9;
}

static int is_pair(const qn_arc_value *v)
{
    return qn_arc_is_pair(v, is_whole);
}

static int is_cell(const qn_arc_value *v)
{
    return qn_arc_is_cell(v, is_whole);
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

/* Adds every item, in the given form, to `list`. */
static json_t *with_items(json_t *list, const qn_arc_value *v,
                          json_t *(*form)(const qn_arc_value *))
{
    for (int i = 0; i < v->n && list; i++)
        qn_json_push(&list, form(&v->items[i]));
    return list;
}

/* {key: content}; takes ownership of the content. NULL if that is NULL. */
static json_t *under(const char *key, json_t *content)
{
    return json_pack("{s:o}", key, content);
}

static json_t *tuple_json(const qn_arc_value *v)
{
    if (qn_arc_is_grid(v, is_digit))
        return under("g", with_items(json_array(), v, row_text));
    return under("t", with_items(json_array(), v, qn_arc_to_json));
}

static json_t *set_json(const qn_arc_value *v)
{
    if (v->n > 0 && qn_arc_all_are(v, is_pair))
        return under("x", with_items(json_array(), v, place_list));
    if (v->n > 0 && qn_arc_all_are(v, is_cell))
        return under("o", with_items(json_array(), v, cell_list));
    return under("s", with_items(json_array(), v, qn_arc_to_json));
}

static json_t *closure_json(const qn_arc_value *v)
{
    json_t *const list = json_pack("[s]", qn_arc_form_name((int)v->number));

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
