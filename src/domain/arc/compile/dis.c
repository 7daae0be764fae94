/* dis.c - the disassembler. */
#include "domain/arc/compile/compile.h"

#include <string.h>

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/status.h"

enum { SHOWN_CONSTANT = 60 }; /* bytes; longer ones are cut */

typedef struct {
    const qn_arc_code *code;
    arc_program head;
    qn_str *out;
    qn_arc_heap *heap;
    qn_err *err;
} printer;

static qn_status print_constant(const printer *p, int i)
{
    const size_t at = sizeof p->head + (size_t)p->head.n_ins * sizeof(arc_ins);
    qn_arc_value value;
    qn_str text = { 0 };
    uint64_t slot;
    qn_status st;

    memcpy(&slot, p->code->bytes + at + (size_t)i * sizeof slot, sizeof slot);
    st = qn_arc_decode(slot, p->code->bytes, p->code->n, 0, p->heap, &value, p->err);
    if (st != QN_OK)
        return st;
    qn_arc_print(&text, &value);
    if (text.len > SHOWN_CONSTANT) {
        qn_str_add_n(p->out, qn_str_get(&text), SHOWN_CONSTANT);
        qn_str_add(p->out, "...");
    } else {
        qn_str_add(p->out, qn_str_get(&text));
    }
    p->out->failed |= text.failed;
    qn_str_free(&text);
    return QN_OK;
}

static qn_status print_operands(const printer *p, const arc_ins *ins, int from)
{
    qn_status st = QN_OK;

    for (int k = from; k < ins->n_args; k++) {
        if (k > from)
            qn_str_add(p->out, ", ");
        if (ins->a[k] >= ARC_CONST)
            QN_TRY(print_constant(p, ins->a[k] - ARC_CONST));
        else
            qn_str_addf(p->out, "s%d", ins->a[k]);
    }
out:
    return st;
}

static void print_record(const printer *p, int number)
{
    const qn_arc_output *o;

    qn_str_addf(p->out, "record %d", number);
    if (number >= p->code->n_outputs)
        return;
    o = &p->code->outputs[number];
    qn_str_addf(p->out, " %c %lld '%s'", o->list, (long long)o->number, o->task);
    if (o->list == 's')
        qn_str_addf(p->out, " '%s'", o->name);
    else
        qn_str_add(p->out, o->flag ? " True" : " False");
    qn_str_add(p->out, ": ");
}

static qn_status print_ins(const printer *p, int i, const arc_ins *ins)
{
    static const char *const defaults[] = {
        "", " else {}", " else ()", " else 0", " else False", " else a function that gives ()"
    };
    qn_status st = QN_OK;

    qn_str_addf(p->out, "%5d  line %-5d ", i, ins->line);
    switch (ins->op) {
    case ARC_OP_RET:
        qn_str_add(p->out, ins->n_args ? "return " : "return");
        QN_TRY(print_operands(p, ins, 0));
        break;
    case ARC_OP_NEED:
        qn_str_add(p->out, "need ");
        QN_TRY(print_operands(p, ins, 0));
        break;
    case ARC_OP_RECORD:
        print_record(p, ins->a[1]);
        QN_TRY(print_operands(p, ins, 0));
        break;
    case ARC_OP_CALL:
        qn_str_addf(p->out, "s%d = call ", ins->dst);
        QN_TRY(print_operands(p, &(arc_ins){ .n_args = 1, .a = { ins->a[0] } }, 0));
        qn_str_add(p->out, "(");
        QN_TRY(print_operands(p, ins, 1));
        qn_str_add(p->out, ")");
        break;
    default:
        qn_str_addf(p->out, "s%d = %s(", ins->dst,
                    ins->op < ARC_N_OPS       ? qn_arc_op_at(ins->op)->name
                    : ins->op == ARC_OP_TUPLE ? "tuple"
                    : ins->op == ARC_OP_FAIL  ? "fail"
                                              : "move");
        QN_TRY(print_operands(p, ins, 0));
        qn_str_add(p->out, ")");
    }
    qn_str_addf(p->out, "%s\n", defaults[ins->flags & ARC_GUARD]);
out:
    return st;
}

qn_status qn_arc_disassemble(const qn_arc_code *code, qn_str *out, qn_err *err)
{
    qn_status st = QN_OK;
    printer p = { .code = code, .out = out, .err = err };

    QN_TRY(qn_arc_code_check(code->bytes, code->n, err));
    QN_TRY(qn_arc_heap_new(&p.heap, err));
    memcpy(&p.head, code->bytes, sizeof p.head);
    qn_str_addf(out,
                "program %s: %s, %d instructions, %d constants, %d slots, cost %u, %zu bytes\n",
                code->id ? code->id : "?",
                p.head.flags & ARC_FLAG_BATT    ? "batt"
                : p.head.flags & ARC_FLAG_THREE ? "S, I, C"
                                                : "I",
                p.head.n_ins, p.head.n_const, p.head.n_slot, p.head.cost, code->n);
    for (int i = 0; i < p.head.n_ins; i++) {
        arc_ins ins;

        memcpy(&ins, code->bytes + sizeof p.head + (size_t)i * sizeof ins, sizeof ins);
        QN_TRY(print_ins(&p, i, &ins));
    }
    if (out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for the text of program %s", code->id);
out:
    qn_arc_heap_free(p.heap);
    return st;
}
