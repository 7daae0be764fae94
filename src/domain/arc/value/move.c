/* move.c - moves the content of a value from one place to another.
 *
 * Values may share content, even by pointing into the middle of each other's slots; a bit for every
 * slot in the bytes records what has been moved.
 */
#include "domain/arc/value/value.h"
#include "kernel/arc/arc_value.h"
#include "kernel/types.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 256 };

typedef struct mover {
    unsigned char *bytes;
    size_t n;
    uint32_t base, by;
    unsigned char *moved; /* a bit for every 8 bytes */
    qn_err *err;
} mover;

int qn_arc_has_content(uint64_t slot)
{
    switch (ARC_TAG(slot)) {
    case ARC_GRID:
    case ARC_CLOS:
        return 1;
    case ARC_INT:
    case ARC_ROW:
    case ARC_TUPLE:
    case ARC_IDX:
    case ARC_OBJ:
    case ARC_SET:
        return ARC_AUX(slot) > 0;
    default:
        return 0;
    }
}

int qn_arc_has_slots(uint64_t slot)
{
    return ARC_TAG(slot) == ARC_TUPLE || ARC_TAG(slot) == ARC_SET || ARC_TAG(slot) == ARC_CLOS;
}

static qn_status move_slots(mover *m, size_t at, size_t n, int depth);

static qn_status move_content(mover *m, uint64_t slot, int depth)
{
    const uint32_t payload = ARC_PAYLOAD(slot);
    const size_t at = payload - m->base;
    uint16_t captured = 0;

    if (payload < m->base || at > m->n)
        return qn_fail(m->err, QN_ERR_INPUT, "a value points to %u, outside %zu bytes at %u",
                       (unsigned)payload, m->n, (unsigned)m->base);
    switch (ARC_TAG(slot)) {
    case ARC_TUPLE:
    case ARC_SET:
        return move_slots(m, at, (size_t)ARC_AUX(slot), depth + 1);
    case ARC_CLOS:
        if (m->n - at < ARC_CLOS_HEAD)
            return qn_fail(m->err, QN_ERR_INPUT, "a closure at %zu ends outside %zu bytes", at,
                           m->n);
        memcpy(&captured, m->bytes + at + 2, sizeof captured);
        return move_slots(m, at + ARC_CLOS_HEAD, captured, depth + 1);
    default:
        return QN_OK;
    }
}

static uint64_t shifted(uint64_t slot, uint32_t by)
{
    return (slot & ~(uint64_t)UINT32_MAX) | (uint32_t)(ARC_PAYLOAD(slot) + by);
}

static qn_status move_slots(mover *m, size_t at, size_t n, int depth)
{
    qn_status st = QN_OK;

    if (depth > MOST_DEPTH)
        return qn_fail(m->err, QN_ERR_LIMIT, "a value nested deeper than %d", MOST_DEPTH);
    if (at % sizeof(uint64_t) != 0 || n > (m->n - at) / sizeof(uint64_t))
        return qn_fail(m->err, QN_ERR_INPUT, "%zu slots at %zu are outside %zu bytes", n, at, m->n);
    for (size_t i = at / sizeof(uint64_t); i < at / sizeof(uint64_t) + n; i++) {
        uint64_t slot;

        if (m->moved[i / 8] >> (i % 8) & 1)
            continue;
        m->moved[i / 8] |= (unsigned char)(1u << (i % 8));
        memcpy(&slot, m->bytes + i * sizeof slot, sizeof slot);
        if (!qn_arc_has_content(slot))
            continue;
        QN_TRY(move_content(m, slot, depth));
        slot = shifted(slot, m->by);
        memcpy(m->bytes + i * sizeof slot, &slot, sizeof slot);
    }
out:
    return st;
}

qn_status qn_arc_move(uint64_t *slot, unsigned char *bytes, size_t n, uint32_t base, uint32_t by,
                      qn_err *err)
{
    mover m = { .bytes = bytes, .n = n, .base = base, .by = by, .err = err };
    qn_status st = QN_OK;

    if (!qn_arc_has_content(*slot))
        return QN_OK;
    if (qn_arc_has_slots(*slot) && !(m.moved = calloc(n / 64 + 1, 1)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory to move %zu bytes of values", n);
    QN_TRY(move_content(&m, *slot, 0));
    *slot = shifted(*slot, by);
out:
    free(m.moved);
    return st;
}
