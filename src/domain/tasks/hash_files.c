/* hash_files.c - files in, chunks through a pipe, leaves out.
 *
 * Chunks of all files follow each other in the batches of the pipe, so many small files are as
 * good as a large one. hash_trees.c takes the leaves. The graphs of a pipe are made for one size
 * of batch; when another would suit the device better, a new pipe takes over.
 */
#include "hash_files.h"

#include "batch_size.h"
#include "hash_trees.h"

#include "engine/context.h"
#include "engine/memory/tiling.h"
#include "kernel/sha256.gen.h"
#include "kernel/types.h"

#include <quern/pipe.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH_BYTES = 16 << 20, SIZE_RANGE = 4, DIGEST = QN_MERKLE_NODE };

typedef struct {
    qn_graph *graph; /* of the pipe */
    qn_buf *data, *start, *hash;
    i64 *table; /* what `start` holds */
    int *file;  /* of each leaf of the batch in flight */
    qn_i64 n;   /* leaves of it */
} slot_state;

typedef struct {
    qn_ctx *ctx;
    const char *const *paths;
    int n_paths;
    qn_i64 chunk, capacity; /* bytes of a chunk, leaves of a batch */
    slot_state slots[QN_PIPE_MAX_DEPTH];
    i64 *table; /* scratch */
    qn_batch_size size;
    /* where reading stands */
    int path_i, fd; /* -1: the file is not open */
    qn_i64 leaves;  /* of the file so far */
    qn_i64 n_read;  /* leaves of all files so far */
    qn_hash_trees *trees;
} hasher;

static qn_status told(const hasher *h, qn_status st, qn_err *err)
{
    if (st != QN_OK)
        *err = h->ctx->err;
    return st;
}

/* ---- reading -------------------------------------------------------------------------- */

static qn_status fail_file(const hasher *h, const char *doing, qn_err *err)
{
    return qn_fail(err, QN_ERR_INPUT, "cannot %s %s: %s", doing, h->paths[h->path_i],
                   strerror(errno));
}

static qn_status open_file(hasher *h, qn_err *err)
{
    const char *path = h->paths[h->path_i];

    h->leaves = 0;
    h->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    return h->fd < 0 ? fail_file(h, "open", err) : QN_OK;
}

static void close_file(hasher *h)
{
    if (h->fd > STDIN_FILENO)
        close(h->fd);
    h->fd = -1;
}

/* Up to a chunk; less only at the end of the file. */
static qn_status read_chunk(hasher *h, uint8_t *to, qn_i64 *got, qn_err *err)
{
    for (*got = 0; *got < h->chunk;) {
        const ssize_t n = read(h->fd, to + *got, (size_t)(h->chunk - *got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_file(h, "read", err);
        if (n == 0)
            break;
        *got += n;
    }
    return QN_OK;
}

/* The next leaf's bytes to `to`; *got is -1 when there is none left in any file. */
static qn_status next_leaf(hasher *h, uint8_t *to, qn_i64 *got, int *file, qn_err *err)
{
    qn_status st = QN_OK;

    for (*got = -1; h->path_i < h->n_paths; h->path_i++) {
        if (h->fd < 0)
            QN_TRY(open_file(h, err));
        QN_TRY(read_chunk(h, to, got, err));
        *file = h->path_i;
        if (*got > 0 || !h->leaves++) {
            h->leaves += *got > 0;
            return QN_OK;
        }
        close_file(h);
        *got = -1;
    }
out:
    return st;
}

/* ---- the pipe ------------------------------------------------------------------------- */

static qn_status build(void *user, int slot, qn_graph *graph, qn_err *err)
{
    hasher *h = user;
    slot_state *s = &h->slots[slot];
    const size_t n = (size_t)h->capacity;
    const qn_i64 words = h->capacity * h->chunk / 4 + 1;
    const qn_range groups =
        qn_range_1d((h->capacity + qn_kernel_sha256.lanes - 1) / qn_kernel_sha256.lanes);
    qn_status st = QN_OK;

    s->graph = graph;
    s->table = calloc(n + 1, sizeof *s->table);
    s->file = calloc(n, sizeof *s->file);
    if (!s->table || !s->file)
        return qn_fail(err, QN_ERR_NOMEM, "hash: out of host memory");
    QN_TRY(qn_buf_new(h->ctx, "hash.data", (size_t)words * sizeof(u32), &s->data));
    QN_TRY(qn_buf_new(h->ctx, "hash.start", (n + 1) * sizeof(i64), &s->start));
    QN_TRY(qn_buf_new(h->ctx, "hash.leaf", n * DIGEST, &s->hash));
    QN_TRY(stage_sha256(graph, "sha256", groups, h->capacity, words, s->start, s->data, s->hash));
    QN_TRY(qn_graph_output(graph, s->hash));
out:
    return told(h, st, err);
}

/* How many batches before this one are still to be done by a device; -1 when none is at work. */
static int queue_length(const hasher *h)
{
    int is_used = 0, n = 0;

    for (int d = 1; d < h->ctx->n_devices; d++)
        is_used |= h->ctx->devices[d].n_queued > 0;
    for (int s = 0; is_used && s < QN_PIPE_MAX_DEPTH; s++)
        n += h->slots[s].graph && !qn_graph_is_done(h->slots[s].graph);
    return is_used ? n : -1;
}

static qn_status prepare(void *user, int slot, qn_i64 batch, qn_err *err)
{
    hasher *h = user;
    slot_state *s = &h->slots[slot];
    const size_t bytes = ((size_t)h->capacity + 1) * sizeof *h->table;
    void *data;
    i64 at = 0;
    int queued;
    qn_status st = QN_OK;

    (void)batch;
    QN_TRY(told(h, qn_buf_host(s->data, QN_HOST_DISCARD, &data), err));
    for (s->n = 0; s->n < h->capacity; s->n++) {
        qn_i64 got;

        QN_TRY(next_leaf(h, (uint8_t *)data + at, &got, &s->file[s->n], err));
        if (got < 0)
            break;
        h->table[s->n] = at;
        at += got;
    }
    /* Messages behind the last are empty: hashed and ignored. */
    for (qn_i64 i = s->n; i <= h->capacity; i++)
        h->table[i] = at;
    if (memcmp(s->table, h->table, bytes)) {
        memcpy(s->table, h->table, bytes);
        QN_TRY(told(h, qn_buf_write(s->start, 0, h->table, bytes), err));
    }
    h->n_read += s->n;
    if ((queued = queue_length(h)) >= 0)
        qn_batch_size_note(&h->size, queued);
out:
    return st;
}

static qn_status deliver(void *user, int slot, qn_i64 batch, qn_err *err)
{
    hasher *h = user;
    const slot_state *s = &h->slots[slot];
    void *digests;
    qn_status st = QN_OK;

    (void)batch;
    if (!s->n)
        return QN_OK;
    QN_TRY(told(h, qn_buf_host(s->hash, QN_HOST_READ, &digests), err));
    for (qn_i64 i = 0; i < s->n; i++)
        QN_TRY(qn_hash_trees_add(h->trees, s->file[i], (const uint8_t *)digests + i * DIGEST, err));
out:
    return st;
}

/* Batches that the files seem to need: their sizes may change, and streams have none. */
static qn_i64 guess_leaves(const hasher *h)
{
    qn_i64 leaves = 0;

    for (int i = 0; i < h->n_paths; i++) {
        struct stat info;

        if (strcmp(h->paths[i], "-") && !stat(h->paths[i], &info) && S_ISREG(info.st_mode))
            leaves += info.st_size ? (info.st_size + h->chunk - 1) / h->chunk : 1;
        else
            leaves += h->capacity;
    }
    return leaves;
}

/* No larger than what leaves room for all slots on every device. */
static qn_batch_size size_range(const hasher *h)
{
    double most = SIZE_RANGE * (double)h->capacity;

    for (int d = 1; d < h->ctx->n_devices; d++) {
        const double room = (double)qn_device_tiles(h->ctx, d).tile_bytes;

        most = fmin(most, room / (QN_PIPE_MAX_DEPTH * (double)h->chunk));
    }
    return (qn_batch_size){ .items = (double)h->capacity,
                            .least = fmax(1, (double)h->capacity / SIZE_RANGE),
                            .most = fmax(most, (double)h->capacity) };
}

static void free_slots(hasher *h)
{
    for (int s = 0; s < QN_PIPE_MAX_DEPTH; s++) {
        qn_buf_free(h->slots[s].data);
        qn_buf_free(h->slots[s].start);
        qn_buf_free(h->slots[s].hash);
        free(h->slots[s].table);
        free(h->slots[s].file);
        h->slots[s] = (slot_state){ 0 };
    }
    free(h->table);
    h->table = NULL;
}

/* The files' batches of one size, until another size is better or all is read. `leaves` is a
 * guess of how many there are. */
static qn_status run_pipe(hasher *h, int depth, qn_i64 leaves, qn_err *err)
{
    const qn_pipe_work calls = { h, build, prepare, deliver };
    qn_pipe *pipe = NULL;
    qn_status st = QN_OK;

    if (!(h->table = calloc((size_t)h->capacity + 1, sizeof *h->table))) {
        st = qn_fail(err, QN_ERR_NOMEM, "hash: out of host memory");
        goto out;
    }
    QN_TRY(told(h, qn_pipe_open(h->ctx, "hash", depth, &calls, &pipe), err));
    while (h->path_i < h->n_paths && h->capacity == qn_batch_size_get(&h->size)) {
        const qn_i64 left = (leaves - h->n_read + h->capacity - 1) / h->capacity;
        const qn_i64 n = left < QN_BATCHES_PER_LOOK ? left : QN_BATCHES_PER_LOOK;

        QN_TRY(told(h, qn_pipe_run(pipe, n > 0 ? n : 1), err));
    }
out:
    qn_pipe_close(pipe);
    free_slots(h);
    return st;
}

static qn_status run_all(hasher *h, int depth, qn_err *err)
{
    const qn_i64 leaves = guess_leaves(h);
    qn_status st = QN_OK;

    h->capacity = leaves < h->capacity ? leaves : h->capacity;
    h->size = size_range(h);
    /* One batch needs no second slot. */
    if (leaves <= h->capacity)
        depth = 1;
    for (; h->path_i < h->n_paths; h->capacity = qn_batch_size_get(&h->size))
        QN_TRY(run_pipe(h, depth, leaves, err));
    QN_TRY(qn_hash_trees_finish(h->trees, err));
out:
    return st;
}

static qn_status check_options(const qn_hash_options *options, qn_err *err)
{
    const qn_i64 most = (qn_i64)1 << 30;

    if (options->chunk_bytes < 0 || options->chunk_bytes > most)
        return qn_fail(err, QN_ERR_LIMIT, "chunk of %lld bytes; it has 1 to %lld",
                       (long long)options->chunk_bytes, (long long)most);
    return QN_OK;
}

qn_status qn_hash_files(qn_ctx *ctx, const char *const *paths, int n_paths,
                        const qn_hash_options *options, qn_hash_fn fn, void *user, qn_err *err)
{
    hasher h = { .ctx = ctx, .paths = paths, .n_paths = n_paths, .fd = -1 };
    const qn_i64 batch = options->batch_bytes ? options->batch_bytes : BATCH_BYTES;
    qn_status st = QN_OK;

    QN_TRY(check_options(options, err));
    h.chunk = options->chunk_bytes ? options->chunk_bytes : QN_HASH_CHUNK;
    h.capacity = batch > h.chunk ? batch / h.chunk : 1;
    QN_TRY(qn_hash_trees_new(ctx, options->rule, options->fold_leaves, paths, fn, user, &h.trees,
                             err));
    QN_TRY(run_all(&h, options->depth, err));
out:
    close_file(&h);
    qn_hash_trees_free(h.trees);
    return st;
}
