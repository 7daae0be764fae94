/* op_names.c - names for what values hold as numbers, which may come from anywhere. */
#include "domain/arc/value/op_names.h"
#include "domain/arc/value/known.h"
#include "kernel/arc/arc_ops.h"
#include "kernel/arc/arc_value.h"

const char *qn_arc_op_name(int op)
{
    return op >= 0 && op < ARC_N_OPS ? qn_arc_op_at(op)->name : "?";
}

int qn_arc_op_arity(int op)
{
    return op >= 0 && op < ARC_N_OPS ? qn_arc_op_at(op)->arity : -1;
}

const char *qn_arc_code_name(int code)
{
    static const char *const names[ARC_N_CODES] = {
        [ARC_OK] = "OK",
        [ARC_E_TYPE] = "TYPE",
        [ARC_E_EMPTY] = "EMPTY",
        [ARC_E_INDEX] = "INDEX",
        [ARC_E_ZERO_DIV] = "ZERO_DIV",
        [ARC_E_ARITY] = "ARITY",
        [ARC_E_VALUE] = "VALUE",
        [ARC_E_OVERFLOW] = "INT_OVERFLOW",
        [ARC_E_RANGE] = "RANGE",
        [ARC_E_ARENA] = "ARENA",
        [ARC_E_FRAMES] = "FRAMES",
        [ARC_E_UNSUPPORTED] = "UNSUPPORTED",
        [ARC_E_STEPS] = "STEPS",
        [ARC_E_DEPTH] = "DEPTH",
        [ARC_E_SLOTS] = "SLOTS",
        [ARC_E_RESULT] = "RESULT",
        [ARC_E_TIMEOUT] = "TIMEOUT",
        [ARC_E_TURNS] = "TURNS",
    };

    return code >= 0 && code < ARC_N_CODES ? names[code] : "?";
}

int qn_arc_code_is_limit(int code)
{
    return code >= ARC_E_OVERFLOW;
}

const char *qn_arc_form_name(int form)
{
    static const char *const names[] = {
        [ARC_FORM_COMPOSE] = "compose", [ARC_FORM_CHAIN] = "chain", [ARC_FORM_MATCHER] = "matcher",
        [ARC_FORM_RBIND] = "rbind",     [ARC_FORM_LBIND] = "lbind", [ARC_FORM_POWER] = "power",
        [ARC_FORM_FORK] = "fork",       [ARC_FORM_CONST] = "const",
    };

    return form >= 0 && form < (int)(sizeof names / sizeof *names) ? names[form] : "?";
}
