/* content_parts.h - the parts of a content store: free ranges, and entries with their index. */
#ifndef QN_UTIL_CONTENT_PARTS_H
#define QN_UTIL_CONTENT_PARTS_H

#include "util/content_store.h"

#define QN_NO_CONTENT UINT32_MAX

/* Free ranges by address; adjacent ones are joined. Allocation takes the lowest address with enough
 * space, which keeps the used part short. */
typedef struct qn_content_ranges {
    qn_content_range *free;
    size_t n, room;
    size_t limit;
    size_t n_taken, taken_bytes;
} qn_content_ranges;

qn_status qn_content_ranges_init(qn_content_ranges *ranges, size_t limit, qn_err *err);
void qn_content_ranges_free(qn_content_ranges *ranges);

/* Makes sure that the next take, and every give after it, does not allocate. */
qn_status qn_content_ranges_reserve(qn_content_ranges *ranges, qn_err *err);

/* Takes `bytes`, a multiple of QN_CONTENT_ALIGN; returns 0 if no free range is large enough. */
int qn_content_ranges_take(qn_content_ranges *ranges, size_t bytes, size_t *at);
void qn_content_ranges_give(qn_content_ranges *ranges, size_t at, size_t bytes);

/* Lowers the limit; nothing beyond it is taken afterwards. */
void qn_content_ranges_shrink(qn_content_ranges *ranges, size_t limit);

/* The end of the last range taken. */
size_t qn_content_ranges_extent(const qn_content_ranges *ranges);

typedef struct qn_content_entry {
    uint64_t hash, handle; /* the handle points into the store */
    size_t at, bytes;      /* its range */
    size_t n;              /* bytes of content in it */
    uint64_t stamp;        /* unique for each insertion; 0: the entry is unused */
    uint32_t holds;        /* number of takes that hold it */
    uint32_t is_lost;      /* its upload failed: never found, evicted when its last hold ends */
    uint32_t next;         /* next entry in the bucket; of an unused entry: the next unused one */
    uint32_t older, newer;
} qn_content_entry;

/* Entries, found by hash and listed by last use. */
typedef struct qn_content_index {
    qn_content_entry *items;
    uint32_t *buckets; /* first entry of each */
    size_t n_items, room, n_buckets, n_used;
    uint32_t unused, oldest, newest;
} qn_content_index;

void qn_content_index_init(qn_content_index *index);
void qn_content_index_free(qn_content_index *index);

/* Makes sure that the next add does not allocate. */
qn_status qn_content_index_reserve(qn_content_index *index, qn_err *err);
uint32_t qn_content_index_add(qn_content_index *index, const qn_content_entry *entry); /* newest */
void qn_content_index_remove(qn_content_index *index, uint32_t i);
void qn_content_index_touch(qn_content_index *index, uint32_t i); /* makes it the newest */

/* The first entry that may have this hash; `next` links the others. */
uint32_t qn_content_index_first(const qn_content_index *index, uint64_t hash);

#endif
