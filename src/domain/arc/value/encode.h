/* encode.h - between trees of values and what devices read. */
#ifndef QN_ARC_ENCODE_H
#define QN_ARC_ENCODE_H

#include "domain/arc/value/value.h"

/* Bytes that slots point into. A payload is base + offset: give ARC_POOLED + place for bytes that
 * will lie at `place` in the pool. Content starts at multiples of 8. */
typedef struct qn_arc_blob {
    unsigned char *bytes;
    size_t n, room;
    uint32_t base;
} qn_arc_blob;

void qn_arc_blob_free(qn_arc_blob *blob);

/* Appends the content of `value`, in its one representation, and gives its slot. Integers beyond
 * int32 and containers beyond ARC_MOST_AUX are refused. */
qn_status qn_arc_encode(const qn_arc_value *value, qn_arc_blob *blob, uint64_t *slot, qn_err *err);

/* The tree of a slot whose payloads are offsets from `base` (ARC_POOLED included) into `bytes`.
 * Every offset and length is checked against n. */
qn_status qn_arc_decode(uint64_t slot, const unsigned char *bytes, size_t n, uint32_t base,
                        qn_arc_heap *heap, qn_arc_value *out, qn_err *err);

/* Moves the content of a slot: adds `by` to its payload and to every payload inside. */
qn_status qn_arc_move(uint64_t *slot, unsigned char *bytes, size_t n, uint32_t base, uint32_t by,
                      qn_err *err);

#endif
