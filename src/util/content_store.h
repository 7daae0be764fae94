/* content_store.h - many small arrays that stay in one buffer of a device, found by content.
 *
 * The store is the host's side: what lies where in the buffer, with a copy of the bytes. Content is
 * found by a hash and then compared in full, so that equal arrays are resident once. The caller
 * takes what a batch needs, uploads the ranges that are new, runs the batch, and releases it.
 * Arrays that no batch holds may be evicted, least recently used first.
 *
 * Calls come from one thread at a time. Batches are uploaded in the order in which they were
 * filled, because a later one relies on the uploads of an earlier one.
 */
#ifndef QN_UTIL_CONTENT_STORE_H
#define QN_UTIL_CONTENT_STORE_H

#include "util/status.h"

enum { QN_CONTENT_ALIGN = 16 };

typedef struct qn_content_store qn_content_store;

/* An array with a handle of 64 bits that points to it. In the store the handle points to the
 * array's place there: `move` of the store says what that means. */
typedef struct qn_content {
    uint64_t handle;
    const unsigned char *bytes;
    size_t n;
    int has_handles; /* there are handles in the bytes too, for `move` to change */
} qn_content;

/* Adds `by` to the handle and to all handles in the bytes. */
typedef qn_status qn_content_move(uint64_t *handle, unsigned char *bytes, size_t n, uint32_t by,
                                  qn_err *err);

typedef struct qn_content_options {
    size_t budget_bytes;
    qn_content_move *move; /* NULL: adds to the handle itself */
    uint32_t base;         /* is added to the handle besides the place */
} qn_content_options;

typedef enum qn_content_taken {
    QN_CONTENT_RESIDENT, /* stays in its place until the hold is released */
    QN_CONTENT_FULL,     /* current holds need the whole budget: make the batch smaller */
    QN_CONTENT_TOO_LARGE /* larger than the budget */
} qn_content_taken;

typedef struct qn_content_range {
    size_t at, bytes;
} qn_content_range;

/* What one batch holds. Zero-initialised is empty. */
typedef struct qn_content_hold {
    uint32_t *held; /* entries, one for every take; marked when it is new */
    size_t n_held, held_room;
    qn_content_range *uploads; /* what is new */
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
 * Content of no bytes is always resident. After a failure nothing has changed, except that other
 * content may have been evicted. */
qn_status qn_content_take(qn_content_store *store, qn_content_hold *hold, const qn_content *content,
                          uint64_t *handle, qn_content_taken *taken, qn_err *err);

/* Names content that was taken; zeroed: none. */
typedef struct qn_content_ticket {
    uint64_t stamp;
    uint32_t entry;
} qn_content_ticket;

qn_content_ticket qn_content_last(const qn_content_store *store); /* of the last successful take */

/* Takes the content of the ticket again unless it has been evicted; its place and handle are as
 * they were. Nothing is hashed or compared. Returns 0, having changed nothing, when it is gone. */
int qn_content_retake(qn_content_store *store, qn_content_hold *hold, qn_content_ticket ticket);

/* The ranges that must be written before the batch runs, by address. Ranges less than `gap` bytes
 * apart become one: the device already has the bytes between them. */
size_t qn_content_uploads(qn_content_hold *hold, size_t gap, const qn_content_range **ranges);

/* Ends the hold and frees its memory. Abandon it when its upload failed: what was new in it is
 * forgotten. A hold that was filled later may rely on that content and must be abandoned too. */
void qn_content_release(qn_content_store *store, qn_content_hold *hold);
void qn_content_abandon(qn_content_store *store, qn_content_hold *hold);

void qn_content_clear(qn_content_store *store); /* evicts everything that is not held */

/* Lowers the budget. Content beyond it is evicted, and then the least recently used until half of
 * the budget is free. Does nothing while a batch holds anything. */
void qn_content_shrink(qn_content_store *store, size_t budget_bytes);
size_t qn_content_budget(const qn_content_store *store);

const unsigned char *qn_content_bytes(const qn_content_store *store); /* until the next take */
size_t qn_content_extent(const qn_content_store *store);              /* end of the bytes in use */
qn_content_stats qn_content_get_stats(const qn_content_store *store);

#endif
