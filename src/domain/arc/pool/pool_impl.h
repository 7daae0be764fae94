/* pool_impl.h - the parts of the pool: entries with their index, and the order of last use. */
#ifndef QN_ARC_POOL_IMPL_H
#define QN_ARC_POOL_IMPL_H

#include "domain/arc/pool/pool.h"

#define QN_ARC_NO_ENTRY UINT32_MAX

typedef struct qn_arc_entry {
    uint64_t hash, slot; /* the slot points into the pool */
    size_t at, bytes;    /* its place */
    size_t n;            /* bytes of content in it */
    uint64_t stamp;      /* of its entering; 0: it is gone */
    uint32_t holds;      /* of batches */
    uint32_t is_lost;    /* its upload failed: found by nobody, evicted with its last hold */
    uint32_t next;       /* with the same bucket; among unused entries: the next unused */
    uint32_t older, newer;
} qn_arc_entry;

/* Entries by number: found by hash, listed by last use. */
typedef struct qn_arc_entries {
    qn_arc_entry *items;
    uint32_t *buckets; /* first entry of each */
    size_t n_items, room, n_buckets, n_used;
    uint32_t unused, oldest, newest;
    qn_arc_resize *resize;
} qn_arc_entries;

void qn_arc_entries_init(qn_arc_entries *entries, qn_arc_resize *resize);
void qn_arc_entries_free(qn_arc_entries *entries);

/* Makes sure that the next add needs no memory. */
qn_status qn_arc_entries_reserve(qn_arc_entries *entries, qn_err *err);
uint32_t qn_arc_entries_add(qn_arc_entries *entries, const qn_arc_entry *entry); /* as newest */
void qn_arc_entries_remove(qn_arc_entries *entries, uint32_t i);
void qn_arc_entries_touch(qn_arc_entries *entries, uint32_t i); /* makes it the newest */

/* The first entry that may have this hash; go on with its `next`. */
uint32_t qn_arc_entries_first(const qn_arc_entries *entries, uint64_t hash);

#endif
