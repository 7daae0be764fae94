/* map.c - open addressing over a dense array of entries.
 *
 * The slots hold indices into the entries, so the map keeps the order of insertion at no cost and
 * iteration reads memory in sequence. A removed key leaves its slot and a hole until the map is
 * rebuilt.
 */
#include "util/map.h"
#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 16 };

static const size_t most_slots = (size_t)1 << 31;

/* The slot of `key`, or the free slot where it would go. Half of the slots are always free, so the
 * loop ends. */
static size_t find_slot(const qn_map *map, const char *key, uint64_t hash)
{
    size_t at = (size_t)hash & (map->n_slots - 1);

    while (map->slots[at]) {
        const qn_map_entry *entry = &map->entries[map->slots[at] - 1];
        if (entry->key && entry->hash == hash && !strcmp(entry->key, key))
            break;
        at = (at + 1) & (map->n_slots - 1);
    }
    return at;
}

/* Copies the entries without holes into arrays at least twice as large as needed. */
static qn_status rebuild(qn_map *map)
{
    size_t n_slots = FIRST_SLOTS;

    while (n_slots / 4 < map->count + 1)
        n_slots *= 2;
    if (n_slots > most_slots)
        return QN_ERR_LIMIT;

    qn_map_entry *entries = malloc(n_slots / 2 * sizeof *entries);
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!entries || !slots) {
        free(entries);
        free(slots);
        return QN_ERR_NOMEM;
    }

    size_t n = 0;
    for (size_t i = 0; i < map->n_used; i++) {
        if (map->entries[i].key)
            entries[n++] = map->entries[i];
    }
    free(map->entries);
    free(map->slots);
    *map = (qn_map){ entries, slots, n, n_slots, n };
    for (size_t i = 0; i < n; i++)
        slots[find_slot(map, entries[i].key, entries[i].hash)] = (uint32_t)(i + 1);
    return QN_OK;
}

static qn_map_entry *find(const qn_map *map, const char *key)
{
    if (!map->count)
        return NULL;
    const uint32_t slot = map->slots[find_slot(map, key, qn_fnv1a64(key, strlen(key)))];
    return slot ? &map->entries[slot - 1] : NULL;
}

qn_status qn_map_put(qn_map *map, const char *key, void *value)
{
    qn_map_entry *known = find(map, key);
    qn_status st;

    if (known) {
        known->value = value;
        return QN_OK;
    }
    if (map->n_used == map->n_slots / 2 && (st = rebuild(map)) != QN_OK)
        return st;

    char *copy = strdup(key);
    if (!copy)
        return QN_ERR_NOMEM;
    const uint64_t hash = qn_fnv1a64(key, strlen(key));
    const size_t at = find_slot(map, key, hash);
    map->entries[map->n_used++] = (qn_map_entry){ copy, value, hash };
    map->slots[at] = (uint32_t)map->n_used;
    map->count++;
    return QN_OK;
}

void *qn_map_get(const qn_map *map, const char *key)
{
    const qn_map_entry *entry = find(map, key);

    return entry ? entry->value : NULL;
}

int qn_map_has(const qn_map *map, const char *key)
{
    return find(map, key) != NULL;
}

/* The slot keeps pointing at the hole, so that probe chains through it stay intact. */
void *qn_map_remove(qn_map *map, const char *key)
{
    qn_map_entry *entry = find(map, key);

    if (!entry)
        return NULL;
    void *value = entry->value;
    free(entry->key);
    *entry = (qn_map_entry){ 0 };
    map->count--;
    return value;
}

const qn_map_entry *qn_map_next(const qn_map *map, size_t *at)
{
    while (*at < map->n_used) {
        const qn_map_entry *entry = &map->entries[(*at)++];
        if (entry->key)
            return entry;
    }
    return NULL;
}

void qn_map_free(qn_map *map)
{
    for (size_t i = 0; i < map->n_used; i++)
        free(map->entries[i].key);
    free(map->entries);
    free(map->slots);
    *map = (qn_map){ 0 };
}
