/* share_value.c - outputs that others get: how large they are, and a copy that stands alone. */
#include "domain/arc/run/share_value.h"

#include "kernel/arc/arc_code.h"
#include "util/status.h"

#include <string.h>

static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* Bytes of a value without parts that point to others; SIZE_MAX: it is none, or a function. */
static size_t flat_bytes(uint64_t slot, const unsigned char *out, size_t n_out)
{
    const size_t at = ARC_PAYLOAD(slot), n = (size_t)ARC_AUX(slot);
    uint16_t size[2];

    switch (ARC_TAG(slot)) {
    case ARC_NONE:
    case ARC_BOOL:
    case ARC_PAIR:
    case ARC_CELL:
        return 0;
    case ARC_INT:
        return n ? SIZE_MAX : 0; /* else it is a wide one */
    case ARC_IDX:
    case ARC_OBJ:
        return 4 * n;
    case ARC_ROW:
        return n;
    case ARC_GRID:
        if (at + ARC_GRID_HEAD > n_out)
            return SIZE_MAX;
        memcpy(size, out + at, sizeof size);
        return ARC_GRID_HEAD + (size_t)size[0] * size[1];
    default:
        return SIZE_MAX;
    }
}

/* Bytes of a value and of all its parts, which a device has written one behind the other; SIZE_MAX
 * when the value belongs to its run, or is of a kind that is not shared. */
static size_t shared_bytes(uint64_t slot, const unsigned char *out, size_t n_out)
{
    const size_t at = ARC_PAYLOAD(slot), n = (size_t)ARC_AUX(slot);
    size_t total = 8 * n;

    if (ARC_TAG(slot) != ARC_SET && ARC_TAG(slot) != ARC_TUPLE) {
        const size_t bytes = flat_bytes(slot, out, n_out);

        return bytes == SIZE_MAX ? bytes : padded(bytes);
    }
    if (at + total > n_out)
        return SIZE_MAX;
    for (size_t k = 0; k < n; k++) {
        uint64_t part;
        size_t bytes;

        memcpy(&part, out + at + 8 * k, sizeof part);
        bytes = flat_bytes(part, out, n_out);
        if (bytes == SIZE_MAX)
            return SIZE_MAX;
        total += padded(bytes);
    }
    return total;
}

static uint64_t moved_by(uint64_t slot, size_t down)
{
    return ARC_SLOT(ARC_TAG(slot), ARC_AUX(slot), ARC_PAYLOAD(slot) - (uint32_t)down);
}

static int has_content(uint64_t slot)
{
    const int tag = ARC_TAG(slot);

    return tag >= ARC_ROW && tag <= ARC_SET && slot != ARC_SLOT_EMPTY_SET &&
           slot != ARC_SLOT_EMPTY_TUPLE;
}

qn_status qn_arc_shared_copy(qn_arc_shared_value *v, const unsigned char *out, size_t n_out,
                             qn_arc_attic *attic, qn_err *err)
{
    const int has_parts = ARC_TAG(v->slot) == ARC_SET || ARC_TAG(v->slot) == ARC_TUPLE;
    const size_t at = has_content(v->slot) ? ARC_PAYLOAD(v->slot) : 0;
    const size_t n = shared_bytes(v->slot, out, n_out);

    if (n == SIZE_MAX || (n && at + n > n_out))
        return QN_OK;
    if (!(v->bytes = qn_arc_attic_take(attic, n + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu bytes", n);
    v->n = n;
    if (n)
        memcpy(v->bytes, out + at, n);
    for (size_t p = 0; has_parts && p < (size_t)ARC_AUX(v->slot); p++) {
        uint64_t part;

        memcpy(&part, v->bytes + 8 * p, sizeof part);
        part = has_content(part) ? moved_by(part, at) : part;
        memcpy(v->bytes + 8 * p, &part, sizeof part);
    }
    v->slot = has_content(v->slot) ? moved_by(v->slot, at) : v->slot;
    return QN_OK;
}
