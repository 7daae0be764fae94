/* value_kinds.c - the kinds of values that are known. */
#include "kinds.h"

static qn_arc_kinds kinds(unsigned self, unsigned inner)
{
    return (qn_arc_kinds){ (uint16_t)self, (uint16_t)inner };
}

static int is_number(const qn_arc_value *v)
{
    return v->kind == QN_ARC_INT || v->kind == QN_ARC_BOOL;
}

static int is_row(const qn_arc_value *v)
{
    int i = 0;

    while (i < v->n && is_number(&v->items[i]))
        i++;
    return v->kind == QN_ARC_TUPLE && v->n > 0 && i == v->n;
}

static int is_pair(const qn_arc_value *v)
{
    return v->n == 2 && is_row(v);
}

static int is_cell(const qn_arc_value *v)
{
    return v->kind == QN_ARC_TUPLE && v->n == 2 && is_number(&v->items[0]) && is_pair(&v->items[1]);
}

static int is_grid(const qn_arc_value *v)
{
    for (int i = 0; i < v->n; i++)
        if (!is_row(&v->items[i]) || v->items[i].n != v->items[0].n)
            return 0;
    return v->kind == QN_ARC_TUPLE && v->n > 0;
}

static int is_made_of(const qn_arc_value *v, int (*is_item)(const qn_arc_value *))
{
    for (int i = 0; i < v->n; i++)
        if (!is_item(&v->items[i]))
            return 0;
    return 1;
}

static unsigned kind_of_container(const qn_arc_value *v)
{
    if (v->kind == QN_ARC_SET)
        return is_made_of(v, is_pair)   ? QN_ARC_IS_IDX
               : is_made_of(v, is_cell) ? QN_ARC_IS_OBJ
                                        : QN_ARC_IS_SET;
    return is_pair(v)   ? QN_ARC_IS_PAIR
           : is_cell(v) ? QN_ARC_IS_CELL
           : is_row(v)  ? QN_ARC_IS_ROW
           : is_grid(v) ? QN_ARC_IS_GRID
                        : QN_ARC_IS_TUPLE;
}

static unsigned kind_of_item(const qn_arc_value *v)
{
    switch (v->kind) {
    case QN_ARC_TUPLE:
    case QN_ARC_SET:
        return kind_of_container(v);
    case QN_ARC_BOOL:
    case QN_ARC_INT:
        return QN_ARC_IS_NUMBER;
    default:
        return QN_ARC_IS_ANYTHING;
    }
}

static qn_arc_kinds kinds_of_container(const qn_arc_value *v)
{
    unsigned inner = 0;

    for (int i = 0; i < v->n; i++)
        inner |= kind_of_item(&v->items[i]);
    return kinds(kind_of_container(v), v->n ? inner : QN_ARC_IS_ANYTHING);
}

qn_arc_kinds qn_arc_kinds_of_value(const qn_arc_value *v)
{
    switch (v->kind) {
    case QN_ARC_NONE:
        return kinds(QN_ARC_IS_NONE, 0);
    case QN_ARC_BOOL:
        return kinds(QN_ARC_IS_BOOL, 0);
    case QN_ARC_INT:
        return kinds(QN_ARC_IS_INT, 0);
    case QN_ARC_TUPLE:
    case QN_ARC_SET:
        return kinds_of_container(v);
    case QN_ARC_PRIM:
        return kinds(QN_ARC_IS_FN, qn_arc_kinds_given((int)v->number, NULL).self);
    case QN_ARC_CLOS:
        return kinds(QN_ARC_IS_FN, QN_ARC_IS_ANYTHING);
    default:
        return kinds(QN_ARC_IS_ANYTHING, QN_ARC_IS_ANYTHING);
    }
}
