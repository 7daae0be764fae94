/* chain.c - cuts a graph into chains and computes the cost of a chain on each device. */
#include "engine/place/place.h"

#include <math.h>

enum { MOST_SPREAD = 16 };

/* Cutting. */

static int find_root(int *parent, int s)
{
    while (parent[s] != s) {
        parent[s] = parent[parent[s]];
        s = parent[s];
    }
    return s;
}

/* The smaller number stays the root, so chains are in program order. */
static void join(int *parent, int a, int b)
{
    a = find_root(parent, a);
    b = find_root(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

/* parent[s] becomes the first stage of the chain of s. */
static qn_status group_stages(const qn_graph *graph, int *parent, qn_arena *scratch)
{
    int *first = qn_arena_zeros(scratch, (size_t)graph->n_bufs + 1, sizeof *first);
    uint8_t *written = qn_arena_zeros(scratch, (size_t)graph->n_bufs + 1, 1);

    if (scratch->failed)
        return QN_ERR_NOMEM;
    for (int b = 0; b < graph->n_bufs; b++)
        first[b] = -1;
    for (int s = 0; s < graph->n_stages; s++)
        for (int a = 0; a < graph->stages[s].n_args; a++)
            if (graph->stages[s].args[a].buf_i >= 0 && graph->stages[s].args[a].mode != QN_ARG_IN)
                written[graph->stages[s].args[a].buf_i] = 1;
    for (int s = 0; s < graph->n_stages; s++) {
        parent[s] = s;
        for (int a = 0; a < graph->stages[s].n_args; a++) {
            const int b = graph->stages[s].args[a].buf_i;

            if (b < 0 || !written[b])
                continue;
            if (first[b] < 0)
                first[b] = s;
            join(parent, first[b], s);
        }
    }
    for (int s = 0; s < graph->n_stages; s++)
        parent[s] = find_root(parent, s);
    return QN_OK;
}

static int local_buf(const qn_chain *chain, int b)
{
    for (int i = chain->path.n_bufs - 1; i >= 0; i--)
        if (chain->bufs[i] == b)
            return i;
    return -1;
}

static void fill_stage(const qn_graph *graph, qn_chain *chain, int i, qn_path_use *uses)
{
    const qn_stage *stage = &graph->stages[chain->stages[i]];
    qn_path_stage *to = &chain->path.stages[i];

    *to = (qn_path_stage){ .uses = uses, .forced = graph->route->forced[chain->stages[i]] };
    for (int a = 0; a < stage->n_args; a++) {
        const qn_stage_arg *arg = &stage->args[a];
        int local;

        if (arg->buf_i < 0)
            continue;
        if ((local = local_buf(chain, arg->buf_i)) < 0) {
            local = chain->path.n_bufs++;
            chain->bufs[local] = arg->buf_i;
        }
        uses[to->n_uses++] = (qn_path_use){ local, arg->mode != QN_ARG_OUT || arg->is_partial,
                                            arg->mode != QN_ARG_IN };
    }
}

static qn_status fill_chain(const qn_graph *graph, qn_chain *chain)
{
    const size_t n = (size_t)chain->n_stages;
    size_t n_uses = 0, n_bufs, at = 0;
    qn_arena *tables = &graph->route->tables;
    qn_path *path = &chain->path;

    for (size_t i = 0; i < n; i++)
        n_uses += (size_t)graph->stages[chain->stages[i]].n_args;
    chain->uses = qn_arena_zeros(tables, n_uses + 1, sizeof *chain->uses);
    chain->bufs = qn_arena_zeros(tables, n_uses + 1, sizeof *chain->bufs);
    chain->device = qn_arena_zeros(tables, n + 1, sizeof *chain->device);
    chain->trial = qn_arena_zeros(tables, n + 1, sizeof *chain->trial);
    path->stages = qn_arena_zeros(tables, n + 1, sizeof *path->stages);
    path->back = qn_arena_zeros(tables, n + 1, QN_MAX_DEVICES * sizeof *path->back);
    path->n_stages = chain->n_stages;
    if (tables->failed)
        return QN_ERR_NOMEM;
    for (int i = 0; i < chain->n_stages; i++) {
        fill_stage(graph, chain, i, chain->uses + at);
        at += (size_t)path->stages[i].n_uses;
    }
    n_bufs = (size_t)path->n_bufs + 1;
    path->bufs = qn_arena_zeros(tables, n_bufs, sizeof *path->bufs);
    path->masks = qn_arena_zeros(tables, n_bufs, QN_MAX_DEVICES * sizeof *path->masks);
    path->next = qn_arena_zeros(tables, n_bufs, QN_MAX_DEVICES * sizeof *path->next);
    return tables->failed ? QN_ERR_NOMEM : QN_OK;
}

static void count_readers(const qn_graph *graph, const qn_chain *chain)
{
    for (int i = 0; i < chain->path.n_bufs; i++)
        if (graph->route->n_readers[chain->bufs[i]] < UINT16_MAX)
            graph->route->n_readers[chain->bufs[i]]++;
}

/* Sets chain_of[s] to the number of the chain of stage s, and allocates the chains. */
static qn_status open_chains(qn_graph *graph, int *chain_of)
{
    struct qn_graph_route *route = graph->route;
    int n = 0;

    for (int s = 0; s < graph->n_stages; s++) /* a root precedes all other stages of its chain */
        chain_of[s] = chain_of[s] == s ? n++ : chain_of[chain_of[s]];
    if (!(route->chains = qn_arena_zeros(&route->tables, (size_t)n + 1, sizeof *route->chains)))
        return QN_ERR_NOMEM;
    route->n_chains = n;
    for (int s = 0; s < graph->n_stages; s++)
        route->chains[chain_of[s]].n_stages++;
    for (int i = 0; i < n; i++) {
        qn_chain *chain = &route->chains[i];

        chain->stages = qn_arena_zeros(&route->tables, (size_t)chain->n_stages, sizeof(int));
        if (!chain->stages)
            return QN_ERR_NOMEM;
        chain->n_stages = 0;
    }
    return QN_OK;
}

qn_status qn_chains_make(qn_graph *graph)
{
    struct qn_graph_route *route = graph->route;
    qn_arena scratch = { 0 };
    int *chain_of = qn_arena_zeros(&scratch, (size_t)graph->n_stages, sizeof *chain_of);
    qn_status st = QN_OK;

    if (!chain_of)
        return QN_ERR_NOMEM;
    QN_TRY(group_stages(graph, chain_of, &scratch));
    QN_TRY(open_chains(graph, chain_of));
    for (int s = 0; s < graph->n_stages; s++) {
        qn_chain *chain = &route->chains[chain_of[s]];

        chain->stages[chain->n_stages++] = s;
        chain->n_open += route->forced[s] < 0;
    }
    for (int i = 0; i < route->n_chains; i++) {
        QN_TRY(fill_chain(graph, &route->chains[i]));
        count_readers(graph, &route->chains[i]);
    }
out:
    qn_arena_clear(&scratch);
    return st;
}

/* Prices. */

int qn_chain_spread(const struct qn_graph_route *route, const qn_buf *root, int b)
{
    int spread = 1;

    while (root->uses > 2 && spread < MOST_SPREAD && spread <= route->stable[b])
        spread *= 2;
    return spread;
}

static double upload_share(const struct qn_graph_route *route, const qn_buf *root, int b)
{
    const double readers = route->n_readers[b] > 1 ? route->n_readers[b] : 1;

    return 1 / readers / qn_chain_spread(route, root, b);
}

/* Probability of a download: 1 for outputs; for other results from how often it happened. */
static double download_share(const struct qn_graph_route *route, const qn_graph_buf *buf, int b)
{
    if (buf->is_output)
        return 1;
    if (buf->root->is_temp || !route->device_runs)
        return 0;
    return fmin(1, (double)(buf->root->count.d2h_count - route->d2h_base[b]) /
                       (double)route->device_runs);
}

static void price_bufs(const qn_graph *graph, qn_chain *chain)
{
    for (int i = 0; i < chain->path.n_bufs; i++) {
        const int b = chain->bufs[i];
        const qn_graph_buf *buf = &graph->bufs[b];

        chain->path.bufs[i] = (qn_path_buf){
            .bytes = (double)buf->root->bytes,
            .valid = buf->root->is_temp ? 1u : qn_buf_valid_mask(buf->root),
            .upload_share = upload_share(graph->route, buf->root, b),
            .download_share = download_share(graph->route, buf, b),
        };
    }
}

/* The number of the graph's chains on this device, which share the fixed cost of a run there. */
static int n_sharing(const qn_graph *graph, int device)
{
    int n = 0;

    for (int c = 0; c < graph->route->n_chains; c++)
        n += graph->route->chains[c].in_use >> device & 1;
    return n > 1 ? n : 1;
}

/* Queued work of the graph itself does not make a device more expensive: the next run needs its
 * results anyway. */
static void price_devices(const qn_graph *graph, qn_chain *chain, unsigned alive)
{
    const qn_ctx *ctx = graph->ctx;
    const double now = qn_ctx_now_us(ctx);
    qn_path *path = &chain->path;
    const int n = ctx->n_devices < QN_MAX_DEVICES ? ctx->n_devices : QN_MAX_DEVICES;

    path->candidates = alive;
    path->unified = 0;
    for (int d = 0; d < n; d++) {
        const double wait = graph->runs.in_flight >> d & 1 ? 0 : ctx->router->free_at_us[d] - now;

        path->links[d] = ctx->router->links[d];
        path->wait_us[d] = fmax(wait, 0) + path->links[d].sync_us / n_sharing(graph, d);
        path->unified |= (unsigned)ctx->devices[d].info.unified_memory << d;
        path->peers[d] = 0;
        for (int from = 1; from < n; from++)
            if (from != d && ctx->devices[d].backend == ctx->devices[from].backend &&
                ctx->devices[d].backend->copy_peer)
                path->peers[d] |= 1u << from;
    }
}

typedef double predictor(const qn_model *model, double size, const qn_line *prior);

static void price_stages(const qn_graph *graph, qn_chain *chain, predictor *predict)
{
    const qn_ctx *ctx = graph->ctx;
    const struct qn_graph_route *route = graph->route;

    for (int i = 0; i < chain->n_stages; i++) {
        const int s = chain->stages[i];
        qn_route_op *op = route->ops[s];

        for (int d = 0; d < ctx->n_devices && op; d++) {
            const qn_line prior = qn_router_prior(ctx, d, &route->costs[s], route->sizes[s]);

            op->prior[d] = prior;
            chain->path.stages[i].us[d] =
                op->refused >> d & 1 && chain->path.stages[i].forced != d
                    ? INFINITY
                    : predict(&op->models[d], route->sizes[s], &prior) * qn_router_busy(ctx, d);
        }
    }
}

static int least_support(const qn_graph *graph, const qn_chain *chain, int device)
{
    const struct qn_graph_route *route = graph->route;
    int least = QN_MODEL_WINDOW;

    for (int i = 0; i < chain->n_stages; i++) {
        const int s = chain->stages[i];
        int support;

        if (route->forced[s] >= 0 || !route->ops[s])
            continue;
        support = qn_model_support(&route->ops[s]->models[device], route->sizes[s]);
        least = support < least ? support : least;
    }
    return least;
}

/* The op of the chain: that of the open stage that takes longest on its fastest device. */
static qn_route_op *find_lead(const qn_graph *graph, const qn_chain *chain)
{
    qn_route_op *lead = NULL;
    double longest = -1;

    for (int i = 0; i < chain->n_stages; i++) {
        const qn_path_stage *stage = &chain->path.stages[i];
        double us = INFINITY;

        if (stage->forced >= 0)
            continue;
        for (int d = 0; d < graph->ctx->n_devices; d++)
            if (chain->path.candidates >> d & 1)
                us = fmin(us, stage->us[d]);
        if (us > longest) {
            longest = us;
            lead = graph->route->ops[chain->stages[i]];
        }
    }
    return lead;
}

void qn_chain_uniform(const qn_chain *chain, int device, int *out)
{
    for (int i = 0; i < chain->n_stages; i++)
        out[i] = chain->path.stages[i].forced >= 0 ? chain->path.stages[i].forced : device;
}

static void price_uniform(qn_chain *chain, double *us)
{
    for (int d = 0; d < QN_MAX_DEVICES; d++) {
        us[d] = INFINITY;
        if (!(chain->path.candidates >> d & 1))
            continue;
        qn_chain_uniform(chain, d, chain->trial);
        us[d] = qn_path_cost(&chain->path, chain->trial);
    }
}

static double predict_prior(QN_UNUSED const qn_model *model, double size, const qn_line *prior)
{
    return prior->a_us + prior->b_us * size;
}

void qn_chain_price(qn_graph *graph, qn_chain *chain, unsigned alive)
{
    qn_route_view *view = &chain->view;

    graph->ctx->router->n_priced++;
    price_bufs(graph, chain);
    price_devices(graph, chain, alive);
    price_stages(graph, chain, predict_prior);
    price_uniform(chain, view->prior_us);
    price_stages(graph, chain, qn_model_hope);
    price_uniform(chain, view->hope_us);
    price_stages(graph, chain, qn_model_predict);
    price_uniform(chain, view->cost_us);
    view->devices = 0;
    for (int d = 0; d < graph->ctx->n_devices; d++) {
        view->support[d] = least_support(graph, chain, d);
        if (isfinite(view->cost_us[d]))
            view->devices |= 1u << d;
    }
    chain->lead = find_lead(graph, chain);
}

/* Choice. */

static void take(qn_chain *chain, double us, qn_why why)
{
    int *swap = chain->device;

    chain->device = chain->trial;
    chain->trial = swap;
    chain->us = us;
    chain->why = why;
    chain->is_settled = 1;
}

/* Current cost of the current placement; infinite if its devices can no longer run it. */
static double settled_us(qn_chain *chain)
{
    for (int i = 0; i < chain->n_stages; i++)
        if (chain->path.stages[i].forced < 0 && !(chain->path.candidates >> chain->device[i] & 1))
            return INFINITY;
    return chain->is_settled ? qn_path_cost(&chain->path, chain->device) : INFINITY;
}

int qn_chain_settle(qn_chain *chain)
{
    const double present_us = settled_us(chain);
    double best_us = qn_path_find(&chain->path, chain->trial);

    /* The search keeps one path per device and may miss that staying is cheaper, so check that
     * directly. */
    for (int d = 0; d < QN_MAX_DEVICES; d++)
        if (chain->view.devices >> d & 1 && chain->view.cost_us[d] < best_us) {
            best_us = chain->view.cost_us[d];
            qn_chain_uniform(chain, d, chain->trial);
        }
    if (!isfinite(best_us)) /* no device can run it: the run will report why */
        qn_chain_uniform(chain, QN_CPU_SLOT, chain->trial);
    if (!isfinite(present_us) || qn_route_is_gain(present_us, best_us)) {
        take(chain, isfinite(best_us) ? best_us : 0, QN_WHY_BEST);
        return 1;
    }
    chain->us = present_us;
    chain->why = best_us < present_us ? QN_WHY_KEPT : QN_WHY_BEST;
    return 0;
}
