/* content_impl.h - the inside of a content store.
 *
 * store.c takes, holds and evicts; index.c finds entries, ranges.c finds room, and copy.c brings
 * the store to devices.
 */
#ifndef QN_ENGINE_CONTENT_IMPL_H
#define QN_ENGINE_CONTENT_IMPL_H

#include "engine/engine.h"

#define QN_NO_CONTENT UINT32_MAX

typedef struct qn_content_range {
    size_t at, bytes;
} qn_content_range;

/* Free ranges, by address; neighbours are joined. A range is taken at the lowest address that has
 * room, which keeps the used part short. */
typedef struct qn_content_ranges {
    qn_content_range *free;
    size_t n, room;
    size_t limit;
    size_t n_taken, taken_bytes;
} qn_content_ranges;

qn_status qn_content_ranges_init(qn_content_ranges *ranges, size_t limit, qn_err *err);
void qn_content_ranges_free(qn_content_ranges *ranges);

/* Makes sure that the next take, and every give after it, needs no memory. */
qn_status qn_content_ranges_reserve(qn_content_ranges *ranges, qn_err *err);

/* Takes `bytes`, a multiple of QN_CONTENT_ALIGN; 0 when no free range has room. */
int qn_content_ranges_take(qn_content_ranges *ranges, size_t bytes, size_t *at);
void qn_content_ranges_give(qn_content_ranges *ranges, size_t at, size_t bytes);

/* Lowers the limit, beyond which nothing is taken any more. */
void qn_content_ranges_shrink(qn_content_ranges *ranges, size_t limit);

/* The end of the last range taken. */
size_t qn_content_ranges_extent(const qn_content_ranges *ranges);

/* Entries stand in two orders: of their last use, and of their coming. */
typedef enum qn_content_order { QN_BY_USE, QN_BY_AGE, QN_N_ORDERS } qn_content_order;

typedef struct qn_content_link {
    uint32_t older, newer;
} qn_content_link;

typedef struct qn_content_entry {
    uint64_t hash, handle; /* the handle points into the store */
    size_t at, bytes;      /* its range */
    size_t n;              /* bytes of content in it */
    uint64_t stamp;        /* unique, and greater for later content; 0: the entry is unused */
    uint32_t holds;        /* how many takes hold it */
    uint32_t next;         /* with the same bucket; among unused entries: the next unused */
    qn_content_link links[QN_N_ORDERS];
} qn_content_entry;

/* Entries by number: found by hash. */
typedef struct qn_content_index {
    qn_content_entry *items;
    uint32_t *buckets; /* first entry of each */
    size_t n_items, room, n_buckets, n_used;
    uint32_t unused;
    qn_content_link ends[QN_N_ORDERS]; /* the oldest and the newest entry */
} qn_content_index;

void qn_content_index_init(qn_content_index *index);
void qn_content_index_free(qn_content_index *index);

/* Makes sure that the next add needs no memory. */
qn_status qn_content_index_reserve(qn_content_index *index, qn_err *err);
uint32_t qn_content_index_add(qn_content_index *index, const qn_content_entry *entry); /* newest */
void qn_content_index_remove(qn_content_index *index, uint32_t i);
void qn_content_index_touch(qn_content_index *index, uint32_t i); /* was used last */

/* The first entry that may have this hash; its `next` leads to the others. */
uint32_t qn_content_index_first(const qn_content_index *index, uint64_t hash);

/* The copy on a device. */
typedef struct qn_content_copy {
    int is_good;
    uint64_t stamp; /* of the newest content in it */
    qn_buf *pool, *fresh;
    qn_graph *load; /* puts what is in `fresh` into its places */
    int fresh_room; /* pieces */
    qn_metric *uploads, *upload_bytes;
} qn_content_copy;

struct qn_content_store {
    qn_ctx *ctx;
    char name[32], what[64];
    qn_content_index index;
    qn_content_ranges ranges;
    unsigned char *bytes; /* as devices have them, up to `room` */
    unsigned char *scratch;
    size_t room, scratch_room;
    size_t budget, held_bytes;
    uint32_t base;
    uint64_t stamps, holds; /* handed out */
    qn_content_move *move;
    qn_content_copy copies[QN_MAX_DEVICES];
    qn_content_range *missing; /* what a copy lacks */
    size_t missing_room;
    qn_content_stats stats, counted; /* now, and as the metrics have them */
    qn_metric *hits, *misses, *evictions, *peak;
};

/* What came after `stamp`, by address. Ranges at most `gap` bytes apart become one: who has all
 * that is older has the bytes between them. *out is valid until the next call. */
qn_status qn_content_since(qn_content_store *store, uint64_t stamp, size_t gap,
                           const qn_content_range **out, size_t *n, qn_err *err);

/* Lowers the budget, as qn_content_halve does; 0: it is not lower, or something is held. */
int qn_content_shrink(qn_content_store *store, size_t budget_bytes);

void qn_content_free_copies(qn_content_store *store);

#endif
