/* residency.h - the inside of a buffer: copies, versions, points. Private to engine/.
 *
 * A buffer has a version; a copy is valid if it has the same version. Writing increases the version
 * of the buffer and of one copy, which makes all other copies stale without any flags.
 */
#ifndef QN_ENGINE_RESIDENCY_H
#define QN_ENGINE_RESIDENCY_H

#include "engine/device/context.h"

/* The part of a graph that buffers use. First member of a graph. */
typedef struct qn_runs {
    int is_running;     /* between the start of a run and its last submission */
    unsigned in_flight; /* devices with work of the last run, one bit per slot */
    /* Waits for the last run; if it failed, it is repeated. */
    qn_status (*wait)(struct qn_runs *runs, qn_err *err);
    /* Frees the memory of its temporaries on a device. */
    void (*release)(struct qn_runs *runs, int slot);
} qn_runs;

/* The copy on one device. */
typedef struct qn_copy {
    qn_block *block;
    uint64_t version;
    qn_point written; /* readable after */
    qn_points used;   /* may be overwritten after these: the writer, readers on all streams */
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

    qn_buf *parent; /* not NULL: a view; the members below are those of the root */
    size_t offset;

    uint64_t version;
    void *host; /* NULL until it is needed */
    uint64_t host_version;
    qn_block *host_block; /* NULL for wrapped or spilled memory */
    uint64_t host_tick;   /* LRU */
    int host_pins;        /* > 0: never spilled */
    uint64_t lent;        /* version whose address the caller has: the block must not move */
    int wrapped;
    int host_device; /* slot whose download fills the host copy, -1 when none is in flight */
    qn_point host_point;
    int spill_file; /* open file that holds the content while it is evicted from the host, -1 */
    int is_temp;

    qn_runs *owner;   /* of a temporary */
    qn_runs *writer;  /* whose run wrote the current version on a device; NULL: no run */
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

/* Bit d: the copy on device d is valid; bit 0 is the host. A lost device has none. */
unsigned qn_buf_valid_mask(const qn_buf *root);

/* Allocates host memory for the copy (zeroed if the buffer was never written) without fetching the
 * content. */
qn_status qn_buf_need_host(qn_buf *root, qn_err *err);

/* Allocates a block on the device for `stage`, without fetching the content. Uses the rungs of
 * evict.c; other buffers are evicted only if `may_evict`. */
qn_status qn_buf_need_block(qn_buf *root, qn_device *device, const char *stage, int may_evict,
                            qn_err *err);

/* Let later work on stream `on` read or overwrite the copy of the device, or of the host. The
 * stream waits for work of its own device; for other devices the host waits. */
qn_status qn_buf_before_read(qn_buf *root, qn_device *device, qn_stream on, qn_err *err);
qn_status qn_buf_before_write(qn_buf *root, qn_device *device, qn_stream on, qn_err *err);
qn_status qn_buf_before_host_read(qn_buf *root, qn_device *device, qn_stream on, qn_err *err);
qn_status qn_buf_before_host_write(qn_buf *root, qn_device *device, qn_stream on, qn_err *err);

/* Queued transfers. Both ends must have memory; validity is updated by the caller (qn_buf_note_*).
 * The stream waits for earlier work. */
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

/* Waits until the host copy may be overwritten: uploads from it have ended, and downloads to it
 * have arrived or failed. A lost device is not waited for. */
qn_status qn_buf_await_host_write(qn_buf *root, qn_err *err);

/* Makes the host copy valid, by a download if needed. If the device failed after the run that wrote
 * the content was submitted, that run is recovered first. */
qn_status qn_buf_fetch(qn_buf *root, qn_err *err);

/* Call if reading the buffer failed with `st`: recovers the run that wrote it, if that can help.
 * QN_OK: try again. */
qn_status qn_buf_recover(qn_buf *root, qn_status st, qn_err *err);

/* The slot of a device with a valid copy, or -1. */
int qn_buf_find_valid(const qn_buf *root);

/* Frees the device's block; the content must be valid elsewhere, or not matter. */
void qn_buf_drop_copy(qn_buf *root, qn_device *device);

typedef enum { QN_TRANSFER_H2D, QN_TRANSFER_D2H, QN_TRANSFER_D2D } qn_transfer_kind;

/* Counts one transfer in the buffer, the context and the metrics. */
void qn_count_transfer(qn_buf *root, qn_device *device, qn_transfer_kind kind, size_t bytes);

/* An injected copy fault ("copy_h2d", "copy_d2h"); `name` is a stage or buffer. */
qn_status qn_fault_copy(qn_ctx *ctx, const char *where, const char *name, size_t bytes,
                        qn_err *err);

/* evict.c. */

/* qn_pool_acquire with the first three rungs of the out-of-memory ladder: idle blocks, clean
 * copies, dirty copies (spilled to the host). Memory for buffer `name`, needed by `stage`. Without
 * `may_evict`, only the first of these rungs. */
qn_status qn_evict_acquire(qn_device *device, size_t bytes, const char *stage, const char *name,
                           int may_evict, qn_block **out, qn_err *err);

/* Frees something on the device: idle blocks, else one clean copy, else one dirty one. Returns 0 if
 * nothing can be freed. */
int qn_evict_some(qn_device *device);

/* Acquires host memory; above QUERN_HOST_BUDGET the least recently used host copies are written to
 * files. */
qn_status qn_evict_acquire_host(qn_ctx *ctx, size_t bytes, qn_block **out, qn_err *err);

/* Reads back a host copy that was spilled to a file; or drops the file. */
qn_status qn_evict_unspill(qn_buf *root, qn_err *err);
void qn_evict_forget(qn_buf *root);

/* hold.c: how large a tile may be; computed from numbers only. */

/* `budget_bytes` matters only for devices with their own memory. */
qn_tile_limits qn_tile_limits_of(const qn_device_info *info, uint64_t budget_bytes);

/* ledger.c: the history of every buffer of a context, by name, for the map of a whole run.
 *
 * Freeing a buffer frees its counters, so a context with a ledger records them first. Without a
 * ledger, the default, this costs nothing. */

/* All buffers with one name, including freed ones. */
typedef struct qn_ledger_row {
    uint64_t n_made;
    size_t bytes;               /* of the largest */
    size_t live_bytes, at_once; /* now; largest so far */
    char first[64], last[64];   /* first and last stage that use it, "": none */
    int is_temp, is_output;     /* of some graph */
    unsigned visited;           /* devices that ever held one, one bit per slot */
    qn_transfer_count count;    /* counts of freed buffers */
} qn_ledger_row;

struct qn_ledger {
    qn_map rows; /* name -> qn_ledger_row, in the order of first use */
    size_t live_bytes, at_once;
    int failed; /* memory ran out: the ledger is incomplete */
};

/* Called by the engine; without a ledger these do nothing. */
void qn_ledger_made(const qn_buf *root);
void qn_ledger_gone(const qn_buf *root);
/* Records that a graph uses it from stage `first` to stage `last`. */
void qn_ledger_used(const qn_buf *root, const char *first, const char *last, int is_output);

/* The row, including the counts of buffers that still exist. */
qn_ledger_row qn_ledger_get(const qn_ctx *ctx, const qn_map_entry *entry);

#endif
