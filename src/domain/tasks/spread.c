/* spread.c - the parts of a plan over several devices.
 *
 * Parts keep their arrays, which any device may work on; only the graph that does so is one per
 * part and device. So inputs are made once, results are where they always are, and a part that
 * comes to the same device again finds its recording. The largest part goes first: with a shared
 * queue the last ones to finish are then small. Where devices get blocks, parts are dealt like
 * cards instead, so that blocks of equal number are about equal in work.
 */
#include "task.h"

#include "engine/engine.h"
#include "util/map.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int part;
    double cost, n_tasks; /* n_tasks: of a task that is cut, its share */
} item;

struct qn_task_spread {
    qn_ctx *ctx;
    qn_split *split;
    qn_split_mode mode;
    int n_shares;
    int has_cpu;        /* by choice */
    qn_task_plan *plan; /* of the run in progress */
    item *items, *dealt;
    int cap;
    qn_map names; /* as returned -> the same, owned */
};

static qn_task_part *part_of(const qn_task_spread *spread, qn_i64 item_i)
{
    return &spread->plan->parts[spread->items[item_i].part];
}

/* The work of the split. */

static qn_status graph_of(void *user, int device, qn_i64 first, qn_i64 count, qn_graph **out,
                          qn_err *err)
{
    qn_task_spread *spread = user;
    qn_task_plan *plan = spread->plan;
    qn_task_part *part = part_of(spread, first);
    qn_graph *const whole = plan->graph;
    qn_status st = QN_OK;

    (void)count;
    if (part->graphs[device]) {
        *out = part->graphs[device];
        return QN_OK;
    }
    QN_TRY(qn_graph_new(spread->ctx, "tasks", &plan->graph, err));
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

/* Inputs were made before the run. What was with another device already may be lost with it. */
static qn_status prepare(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err)
{
    qn_task_spread *spread = user;
    qn_task_part *part = part_of(spread, first);

    (void)device;
    (void)slot;
    (void)count;
    return part->n_tries++ ? qn_task_part_renew(spread->plan, part, err) : QN_OK;
}

static qn_status deliver(void *user, int device, int slot, qn_i64 first, qn_i64 count, qn_err *err)
{
    qn_task_spread *spread = user;
    qn_task_part *part = part_of(spread, first);

    (void)slot;
    (void)count;
    (void)err;
    part->slot = device;
    part->device = qn_device_id(spread->ctx, device);
    /* The CPU has it by choice, unless somebody had it before. */
    part->fell_back = device == QN_CPU_SLOT && (!spread->has_cpu || part->n_tries > 1);
    return QN_OK;
}

static double count_tasks(void *user, qn_i64 first, qn_i64 count)
{
    const qn_task_spread *spread = user;

    (void)count;
    return spread->items[first].n_tasks;
}

/* Making. */

static void look_at_set(qn_task_spread *spread)
{
    spread->n_shares = qn_split_count(spread->split);
    for (int i = 0; i < spread->n_shares; i++)
        spread->has_cpu |= qn_split_get(spread->split, i).device == QN_CPU_SLOT;
}

qn_status qn_task_spread_new(qn_ctx *ctx, const qn_split_options *options, qn_task_spread **out,
                             qn_err *err)
{
    qn_task_spread *spread;
    qn_split_work work = { .chunk_items = 1,
                           .prepare = prepare,
                           .deliver = deliver,
                           .graph = graph_of,
                           .tasks = count_tasks };
    qn_status st = QN_OK;

    *out = NULL;
    if (!qn_devices_shared(ctx, options->devices))
        return QN_OK;
    if (!(spread = work.user = calloc(1, sizeof *spread)))
        return qn_fail(err, QN_ERR_NOMEM, "tasks: out of host memory");
    spread->ctx = ctx;
    spread->mode = options->mode;
    QN_TRY(qn_split_open(ctx, "tasks", options, &work, &spread->split, err));
    look_at_set(spread);
    *out = spread;
    spread = NULL;
out:
    qn_task_spread_free(spread);
    return st;
}

void qn_task_spread_free(qn_task_spread *spread)
{
    const qn_map_entry *entry;
    size_t at = 0;

    if (!spread)
        return;
    qn_split_close(spread->split);
    while ((entry = qn_map_next(&spread->names, &at)))
        free(entry->value);
    qn_map_free(&spread->names);
    free(spread->items);
    free(spread->dealt);
    free(spread);
}

int qn_task_spread_shares(const qn_task_spread *spread)
{
    return spread ? spread->n_shares : 1;
}

const char *qn_task_spread_name(qn_task_spread *spread, unsigned slots)
{
    const char *first = qn_device_id(spread->ctx, __builtin_ctz(slots));
    char name[QN_MAX_DEVICES * 24] = "";
    char *kept;

    if (!(slots & (slots - 1)))
        return first;
    for (int d = 0; d < qn_device_count(spread->ctx); d++)
        if (slots >> d & 1)
            snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", *name ? "+" : "",
                     qn_device_id(spread->ctx, d));
    if ((kept = qn_map_get(&spread->names, name)))
        return kept;
    if (!(kept = strdup(name)) || qn_map_put(&spread->names, name, kept) != QN_OK) {
        free(kept);
        return first;
    }
    return kept;
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
    const qn_task_part *part = &plan->parts[p];
    item out = { .part = p };

    for (int k = 0; k < part->n_tasks; k++) {
        const qn_task_span span = qn_task_part_span(plan, part, k);
        const double share = (double)span.n / (double)part->op->elems(span.spec);

        out.cost += part->op->cost(span.spec) * share;
        out.n_tasks += share;
    }
    return out;
}

/* 0, k, 2k, ..., 1, k + 1, ... for k devices. */
static void deal(qn_task_spread *spread, int n)
{
    int at = 0;

    for (int hand = 0; hand < spread->n_shares; hand++)
        for (int i = hand; i < n; i += spread->n_shares)
            spread->dealt[at++] = spread->items[i];
    memcpy(spread->items, spread->dealt, (size_t)n * sizeof *spread->items);
}

static qn_status list_items(qn_task_spread *spread, qn_err *err)
{
    const qn_task_plan *plan = spread->plan;
    const int n = plan->n_parts;

    if (n > spread->cap) {
        free(spread->items);
        free(spread->dealt);
        spread->items = calloc((size_t)n, sizeof *spread->items);
        spread->dealt = calloc((size_t)n, sizeof *spread->dealt);
        spread->cap = spread->items && spread->dealt ? n : 0;
    }
    if (n > spread->cap)
        return qn_fail(err, QN_ERR_NOMEM, "batch of %d parts: out of host memory", n);
    for (int p = 0; p < n; p++) {
        spread->items[p] = weigh(plan, p);
        plan->parts[p].n_tries = 0;
    }
    qsort(spread->items, (size_t)n, sizeof *spread->items, by_cost);
    if (spread->mode != QN_SPLIT_DYNAMIC)
        deal(spread, n);
    return QN_OK;
}

qn_status qn_task_spread_run(qn_task_spread *spread, qn_task_plan *plan, uint64_t *submissions,
                             qn_err *err)
{
    const uint64_t before = qn_split_get_stats(spread->split).chunks;
    qn_status st = QN_OK;

    spread->plan = plan;
    QN_TRY(list_items(spread, err));
    QN_TRY(qn_split_run(spread->split, plan->n_parts, err));
    *submissions = qn_split_get_stats(spread->split).chunks - before;
out:
    spread->plan = NULL;
    return st;
}
