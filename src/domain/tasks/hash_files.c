/* hash_files.c - hashes the chunks of files through a pipe.
 *
 * Batches of the pipe contain chunks of successive files, so many small files are as fast as one
 * large file. hash_trees.c gets the leaves. Several devices share rounds of batches instead: a
 * round stays in memory until it is done, so that another device can take over.
 */
#include "domain/tasks/hash_files.h"

#include "engine/engine.h"
#include "kernel/sha256.gen.h"
#include "kernel/types.h"
#include "util/list.h"

#include <quern/pipe.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH_BYTES = 16 << 20, DIGEST = QN_MERKLE_NODE };

typedef struct {
    qn_buf *data, *start, *hash;
    i64 *table;                       /* content of `start` */
    int *file;                        /* file of each leaf of the batch in flight */
    qn_i64 n;                         /* leaves of the batch in flight */
    qn_graph *graphs[QN_MAX_DEVICES]; /* for shared batches */
} slot_state;

typedef struct {
    qn_ctx *ctx;
    const char *const *paths;
    int n_paths;
    qn_i64 chunk, capacity; /* bytes of a chunk, leaves of a batch */
    slot_state *slots;
    int n_slots, n_read; /* n_read: batches of the round */
    i64 *table;          /* scratch */
    /* position of the reader */
    int path_i, fd; /* -1: the file is not open */
    qn_i64 leaves;  /* of the file so far */
    qn_hash_trees *trees;
} hasher;

/* Reading. */

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

/* Reads up to a chunk; less only at the end of the file. */
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

/* Reads the bytes of the next leaf to `to`; *got is -1 if no file has any left. */
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

/* A batch. */

static qn_i64 words_of(const hasher *h)
{
    return h->capacity * h->chunk / 4 + 1;
}

static qn_status make_slots(hasher *h, int n, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(h->table, h->capacity + 1, "chunks of files", err));
    QN_TRY(QN_NEW(h->slots, n, "chunks of files", err));
    h->n_slots = n;
out:
    return st;
}

static void free_slots(hasher *h)
{
    for (int i = 0; i < h->n_slots; i++) {
        slot_state *s = &h->slots[i];

        for (int d = 0; d < QN_MAX_DEVICES; d++)
            qn_graph_free(s->graphs[d]);
        qn_buf_free(s->data);
        qn_buf_free(s->start);
        qn_buf_free(s->hash);
        free(s->table);
        free(s->file);
    }
    free(h->slots);
    free(h->table);
}

static qn_status make_arrays(const hasher *h, slot_state *s, qn_err *err)
{
    const size_t n = (size_t)h->capacity;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(s->table, n + 1, "chunks of files", err));
    QN_TRY(QN_NEW(s->file, n, "chunks of files", err));
    QN_TRY(qn_buf_new(h->ctx, "hash.data", (size_t)words_of(h) * sizeof(u32), &s->data, err));
    QN_TRY(qn_buf_new(h->ctx, "hash.start", (n + 1) * sizeof(i64), &s->start, err));
    QN_TRY(qn_buf_new(h->ctx, "hash.leaf", n * DIGEST, &s->hash, err));
out:
    return st;
}

static qn_status add_stage(const hasher *h, const slot_state *s, qn_graph *graph, qn_err *err)
{
    const qn_range groups =
        qn_range_1d((h->capacity + qn_kernel_sha256.lanes - 1) / qn_kernel_sha256.lanes);
    const qn_status st = stage_sha256(graph, "sha256", groups, h->capacity, words_of(h), s->start,
                                      s->data, s->hash, err);

    return st == QN_OK ? qn_graph_output(graph, s->hash, err) : st;
}

static qn_status read_batch(hasher *h, slot_state *s, qn_err *err)
{
    const size_t bytes = ((size_t)h->capacity + 1) * sizeof *h->table;
    void *data;
    i64 at = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_host(s->data, QN_HOST_DISCARD, &data, err));
    for (s->n = 0; s->n < h->capacity; s->n++) {
        qn_i64 got;

        QN_TRY(next_leaf(h, (uint8_t *)data + at, &got, &s->file[s->n], err));
        if (got < 0)
            break;
        h->table[s->n] = at;
        at += got;
    }
    /* Messages after the last one are empty; they are hashed and ignored. */
    for (qn_i64 i = s->n; i <= h->capacity; i++)
        h->table[i] = at;
    if (memcmp(s->table, h->table, bytes)) {
        memcpy(s->table, h->table, bytes);
        QN_TRY(qn_buf_write(s->start, 0, h->table, bytes, err));
    }
out:
    return st;
}

static qn_status add_leaves(const hasher *h, const slot_state *s, qn_err *err)
{
    void *digests;
    qn_status st = QN_OK;

    if (!s->n)
        return QN_OK;
    QN_TRY(qn_buf_host(s->hash, QN_HOST_READ, &digests, err));
    for (qn_i64 i = 0; i < s->n; i++)
        QN_TRY(qn_hash_trees_add(h->trees, s->file[i], (const uint8_t *)digests + i * DIGEST, err));
out:
    return st;
}

/* Estimates the number of leaves: sizes may change, and streams have none. */
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

/* One device: a pipe. */

static qn_status build(void *user, int slot, qn_graph *graph, qn_err *err)
{
    hasher *h = user;
    qn_status st = QN_OK;

    QN_TRY(make_arrays(h, &h->slots[slot], err));
    QN_TRY(add_stage(h, &h->slots[slot], graph, err));
out:
    return st;
}

static qn_status prepare(void *user, int slot, QN_UNUSED qn_i64 batch, qn_err *err)
{
    hasher *h = user;

    return read_batch(h, &h->slots[slot], err);
}

static qn_status deliver(void *user, int slot, QN_UNUSED qn_i64 batch, qn_err *err)
{
    const hasher *h = user;

    return add_leaves(h, &h->slots[slot], err);
}

static qn_status run_piped(hasher *h, int depth, qn_err *err)
{
    const qn_pipe_work calls = { h, build, prepare, deliver };
    const qn_i64 leaves = guess_leaves(h);
    qn_pipe *pipe = NULL;
    qn_status st = QN_OK;

    h->capacity = leaves < h->capacity ? leaves : h->capacity;
    QN_TRY(make_slots(h, QN_PIPE_MAX_DEPTH, err));
    /* A single batch needs no second slot. */
    if (leaves <= h->capacity)
        depth = 1;
    QN_TRY(qn_pipe_open(h->ctx, "hash", depth, &calls, &pipe, err));
    QN_TRY(qn_pipe_run(pipe, (leaves + h->capacity - 1) / h->capacity, err));
    while (h->path_i < h->n_paths)
        QN_TRY(qn_pipe_run(pipe, 1, err));
out:
    qn_pipe_close(pipe);
    return st;
}

/* Several devices: rounds of batches. */

static qn_status share_graph(void *user, int device, qn_i64 first, QN_UNUSED qn_i64 count,
                             qn_graph **out, qn_err *err)
{
    hasher *h = user;
    slot_state *s = &h->slots[first];
    qn_status st = QN_OK;

    if (!s->data)
        QN_TRY(make_arrays(h, s, err));
    if (!s->graphs[device]) {
        QN_TRY(qn_graph_new(h->ctx, "hash", &s->graphs[device], err));
        QN_TRY(add_stage(h, s, s->graphs[device], err));
    }
    *out = s->graphs[device];
out:
    return st;
}

/* Files are read in order: the next batch is read while devices hash the earlier ones. */
static qn_status share_prepare(void *user, QN_UNUSED int device, QN_UNUSED int slot, qn_i64 first,
                               QN_UNUSED qn_i64 count, qn_err *err)
{
    hasher *h = user;
    void *ignored;
    qn_status st = QN_OK;

    for (; h->n_read <= first; h->n_read++) {
        if (!h->slots[h->n_read].data)
            QN_TRY(make_arrays(h, &h->slots[h->n_read], err));
        QN_TRY(read_batch(h, &h->slots[h->n_read], err));
    }
    /* A failed device may have overwritten the host copy. */
    QN_TRY(qn_buf_host(h->slots[first].hash, QN_HOST_DISCARD, &ignored, err));
out:
    return st;
}

static double share_tasks(void *user, qn_i64 first, QN_UNUSED qn_i64 count)
{
    const hasher *h = user;

    return (double)h->slots[first].n;
}

static qn_status run_round(hasher *h, qn_split *split, qn_i64 n, qn_err *err)
{
    qn_status st = QN_OK;

    h->n_read = 0;
    QN_TRY(qn_split_run(split, n, err));
    for (qn_i64 i = 0; i < n; i++)
        QN_TRY(add_leaves(h, &h->slots[i], err));
out:
    return st;
}

static qn_status run_shared(hasher *h, int n_shares, const qn_split_options *options, qn_err *err)
{
    /* Leaves must be in order, so nothing is delivered before the end of the round. */
    const qn_split_work work = { .user = h,
                                 .chunk_items = 1,
                                 .prepare = share_prepare,
                                 .graph = share_graph,
                                 .tasks = share_tasks };
    const int n = n_shares * (options->depth ? options->depth : QN_SPLIT_DEPTH);
    const qn_i64 leaves = guess_leaves(h), fair = (leaves + n - 1) / n;
    qn_i64 left;
    qn_split *split = NULL;
    qn_status st = QN_OK;

    h->capacity = fair < h->capacity ? fair : h->capacity;
    left = (leaves + h->capacity - 1) / h->capacity;
    QN_TRY(make_slots(h, n, err));
    QN_TRY(qn_split_open(h->ctx, "hash", options, &work, &split, err));
    while (left > 0 || h->path_i < h->n_paths) {
        /* After the announced sizes there may be more data or none, so begin with a small round. */
        const qn_i64 round = left > 0 ? (left < n ? left : n) : left < 0 ? n : 1;

        QN_TRY(run_round(h, split, round, err));
        left -= round;
    }
out:
    qn_split_close(split);
    return st;
}

static qn_status check_options(const qn_hash_options *options, qn_err *err)
{
    const qn_i64 most = (qn_i64)1 << 30;

    if (options->chunk_bytes < 0 || options->chunk_bytes > most)
        return qn_fail(err, QN_ERR_LIMIT, "chunk of %lld bytes; must be 1 to %lld",
                       (long long)options->chunk_bytes, (long long)most);
    return QN_OK;
}

qn_status qn_hash_files(qn_ctx *ctx, const char *const *paths, int n_paths,
                        const qn_hash_options *options, qn_hash_fn fn, void *user, qn_err *err)
{
    hasher h = { .ctx = ctx, .paths = paths, .n_paths = n_paths, .fd = -1 };
    const qn_i64 batch = options->batch_bytes ? options->batch_bytes : BATCH_BYTES;
    qn_status st = QN_OK;
    int n_shares;

    QN_TRY(check_options(options, err));
    h.chunk = options->chunk_bytes ? options->chunk_bytes : QN_HASH_CHUNK;
    h.capacity = batch > h.chunk ? batch / h.chunk : 1;
    QN_TRY(qn_hash_trees_new(ctx, options->rule, options->fold_leaves, paths, fn, user, &h.trees,
                             err));
    n_shares = options->split ? qn_devices_shared(ctx, options->split->devices) : 0;
    QN_TRY(n_shares ? run_shared(&h, n_shares, options->split, err)
                    : run_piped(&h, options->depth, err));
    QN_TRY(qn_hash_trees_finish(h.trees, err));
out:
    close_file(&h);
    qn_hash_trees_free(h.trees);
    free_slots(&h);
    return st;
}
