/* print.c - values as the language writes them. */
#include "domain/arc/value/op_names.h"
#include "domain/arc/value/text.h"

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
        qn_str_addf(out, "%lld", (long long)value->number);
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
