/* failure.c - codes and places of failed runs as text. */
#include "domain/arc/batch/failure.h"

#include "domain/arc/run/stats.h"
#include "domain/arc/value/op_names.h"
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
    };

    return code >= 0 && code < ARC_N_CODES ? texts[code] : "unknown error";
}

const char *qn_arc_failure_op(int op)
{
    if (op < ARC_N_OPS)
        return qn_arc_op_name(op);
    return op == ARC_OP_CALL ? "call" : op == ARC_OP_TUPLE ? "tuple" : "program";
}

void qn_arc_failure_print(const char *id, const arc_result *r, qn_str *out)
{
    qn_str_addf(out, "prog %s", id);
    if (r->line)
        qn_str_addf(out, " line %d: %s", r->line, qn_arc_failure_op(r->op));
    qn_str_addf(out, ": %s", qn_arc_failure_text(r->code));
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
