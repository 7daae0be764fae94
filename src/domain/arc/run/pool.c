/* pool.c - the content store of programs and values; slots are its handles. */
#include "domain/arc/run/executor.h"

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_code.h"

#include <string.h>

#define MOST_BYTES ((size_t)1 << 31)

static qn_status move_slots(uint64_t *slot, unsigned char *bytes, size_t n, uint32_t by,
                            qn_err *err)
{
    return qn_arc_move(slot, bytes, n, 0, by, err);
}

qn_status qn_arc_pool_open(qn_ctx *ctx, size_t budget_bytes, qn_content_store **out, qn_err *err)
{
    const size_t budget = budget_bytes < MOST_BYTES ? budget_bytes : MOST_BYTES;
    const qn_content_options options = { .name = "arc",
                                         .what = "programs and grids",
                                         .budget_bytes = budget,
                                         .base = ARC_POOLED,
                                         .move = move_slots };

    return qn_content_open(ctx, &options, out, err);
}

qn_status qn_arc_pool_value(qn_content_store *pool, qn_content_hold *hold,
                            const unsigned char *bytes, size_t n, qn_content_ticket *ticket,
                            uint64_t *slot, qn_content_taken *taken, qn_err *err)
{
    const qn_content content = {
        .handle = *slot, .bytes = bytes, .n = n, .has_handles = qn_arc_has_slots(*slot)
    };

    return qn_content_take(pool, hold, &content, ticket, slot, taken, err);
}

qn_status qn_arc_pool_program(qn_content_store *pool, qn_content_hold *hold,
                              const unsigned char *bytes, size_t n, qn_content_ticket *ticket,
                              uint32_t *at, qn_content_taken *taken, qn_err *err)
{
    arc_program head;
    size_t constants;
    uint64_t slot;
    qn_status st = QN_OK;

    if (n < sizeof head)
        return qn_fail(err, QN_ERR_INPUT, "a program of %zu bytes has no header", n);
    memcpy(&head, bytes, sizeof head);
    constants = sizeof head + head.n_ins * sizeof(arc_ins);
    if (constants > n || head.n_const > (n - constants) / sizeof slot)
        return qn_fail(err, QN_ERR_INPUT,
                       "a program of %zu bytes cannot have %d instructions and %d constants", n,
                       head.n_ins, head.n_const);
    /* The constants are a tuple after the instructions. An empty tuple has no content, so a program
     * without constants is found by its bytes alone. */
    slot = head.n_const ? ARC_SLOT(ARC_TUPLE, head.n_const, constants)
                        : ARC_SLOT(ARC_GRID, 0, constants);
    QN_TRY(qn_arc_pool_value(pool, hold, bytes, n, ticket, &slot, taken, err));
    if (*taken == QN_CONTENT_RESIDENT)
        *at = ARC_PAYLOAD(slot) - ARC_POOLED - (uint32_t)constants;
out:
    return st;
}
