/* decode.c - slots and bytes back into trees, and bytes from one place to another.
 *
 * Checks every offset and length, since a device wrote them. Values may share content, so a small
 * buffer can describe a huge tree: the size of the tree is limited.
 */
#include "domain/arc/value/value.h"
#include "kernel/arc/arc_value.h"
#include "kernel/types.h"
#include "util/status.h"

#include <string.h>

enum { MOST_DEPTH = 256, MOST_VALUES = 1 << 24 };

typedef struct source {
    const unsigned char *bytes;
    size_t n;
    uint32_t base;
    qn_arc_heap *heap;
    size_t n_values; /* made so far */
    qn_err *err;
} source;

/* Finds where the `bytes` bytes of a payload start. */
static qn_status find(const source *from, uint64_t slot, size_t bytes, size_t *at, qn_err *err)
{
    const uint32_t payload = ARC_PAYLOAD(slot);
    const size_t offset = payload - from->base;

    if (payload < from->base || offset > from->n || bytes > from->n - offset)
        return qn_fail(err, QN_ERR_INPUT,
                       "a value of kind %d points to %zu bytes at %u, outside %zu bytes at %u",
                       ARC_TAG(slot), bytes, (unsigned)payload, from->n, (unsigned)from->base);
    *at = offset;
    return QN_OK;
}

static qn_status new_values(source *from, int n, qn_arc_value **out)
{
    from->n_values += (size_t)n;
    if (from->n_values > MOST_VALUES)
        return qn_fail(from->err, QN_ERR_LIMIT, "a value of more than %d parts", MOST_VALUES);
    if (!(*out = qn_arc_values(from->heap, n)))
        return qn_fail(from->err, QN_ERR_NOMEM, "no memory for %d values", n);
    return QN_OK;
}

static qn_arc_value number(int64_t value)
{
    return (qn_arc_value){ .kind = QN_ARC_INT, .number = value };
}

static qn_arc_value tuple(const qn_arc_value *items, int n)
{
    return (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = n, .items = items };
}

/* Flat kinds. */

static qn_status decode_integer(source *from, uint64_t slot, qn_arc_value *out)
{
    int64_t wide = ARC_AUX(slot) ? 0 : (int32_t)ARC_PAYLOAD(slot);
    size_t at = 0;

    if (ARC_AUX(slot)) {
        const qn_status st = find(from, slot, sizeof wide, &at, from->err);

        if (st != QN_OK)
            return st;
        memcpy(&wide, from->bytes + at, sizeof wide);
    }
    *out = number(wide);
    return QN_OK;
}

static qn_status make_pair(source *from, int64_t i, int64_t j, qn_arc_value *out)
{
    qn_arc_value *items = NULL;
    const qn_status st = new_values(from, 2, &items);

    if (st != QN_OK)
        return st;
    items[0] = number(i);
    items[1] = number(j);
    *out = tuple(items, 2);
    return QN_OK;
}

static qn_status make_cell(source *from, int64_t colour, int64_t i, int64_t j, qn_arc_value *out)
{
    qn_arc_value *items = NULL;
    qn_status st = new_values(from, 2, &items);

    if (st == QN_OK)
        st = make_pair(from, i, j, &items[1]);
    if (st != QN_OK)
        return st;
    items[0] = number(colour);
    *out = tuple(items, 2);
    return QN_OK;
}

static qn_status make_row(source *from, size_t at, int n, qn_arc_value *out)
{
    qn_arc_value *items = NULL;
    const qn_status st = new_values(from, n, &items);

    if (st != QN_OK)
        return st;
    for (int i = 0; i < n; i++)
        items[i] = number((int8_t)from->bytes[at + (size_t)i]);
    *out = tuple(items, n);
    return QN_OK;
}

static qn_status decode_row(source *from, uint64_t slot, qn_arc_value *out)
{
    size_t at = 0;
    const qn_status st = find(from, slot, (size_t)ARC_AUX(slot), &at, from->err);

    return st == QN_OK ? make_row(from, at, ARC_AUX(slot), out) : st;
}

static qn_status decode_grid(source *from, uint64_t slot, qn_arc_value *out)
{
    qn_status st = QN_OK;
    qn_arc_value *rows = NULL;
    uint16_t size[2] = { 0, 0 };
    size_t at = 0;

    QN_TRY(find(from, slot, ARC_GRID_HEAD, &at, from->err));
    memcpy(size, from->bytes + at, sizeof size);
    QN_TRY(find(from, slot, ARC_GRID_HEAD + (size_t)size[0] * size[1], &at, from->err));
    QN_TRY(new_values(from, size[0], &rows));
    for (int i = 0; i < size[0]; i++)
        QN_TRY(make_row(from, at + ARC_GRID_HEAD + (size_t)i * size[1], size[1], &rows[i]));
    *out = tuple(rows, size[0]);
out:
    return st;
}

static qn_status decode_keys(source *from, uint64_t slot, qn_arc_value *out)
{
    qn_status st = QN_OK;
    const int n = ARC_AUX(slot);
    qn_arc_value *items = NULL;
    size_t at = 0;

    QN_TRY(find(from, slot, (size_t)n * sizeof(uint32_t), &at, from->err));
    QN_TRY(new_values(from, n, &items));
    for (int k = 0; k < n; k++) {
        uint32_t key;

        memcpy(&key, from->bytes + at + (size_t)k * sizeof key, sizeof key);
        if (ARC_TAG(slot) == ARC_OBJ)
            QN_TRY(make_cell(from, ARC_KEY_COLOUR(key), ARC_KEY_I(key), ARC_KEY_J(key), &items[k]));
        else
            QN_TRY(make_pair(from, ARC_KEY_I(key), ARC_KEY_J(key), &items[k]));
    }
    *out = (qn_arc_value){ .kind = QN_ARC_SET, .n = n, .items = items };
out:
    return st;
}

/* Trees. */

static qn_status decode_at(source *from, uint64_t slot, int depth, qn_arc_value *out);

/* The n slots that follow `head` bytes at the slot's place. */
static qn_status decode_items(source *from, uint64_t slot, size_t head, int n, int depth,
                              const qn_arc_value **out)
{
    qn_status st = QN_OK;
    qn_arc_value *items = NULL;
    size_t at = 0;

    QN_TRY(find(from, slot, head + (size_t)n * sizeof(uint64_t), &at, from->err));
    QN_TRY(new_values(from, n, &items));
    for (int i = 0; i < n; i++) {
        uint64_t item;

        memcpy(&item, from->bytes + at + head + (size_t)i * sizeof item, sizeof item);
        QN_TRY(decode_at(from, item, depth + 1, &items[i]));
    }
    *out = items;
out:
    return st;
}

static qn_status decode_closure(source *from, uint64_t slot, int depth, qn_arc_value *out)
{
    qn_status st = QN_OK;
    qn_arc_value made = { .kind = QN_ARC_CLOS };
    uint16_t captured = 0;
    size_t at = 0;

    QN_TRY(find(from, slot, ARC_CLOS_HEAD, &at, from->err));
    made.number = from->bytes[at];
    made.step = from->bytes[at + 1];
    memcpy(&captured, from->bytes + at + 2, sizeof captured);
    memcpy(&made.which, from->bytes + at + 4, sizeof made.which);
    made.n = captured;
    QN_TRY(decode_items(from, slot, ARC_CLOS_HEAD, captured, depth, &made.items));
    *out = made;
out:
    return st;
}

static qn_status decode_at(source *from, uint64_t slot, int depth, qn_arc_value *out)
{
    const int n = ARC_AUX(slot);

    if (depth > MOST_DEPTH)
        return qn_fail(from->err, QN_ERR_LIMIT, "a value nested deeper than %d", MOST_DEPTH);
    switch (ARC_TAG(slot)) {
    case ARC_NONE:
        *out = (qn_arc_value){ .kind = QN_ARC_NONE };
        return QN_OK;
    case ARC_BOOL:
        *out = (qn_arc_value){ .kind = QN_ARC_BOOL, .number = ARC_PAYLOAD(slot) != 0 };
        return QN_OK;
    case ARC_INT:
        return decode_integer(from, slot, out);
    case ARC_PAIR:
        return make_pair(from, ARC_PAIR_I(slot), ARC_PAIR_J(slot), out);
    case ARC_CELL:
        return make_cell(from, ARC_CELL_COLOUR(slot), ARC_PAIR_I(slot), ARC_PAIR_J(slot), out);
    case ARC_ROW:
        return decode_row(from, slot, out);
    case ARC_GRID:
        return decode_grid(from, slot, out);
    case ARC_IDX:
    case ARC_OBJ:
        if (n > 0)
            return decode_keys(from, slot, out);
        *out = (qn_arc_value){ .kind = QN_ARC_SET };
        return QN_OK;
    case ARC_TUPLE:
    case ARC_SET:
        *out =
            (qn_arc_value){ .kind = ARC_TAG(slot) == ARC_SET ? QN_ARC_SET : QN_ARC_TUPLE, .n = n };
        return n > 0 ? decode_items(from, slot, 0, n, depth, &out->items) : QN_OK;
    case ARC_PRIM:
        *out = (qn_arc_value){ .kind = QN_ARC_PRIM, .number = ARC_PAYLOAD(slot) };
        return QN_OK;
    case ARC_CLOS:
        return decode_closure(from, slot, depth, out);
    case ARC_BAD:
        *out = (qn_arc_value){ .kind = QN_ARC_BAD,
                               .number = ARC_FAILURE_CODE(ARC_PAYLOAD(slot)),
                               .step = n,
                               .which = ARC_PAYLOAD(slot) };
        return QN_OK;
    default:
        return qn_fail(from->err, QN_ERR_INPUT, "a value of unknown kind %d", ARC_TAG(slot));
    }
}

qn_status qn_arc_decode(uint64_t slot, const unsigned char *bytes, size_t n, uint32_t base,
                        qn_arc_heap *heap, qn_arc_value *out, qn_err *err)
{
    source from = { .bytes = bytes, .n = n, .base = base, .heap = heap, .err = err };
    qn_arc_value made = { .kind = QN_ARC_NONE };
    const qn_status st = decode_at(&from, slot, 0, &made);

    if (st == QN_OK)
        *out = made;
    return st;
}
