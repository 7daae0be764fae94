/* compile.c - the passes of the compiler, one after the other. */
#include "domain/arc/compile/passes.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/arc/arc_ops.h"
#include "util/list.h"
#include "util/status.h"

unsigned qn_arc_pass_named(const char *name, size_t len)
{
    static const struct {
        const char *name;
        unsigned off;
    } passes[] = {
        { "merge", QN_ARC_OFF_MERGE },
        { "dead", QN_ARC_OFF_DEAD },
        { "inline", QN_ARC_OFF_INLINE },
        { "argmin", QN_ARC_OFF_ARGMIN },
        { "colorcount", QN_ARC_OFF_COLORCOUNT },
        { "replace", QN_ARC_OFF_REPLACE },
        { "fill", QN_ARC_OFF_FILL },
        { "first_of_size", QN_ARC_OFF_OF_SIZE },
        { "argmax_size", QN_ARC_OFF_BY_SIZE },
        { "largest_object", QN_ARC_OFF_LARGEST },
        { "fusion", QN_ARC_OFF_FUSION },
        { "all", QN_ARC_OFF_ALL },
    };

    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (strlen(passes[i].name) == len && !memcmp(passes[i].name, name, len))
            return passes[i].off;
    return 0;
}

/* The working copy. */

static void *copy_of(const void *items, int n, size_t size)
{
    void *copy = malloc((size_t)n * size + 1);

    if (copy && n)
        memcpy(copy, items, (size_t)n * size);
    return copy;
}

static qn_status start_work(const qn_arc_source *source, qn_arc_draft *work, qn_err *err)
{
    const qn_arc_dag *from = &source->dag;

    work->dag = *from;
    work->dag.nodes = copy_of(from->nodes, from->n, sizeof *from->nodes);
    work->dag.needs = copy_of(from->needs, from->n_needs, sizeof *from->needs);
    work->dag.records = copy_of(from->records, from->n_records, sizeof *from->records);
    if (work->dag.nodes && work->dag.needs && work->dag.records)
        return QN_OK;
    return qn_fail(err, QN_ERR_NOMEM, "no memory to compile a program of %d nodes", from->n);
}

static qn_status make_notes(qn_arc_draft *work, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(work->kinds, work->dag.n, "a program that is compiled", err));
    QN_TRY(QN_NEW(work->is_alive, work->dag.n, "a program that is compiled", err));
    QN_TRY(QN_NEW(work->same, work->dag.n, "a program that is compiled", err));
out:
    return st;
}

/* The texts of the records still belong to the source. */
static void end_work(qn_arc_draft *work)
{
    free(work->dag.nodes);
    free(work->dag.needs);
    free(work->dag.records);
    free(work->kinds);
    free(work->is_alive);
    free(work->same);
}

/* Which nodes have an effect. */

/* A function applied a constant number of times, at least once. */
static int is_good_power(const qn_arc_dag *dag, const qn_arc_node *node)
{
    const qn_arc_value *times = node->op == ARC_OP_power ? dag->nodes[node->a[1]].value : NULL;

    return times && times->kind == QN_ARC_INT && times->number >= 1;
}

static int may_fail(const qn_arc_draft *work, const qn_arc_node *node)
{
    qn_arc_kinds args[4];

    if (is_good_power(&work->dag, node))
        return 0;
    for (int k = 0; k < node->n_args; k++)
        args[k] = work->kinds[node->a[k]];
    return !qn_arc_cannot_fail(node->op, args, node->n_args);
}

static void mark_alive(qn_arc_draft *work, qn_arc_keep keep)
{
    const qn_arc_dag *dag = &work->dag;

    for (int i = 0; i < dag->n; i++)
        work->is_alive[i] = 0;
    if (dag->output >= 0)
        work->is_alive[dag->output] = 1;
    for (int i = 0; i < dag->n_records; i++)
        work->is_alive[dag->records[i].node] = 1;
    for (int i = dag->n - 1; i >= 0; i--) {
        const qn_arc_node *node = &dag->nodes[i];

        if (!qn_arc_is_leaf(node) &&
            (keep == QN_ARC_KEEP_ALL || (keep == QN_ARC_KEEP_FAILING && may_fail(work, node))))
            work->is_alive[i] = 1;
        if (!work->is_alive[i])
            continue;
        for (int k = 0; k < node->n_args; k++)
            work->is_alive[node->a[k]] = 1;
        for (int k = 0; k < node->n_needs; k++)
            work->is_alive[dag->needs[node->needs + k]] = 1;
    }
}

/* All passes. */

static qn_arc_keep what_to_keep(const qn_arc_draft *work, unsigned off)
{
    if (off & QN_ARC_OFF_DEAD)
        return QN_ARC_KEEP_ALL;
    /* A failed step of a batt program stops nothing, so one that is never used may be removed. */
    return work->dag.flags & ARC_FLAG_BATT ? QN_ARC_KEEP_USED : QN_ARC_KEEP_FAILING;
}

qn_status qn_arc_compile(const qn_arc_source *source, unsigned off, qn_arc_code *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_arc_draft work = { .dag = { .output = -1 } };
    qn_arc_code code = { 0 };

    if (source->n_errors)
        return qn_fail(err, QN_ERR_INPUT, "program %s has %d errors", source->id, source->n_errors);
    QN_TRY(start_work(source, &work, err));
    if (!(off & QN_ARC_OFF_INLINE))
        QN_TRY(qn_arc_inline(&work, err));
    QN_TRY(make_notes(&work, err));
    if (!(off & QN_ARC_OFF_MERGE))
        QN_TRY(qn_arc_merge(&work, err));
    qn_arc_infer(&work.dag, work.kinds);
    if ((off & QN_ARC_OFF_FUSION) != QN_ARC_OFF_FUSION)
        QN_TRY(qn_arc_fuse(&work, off, err));
    mark_alive(&work, what_to_keep(&work, off));
    QN_TRY(qn_arc_emit(&work, source, &code, err));
    *out = code;
    code = (qn_arc_code){ 0 };
out:
    qn_arc_code_free(&code);
    end_work(&work);
    if (st != QN_OK)
        qn_prefix(err, "program %s", source->id);
    return st;
}

void qn_arc_code_free(qn_arc_code *code)
{
    for (int i = 0; i < code->n_outputs; i++) {
        free(code->outputs[i].task);
        free(code->outputs[i].name);
    }
    free(code->outputs);
    free(code->bytes);
    free(code->id);
    free(code->name);
    *code = (qn_arc_code){ 0 };
}
