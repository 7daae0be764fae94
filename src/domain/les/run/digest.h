/* digest.h - hashes and copies of resident arrays, as stages. */
#ifndef QN_LES_DIGEST_H
#define QN_LES_DIGEST_H

#include <quern/graph.h>

/* Adds the FNV-1a hash of [from, from + bytes) of `buf`, all multiples of 4, as number `slot` of
 * `out`, an array of uint64_t: of blocks of 4096 bytes, then of their hashes in order. The numbers
 * of the two stages (whose values change with from and slot) are *first and *first + 1. */
qn_status qn_les_add_digest(qn_graph *graph, const char *name, qn_buf *buf, size_t from,
                            size_t bytes, qn_buf *out, qn_i64 slot, int *first, qn_err *err);

/* Changes where it reads and where the hash goes. */
qn_status qn_les_move_digest(qn_graph *graph, int first, size_t from, qn_i64 slot, qn_err *err);

/* The same number, of memory. */
uint64_t qn_les_digest(const void *data, size_t bytes);

/* Adds a copy of the first `bytes` bytes of `field` to byte `to` of `store`, multiples of 4, and
 * says which stage that is. */
qn_status qn_les_add_keep(qn_graph *graph, const char *name, qn_buf *field, size_t bytes,
                          qn_buf *store, size_t to, int *stage, qn_err *err);
qn_status qn_les_move_keep(qn_graph *graph, int stage, size_t to, qn_err *err);

#endif
