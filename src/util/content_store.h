/* content_store.h - many small arrays that stay in one device buffer, found by content.
 *
 * The store on the host knows the place of each array in the buffer and has a copy of the bytes.
 * Content is found by hash and then compared in full, so equal arrays are stored once. The caller
 * takes the arrays that a batch needs, uploads new ranges, runs the batch, and releases the hold.
 * Arrays without holds may be evicted, least recently used first.
 *
 * Calls come from one thread at a time. Upload batches in the order in which they were filled,
 * because a later batch relies on the uploads of earlier ones.
 */
#ifndef QN_UTIL_CONTENT_STORE_H
#define QN_UTIL_CONTENT_STORE_H

#include "util/status.h"

enum { QN_CONTENT_ALIGN = 16 };

typedef struct qn_content_store qn_content_store;

/* An array with a 64-bit handle that points to it. `move` of the store changes the handle so that
 * it points to the array's place in the store. */
typedef struct qn_content {
    uint64_t handle;
    const unsigned char *bytes;
    size_t n;
    int has_handles; /* the bytes contain handles too, which `move` changes */
} qn_content;

/* Adds `by` to the handle and to all handles in the bytes. */
typedef qn_status qn_content_move(uint64_t *handle, unsigned char *bytes, size_t n, uint32_t by,
                                  qn_err *err);

typedef struct qn_content_options {
    size_t budget_bytes;
    qn_content_move *move; /* NULL: adds to the handle itself */
    uint32_t base;         /* added to the handle together with the place */
} qn_content_options;

typedef enum qn_content_taken {
    QN_CONTENT_RESIDENT, /* at a fixed place until the hold is released */
    QN_CONTENT_FULL,     /* the budget is full of held content: use a smaller batch */
    QN_CONTENT_TOO_LARGE /* larger than the budget */
} qn_content_taken;

typedef struct qn_content_range {
    size_t at, bytes;
} qn_content_range;

/* The content held by one batch. Zero-initialised: empty. */
typedef struct qn_content_hold {
    uint32_t *held; /* one entry per take, marked if new */
    size_t n_held, held_room;
    qn_content_range *uploads; /* new ranges */
    size_t n_uploads, uploads_room;
} qn_content_hold;

typedef struct qn_content_stats {
    uint64_t hits, misses, evictions;
    size_t bytes; /* resident now */
    size_t n_entries;
} qn_content_stats;

qn_status qn_content_open(const qn_content_options *options, qn_content_store **out, qn_err *err);
void qn_content_close(qn_content_store *store); /* after all holds; NULL is fine */

/* Makes the content resident for the hold. On QN_CONTENT_RESIDENT *handle points into the store.
 * Empty content is always resident. After a failure nothing has changed, except that other content
 * may have been evicted. */
qn_status qn_content_take(qn_content_store *store, qn_content_hold *hold, const qn_content *content,
                          uint64_t *handle, qn_content_taken *taken, qn_err *err);

/* Identifies content that was taken; all zero: none. */
typedef struct qn_content_ticket {
    uint64_t stamp;
    uint32_t entry;
} qn_content_ticket;

qn_content_ticket qn_content_last(const qn_content_store *store); /* of the last successful take */

/* Takes the content of the ticket again unless it has been evicted; its place and handle are
 * unchanged. Nothing is hashed or compared. Returns 0 and changes nothing if it was evicted. */
int qn_content_retake(qn_content_store *store, qn_content_hold *hold, qn_content_ticket ticket);

/* The ranges to upload before the batch runs, by address. Ranges less than `gap` bytes apart are
 * merged, which is harmless because the device already has the bytes between them. */
size_t qn_content_uploads(qn_content_hold *hold, size_t gap, const qn_content_range **ranges);

/* Ends the hold and frees its memory. If its upload failed, abandon it instead: its new content is
 * then forgotten. Holds filled later may rely on that content and must be abandoned too. */
void qn_content_release(qn_content_store *store, qn_content_hold *hold);
void qn_content_abandon(qn_content_store *store, qn_content_hold *hold);

void qn_content_clear(qn_content_store *store); /* evicts everything without holds */

/* Lowers the budget. Evicts content beyond it, then the least recently used until half of the
 * budget is free. Does nothing while a batch holds anything. */
void qn_content_shrink(qn_content_store *store, size_t budget_bytes);
size_t qn_content_budget(const qn_content_store *store);

const unsigned char *qn_content_bytes(const qn_content_store *store); /* until the next take */
size_t qn_content_extent(const qn_content_store *store);              /* end of the bytes in use */
qn_content_stats qn_content_get_stats(const qn_content_store *store);

#endif
