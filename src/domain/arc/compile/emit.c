/* emit.c - turns live nodes into instructions, with slots for their values.
 *
 * A slot is free again after the last instruction that reads it. That instruction may not write to
 * it: some read their operands while they build the result.
 */
#include "domain/arc/compile/passes.h"

#include <stdlib.h>
#include <string.h>

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/list.h"
#include "util/status.h"

enum { MOST_INS = 65535, MOST_SLOTS = 32767, MOST_CONSTS = 32767, MOST_RECORDS = 65535 };

typedef struct {
    const qn_arc_draft *work;
    arc_ins *ins;
    int n_ins;
    size_t room;
    int *place;    /* per node: its operand word; -1: none yet, or no longer */
    int *last_use; /* per node: the node that reads it last; n: the end of the program */
    int *records;  /* per node: 1 + its first record; chained by next_record */
    int *next_record;
    int *consts; /* nodes */
    int n_consts;
    uint16_t *free_slots;
    int n_free, n_slots;
    uint64_t cost;
    const char *limit; /* what was exceeded */
    int no_memory;
} emitter;

/* Slots. */

static int take_slot(emitter *e)
{
    if (e->n_free > 0)
        return e->free_slots[--e->n_free];
    if (e->n_slots >= MOST_SLOTS) {
        e->limit = "values alive at once";
        return 0;
    }
    return e->n_slots++;
}

static void free_slot(emitter *e, int slot)
{
    e->free_slots[e->n_free++] = (uint16_t)slot;
}

/* Frees the slot of `node` if `at` is the last to read it. */
static void release(emitter *e, int node, int at)
{
    if (e->last_use[node] > at || e->place[node] < 0 || e->place[node] >= ARC_CONST)
        return;
    free_slot(e, e->place[node]);
    e->place[node] = -1;
}

/* Instructions. */

static void add(emitter *e, const arc_ins *ins)
{
    if (QN_GROW(e->ins, e->n_ins, &e->room, "instructions", NULL) != QN_OK)
        e->no_memory = 1;
    else if (e->n_ins >= MOST_INS)
        e->limit = "instructions";
    else
        e->ins[e->n_ins++] = *ins;
}

static uint16_t line_of(const qn_arc_node *node)
{
    return (uint16_t)(node->line < 65535 ? node->line : 65535);
}

/* The steps, besides the operands, that must be ok. More than four are first made into a tuple,
 * which is bad if any of them is. */
static void emit_needs(emitter *e, const qn_arc_node *node)
{
    const int *needs = e->work->dag.needs + node->needs;
    arc_ins need = { .op = ARC_OP_NEED, .line = line_of(node) };
    int made = 0, n_made = 0, left = node->n_needs, n = 0;

    while (left > 4 - n_made) {
        arc_ins tuple = { .op = ARC_OP_TUPLE, .line = line_of(node) };

        /* The tuple made so far is the first item of the next, so one slot is enough. */
        if (n_made)
            tuple.a[tuple.n_args++] = (uint16_t)made;
        while (tuple.n_args < 4 && left > 0) {
            tuple.a[tuple.n_args++] = (uint16_t)e->place[needs[n++]];
            left--;
        }
        tuple.dst = (uint16_t)take_slot(e);
        add(e, &tuple);
        if (n_made)
            free_slot(e, made);
        made = tuple.dst;
        n_made = 1;
    }
    if (n_made)
        need.a[need.n_args++] = (uint16_t)made;
    while (left-- > 0)
        need.a[need.n_args++] = (uint16_t)e->place[needs[n++]];
    add(e, &need);
    if (n_made)
        free_slot(e, made);
}

static void emit_records(emitter *e, int node)
{
    for (int r = e->records[node]; r; r = e->next_record[r - 1])
        add(e, &(arc_ins){ .op = ARC_OP_RECORD,
                           .n_args = 1,
                           .a = { (uint16_t)e->place[node], (uint16_t)(r - 1) },
                           .line = (uint16_t)(e->work->dag.records[r - 1].line < 65535
                                                  ? e->work->dag.records[r - 1].line
                                                  : 65535) });
}

static void emit_node(emitter *e, int i)
{
    const qn_arc_dag *dag = &e->work->dag;
    const qn_arc_node *node = &dag->nodes[i];
    arc_ins ins = {
        .op = node->op, .n_args = node->n_args, .flags = node->guard, .line = line_of(node)
    };
    qn_arc_kinds args[4];

    if (node->n_needs && node->op != ARC_OP_FAIL)
        emit_needs(e, node);
    for (int k = 0; k < node->n_args; k++) {
        ins.a[k] = (uint16_t)e->place[node->a[k]];
        args[k] = e->work->kinds[node->a[k]];
    }
    ins.dst = (uint16_t)take_slot(e);
    e->place[i] = ins.dst;
    e->cost += qn_arc_node_cost(node->op, args, node->n_args);
    add(e, &ins);
    emit_records(e, i);
    for (int k = 0; k < node->n_args; k++)
        release(e, node->a[k], i);
    for (int k = 0; k < node->n_needs; k++)
        release(e, dag->needs[node->needs + k], i);
    release(e, i, i);
}

/* The program. */

static void find_last_uses(emitter *e)
{
    const qn_arc_dag *dag = &e->work->dag;

    for (int i = 0; i < dag->n; i++) {
        const qn_arc_node *node = &dag->nodes[i];

        e->last_use[i] = -1;
        e->place[i] = -1;
        if (!e->work->is_alive[i])
            continue;
        for (int k = 0; k < node->n_args; k++)
            e->last_use[node->a[k]] = i;
        for (int k = 0; k < node->n_needs; k++)
            e->last_use[dag->needs[node->needs + k]] = i;
    }
    for (int i = dag->n_records; i-- > 0;) {
        const int node = dag->records[i].node;

        e->next_record[i] = e->records[node];
        e->records[node] = i + 1;
        /* Parameters and constants are recorded at the end. */
        if (qn_arc_is_leaf(&dag->nodes[node]))
            e->last_use[node] = dag->n;
    }
    if (dag->output >= 0)
        e->last_use[dag->output] = dag->n;
}

/* Parameters are in the first slots; slots that are never read are free at once. */
static void place_leaves(emitter *e)
{
    const qn_arc_dag *dag = &e->work->dag;

    e->n_slots = dag->n_params;
    for (int slot = e->n_slots - 1; slot >= 0; slot--) {
        int is_read = 0;

        for (int i = 0; i < dag->n && !is_read; i++) {
            const qn_arc_node *node = &dag->nodes[i];

            if (node->op == QN_ARC_NODE_PARAM && node->number == slot && e->last_use[i] >= 0) {
                e->place[i] = slot;
                is_read = 1;
            }
        }
        if (!is_read)
            free_slot(e, slot);
    }
    for (int i = 0; i < dag->n; i++) {
        if (dag->nodes[i].op != QN_ARC_NODE_CONST || e->last_use[i] < 0)
            continue;
        if (e->n_consts >= MOST_CONSTS) {
            e->limit = "constants";
            return;
        }
        e->place[i] = ARC_CONST + e->n_consts;
        e->consts[e->n_consts++] = i;
    }
}

static void emit_all(emitter *e)
{
    const qn_arc_dag *dag = &e->work->dag;
    arc_ins ret = { .op = ARC_OP_RET };

    find_last_uses(e);
    place_leaves(e);
    for (int i = 0; i < dag->n && !e->limit && !e->no_memory; i++)
        if (!qn_arc_is_leaf(&dag->nodes[i]) && e->work->is_alive[i])
            emit_node(e, i);
    for (int i = 0; i < dag->n; i++)
        if (qn_arc_is_leaf(&dag->nodes[i]))
            emit_records(e, i);
    if (!(dag->flags & ARC_FLAG_BATT)) {
        ret.n_args = 1;
        ret.a[0] = (uint16_t)e->place[dag->output];
        ret.line = line_of(&dag->nodes[dag->output]);
    }
    add(e, &ret);
}

/* Puts header, instructions, constants and their content into one piece. */
static qn_status assemble(const emitter *e, const qn_arc_source *source, qn_arc_code *out,
                          qn_err *err)
{
    qn_status st = QN_OK;
    const qn_arc_dag *dag = &e->work->dag;
    const size_t code = sizeof(arc_program) + (size_t)e->n_ins * sizeof(arc_ins);
    const size_t head = code + (size_t)e->n_consts * sizeof(uint64_t);
    qn_arc_blob blob = { .base = (uint32_t)head };
    uint64_t *slots = NULL;
    arc_program program = { .magic = ARC_MAGIC,
                            .version = ARC_VERSION,
                            .n_ins = (uint16_t)e->n_ins,
                            .n_const = (uint16_t)e->n_consts,
                            .n_slot = (uint16_t)(e->n_slots ? e->n_slots : 1),
                            .flags = dag->flags,
                            .source = (uint32_t)source->number,
                            .cost = e->cost < UINT32_MAX ? (uint32_t)e->cost : UINT32_MAX,
                            .n_records = (uint32_t)dag->n_records };

    QN_TRY(QN_NEW(slots, (size_t)e->n_consts + 1, "constants", err));
    for (int i = 0; i < e->n_consts; i++)
        QN_TRY(qn_arc_encode(dag->nodes[e->consts[i]].value, &blob, &slots[i], err));
    out->n = (head + blob.n + 15) / 16 * 16;
    if (out->n >= ARC_POOLED)
        QN_FAIL(err, QN_ERR_LIMIT, "constants of %zu bytes exceed 2 GiB", blob.n);
    program.bytes = (uint32_t)out->n;
    out->bytes = calloc(1, out->n);
    if (!out->bytes)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for %zu bytes of code", out->n);
    memcpy(out->bytes, &program, sizeof program);
    memcpy(out->bytes + sizeof program, e->ins, (size_t)e->n_ins * sizeof *e->ins);
    memcpy(out->bytes + code, slots, (size_t)e->n_consts * sizeof *slots);
    if (blob.n)
        memcpy(out->bytes + head, blob.bytes, blob.n);
out:
    qn_arc_blob_free(&blob);
    free(slots);
    return st;
}

static qn_status describe(const qn_arc_draft *work, const qn_arc_source *source, qn_arc_code *out,
                          qn_err *err)
{
    const qn_arc_dag *dag = &work->dag;
    int is_complete;

    out->line = source->line;
    out->id = strdup(source->id);
    out->name = strdup(source->name);
    out->outputs = calloc((size_t)dag->n_records + 1, sizeof *out->outputs);
    is_complete = out->id && out->name && out->outputs;
    for (int i = 0; is_complete && i < dag->n_records; i++) {
        const qn_arc_record *from = &dag->records[i];

        out->outputs[i] = (qn_arc_output){ .list = from->list,
                                           .flag = from->flag,
                                           .number = from->number,
                                           .task = strdup(from->task),
                                           .name = strdup(from->name),
                                           .line = from->line };
        out->n_outputs = i + 1;
        is_complete = out->outputs[i].task && out->outputs[i].name;
    }
    return is_complete ? QN_OK : qn_fail(err, QN_ERR_NOMEM, "no memory for its names");
}

qn_status qn_arc_emit(const qn_arc_draft *work, const qn_arc_source *source, qn_arc_code *out,
                      qn_err *err)
{
    qn_status st = QN_OK;
    const size_t n = (size_t)work->dag.n + 1, n_records = (size_t)work->dag.n_records + 1;
    emitter e = { .work = work };

    /* Each node takes at most one slot; parameters and the tuples of needed steps take more. */
    QN_TRY(QN_NEW(e.place, n, "the code of a program", err));
    QN_TRY(QN_NEW(e.last_use, n, "the code of a program", err));
    QN_TRY(QN_NEW(e.records, n, "the code of a program", err));
    QN_TRY(QN_NEW(e.consts, n, "the code of a program", err));
    QN_TRY(QN_NEW(e.next_record, n_records, "the code of a program", err));
    QN_TRY(QN_NEW(e.free_slots, n + 8, "the code of a program", err));
    if (work->dag.n_records > MOST_RECORDS)
        e.limit = "records";
    else
        emit_all(&e);
    if (e.limit)
        QN_FAIL(err, QN_ERR_LIMIT, "more %s than a program can have", e.limit);
    if (e.no_memory)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for %d instructions", e.n_ins);
    QN_TRY(assemble(&e, source, out, err));
    QN_TRY(describe(work, source, out, err));
out:
    free(e.ins);
    free(e.place);
    free(e.last_use);
    free(e.records);
    free(e.consts);
    free(e.next_record);
    free(e.free_slots);
    return st;
}
