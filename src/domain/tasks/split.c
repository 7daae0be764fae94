/* split.c - divides the parts of a plan among several devices.
 *
 * A part has one set of arrays, which any device may use, and one graph per device. So inputs are
 * made once, results stay in one place, and a part that runs on the same device again reuses its
 * recording. With a shared queue the largest parts go first, so that the last ones to finish are
 * small. With blocks, parts are dealt like cards, so that blocks with equal numbers of parts have
 * about equal work.
 */
#include "domain/tasks/task.h"

#include "engine/engine.h"
#include "util/list.h"
#include "util/map.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int part;
    double cost, n_tasks; /* n_tasks: a fraction for a piece of a task */
} item;

struct qn_task_split {
    qn_ctx *ctx;
    qn_split *run;
    qn_split_mode mode;
    int n_shares;
    int has_cpu;        /* by choice */
    qn_task_plan *plan; /* of the run in progress */
    item *items, *dealt;
    int cap;
    qn_map names; /* names returned so far */
};

static qn_task_part *part_of(const qn_task_split *split, qn_i64 item_i)
{
    return &split->plan->parts[split->items[item_i].part];
}

/* The work of the split. */

static qn_status graph_of(void *user, int device, qn_i64 first, QN_UNUSED qn_i64 count,
                          qn_graph **out, qn_err *err)
{
    qn_task_split *split = user;
    qn_task_plan *plan = split->plan;
    qn_task_part *part = part_of(split, first);
    qn_graph *const whole = plan->graph;
    qn_status st = QN_OK;

    if (part->graphs[device]) {
        *out = part->graphs[device];
        return QN_OK;
    }
    QN_TRY(qn_graph_new(split->ctx, "tasks", &plan->graph, err));
    QN_TRY(part->op->build(plan, part, err));
    QN_TRY(qn_graph_output(plan->graph, part->out, err));
    *out = part->graphs[device] = plan->graph;
    plan->graph = whole;
out:
    if (plan->graph != whole)
        qn_graph_free(plan->graph);
    plan->graph = whole;
    return st;
}

/* Inputs were made before the run, but a part that another device tried may be lost with that
 * device. */
static qn_status prepare(void *user, QN_UNUSED int device, QN_UNUSED int slot, qn_i64 first,
                         QN_UNUSED qn_i64 count, qn_err *err)
{
    qn_task_split *split = user;
    qn_task_part *part = part_of(split, first);

    return part->n_tries++ ? qn_task_part_renew(split->plan, part, err) : QN_OK;
}

static qn_status deliver(void *user, int device, QN_UNUSED int slot, qn_i64 first,
                         QN_UNUSED qn_i64 count, QN_UNUSED qn_err *err)
{
    qn_task_split *split = user;
    qn_task_part *part = part_of(split, first);

    part->slot = device;
    part->device = qn_device_id(split->ctx, device);
    /* It is a fallback if the CPU is not in the set, or another device tried the part before. */
    part->fell_back = device == QN_CPU_SLOT && (!split->has_cpu || part->n_tries > 1);
    return QN_OK;
}

static double count_tasks(void *user, qn_i64 first, QN_UNUSED qn_i64 count)
{
    const qn_task_split *split = user;

    return split->items[first].n_tasks;
}

/* Making. */

static void look_at_set(qn_task_split *split)
{
    split->n_shares = qn_split_count(split->run);
    for (int i = 0; i < split->n_shares; i++)
        split->has_cpu |= qn_split_get(split->run, i).device == QN_CPU_SLOT;
}

qn_status qn_task_split_new(qn_ctx *ctx, const qn_split_options *options, qn_task_split **out,
                            qn_err *err)
{
    qn_task_split *split;
    qn_split_work work = { .chunk_items = 1,
                           .prepare = prepare,
                           .deliver = deliver,
                           .graph = graph_of,
                           .tasks = count_tasks };
    qn_status st = QN_OK;

    *out = NULL;
    if (!qn_devices_shared(ctx, options->devices))
        return QN_OK;
    if (!(split = work.user = calloc(1, sizeof *split)))
        return qn_fail(err, QN_ERR_NOMEM, "tasks: out of host memory");
    split->ctx = ctx;
    split->mode = options->mode;
    QN_TRY(qn_split_open(ctx, "tasks", options, &work, &split->run, err));
    look_at_set(split);
    *out = split;
    split = NULL;
out:
    qn_task_split_free(split);
    return st;
}

void qn_task_split_free(qn_task_split *split)
{
    const qn_map_entry *entry;
    size_t at = 0;

    if (!split)
        return;
    qn_split_close(split->run);
    while ((entry = qn_map_next(&split->names, &at)))
        free(entry->value);
    qn_map_free(&split->names);
    free(split->items);
    free(split->dealt);
    free(split);
}

int qn_task_split_shares(const qn_task_split *split)
{
    return split ? split->n_shares : 1;
}

const char *qn_task_split_name(qn_task_split *split, unsigned slots)
{
    const char *first = qn_device_id(split->ctx, __builtin_ctz(slots));
    char name[QN_MAX_DEVICES * 24] = "";
    char *owned;

    if (!(slots & (slots - 1)))
        return first;
    for (int d = 0; d < qn_device_count(split->ctx); d++)
        if (slots >> d & 1)
            snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", *name ? "+" : "",
                     qn_device_id(split->ctx, d));
    if ((owned = qn_map_get(&split->names, name)))
        return owned;
    if (!(owned = strdup(name)) || qn_map_put(&split->names, name, owned) != QN_OK) {
        free(owned);
        return first;
    }
    return owned;
}

/* Running. */

static int by_cost(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return x->part - y->part;
}

static item weigh(const qn_task_plan *plan, int p)
{
    item out = { .part = p };

    out.cost = qn_task_part_cost(plan, &plan->parts[p], &out.n_tasks);
    return out;
}

/* 0, k, 2k, ..., 1, k + 1, ... for k devices. */
static void deal(qn_task_split *split, int n)
{
    int at = 0;

    for (int hand = 0; hand < split->n_shares; hand++)
        for (int i = hand; i < n; i += split->n_shares)
            split->dealt[at++] = split->items[i];
    memcpy(split->items, split->dealt, (size_t)n * sizeof *split->items);
}

static qn_status list_items(qn_task_split *split, qn_err *err)
{
    const qn_task_plan *plan = split->plan;
    const int n = plan->n_parts;
    qn_status st = QN_OK;

    if (n > split->cap) {
        free(split->items);
        free(split->dealt);
        split->items = split->dealt = NULL;
        split->cap = 0;
        QN_TRY(QN_NEW(split->items, n, "parts of a batch", err));
        QN_TRY(QN_NEW(split->dealt, n, "parts of a batch", err));
        split->cap = n;
    }
    for (int p = 0; p < n; p++) {
        split->items[p] = weigh(plan, p);
        plan->parts[p].n_tries = 0;
    }
    qsort(split->items, (size_t)n, sizeof *split->items, by_cost);
    if (split->mode != QN_SPLIT_DYNAMIC)
        deal(split, n);
out:
    return st;
}

qn_status qn_task_split_run(qn_task_split *split, qn_task_plan *plan, uint64_t *submissions,
                            qn_err *err)
{
    const uint64_t before = qn_split_get_stats(split->run).chunks;
    qn_status st = QN_OK;

    split->plan = plan;
    QN_TRY(list_items(split, err));
    QN_TRY(qn_split_run(split->run, plan->n_parts, err));
    *submissions = qn_split_get_stats(split->run).chunks - before;
out:
    split->plan = NULL;
    return st;
}
