/* map.h - maps strings to pointers, in the order of insertion.
 *
 * Keys are copied; values belong to the caller and are never freed here.
 */
#ifndef QN_UTIL_MAP_H
#define QN_UTIL_MAP_H

#include <quern/quern.h>

typedef struct qn_map_entry {
    char *key; /* NULL: removed */
    void *value;
    uint64_t hash;
} qn_map_entry;

/* Zero-initialised: empty. */
typedef struct qn_map {
    qn_map_entry *entries; /* in order of insertion, with holes for removed ones */
    uint32_t *slots;       /* entry index + 1; 0: free */
    size_t n_used;         /* entries, including holes */
    size_t n_slots;        /* a power of two, at least twice the capacity of `entries` */
    size_t count;          /* keys present */
} qn_map;

/* Adds `key`, or replaces its value without changing the order. Fails if out of memory or beyond
 * 2^30 keys and then leaves the map unchanged. */
qn_status qn_map_put(qn_map *map, const char *key, void *value);
void *qn_map_get(const qn_map *map, const char *key); /* NULL if absent */
int qn_map_has(const qn_map *map,
               const char *key); /* distinguishes an absent key from a NULL value */
void *qn_map_remove(qn_map *map, const char *key); /* the value it had, or NULL */
void qn_map_free(qn_map *map);

/* Iterates: start with *at = 0; returns NULL at the end. The current key may be removed meanwhile,
 * but no key added. */
const qn_map_entry *qn_map_next(const qn_map *map, size_t *at);

#endif
