/* map.h - strings to pointers, walked in the order of insertion.
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

/* Zero-initialised is empty. */
typedef struct qn_map {
    qn_map_entry *entries; /* in order of insertion, with holes where one was removed */
    uint32_t *slots;       /* entry index + 1; 0: free */
    size_t n_used;         /* entries, holes included */
    size_t n_slots;        /* a power of two, at least twice the room in `entries` */
    size_t count;          /* keys present */
} qn_map;

/* Adds `key` or replaces its value, keeping its place in the order. Fails for lack of memory
 * or beyond 2^30 keys, then the map is as before. */
qn_status qn_map_put(qn_map *map, const char *key, void *value);
void *qn_map_get(const qn_map *map, const char *key); /* NULL when absent */
int qn_map_has(const qn_map *map,
               const char *key); /* distinguishes an absent key from a NULL value */
void *qn_map_remove(qn_map *map, const char *key); /* the value it had, or NULL */
void qn_map_free(qn_map *map);

/* Starts with *at = 0 and returns NULL at the end. Removing the current key is allowed,
 * putting a new one is not. */
const qn_map_entry *qn_map_next(const qn_map *map, size_t *at);

#endif
