/* print.c - values as the language writes them. */
#include "domain/arc/value/value.h"

/* Written by hand for speed: an output has hundreds of numbers. */
void qn_arc_print_number(qn_str *out, int64_t number)
{
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char text[24];
    size_t at = sizeof text;

    do
        text[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        text[--at] = '-';
    qn_str_add_n(out, text + at, sizeof text - at);
}

void qn_arc_print_grid(qn_str *out, const int8_t *cells, int rows, int cols)
{
    for (int i = 0; i < rows; i++) {
        qn_str_add(out, i ? ", (" : "((");
        for (int j = 0; j < cols; j++) {
            if (j)
                qn_str_add_n(out, ", ", 2);
            qn_arc_print_number(out, *cells++);
        }
        qn_str_add(out, cols == 1 ? ",)" : ")");
    }
    qn_str_add(out, rows == 1 ? ",)" : ")");
}

static void print_items(qn_str *out, const qn_arc_value *value)
{
    for (int i = 0; i < value->n; i++) {
        if (i)
            qn_str_add(out, ", ");
        qn_arc_print(out, &value->items[i]);
    }
}

static void print_set(qn_str *out, const qn_arc_value *set)
{
    qn_str_add(out, set->n ? "frozenset({" : "frozenset(");
    print_items(out, set);
    qn_str_add(out, set->n ? "})" : ")");
}

void qn_arc_print(qn_str *out, const qn_arc_value *value)
{
    switch (value->kind) {
    case QN_ARC_NONE:
        qn_str_add(out, "None");
        break;
    case QN_ARC_BOOL:
        qn_str_add(out, value->number ? "True" : "False");
        break;
    case QN_ARC_INT:
        qn_arc_print_number(out, value->number);
        break;
    case QN_ARC_TUPLE:
        qn_str_add(out, "(");
        print_items(out, value);
        qn_str_add(out, value->n == 1 ? ",)" : ")");
        break;
    case QN_ARC_SET:
        print_set(out, value);
        break;
    case QN_ARC_PRIM:
        qn_str_add(out, qn_arc_op_name((int)value->number));
        break;
    case QN_ARC_CLOS:
        qn_str_addf(out, "%s(", qn_arc_form_name((int)value->number));
        print_items(out, value);
        qn_str_add(out, ")");
        break;
    case QN_ARC_BAD:
        qn_str_addf(out, "not ok (step %d: %s)", value->step, qn_arc_code_name((int)value->number));
        break;
    }
}
