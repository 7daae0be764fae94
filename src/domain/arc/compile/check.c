/* check.c - checks the instructions of a program that came from outside. */
#include "domain/arc/compile/compile.h"

#include <stdlib.h>
#include <string.h>

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/list.h"
#include "util/status.h"

typedef struct {
    const unsigned char *bytes;
    arc_program head;
    char *is_written;  /* slots */
    char *is_recorded; /* records */
    uint32_t n_recorded;
    int is_needed; /* the instruction before was a NEED */
    int at;        /* number of the instruction */
    qn_err *err;
} checker;

static int is_batt(const checker *c)
{
    return (c->head.flags & ARC_FLAG_BATT) != 0;
}

static qn_status check_head(const arc_program *h, size_t n, qn_err *err)
{
    const uint32_t known = ARC_FLAG_BATT | ARC_FLAG_THREE | ARC_FLAG_EXTRA(ARC_MOST_EXTRA);
    const size_t least =
        sizeof *h + (size_t)h->n_ins * sizeof(arc_ins) + (size_t)h->n_const * sizeof(uint64_t);
    const uint32_t n_params = (h->flags & ARC_FLAG_THREE ? 3 : 1) + ARC_EXTRA_OF(h->flags);

    if (h->magic != ARC_MAGIC)
        return qn_fail(err, QN_ERR_INPUT, "not a program: it starts with 0x%08X, not 0x%08X",
                       h->magic, ARC_MAGIC);
    if (h->version != ARC_VERSION)
        return qn_fail(err, QN_ERR_INPUT, "program of version %d, not %d", h->version, ARC_VERSION);
    if (h->bytes != n || n % 16 != 0 || n < least)
        return qn_fail(err, QN_ERR_INPUT,
                       "program of %zu bytes, where its header says %u and needs %zu", n, h->bytes,
                       least);
    if (h->flags & ~known)
        return qn_fail(err, QN_ERR_INPUT, "program with unknown flags 0x%X", h->flags);
    if (h->flags & ARC_FLAG_BATT && !(h->flags & ARC_FLAG_THREE))
        return qn_fail(err, QN_ERR_INPUT, "batt program without samples");
    if (h->n_ins < 1 || h->n_const >= ARC_CONST || h->n_slot >= ARC_CONST || h->n_slot < n_params)
        return qn_fail(err, QN_ERR_INPUT,
                       "program of %d instructions, %d constants, %d slots, %u parameters",
                       h->n_ins, h->n_const, h->n_slot, n_params);
    if (h->n_records > h->n_ins || (h->n_records && !(h->flags & ARC_FLAG_BATT)))
        return qn_fail(err, QN_ERR_INPUT, "program with %u records in %d instructions",
                       h->n_records, h->n_ins);
    return QN_OK;
}

/* Instructions. */

/* How many operands an operation takes; 0 if it is unknown. */
static int operands_of(const checker *c, int op, int *least, int *most)
{
    if (op < ARC_N_OPS) {
        *least = *most = qn_arc_op_at(op)->arity;
        return 1;
    }
    switch (op) {
    case ARC_OP_CALL:
        *least = 2;
        *most = 4;
        return 1;
    case ARC_OP_TUPLE:
        *least = 1;
        *most = 4;
        return 1;
    case ARC_OP_MOVE:
        *least = *most = 1;
        return 1;
    case ARC_OP_RET:
        *least = *most = is_batt(c) ? 0 : 1;
        return 1;
    case ARC_OP_NEED:
        *least = 1;
        *most = 4;
        return is_batt(c);
    case ARC_OP_RECORD:
        *least = *most = 1;
        return is_batt(c);
    case ARC_OP_FAIL:
        *least = *most = 0;
        return is_batt(c);
    default:
        return 0;
    }
}

static qn_status refuse(const checker *c, const arc_ins *ins, const char *why)
{
    return qn_fail(c->err, QN_ERR_INPUT, "instruction %d (operation %d): %s", c->at, ins->op, why);
}

static qn_status check_operands(const checker *c, const arc_ins *ins)
{
    for (int k = 0; k < ins->n_args; k++) {
        const int a = ins->a[k];

        if (a >= ARC_CONST ? a - ARC_CONST >= c->head.n_const
                           : a >= c->head.n_slot || !c->is_written[a])
            return qn_fail(c->err, QN_ERR_INPUT, "instruction %d: operand %d is %s %d, which %s",
                           c->at, k, a >= ARC_CONST ? "constant" : "slot", a & (ARC_CONST - 1),
                           a < ARC_CONST && a < c->head.n_slot ? "nothing has written"
                                                               : "does not exist");
    }
    return QN_OK;
}

static qn_status check_record(checker *c, const arc_ins *ins)
{
    const int number = ins->a[1];

    if ((uint32_t)number >= c->head.n_records || c->is_recorded[number])
        return refuse(c, ins, "its record does not exist, or is made twice");
    c->is_recorded[number] = 1;
    c->n_recorded++;
    return QN_OK;
}

static qn_status check_result(checker *c, const arc_ins *ins)
{
    if (ins->dst >= c->head.n_slot)
        return refuse(c, ins, "its slot does not exist");
    for (int k = 0; k < ins->n_args; k++)
        if (ins->a[k] == ins->dst)
            return refuse(c, ins, "it writes a slot that it reads");
    c->is_written[ins->dst] = 1;
    return QN_OK;
}

static qn_status check_guard(const checker *c, const arc_ins *ins)
{
    if (ins->flags == 0)
        return QN_OK;
    if (ins->flags > ARC_GUARD_FN || !is_batt(c) ||
        (ins->op >= ARC_N_OPS && ins->op != ARC_OP_CALL))
        return refuse(c, ins, "it has meaningless flags");
    return QN_OK;
}

static qn_status check_ins(checker *c, const arc_ins *ins)
{
    qn_status st = QN_OK;
    const int makes_nothing =
        ins->op == ARC_OP_RET || ins->op == ARC_OP_NEED || ins->op == ARC_OP_RECORD;
    int least = 0, most = 0;

    if (!operands_of(c, ins->op, &least, &most))
        return refuse(c, ins, "it is unknown");
    if (ins->n_args < least || ins->n_args > most)
        return qn_fail(c->err, QN_ERR_INPUT,
                       "instruction %d (operation %d): %d operands, where it takes %d to %d", c->at,
                       ins->op, ins->n_args, least, most);
    if ((ins->op == ARC_OP_RET) != (c->at == c->head.n_ins - 1))
        return refuse(c, ins, "a program ends with its only RET");
    if (c->is_needed && makes_nothing)
        return refuse(c, ins, "nothing waits for the NEED before it");
    c->is_needed = ins->op == ARC_OP_NEED;
    QN_TRY(check_guard(c, ins));
    QN_TRY(check_operands(c, ins));
    if (ins->op == ARC_OP_RECORD)
        QN_TRY(check_record(c, ins));
    if (!makes_nothing)
        QN_TRY(check_result(c, ins));
out:
    return st;
}

qn_status qn_arc_code_check(const void *bytes, size_t n, qn_err *err)
{
    qn_status st = QN_OK;
    checker c = { .bytes = bytes, .err = err };

    if (n < sizeof c.head)
        return qn_fail(err, QN_ERR_INPUT, "program of %zu bytes is shorter than its header", n);
    memcpy(&c.head, bytes, sizeof c.head);
    QN_TRY(check_head(&c.head, n, err));
    QN_TRY(QN_NEW(c.is_written, c.head.n_slot, "a check of a program", err));
    QN_TRY(QN_NEW(c.is_recorded, (size_t)c.head.n_records + 1, "a check of a program", err));
    memset(c.is_written, 1, (c.head.flags & ARC_FLAG_THREE ? 3 : 1) + ARC_EXTRA_OF(c.head.flags));
    for (c.at = 0; c.at < c.head.n_ins; c.at++) {
        arc_ins ins;

        memcpy(&ins, c.bytes + sizeof c.head + (size_t)c.at * sizeof ins, sizeof ins);
        QN_TRY(check_ins(&c, &ins));
    }
    if (c.n_recorded != c.head.n_records)
        QN_FAIL(err, QN_ERR_INPUT, "program with %u of %u records", c.n_recorded, c.head.n_records);
    QN_TRY(qn_arc_check_constants(c.bytes, &c.head, err));
out:
    free(c.is_written);
    free(c.is_recorded);
    return st;
}
