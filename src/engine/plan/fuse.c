/* fuse.c - fuses chains of element-wise stages into one stage.
 *
 * Maps that pass an array through temporaries read and write memory at each step. The kernel
 * `chain` runs a list of such maps with the value in a register and gives the same bits, so one
 * stage of it replaces the chain: nothing is generated or compiled, and values can still be
 * changed. Maps that are not correctly rounded (exp and the like) are not fused, since two kernels
 * may round them differently.
 *
 * A compiled graph lists the stages that run; this file keeps the stages that the caller added, and
 * restores them when the graph changes.
 */

#include "engine/plan/graph_impl.h"
#include "kernel/vector.h"
#include "util/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qn_fusion {
    qn_stage *built; /* as the caller added them */
    int n_built;
    size_t cap_built;
    int *place; /* by built stage: the stage that runs it */
    int *step;  /* by built stage: its step in that stage's program, -1: it is that stage itself */
};

/* Programs of steps with the same bits on every device. */
static const qn_op chain_op = {
    .name = "chain", .priority = 1, .kernel = "chain", .cost = qn_cost_chain, .work = 1
};

/* The arguments of a possible step are [constant,] in, out. */
static const qn_stage_arg *input_of(const qn_stage *stage)
{
    return &stage->args[stage->n_args - 2];
}

static const qn_stage_arg *output_of(const qn_stage *stage)
{
    return &stage->args[stage->n_args - 1];
}

/* Finding chains. */

/* Facts about the stages, for finding chains. */
typedef struct {
    const qn_graph *graph;
    int *uses, *reader;   /* by buffer: how many arguments use it; the last stage that reads it */
    unsigned char *bound; /* by stage: an explicit edge begins or ends at it */
    int *first;           /* by stage that ends a chain: the first stage of the chain, else -1 */
} search;

static void survey(search *s)
{
    const qn_graph *graph = s->graph;

    for (int i = 0; i < graph->n_stages; i++)
        for (int a = 0; a < graph->stages[i].n_args; a++) {
            const int b = graph->stages[i].args[a].buf_i;

            if (b < 0)
                continue;
            s->uses[b]++;
            if (graph->stages[i].args[a].mode == QN_ARG_IN)
                s->reader[b] = i;
        }
    for (int e = 0; e < graph->n_edges; e++)
        s->bound[graph->edges[e][0]] = s->bound[graph->edges[e][1]] = 1;
}

static int can_be_step(const search *s, int i)
{
    const qn_stage *stage = &s->graph->stages[i];
    const qn_range *r = &stage->range;

    return stage->op->chain_step && stage->op->priority <= s->graph->ctx->settings.op_priority &&
           !s->bound[i] && r->x0 == 0 && r->x1 > 0 && r->y0 == 0 && r->y1 == 1 && r->z0 == 0 &&
           r->z1 == 1;
}

/* The stage that reads the output of stage `i`, if no other stage and no caller sees that
 * output. */
static int find_next(const search *s, int i)
{
    const qn_graph *graph = s->graph;
    const qn_stage *stage = &graph->stages[i];
    const qn_stage_arg *out;
    int b, j;

    if (!can_be_step(s, i))
        return -1;
    out = output_of(stage);
    b = out->buf_i;
    j = s->reader[b];
    if (!graph->bufs[b].root->is_temp || graph->bufs[b].is_output || out->is_partial ||
        s->uses[b] != 2 || j <= i || !can_be_step(s, j) || input_of(&graph->stages[j])->is_partial)
        return -1;
    return graph->stages[j].range.x1 == stage->range.x1 && graph->stages[j].pin == stage->pin ? j
                                                                                              : -1;
}

/* Whether stage `to` may end a chain, so that the input is read only then. `from` is the current
 * end. */
static int can_reach(const qn_graph *graph, int input, int from, int to)
{
    for (int i = from + 1; i < to; i++)
        for (int a = 0; a < graph->stages[i].n_args; a++)
            if (graph->stages[i].args[a].buf_i == input &&
                graph->stages[i].args[a].mode != QN_ARG_IN)
                return 0;
    return output_of(&graph->stages[to])->buf_i != input;
}

/* The stages of the chain that begins at `first`, which may be that stage alone. */
static int collect(const search *s, int first, int members[CHAIN_STEPS])
{
    int n = 1, next;

    members[0] = first;
    while (n < CHAIN_STEPS && (next = find_next(s, members[n - 1])) >= 0 &&
           can_reach(s->graph, input_of(&s->graph->stages[first])->buf_i, members[n - 1], next))
        members[n++] = next;
    return n;
}

/* How many stages are part of chains. */
static int find_chains(search *s, int *step)
{
    int members[CHAIN_STEPS], n_fused = 0;

    for (int i = 0; i < s->graph->n_stages; i++)
        step[i] = s->first[i] = -1;
    for (int i = 0; i < s->graph->n_stages; i++) {
        const int n = step[i] < 0 ? collect(s, i, members) : 1;

        for (int m = 0; n > 1 && m < n; m++)
            step[members[m]] = m;
        if (n > 1)
            s->first[members[n - 1]] = i;
        n_fused += n > 1 ? n : 0;
    }
    return n_fused;
}

/* Building the stage. */

/* "a+b+c"; if that is too long, the first and the last name. */
static void join_names(const qn_stage *stages, const int *members, int n, char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (int m = 0; m < n && len < size; m++)
        len +=
            (size_t)snprintf(out + len, size - len, "%s%s", m ? "+" : "", stages[members[m]].name);
    if (len >= size)
        snprintf(out, size, "%.28s+..+%.28s", stages[members[0]].name, stages[members[n - 1]].name);
}

static void set_step(chain_par *par, int step, const qn_stage *stage)
{
    par->code[step] = stage->op->chain_step - 1;
    if (par->code[step] <= QN_CHAIN_MAX)
        memcpy(&par->k[step], stage->values + stage->args[0].value_at, sizeof par->k[step]);
}

static qn_status make_stage(const qn_stage *stages, const int *members, int n, qn_stage *out,
                            qn_err *err)
{
    const qn_stage *first = &stages[members[0]], *last = &stages[members[n - 1]];
    const qn_i64 elems = first->range.x1;
    chain_par par = { .n = elems, .n_steps = n };

    *out = (qn_stage){ .op = &chain_op, .n_args = 3, .pin = first->pin };
    out->kernel = qn_op_kernel(out->op);
    out->kernel_i = qn_stage_kernel_i(out->kernel);
    out->range = qn_range_1d((elems + CHAIN_CHUNK - 1) / CHAIN_CHUNK);
    out->args = calloc(3, sizeof *out->args);
    out->values = calloc(1, sizeof par);
    if (!out->args || !out->values) {
        free(out->args);
        free(out->values);
        return qn_fail(err, QN_ERR_NOMEM, "stage %s: out of host memory", last->name);
    }
    join_names(stages, members, n, out->name, sizeof out->name);
    for (int m = 0; m < n; m++)
        set_step(&par, m, &stages[members[m]]);
    memcpy(out->values, &par, sizeof par);
    out->args[0] = (qn_stage_arg){ .buf_i = -1, .mode = QN_ARG_VAL, .value_bytes = sizeof par };
    out->args[1] = *input_of(first);
    out->args[2] = *output_of(last);
    return QN_OK;
}

static void free_made(const struct qn_fusion *f, qn_stage *stages)
{
    for (int i = 0; i < f->n_built; i++) {
        qn_stage *stage = f->step[i] == 0 && f->place[i] >= 0 ? &stages[f->place[i]] : NULL;

        if (!stage)
            continue;
        free(stage->args);
        free(stage->values);
        free(stage->deps);
    }
}

/* Fills the list of stages that run. A chain replaces its last stage: by then all its inputs exist,
 * and its result is not needed earlier. */
static qn_status fill(const search *s, struct qn_fusion *f, qn_stage *stages, int *n_out,
                      qn_err *err)
{
    int members[CHAIN_STEPS], n = 0;
    qn_status st = QN_OK;

    for (int i = 0; i < f->n_built; i++)
        f->place[i] = -1;
    for (int i = 0; i < f->n_built; i++) {
        if (f->step[i] < 0)
            stages[n] = f->built[i];
        else if (s->first[i] < 0)
            continue;
        else
            QN_TRY(
                make_stage(f->built, members, collect(s, s->first[i], members), &stages[n], err));
        f->place[i] = n;
        for (int m = 0; f->step[i] > 0 && m <= f->step[i]; m++)
            f->place[members[m]] = n;
        n++;
    }
    *n_out = n;
out:
    if (st != QN_OK)
        free_made(f, stages);
    return st;
}

static void free_fusion(struct qn_fusion *f)
{
    if (!f)
        return;
    free(f->place);
    free(f->step);
    free(f);
}

static qn_status no_memory(const qn_graph *graph, qn_err *err)
{
    return qn_fail(err, QN_ERR_NOMEM, "graph %s: out of host memory", graph->name);
}

static qn_status replace_stages(qn_graph *graph, const search *s, struct qn_fusion *f, qn_err *err)
{
    qn_stage *stages = calloc((size_t)f->n_built, sizeof *stages);
    int n = 0;
    qn_status st = stages ? fill(s, f, stages, &n, err) : no_memory(graph, err);

    if (st != QN_OK) {
        free(stages);
        return st;
    }
    graph->stages = stages;
    graph->n_stages = n;
    graph->fusion = f;
    return QN_OK;
}

qn_status qn_fuse(qn_graph *graph, qn_err *err)
{
    const size_t n = (size_t)graph->n_stages + 1, n_bufs = (size_t)graph->n_bufs + 1;
    search s = { .graph = graph };
    qn_arena scratch = { 0 };
    struct qn_fusion *f = NULL;
    qn_status st = QN_OK;

    /* Injected faults name stages, so these stay unfused. */
    if (!graph->ctx->settings.fuse || graph->ctx->faults || graph->n_stages < 2)
        return QN_OK;
    f = calloc(1, sizeof *f);
    s.uses = qn_arena_zeros(&scratch, n_bufs, sizeof *s.uses);
    s.reader = qn_arena_zeros(&scratch, n_bufs, sizeof *s.reader);
    s.bound = qn_arena_zeros(&scratch, n, sizeof *s.bound);
    s.first = qn_arena_zeros(&scratch, n, sizeof *s.first);
    if (f) {
        *f = (struct qn_fusion){ graph->stages, graph->n_stages, graph->cap_stages,
                                 calloc(n, sizeof *f->place), calloc(n, sizeof *f->step) };
    }
    if (!f || !f->place || !f->step || scratch.failed)
        QN_TRY(no_memory(graph, err));
    survey(&s);
    graph->stats.n_fused = find_chains(&s, f->step);
    if (!graph->stats.n_fused)
        goto out;
    QN_TRY(replace_stages(graph, &s, f, err));
    qn_metric_add(graph->ctx->m.fused, graph->stats.n_fused);
    f = NULL;
out:
    free_fusion(f);
    qn_arena_clear(&scratch);
    return st;
}

void qn_fuse_undo(qn_graph *graph)
{
    struct qn_fusion *f = graph->fusion;

    if (!f)
        return;
    for (int i = 0; i < f->n_built; i++) {
        if (f->step[i] < 0) /* its statistics stay */
            f->built[i] = graph->stages[f->place[i]];
        else
            f->built[i].device = graph->stages[f->place[i]].device;
    }
    free_made(f, graph->stages);
    for (int i = 0; graph->is_compiled && i < f->n_built; i++)
        f->place[i] = graph->stage_device[f->place[i]];
    if (graph->is_compiled)
        memcpy(graph->stage_device, f->place, (size_t)f->n_built * sizeof *f->place);
    free(graph->stages);
    graph->stages = f->built;
    graph->n_stages = f->n_built;
    graph->cap_stages = f->cap_built;
    graph->stats.n_fused = 0;
    graph->fusion = NULL;
    free_fusion(f);
}

int qn_fuse_count(const qn_graph *graph)
{
    return graph->fusion ? graph->fusion->n_built : graph->n_stages;
}

int qn_fuse_place(const qn_graph *graph, int stage)
{
    return graph->fusion ? graph->fusion->place[stage] : stage;
}

qn_stage *qn_fuse_built(qn_graph *graph, int stage)
{
    return graph->fusion ? &graph->fusion->built[stage] : &graph->stages[stage];
}

void qn_fuse_update(qn_graph *graph, int stage)
{
    qn_stage *runs = &graph->stages[qn_fuse_place(graph, stage)];
    chain_par par;

    runs->value_gen = ++graph->value_gen;
    if (!graph->fusion || graph->fusion->step[stage] < 0)
        return; /* they share the values */
    memcpy(&par, runs->values, sizeof par);
    set_step(&par, graph->fusion->step[stage], qn_fuse_built(graph, stage));
    memcpy(runs->values, &par, sizeof par);
}
