/* residency.h - the inside of a buffer: copies, versions, points. Private to engine/.
 *
 * A buffer has a version; a copy is valid when its version is the buffer's. Writing raises the
 * version on one side and thereby makes all other copies stale: there are no flags to forget.
 */
#ifndef QN_ENGINE_RESIDENCY_H
#define QN_ENGINE_RESIDENCY_H

#include "engine/device/context.h"

/* The runs of a graph, as its arrays see them. First member of a graph. */
typedef struct qn_runs {
    int is_running;     /* between the start of a run and its last submission */
    unsigned in_flight; /* devices with work of the last run, one bit per slot */
    /* Waits for the last run; what failed in it is run again. */
    qn_status (*wait)(struct qn_runs *runs, qn_err *err);
    /* Gives the memory of its temporaries on a device back. */
    void (*release)(struct qn_runs *runs, int slot);
} qn_runs;

/* The replica on one device. */
typedef struct qn_copy {
    qn_block *block;
    uint64_t version;
    qn_point written; /* readable after */
    qn_points used;   /* overwritable after: the writer, and its readers on all streams */
    qn_point arrived; /* end of the last copy into the block; until then ... */
    int source;       /* ... the memory of this slot (0: the host's) is being read */
    int pins;         /* > 0: never evicted */
    uint64_t tick;    /* LRU */
    int borrowed;     /* the block belongs to a graph's temporaries */
} qn_copy;

struct qn_buf {
    qn_ctx *ctx;
    char name[64];
    size_t bytes;
    int refs;

    qn_buf *parent; /* a view: everything below lives in the root */
    size_t offset;

    uint64_t version;
    void *host; /* NULL until it is needed */
    uint64_t host_version;
    qn_block *host_block; /* NULL for wrapped or spilled memory */
    uint64_t host_tick;   /* LRU */
    int host_pins;        /* > 0: never spilled */
    uint64_t lent;        /* version that the caller has the address of: must stay where it is */
    int wrapped;
    int host_device; /* slot whose download fills the host copy, -1 when none is in flight */
    qn_point host_point;
    int spill_file; /* open file with the content while evicted from the host, -1 */
    int is_temp;

    qn_runs *owner;   /* of a temporary */
    qn_runs *writer;  /* whose run wrote the present version on a device; NULL: no run */
    unsigned visited; /* devices that ever held it, one bit per slot */
    uint64_t uses;    /* accesses that a device could have served: hot when > 2 */
    qn_transfer_count count;
    qn_buf *next, *prev; /* all buffers of the context */
    qn_copy copies[];    /* one per device of the context; none in a view */
};

static inline qn_buf *qn_buf_root(qn_buf *buf)
{
    return buf->parent ? buf->parent : buf;
}

static inline int qn_buf_valid_on(const qn_buf *root, const qn_device *device)
{
    if (device->info.unified_memory)
        return root->host_version == root->version;
    return root->copies[device->slot].block && root->copies[device->slot].version == root->version;
}

static inline int qn_buf_valid_host(const qn_buf *root)
{
    return root->host_version == root->version;
}

/* Host memory for the copy (zeroed when the buffer was never written), content not fetched. */
qn_status qn_buf_need_host(qn_buf *root, qn_err *err);

/* A block on the device, content not fetched, for the sake of `stage`. Goes through the rungs of
 * evict.c. */
qn_status qn_buf_need_block(qn_buf *root, qn_device *device, const char *stage, qn_err *err);

/* As qn_buf_need_block, but without evicting other buffers. */
qn_status qn_buf_try_block(qn_buf *root, qn_device *device, qn_err *err);

/* Later work on stream `on` may read or overwrite the device's copy, or the host's. The stream
 * waits for work of its own device; where other devices are concerned the host waits. */
qn_status qn_buf_before_read(qn_buf *root, qn_device *device, qn_stream on, qn_err *err);
qn_status qn_buf_before_write(qn_buf *root, qn_device *device, qn_stream on, qn_err *err);
qn_status qn_buf_before_host_read(qn_buf *root, qn_device *device, qn_stream on, qn_err *err);
qn_status qn_buf_before_host_write(qn_buf *root, qn_device *device, qn_stream on, qn_err *err);

/* Queued transfers. Both ends must have memory; validity is the caller's business
 * (qn_buf_note_*). The stream waits for what must come before. */
qn_status qn_buf_upload(qn_buf *root, qn_device *device, qn_stream on, const char *stage,
                        qn_err *err);
qn_status qn_buf_download(qn_buf *root, qn_device *device, void *to, qn_stream on,
                          const char *stage, qn_err *err);
qn_status qn_buf_peer(qn_buf *root, qn_device *from, qn_device *to, qn_stream on, qn_err *err);

/* Update the state of the buffer after a submission. */
void qn_buf_note_arrival(qn_buf *root, qn_device *device, int source, qn_point at);
void qn_buf_note_download(qn_buf *root, qn_device *device, qn_point at);
void qn_buf_note_read(qn_buf *root, qn_device *device, qn_point at);
void qn_buf_note_write(qn_buf *root, qn_device *device, qn_point at);
void qn_buf_note_host_write(qn_buf *root);

/* Waits until the host copy may be read (a download has arrived). */
qn_status qn_buf_await_host(qn_buf *root, qn_err *err);

/* Waits until the host copy may be overwritten: uploads from it have left, and downloads to it
 * have arrived or failed. A device that is lost reads nothing any more. */
qn_status qn_buf_await_host_write(qn_buf *root, qn_err *err);

/* Makes the host copy valid, by a download when needed. When the device failed after the run
 * that wrote the content was submitted, that run is recovered first. */
qn_status qn_buf_fetch(qn_buf *root, qn_err *err);

/* After `st` met in reading the buffer: recovers the run that wrote it, when that can help.
 * QN_OK: try again. */
qn_status qn_buf_recover(qn_buf *root, qn_status st, qn_err *err);

/* The slot of a device with a valid copy, -1 when there is none. */
int qn_buf_find_valid(const qn_buf *root);

/* Takes the device's block away; the content must be valid elsewhere or not matter. */
void qn_buf_drop_copy(qn_buf *root, qn_device *device);

typedef enum { QN_TRANSFER_H2D, QN_TRANSFER_D2H, QN_TRANSFER_D2D } qn_transfer_kind;

/* Counts one transfer in the buffer, the context and the metrics. */
void qn_count_transfer(qn_buf *root, qn_device *device, qn_transfer_kind kind, size_t bytes);
void qn_count_elided(qn_buf *root);

/* An injected copy fault ("copy_h2d", "copy_d2h"); `name` is a stage or buffer. */
qn_status qn_fault_copy(qn_ctx *ctx, const char *where, const char *name, size_t bytes,
                        qn_err *err);

/* Evict.c. */

/* qn_pool_acquire with the first three rungs of the out-of-memory ladder: idle blocks, clean
 * copies, dirty copies (spilled to the host). Memory for buffer `name`, wanted by `stage`. */
qn_status qn_evict_acquire(qn_device *device, size_t bytes, const char *stage, const char *name,
                           qn_block **out, qn_err *err);

/* Only the first of these rungs. */
qn_status qn_evict_try(qn_device *device, size_t bytes, const char *name, qn_block **out,
                       qn_err *err);

/* Frees something on the device: idle blocks, else one clean copy, else one dirty one. 0 when
 * nothing may go. */
int qn_evict_some(qn_device *device);

/* Host memory of `bytes`; over QUERN_HOST_BUDGET the least used host copies go to files. */
qn_status qn_evict_acquire_host(qn_ctx *ctx, size_t bytes, qn_block **out, qn_err *err);

/* Reads a host copy back that was spilled to a file; or forgets the file. */
qn_status qn_evict_unspill(qn_buf *root, qn_err *err);
void qn_evict_forget(qn_buf *root);

#endif
