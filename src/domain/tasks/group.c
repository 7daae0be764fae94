/* group.c - sorts tasks into groups and cuts groups into parts.
 *
 * Tasks with the same op, argument and bucket form a group; they are adjacent in sorted order. A
 * group is cut into parts of about chunk_elems elements, each with its own arrays and launches, so
 * that the engine can copy one part while another computes. Cuts are between tasks; a single task
 * is cut only if it is larger than a part and its op allows it.
 */
#include "domain/tasks/task.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than MAX_PARTS parts do not overlap better. A device that shares a batch needs one part to
 * copy while it computes another (SHARE_PARTS); a task is cut for that only if each piece is worth
 * a launch (SHARE_CUT). */
enum { MAX_PARTS = 64, SHARE_PARTS = 2, SHARE_CUT = 32768 };

/* Sorting. */

static int compare_i64(qn_i64 a, qn_i64 b)
{
    return (a > b) - (a < b);
}

static int compare_specs(const qn_task_spec *a, const qn_task_spec *b)
{
    int diff = a->op == b->op ? 0 : strcmp(a->op->name, b->op->name);

    if (!diff)
        diff = compare_i64((qn_i64)a->bucket, (qn_i64)b->bucket);
    if (!diff)
        diff = qn_task_arg_compare(a->arg, b->arg);
    return diff ? diff : compare_i64(a->n, b->n);
}

static int by_spec(const void *a, const void *b, void *specs)
{
    const int i = *(const int *)a, j = *(const int *)b;
    const int diff =
        compare_specs((const qn_task_spec *)specs + i, (const qn_task_spec *)specs + j);

    return diff ? diff : compare_i64(i, j);
}

void qn_group_sort(const qn_task_list *list, int *order)
{
    for (int i = 0; i < list->n; i++)
        order[i] = i;
    qsort_r(order, (size_t)list->n, sizeof *order, by_spec, list->specs);
}

int qn_group_is_same(const qn_task_spec *a, const qn_task_spec *b)
{
    return a->op == b->op && a->bucket == b->bucket && (!a->op->same_n || a->n == b->n) &&
           !qn_task_arg_compare(a->arg, b->arg);
}

/* Cutting. */

qn_i64 qn_task_room(const qn_task_spec *spec, int is_padded)
{
    const qn_i64 n =
        is_padded && spec->op->is_padded ? (qn_i64)spec->bucket : spec->op->elems(spec);
    const qn_i64 align = spec->op->align;

    return (n + align - 1) / align * align;
}

typedef struct {
    qn_task_part *parts;
    int n;
    size_t cap;
    int *slots;
    /* how */
    qn_i64 chunk_elems;
    int is_padded;
    double share_cost; /* largest cost of a part; 0: any */
} cutter;

static qn_status add_part(cutter *c, const qn_task_spec *spec, int position, qn_err *err)
{
    const qn_status st = QN_GROW(c->parts, c->n, &c->cap, "parts of a batch", err);

    if (st != QN_OK)
        return st;
    c->parts[c->n++] = (qn_task_part){ .op = spec->op, .arg = spec->arg, .first = position };
    return QN_OK;
}

/* Cuts a single task into as many parts as needed. */
static qn_status cut_task(cutter *c, const qn_task_spec *spec, int position, qn_i64 room,
                          qn_i64 limit, qn_err *err)
{
    c->slots[position] = c->n;
    for (qn_i64 from = 0; from < room; from += limit) {
        const qn_status st = add_part(c, spec, position, err);
        qn_task_part *part = &c->parts[c->n - 1];

        if (st != QN_OK)
            return st;
        part->n_tasks = 1;
        part->from = from;
        part->elems = part->largest = room - from < limit ? room - from : limit;
    }
    return QN_OK;
}

static qn_i64 aligned(qn_i64 elems, const qn_task_op *op)
{
    return (elems + op->align - 1) / op->align * op->align;
}

/* Elements per part of a group, chosen for overlap. */
static qn_i64 chunk_limit(const cutter *c, const qn_task_spec *specs, int first, int end)
{
    qn_i64 total = 0, chunk = c->chunk_elems;

    for (int k = first; k < end; k++)
        total += qn_task_room(&specs[k], c->is_padded);
    if (total / MAX_PARTS >= chunk)
        chunk = total / MAX_PARTS + 1;
    return aligned(chunk, specs[first].op);
}

/* Elements per part if devices share the batch. */
static qn_i64 share_limit(const cutter *c, const qn_task_spec *specs, int first, int end,
                          qn_i64 most)
{
    double elems = 0, cost = 0;
    qn_i64 limit;

    if (!(c->share_cost > 0))
        return most;
    for (int k = first; k < end; k++) {
        elems += (double)qn_task_room(&specs[k], c->is_padded);
        cost += specs[k].op->cost(&specs[k]);
    }
    limit = aligned((qn_i64)(elems * fmin(c->share_cost / cost, 1)) + 1, specs[first].op);
    return limit < most ? limit : most;
}

static qn_status cut_group(cutter *c, const qn_task_spec *specs, int first, int end, qn_err *err)
{
    const qn_i64 most = chunk_limit(c, specs, first, end),
                 limit = share_limit(c, specs, first, end, most);
    const qn_i64 piece = limit < SHARE_CUT && SHARE_CUT < most ? SHARE_CUT : limit;
    qn_status st = QN_OK;
    int is_open = 0;

    for (int k = first; k < end; k++) {
        const qn_i64 room = qn_task_room(&specs[k], c->is_padded);
        qn_task_part *part;

        if (room > piece && specs[k].op->can_cut) {
            QN_TRY(cut_task(c, &specs[k], k, room, piece, err));
            is_open = 0;
            continue;
        }
        if (!is_open || c->parts[c->n - 1].elems + room > limit)
            QN_TRY(add_part(c, &specs[k], k, err));
        is_open = 1;
        part = &c->parts[c->n - 1];
        c->slots[k] = c->n - 1;
        part->n_tasks++;
        part->elems += room;
        part->largest = room > part->largest ? room : part->largest;
    }
out:
    return st;
}

qn_status qn_group_cut(const qn_task_spec *specs, int n, qn_i64 chunk_elems, int is_padded,
                       int n_shares, qn_task_part **parts, int *n_parts, int **slots, qn_err *err)
{
    cutter c = { .chunk_elems = chunk_elems, .is_padded = is_padded };
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(c.slots, n, "parts of a batch", err));
    for (int k = 0; k < n && n_shares > 1; k++)
        c.share_cost += specs[k].op->cost(&specs[k]) / (n_shares * SHARE_PARTS);
    for (int first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && qn_group_is_same(&specs[first], &specs[end]); end++)
            ;
        QN_TRY(cut_group(&c, specs, first, end, err));
    }
    *parts = c.parts;
    *n_parts = c.n;
    *slots = c.slots;
    return QN_OK;
out:
    free(c.parts);
    free(c.slots);
    return st;
}
