/* digest.h - hashes, copies and pictures of resident arrays, as stages. */
#ifndef QN_LES_DIGEST_H
#define QN_LES_DIGEST_H

#include "domain/les/options/options.h"

#include <quern/graph.h>

/* Adds the FNV-1a hash of [from, from + bytes) of `buf`, all multiples of 4, as number `slot` of
 * `out`, an array of uint64_t: the hash of the hashes of blocks of 4096 bytes. It takes two stages,
 * *first and *first + 1. */
qn_status qn_les_add_digest(qn_graph *graph, const char *name, qn_buf *buf, size_t from,
                            size_t bytes, qn_buf *out, qn_i64 slot, int *first, qn_err *err);

/* Changes the place it reads from and the slot of the hash. */
qn_status qn_les_move_digest(qn_graph *graph, int first, size_t from, qn_i64 slot, qn_err *err);

/* Adds a copy of the first `bytes` bytes of `field` to byte `to` of `store`, multiples of 4, as
 * stage *stage. */
qn_status qn_les_add_copy(qn_graph *graph, const char *name, qn_buf *field, size_t bytes,
                          qn_buf *store, size_t to, int *stage, qn_err *err);
qn_status qn_les_move_copy(qn_graph *graph, int stage, size_t to, qn_err *err);

/* Pixels of a frame of `panels` panels, 1 or 3: flow, decoded field, decoded minus flow; and of the
 * bar of colours on their right, which ends the rows. */
typedef struct qn_les_frame_size {
    int width, height;
    size_t bytes; /* red, green, blue per pixel, no gaps */
} qn_les_frame_size;

qn_les_frame_size qn_les_frame_size_of(const qn_les_options *config, int panels);

/* Adds the picture of member 0 of `flow` and `decoded` (the flow itself with one panel), with the
 * colours from `low` to `high`; those of the difference have 0 in their middle. */
qn_status qn_les_add_frame(qn_graph *graph, const qn_les_options *config, int panels, double low,
                           double high, qn_buf *flow, qn_buf *decoded, qn_buf *rgb, qn_err *err);

#endif
