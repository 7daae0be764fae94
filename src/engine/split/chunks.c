/* chunks.c - the items of a batch that no worker has taken yet.
 *
 * They form stretches: one for all workers or one for each, and stretches that were given back.
 * Memory for all of them is allocated at the start, so giving back cannot fail.
 */
#include "engine/split/split_impl.h"

#include "util/status.h"

#include <stdlib.h>

enum { ANYBODY = -1 };

typedef struct {
    qn_chunk items;
    int worker; /* who may take it, or ANYBODY */
} stretch;

struct qn_chunks {
    stretch *list; /* the last stretch that fits is taken first: returned ones are the oldest */
    int n, cap;
    qn_i64 chunk_items, left, unfinished;
};

static void add(qn_chunks *chunks, qn_chunk items, int worker)
{
    if (items.count)
        chunks->list[chunks->n++] = (stretch){ items, worker };
}

qn_status qn_chunks_new(qn_i64 n_items, qn_i64 chunk_items, const qn_i64 *blocks, int n_workers,
                        int in_flight, qn_chunks **out, qn_err *err)
{
    qn_chunks *chunks = calloc(1, sizeof *chunks);
    qn_i64 first = 0;

    if (!chunks ||
        !(chunks->list = calloc((size_t)n_workers + (size_t)in_flight + 1, sizeof(stretch)))) {
        free(chunks);
        return qn_fail(err, QN_ERR_NOMEM, "batch of %lld items: out of host memory",
                       (long long)n_items);
    }
    chunks->chunk_items = chunk_items;
    chunks->left = chunks->unfinished = n_items;
    if (!blocks)
        add(chunks, (qn_chunk){ 0, n_items }, ANYBODY);
    for (int w = 0; blocks && w < n_workers; w++) {
        add(chunks, (qn_chunk){ first, blocks[w] }, w);
        first += blocks[w];
    }
    *out = chunks;
    return QN_OK;
}

void qn_chunks_free(qn_chunks *chunks)
{
    if (chunks)
        free(chunks->list);
    free(chunks);
}

static int take(void *state, int worker, qn_chunk *out)
{
    qn_chunks *chunks = state;

    for (int i = chunks->n - 1; i >= 0; i--) {
        stretch *s = &chunks->list[i];

        if (s->worker != worker && s->worker != ANYBODY)
            continue;
        out->first = s->items.first;
        out->count = s->items.count < chunks->chunk_items ? s->items.count : chunks->chunk_items;
        s->items.first += out->count;
        s->items.count -= out->count;
        chunks->left -= out->count;
        if (!s->items.count) { /* the others keep their order */
            chunks->n--;
            for (int k = i; k < chunks->n; k++)
                chunks->list[k] = chunks->list[k + 1];
        }
        return 1;
    }
    return 0;
}

static void finish(void *state, QN_UNUSED int worker, qn_chunk chunk)
{
    qn_chunks *chunks = state;

    chunks->unfinished -= chunk.count;
}

static void give_back(void *state, QN_UNUSED int worker, qn_chunk chunk)
{
    qn_chunks *chunks = state;

    add(chunks, chunk, ANYBODY);
    chunks->left += chunk.count;
}

static void leave(void *state, int worker)
{
    qn_chunks *chunks = state;

    for (int i = 0; i < chunks->n; i++)
        if (chunks->list[i].worker == worker)
            chunks->list[i].worker = ANYBODY;
}

static qn_i64 left(void *state)
{
    return ((qn_chunks *)state)->left;
}

static int is_over(void *state)
{
    return ((qn_chunks *)state)->unfinished == 0;
}

qn_chunk_source qn_chunks_source(qn_chunks *chunks)
{
    return (qn_chunk_source){ chunks, take, finish, give_back, leave, left, is_over };
}
