/* failure.c - the reasons of failed runs as text. */
#include "domain/arc/batch/batch.h"

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"

#include <string.h>

const char *qn_arc_failure_text(int code)
{
    static const char *const texts[ARC_N_CODES] = {
        [ARC_OK] = "nothing is wrong",
        [ARC_E_TYPE] = "an operand is of a wrong kind",
        [ARC_E_EMPTY] = "empty container",
        [ARC_E_INDEX] = "no such element",
        [ARC_E_ZERO_DIV] = "division by zero",
        [ARC_E_ARITY] = "wrong number of arguments",
        [ARC_E_VALUE] = "an operand has a value that is not allowed",
        [ARC_E_OVERFLOW] = "integer overflow",
        [ARC_E_RANGE] = "a number or size beyond the limits",
        [ARC_E_ARENA] = "more memory than the limit",
        [ARC_E_FRAMES] = "calls nested deeper than the limit",
        [ARC_E_UNSUPPORTED] = "not supported",
        [ARC_E_STEPS] = "more steps than the limit",
        [ARC_E_DEPTH] = "containers nested deeper than the limit",
        [ARC_E_SLOTS] = "more values alive than the limit",
        [ARC_E_RESULT] = "an output larger than the limit",
        [ARC_E_TIMEOUT] = "not finished in time",
        [ARC_E_LOOPS] = "longer than a device is good for",
        [ARC_E_COMPARED] = "more to compare than the limit",
    };

    return code >= 0 && code < ARC_N_CODES ? texts[code] : "unknown error";
}

/* For an instruction that the compiler made of two primitives, this is the one that can fail. */
const char *qn_arc_failure_op(int op)
{
    switch (op) {
    case ARC_OP_first_of_size:
        return "first";
    case ARC_OP_argmin_size:
        return "argmin";
    case ARC_OP_argmax_size:
    case ARC_OP_largest_object:
        return "argmax";
    default:
        break;
    }
    if (op < ARC_N_OPS)
        return qn_arc_op_name(op);
    return op == ARC_OP_CALL ? "call" : op == ARC_OP_TUPLE ? "tuple" : "program";
}

int qn_arc_failure_given(int op, uint32_t failure, const char *names[ARC_MOST_OPERANDS])
{
    static const char *const kinds[16] = {
        [ARC_NONE] = "none",
        [ARC_BOOL] = "bool",
        [ARC_INT] = "int",
        [ARC_PAIR] = "pair",
        [ARC_CELL] = "cell",
        [ARC_ROW] = "tuple of ints",
        [ARC_GRID] = "grid",
        [ARC_TUPLE] = "tuple",
        [ARC_IDX] = "indices",
        [ARC_OBJ] = "object",
        [ARC_SET] = "set",
        [ARC_PRIM] = "function",
        [ARC_CLOS] = "function",
        [ARC_GIVEN_EMPTY_TUPLE] = "empty tuple",
        [ARC_GIVEN_EMPTY_SET] = "empty set",
    };
    const int n =
        op < ARC_N_NAMED || op == ARC_OP_CALL || op == ARC_OP_TUPLE ? ARC_MOST_OPERANDS : 0;
    int k = 0;

    for (; k < n && kinds[ARC_FAILURE_KIND(failure, k)]; k++)
        names[k] = kinds[ARC_FAILURE_KIND(failure, k)];
    return k;
}

static void print_given(int op, uint32_t failure, qn_str *out)
{
    const char *names[ARC_MOST_OPERANDS];
    const int n = qn_arc_failure_given(op, failure, names);

    for (int k = 0; k < n; k++)
        qn_str_addf(out, "%s%s", k == 0 ? " (given " : ", ", names[k]);
    if (n)
        qn_str_add(out, ")");
}

void qn_arc_failure_print(const char *id, const arc_result *r, const qn_arc_blamed *inside,
                          qn_str *out)
{
    const int is_known = inside && inside->op >= 0;
    const int has_operands =
        r->line && ARC_TAG(r->value) == ARC_BAD && !qn_arc_code_is_limit(r->code);

    qn_str_addf(out, "prog %s", id);
    if (r->line)
        qn_str_addf(out, " line %d: %s", r->line, qn_arc_failure_op(r->op));
    if (is_known)
        qn_str_addf(out, ": %s", qn_arc_failure_op(inside->op));
    qn_str_addf(out, ": %s", qn_arc_failure_text(r->code));
    if (is_known)
        print_given(inside->op, inside->failure, out);
    else if (has_operands)
        print_given(r->op, ARC_PAYLOAD(r->value), out);
}

const char *qn_arc_status_name(int code)
{
    return code == ARC_OK ? "ok" : qn_arc_code_is_limit(code) ? "limit" : "error";
}

int qn_arc_step_ins(const qn_arc_code *code, int step, arc_ins *out)
{
    const arc_program head = qn_arc_code_head(code);

    if (step < 0 || step >= head.n_ins)
        return 0;
    memcpy(out, code->bytes + sizeof head + (size_t)step * sizeof *out, sizeof *out);
    return 1;
}
