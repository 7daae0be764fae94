/* dag.c - the lists a program consists of. */
#include "domain/arc/program/program.h"
#include "util/list.h"

#include <stdlib.h>

enum { MOST_DEPTH = 64 }; /* of values being compared; deeper ones count as different */

void qn_arc_dag_free(qn_arc_dag *dag)
{
    for (int i = 0; i < dag->n_records; i++) {
        free(dag->records[i].task);
        free(dag->records[i].name);
    }
    free(dag->records);
    free(dag->needs);
    free(dag->nodes);
    *dag = (qn_arc_dag){ .output = -1 };
}

int qn_arc_dag_add(qn_arc_dag *dag, const qn_arc_node *node)
{
    if (QN_GROW(dag->nodes, dag->n, &dag->room, "nodes", NULL) != QN_OK)
        return -1;
    dag->nodes[dag->n] = *node;
    if (node->n_needs == 0)
        dag->nodes[dag->n].needs = dag->n_needs;
    return dag->n++;
}

int qn_arc_dag_need(qn_arc_dag *dag, int node)
{
    if (QN_GROW(dag->needs, dag->n_needs, &dag->need_room, "needs", NULL) != QN_OK)
        return 0;
    dag->needs[dag->n_needs++] = node;
    return 1;
}

int qn_arc_dag_record(qn_arc_dag *dag, const qn_arc_record *record)
{
    if (QN_GROW(dag->records, dag->n_records, &dag->record_room, "records", NULL) != QN_OK)
        return 0;
    dag->records[dag->n_records++] = *record;
    return 1;
}

static int same(const qn_arc_value *a, const qn_arc_value *b, int depth)
{
    if (a == b)
        return 1;
    if (depth == 0 || a->kind != b->kind || a->n != b->n || a->number != b->number ||
        a->step != b->step || a->which != b->which)
        return 0;
    for (int i = 0; i < a->n; i++)
        if (!same(&a->items[i], &b->items[i], depth - 1))
            return 0;
    return 1;
}

int qn_arc_same_value(const qn_arc_value *a, const qn_arc_value *b)
{
    return same(a, b, MOST_DEPTH);
}
