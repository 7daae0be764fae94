/* op_merkle.c - the op merkle: one root per task. Trees of one part share their launches. */
#include "domain/tasks/task.h"

#include "engine/engine.h"
#include "trees.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LEAVES ((qn_i64)1 << 26)

enum { NODE = QN_MERKLE_NODE };

static qn_status parse(const char *text, qn_merkle_rule rule, qn_task_arg *out, qn_err *err)
{
    out->rule = (int)rule;
    if (!strcmp(text, "plain"))
        out->rule = QN_MERKLE_PLAIN;
    else if (!strcmp(text, "rfc6962"))
        out->rule = QN_MERKLE_RFC6962;
    else if (*text)
        return qn_fail(err, QN_ERR_USAGE, "arg '%.60s' is not plain or rfc6962", text);
    return QN_OK;
}

static size_t result_bytes(QN_UNUSED const qn_task_spec *spec)
{
    return NODE;
}

/* As for messages of 64 bytes. */
static double cost(const qn_task_spec *spec)
{
    return 250.0 * (double)spec->n;
}

static qn_status build(qn_task_plan *plan, qn_task_part *part, qn_err *err)
{
    qn_i64 *from;
    qn_status st = QN_OK;

    if (part->trees)
        return qn_trees_build(part->trees, plan->graph, "merkle", err);
    QN_TRY(QN_NEW(from, (size_t)part->n_tasks + 1, "trees", err));
    for (int k = 0; k < part->n_tasks; k++)
        from[k + 1] = from[k] + plan->specs[part->first + k].n;
    QN_TRY(qn_trees_new(plan->ctx, (qn_merkle_rule)part->arg->rule, from, part->n_tasks,
                        &part->trees, err));
    part->x = part->trees->leaf;
    part->out = part->trees->root;
    plan->bytes += qn_buf_bytes(part->x) + qn_buf_bytes(part->trees->tree);
    QN_TRY(qn_trees_build(part->trees, plan->graph, "merkle", err));
out:
    free(from);
    return st;
}

static qn_status fill(qn_task_plan *plan, qn_task_part *part, QN_UNUSED unsigned operands,
                      qn_err *err)
{
    void *leaves;
    const qn_status st = qn_buf_host(part->x, QN_HOST_DISCARD, &leaves, err);

    for (int k = 0; st == QN_OK && k < part->n_tasks; k++) {
        const qn_task_span span = qn_task_part_span(plan, part, k);

        qn_task_random_bytes((uint8_t *)leaves + span.at * NODE, span.spec->seed, span.n * NODE);
    }
    return st;
}

static qn_status reference(const qn_task_spec *spec, QN_UNUSED qn_i64 from, QN_UNUSED qn_i64 n,
                           void *want, qn_err *err)
{
    const qn_merkle_rule rule = (qn_merkle_rule)spec->arg->rule;
    uint8_t *nodes;
    const qn_status st = QN_NEW(nodes, spec->n * NODE, "a check of leaves", err);

    if (st != QN_OK)
        return st;
    qn_task_random_bytes(nodes, spec->seed, spec->n * NODE);
#pragma omp parallel for if (spec->n > QN_TASK_ALONE / 64)
    for (qn_i64 i = 0; i < spec->n; i++)
        qn_tree_leaf(rule, nodes + i * NODE, nodes + i * NODE);
    qn_tree_climb(rule, nodes, spec->n);
    memcpy(want, nodes, NODE);
    free(nodes);
    return QN_OK;
}

const qn_task_op qn_task_merkle = {
    .name = "merkle",
    .module = "merkle",
    .type = "u8",
    .max_n = MAX_LEAVES,
    .align = 1,
    .is_reduced = 1,
    .parse = parse,
    .elems = qn_task_elems_n,
    .result_bytes = result_bytes,
    .cost = cost,
    .build = build,
    .fill = fill,
    .reference = reference,
};
