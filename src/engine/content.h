/* content.h - many small arrays that stay on devices, found by their content. Part of engine.h.
 *
 * A store lays arrays out in one buffer and keeps their bytes on the host. Content is found by a
 * hash and then compared in full, so that equal arrays are there once. Each device that asks for
 * the buffer gets a copy, and from then on only what its copy lacks is uploaded.
 *
 * A batch takes what it needs, updates the copies it runs on, and releases its hold afterwards.
 * Arrays that no batch holds may be evicted, least recently used first. Calls come from one thread
 * at a time.
 */
#ifndef QN_ENGINE_CONTENT_H
#define QN_ENGINE_CONTENT_H

#include <quern/graph.h>

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
    const char *name; /* of buffers, stages and series: "arc" */
    const char *what; /* it holds, for messages: "programs and grids" */
    size_t budget_bytes;
    qn_content_move *move; /* NULL: adds to the handle itself */
    uint32_t base;         /* is added to the handle besides the place */
} qn_content_options;

/* Without a context the store is for the host alone: nothing is counted, and there are no copies. */
qn_status qn_content_open(qn_ctx *ctx, const qn_content_options *options, qn_content_store **out,
                          qn_err *err);
void qn_content_close(qn_content_store *store); /* after all holds; NULL is fine */

/* What a batch needs. */

/* Zero-initialised is empty. */
typedef struct qn_content_hold {
    uint64_t id;    /* 0: nothing was taken yet */
    uint32_t *held; /* entries, one for every take */
    size_t n_held, held_room;
} qn_content_hold;

/* Remembers content that was taken, for the next time; zeroed: none. */
typedef struct qn_content_ticket {
    uint64_t stamp, hold; /* of the content, and of the last hold that took it */
    uint32_t entry;
} qn_content_ticket;

typedef enum qn_content_taken {
    QN_CONTENT_RESIDENT, /* stays in its place until the hold is released */
    QN_CONTENT_FULL,     /* current holds need the whole budget: make the batch smaller */
    QN_CONTENT_TOO_LARGE /* larger than the budget */
} qn_content_taken;

/* Takes the content for the hold. On QN_CONTENT_RESIDENT *handle points into the store, and the
 * ticket (NULL is fine) is good. Content of no bytes is always resident. After a failure nothing
 * has changed, except that other content may have been evicted. */
qn_status qn_content_take(qn_content_store *store, qn_content_hold *hold, const qn_content *content,
                          qn_content_ticket *ticket, uint64_t *handle, qn_content_taken *taken,
                          qn_err *err);

/* Whether the hold has taken the content of the ticket. */
static inline int qn_content_is_held(const qn_content_hold *hold, const qn_content_ticket *ticket)
{
    return hold->id && ticket->hold == hold->id;
}

/* Takes the content of the ticket again unless the hold has it; its place and handle are as they
 * were. Nothing is hashed or compared. 0, and nothing has changed: it is gone, or in another
 * store. */
int qn_content_retake(qn_content_store *store, qn_content_hold *hold, qn_content_ticket *ticket);

/* Ends the hold and frees its memory. */
void qn_content_release(qn_content_store *store, qn_content_hold *hold);

void qn_content_clear(qn_content_store *store); /* evicts everything that is not held */

/* On a device. */

/* The buffer of the device's copy. NULL: there is none, or it is too small and the next update
 * makes another one; graphs that use it are to be freed before. */
qn_buf *qn_content_buffer(const qn_content_store *store, int device);

/* Uploads what the device's copy lacks; *out is its buffer. Nothing that uses it is running.
 * QN_ERR_NOMEM: the device has no memory for a larger buffer, and its copy is gone. */
qn_status qn_content_update(qn_content_store *store, int device, qn_buf **out, qn_err *err);

/* The device's copy cannot be trusted: the next update uploads everything. */
void qn_content_distrust(qn_content_store *store, int device);

/* Halves the budget until half of what is in use remains, for a device without memory for more, and
 * says so in the log. Content beyond it is evicted, and then the least recently used until half of
 * the budget is free. 0: it cannot be smaller, or something is held. */
int qn_content_halve(qn_content_store *store, int device);

/* Reading. */

typedef struct qn_content_stats {
    uint64_t hits, misses, evictions;
    size_t bytes; /* resident now */
    size_t n_entries;
} qn_content_stats;

size_t qn_content_budget(const qn_content_store *store);
const unsigned char *qn_content_bytes(const qn_content_store *store); /* until the next take */
size_t qn_content_extent(const qn_content_store *store);              /* end of the bytes in use */
qn_content_stats qn_content_get_stats(const qn_content_store *store);

#endif
