/* encode.c - trees of values into slots and bytes, each in its canonical representation.
 *
 * A container's own content precedes that of its items, so equal values laid out from the same
 * offset give the same bytes.
 */
#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "kernel/arc/arc_value.h"
#include "kernel/types.h"
#include "util/list.h"
#include "util/status.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 256 };

void qn_arc_blob_free(qn_arc_blob *blob)
{
    free(blob->bytes);
    blob->bytes = NULL;
    blob->n = blob->room = 0;
}

/* Choosing the representation. */

static int fits(const qn_arc_value *v, int64_t least, int64_t most)
{
    return (v->kind == QN_ARC_INT || v->kind == QN_ARC_BOOL) && v->number >= least &&
           v->number <= most;
}

static int is_short(const qn_arc_value *v)
{
    return fits(v, INT16_MIN, INT16_MAX);
}

static int is_byte(const qn_arc_value *v)
{
    return fits(v, INT8_MIN, INT8_MAX);
}

static int is_coordinate(const qn_arc_value *v)
{
    return fits(v, -ARC_COORD, ARC_COORD - 1);
}

static int is_place(const qn_arc_value *v)
{
    return qn_arc_is_pair(v, is_coordinate);
}

static int is_object_cell(const qn_arc_value *v)
{
    return v->kind == QN_ARC_TUPLE && v->n == 2 && is_byte(&v->items[0]) && is_place(&v->items[1]);
}

/* Bytes. */

/* Appends `bytes` zeros at the next multiple of 8; *at is where they start. */
static qn_status take(qn_arc_blob *blob, size_t bytes, size_t *at, qn_err *err)
{
    const size_t from = (blob->n + 7) & ~(size_t)7;
    const size_t limit = ARC_POOLED - (blob->base & ~ARC_POOLED);
    qn_status st = QN_OK;

    if (from > limit || bytes > limit - from)
        return qn_fail(err, QN_ERR_LIMIT, "a value of %zu bytes after %zu others exceeds %zu",
                       bytes, blob->n, limit);
    QN_TRY(QN_ROOM(blob->bytes, from + bytes, &blob->room, "values", err));
    memset(blob->bytes + blob->n, 0, from + bytes - blob->n);
    blob->n = from + bytes;
    *at = from;
out:
    return st;
}

static uint32_t payload_of(const qn_arc_blob *blob, size_t at)
{
    return blob->base + (uint32_t)at;
}

static void put_row(qn_arc_blob *blob, size_t at, const qn_arc_value *row)
{
    for (int i = 0; i < row->n; i++)
        blob->bytes[at + (size_t)i] = (unsigned char)(int8_t)row->items[i].number;
}

static qn_status encode_row(const qn_arc_value *v, qn_arc_blob *blob, uint64_t *slot, qn_err *err)
{
    size_t at = 0;
    const qn_status st = take(blob, (size_t)v->n, &at, err);

    if (st != QN_OK)
        return st;
    put_row(blob, at, v);
    *slot = ARC_SLOT(ARC_ROW, v->n, payload_of(blob, at));
    return QN_OK;
}

static qn_status encode_grid(const qn_arc_value *v, qn_arc_blob *blob, uint64_t *slot, qn_err *err)
{
    const uint16_t size[2] = { (uint16_t)v->n, (uint16_t)v->items[0].n };
    size_t at = 0;
    const qn_status st = take(blob, ARC_GRID_HEAD + (size_t)size[0] * size[1], &at, err);

    if (st != QN_OK)
        return st;
    memcpy(blob->bytes + at, size, sizeof size);
    for (int i = 0; i < v->n; i++)
        put_row(blob, at + ARC_GRID_HEAD + (size_t)i * size[1], &v->items[i]);
    *slot = ARC_SLOT(ARC_GRID, 0, payload_of(blob, at));
    return QN_OK;
}

/* `tag` is ARC_IDX or ARC_OBJ. */
static qn_status encode_keys(const qn_arc_value *v, int tag, qn_arc_blob *blob, uint64_t *slot,
                             qn_err *err)
{
    size_t at = 0;
    const qn_status st = take(blob, (size_t)v->n * sizeof(uint32_t), &at, err);

    if (st != QN_OK)
        return st;
    for (int i = 0; i < v->n; i++) {
        const qn_arc_value *const cell = &v->items[i];
        const qn_arc_value *const place = tag == ARC_OBJ ? cell->items[1].items : cell->items;
        const int64_t colour = tag == ARC_OBJ ? cell->items[0].number : 0;
        const uint32_t key = ARC_KEY(colour, place[0].number, place[1].number);

        memcpy(blob->bytes + at + (size_t)i * sizeof key, &key, sizeof key);
    }
    *slot = ARC_SLOT(tag, v->n, payload_of(blob, at));
    return QN_OK;
}

/* Trees. */

static qn_status encode_at(const qn_arc_value *v, qn_arc_blob *blob, int depth, uint64_t *slot,
                           qn_err *err);

/* Writes `head` bytes, then the slots of the items. */
static qn_status encode_items(const qn_arc_value *v, size_t head, qn_arc_blob *blob, int depth,
                              size_t *at, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(take(blob, head + (size_t)v->n * sizeof(uint64_t), at, err));
    for (int i = 0; i < v->n; i++) {
        uint64_t item = 0;

        QN_TRY(encode_at(&v->items[i], blob, depth + 1, &item, err));
        memcpy(blob->bytes + *at + head + (size_t)i * sizeof item, &item, sizeof item);
    }
out:
    return st;
}

static qn_status encode_slots(const qn_arc_value *v, int tag, qn_arc_blob *blob, int depth,
                              uint64_t *slot, qn_err *err)
{
    size_t at = 0;
    const qn_status st = encode_items(v, 0, blob, depth, &at, err);

    if (st == QN_OK)
        *slot = ARC_SLOT(tag, v->n, payload_of(blob, at));
    return st;
}

/* Whether calling it may loop over elements. */
static int may_loop(const qn_arc_value *v)
{
    if (v->kind == QN_ARC_PRIM)
        return qn_arc_op_has_class((int)v->number, 'H');
    for (int i = 0; v->kind == QN_ARC_CLOS && i < v->n; i++) {
        if (may_loop(&v->items[i]))
            return 1;
    }
    return 0;
}

static qn_status encode_closure(const qn_arc_value *v, qn_arc_blob *blob, int depth, uint64_t *slot,
                                qn_err *err)
{
    const uint16_t captured = (uint16_t)v->n;
    size_t at = 0;
    const qn_status st = encode_items(v, ARC_CLOS_HEAD, blob, depth, &at, err);

    if (st != QN_OK)
        return st;
    blob->bytes[at] = (unsigned char)v->number;
    blob->bytes[at + 1] = (unsigned char)v->step;
    memcpy(blob->bytes + at + 2, &captured, sizeof captured);
    memcpy(blob->bytes + at + 4, &v->which, sizeof v->which);
    *slot = ARC_SLOT(ARC_CLOS, may_loop(v), payload_of(blob, at));
    return QN_OK;
}

static qn_status encode_tuple(const qn_arc_value *v, qn_arc_blob *blob, int depth, uint64_t *slot,
                              qn_err *err)
{
    if (v->n == 0) {
        *slot = ARC_SLOT_EMPTY_TUPLE;
        return QN_OK;
    }
    if (qn_arc_is_pair(v, is_short)) {
        *slot = ARC_SLOT_PAIR(v->items[0].number, v->items[1].number);
        return QN_OK;
    }
    if (qn_arc_is_cell(v, is_short)) {
        const qn_arc_value *const place = v->items[1].items;

        *slot = ARC_SLOT_CELL(v->items[0].number, place[0].number, place[1].number);
        return QN_OK;
    }
    if (qn_arc_is_row(v, is_byte)) /* a pair may be a row of a grid, too */
        return encode_row(v, blob, slot, err);
    if (v->n <= UINT16_MAX && v->items[0].n <= UINT16_MAX && qn_arc_is_grid(v, is_byte))
        return encode_grid(v, blob, slot, err);
    return encode_slots(v, ARC_TUPLE, blob, depth, slot, err);
}

static qn_status encode_set(const qn_arc_value *v, qn_arc_blob *blob, int depth, uint64_t *slot,
                            qn_err *err)
{
    if (v->n == 0) {
        *slot = ARC_SLOT_EMPTY_SET;
        return QN_OK;
    }
    if (qn_arc_all_are(v, is_place))
        return encode_keys(v, ARC_IDX, blob, slot, err);
    if (qn_arc_all_are(v, is_object_cell))
        return encode_keys(v, ARC_OBJ, blob, slot, err);
    return encode_slots(v, ARC_SET, blob, depth, slot, err);
}

static qn_status encode_primitive(const qn_arc_value *v, uint64_t *slot, qn_err *err)
{
    const int arity = v->number <= INT_MAX ? qn_arc_op_arity((int)v->number) : -1;

    if (v->number < 0 || arity < 0)
        return qn_fail(err, QN_ERR_LIMIT, "primitive %lld of %d", (long long)v->number, ARC_N_OPS);
    *slot = ARC_SLOT(ARC_PRIM, arity, v->number);
    return QN_OK;
}

static qn_status encode_at(const qn_arc_value *v, qn_arc_blob *blob, int depth, uint64_t *slot,
                           qn_err *err)
{
    if (depth > MOST_DEPTH)
        return qn_fail(err, QN_ERR_LIMIT, "a value nested deeper than %d", MOST_DEPTH);
    if (v->n > ARC_MOST_AUX)
        return qn_fail(err, QN_ERR_LIMIT, "a container of %d items, more than %d", v->n,
                       ARC_MOST_AUX);
    switch (v->kind) {
    case QN_ARC_NONE:
        *slot = ARC_SLOT_NONE;
        return QN_OK;
    case QN_ARC_BOOL:
        *slot = ARC_SLOT_BOOL(v->number);
        return QN_OK;
    case QN_ARC_INT:
        if (!fits(v, INT32_MIN, INT32_MAX))
            return qn_fail(err, QN_ERR_LIMIT, "integer %lld exceeds 32 bits", (long long)v->number);
        *slot = ARC_SLOT_INT(v->number);
        return QN_OK;
    case QN_ARC_TUPLE:
        return encode_tuple(v, blob, depth, slot, err);
    case QN_ARC_SET:
        return encode_set(v, blob, depth, slot, err);
    case QN_ARC_PRIM:
        return encode_primitive(v, slot, err);
    case QN_ARC_CLOS:
        return encode_closure(v, blob, depth, slot, err);
    case QN_ARC_BAD:
        *slot =
            ARC_SLOT(ARC_BAD, v->step, ((uint32_t)v->number & 255) | (v->which & ~(uint32_t)255));
        return QN_OK;
    }
    return qn_fail(err, QN_ERR_USAGE, "a value of kind %d", (int)v->kind);
}

qn_status qn_arc_encode(const qn_arc_value *value, qn_arc_blob *blob, uint64_t *slot, qn_err *err)
{
    return encode_at(value, blob, 0, slot, err);
}
