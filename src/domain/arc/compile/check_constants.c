/* check_constants.c - constants must be what the encoder would have written, to the byte.
 *
 * First a pass over the content makes sure that it has no gaps or overlaps: otherwise a hundred
 * bytes could describe a value larger than memory. Then each value is decoded, inspected, and
 * encoded again.
 */
#include "domain/arc/compile/compile.h"

#include <string.h>

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/status.h"

enum { MOST_DEPTH = 256 };

/* Where content lies. */

typedef struct {
    const unsigned char *bytes;
    size_t n;
    size_t at; /* where the next content must start */
} walker;

/* Measures the content of `slot`: its bytes, and how many slots it holds after `head` bytes.
 * Returns 0 if it does not lie where it should. */
static int measure(const walker *w, uint64_t slot, size_t *bytes, size_t *head, size_t *n_slots)
{
    const size_t n = (size_t)ARC_AUX(slot), at = ARC_PAYLOAD(slot);
    uint16_t size[2];

    *head = *n_slots = 0;
    if (at != w->at || at > w->n)
        return 0;
    switch (ARC_TAG(slot)) {
    case ARC_ROW:
        *bytes = n;
        break;
    case ARC_IDX:
    case ARC_OBJ:
        *bytes = n * sizeof(uint32_t);
        break;
    case ARC_GRID:
        if (w->n - at < ARC_GRID_HEAD)
            return 0;
        memcpy(size, w->bytes + at, sizeof size);
        *bytes = ARC_GRID_HEAD + (size_t)size[0] * size[1];
        break;
    case ARC_CLOS:
        if (w->n - at < ARC_CLOS_HEAD)
            return 0;
        memcpy(size, w->bytes + at, sizeof size);
        *head = ARC_CLOS_HEAD;
        *n_slots = size[1];
        *bytes = *head + *n_slots * sizeof(uint64_t);
        break;
    default:
        *n_slots = n;
        *bytes = n * sizeof(uint64_t);
    }
    return *bytes <= w->n - at;
}

static int walk(walker *w, uint64_t slot, int depth)
{
    const size_t start = w->at;
    size_t bytes, head, n_slots;

    if (!qn_arc_has_content(slot))
        return 1;
    if (depth > MOST_DEPTH || !measure(w, slot, &bytes, &head, &n_slots))
        return 0;
    w->at = (start + bytes + 7) / 8 * 8;
    for (size_t i = 0; i < n_slots; i++) {
        uint64_t item;

        memcpy(&item, w->bytes + start + head + i * sizeof item, sizeof item);
        if (!walk(w, item, depth + 1))
            return 0;
    }
    return 1;
}

/* Messages. */

static int is_good_closure(const qn_arc_value *v)
{
    static const int captured[] = {
        [ARC_FORM_COMPOSE] = 2, [ARC_FORM_CHAIN] = 3, [ARC_FORM_MATCHER] = 2, [ARC_FORM_RBIND] = 2,
        [ARC_FORM_LBIND] = 2,   [ARC_FORM_POWER] = 2, [ARC_FORM_FORK] = 3,    [ARC_FORM_CONST] = 1,
    };

    if (v->number < 0 || v->number > ARC_FORM_CONST || v->n != captured[v->number])
        return 0;
    if (v->number == ARC_FORM_POWER && v->items[1].kind != QN_ARC_INT)
        return 0;
    return v->step >= 1 && v->step <= 4;
}

/* Sets in order and without duplicates, closures with all they need, no failed values. */
static int is_good(const qn_arc_value *v)
{
    if (v->kind == QN_ARC_BAD || (v->kind == QN_ARC_CLOS && !is_good_closure(v)))
        return 0;
    for (int i = 0; i < v->n; i++) {
        if (!is_good(&v->items[i]))
            return 0;
        if (v->kind == QN_ARC_SET && i > 0 && qn_arc_compare(&v->items[i - 1], &v->items[i]) >= 0)
            return 0;
    }
    return 1;
}

/* Decodes constant `i` and encodes it again after the others. */
static qn_status check_one(const unsigned char *bytes, const arc_program *head, int i,
                           uint64_t slot, qn_arc_blob *blob, qn_err *err)
{
    qn_status st = QN_OK;
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    uint64_t again = 0;

    QN_TRY(qn_arc_heap_new(&heap, err));
    QN_TRY(qn_arc_decode(slot, bytes, head->bytes, 0, heap, &value, err));
    if (!is_good(&value))
        QN_FAIL(err, QN_ERR_INPUT, "it is not a value that a program may hold");
    QN_TRY(qn_arc_encode(&value, blob, &again, err));
    if (again != slot)
        st = qn_fail(err, QN_ERR_INPUT, "it is not in its canonical form");
out:
    if (st != QN_OK)
        qn_prefix(err, "constant %d", i);
    qn_arc_heap_free(heap);
    return st;
}

qn_status qn_arc_check_constants(const unsigned char *bytes, const arc_program *head, qn_err *err)
{
    qn_status st = QN_OK;
    const size_t slots = sizeof *head + (size_t)head->n_ins * sizeof(arc_ins);
    const size_t content = slots + (size_t)head->n_const * sizeof(uint64_t);
    walker w = { .bytes = bytes, .n = head->bytes, .at = content };
    qn_arc_blob blob = { .base = (uint32_t)content };

    for (int i = 0; i < head->n_const; i++) {
        uint64_t slot;

        memcpy(&slot, bytes + slots + (size_t)i * sizeof slot, sizeof slot);
        if (!walk(&w, slot, 0))
            QN_FAIL(err, QN_ERR_INPUT, "constant %d: its content does not lie where it should", i);
        QN_TRY(check_one(bytes, head, i, slot, &blob, err));
    }
    if (blob.n && memcmp(blob.bytes, bytes + content, blob.n) != 0)
        st = qn_fail(err, QN_ERR_INPUT, "constants are not in their canonical form");
    else if ((content + blob.n + 15) / 16 * 16 != head->bytes)
        st = qn_fail(err, QN_ERR_INPUT, "program of %u bytes, only %zu of them used", head->bytes,
                     content + blob.n);
out:
    qn_arc_blob_free(&blob);
    return st;
}
