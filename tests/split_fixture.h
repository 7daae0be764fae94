/* split_fixture.h - a small batch to be split: results and how often each item was delivered.
 *
 * An item is ITEM floats; its result is 3 (x + y), rounded twice, of numbers that are different for
 * every item. It must equal the host's result to the last bit.
 */
#ifndef QN_TESTS_SPLIT_FIXTURE_H
#define QN_TESTS_SPLIT_FIXTURE_H

#include "engine_fixture.h"

#include <quern/split.h>

#include "util/hash.h"

enum { ITEM = 64, RIG_DEVICES = 8 };

typedef struct fixture {
    qn_ctx *ctx;
    qn_split *split;
    qn_i64 n_items, chunk_items;
    float *result;
    int *delivered;
    struct {
        qn_buf *x, *y, *out;
    } slots[RIG_DEVICES][QN_SPLIT_MAX_DEPTH];
    int n_built, n_prepared;
    qn_i64 fail_prepare, fail_deliver; /* the item at which the call fails; -1: none */
} fixture;

static inline float fixture_input(qn_i64 at, int second)
{
    return qn_random_float((uint64_t)second + 1, (uint64_t)at);
}

static inline float fixture_expected(qn_i64 at)
{
    const float sum = fixture_input(at, 0) + fixture_input(at, 1);

    return sum * 3.0f;
}

static inline qn_status fixture_build(void *user, int device, int slot, qn_graph *graph,
                                      qn_err *err)
{
    fixture *r = user;
    const int n = (int)r->chunk_items * ITEM;
    qn_buf *sum;

    (void)err;
    r->n_built++;
    assert_true(device < RIG_DEVICES);
    r->slots[device][slot].x = array_of(r->ctx, "x", n);
    r->slots[device][slot].y = array_of(r->ctx, "y", n);
    r->slots[device][slot].out = array_of(r->ctx, "out", n);
    must(qn_graph_temp(graph, "sum", (size_t)n * sizeof(float), &sum, err));
    must(stage_vadd(graph, "fixture.add", qn_range_1d(n), r->slots[device][slot].x,
                    r->slots[device][slot].y, sum, err));
    must(stage_map_mul(graph, "fixture.mul", qn_range_1d(n), 3.0f, sum, r->slots[device][slot].out,
                       err));
    must(qn_graph_output(graph, r->slots[device][slot].out, err));
    return QN_OK;
}

static inline qn_status fixture_prepare(void *user, int device, int slot, qn_i64 first,
                                        qn_i64 count, qn_err *err)
{
    fixture *r = user;
    qn_buf *const in[2] = { r->slots[device][slot].x, r->slots[device][slot].y };
    void *data;

    r->n_prepared++;
    assert_true(count >= 1 && count <= r->chunk_items);
    if (r->fail_prepare >= first && r->fail_prepare < first + count) {
        *err = (qn_err){ QN_ERR_INPUT, "item is no good" };
        return QN_ERR_INPUT;
    }
    for (int k = 0; k < 2; k++) {
        must(qn_buf_host(in[k], QN_HOST_DISCARD, &data, err));
        for (qn_i64 i = 0; i < r->chunk_items * ITEM; i++)
            ((float *)data)[i] = i < count * ITEM ? fixture_input(first * ITEM + i, k) : 0;
    }
    return QN_OK;
}

static inline qn_status fixture_deliver(void *user, int device, int slot, qn_i64 first,
                                        qn_i64 count, qn_err *err)
{
    fixture *r = user;
    const size_t bytes = (size_t)count * ITEM * sizeof(float);

    assert_true(first >= 0 && first + count <= r->n_items);
    if (r->fail_deliver >= first && r->fail_deliver < first + count) {
        *err = (qn_err){ QN_ERR_IO, "disk full" };
        return QN_ERR_IO;
    }
    must(qn_buf_read(r->slots[device][slot].out, 0, r->result + first * ITEM, bytes, err));
    for (qn_i64 i = first; i < first + count; i++)
        r->delivered[i]++;
    return QN_OK;
}

static inline void fixture_open_in(fixture *r, qn_ctx *ctx, const qn_split_options *options,
                                   qn_i64 n_items, qn_i64 chunk_items)
{
    const qn_split_work work = { .user = r,
                                 .chunk_items = chunk_items,
                                 .build = fixture_build,
                                 .prepare = fixture_prepare,
                                 .deliver = fixture_deliver };

    *r = (fixture){ .ctx = ctx,
                    .n_items = n_items,
                    .chunk_items = chunk_items,
                    .fail_prepare = -1,
                    .fail_deliver = -1 };
    r->result = calloc((size_t)(n_items + 1) * ITEM, sizeof *r->result);
    r->delivered = calloc((size_t)n_items + 1, sizeof *r->delivered);
    must(qn_split_open(ctx, "fixture", options, &work, &r->split, &failure));
}

/* `fault` is as in QUERN_FAULT; "sim.devices=4,..." sets the number of devices. */
static inline void fixture_open(fixture *r, const char *fault, const qn_split_options *options,
                                qn_i64 n_items, qn_i64 chunk_items)
{
    fixture_open_in(r, open_with(QN_OPTIONS(.backend = "sim", .fault = fault, .log = "none")),
                    options, n_items, chunk_items);
}

static inline void fixture_clear(fixture *r)
{
    memset(r->result, 0, (size_t)r->n_items * ITEM * sizeof *r->result);
    memset(r->delivered, 0, (size_t)r->n_items * sizeof *r->delivered);
}

/* Every item delivered once, every value right. */
static inline void fixture_check(const fixture *r)
{
    for (qn_i64 i = 0; i < r->n_items; i++)
        if (r->delivered[i] != 1)
            fail_msg("item %lld was delivered %d times", (long long)i, r->delivered[i]);
    for (qn_i64 i = 0; i < r->n_items * ITEM; i++)
        if (r->result[i] != fixture_expected(i))
            fail_msg("value %lld is %g, not %g", (long long)i, (double)r->result[i],
                     (double)fixture_expected(i));
}

static inline void fixture_run(fixture *r)
{
    fixture_clear(r);
    must(qn_split_run(r->split, r->n_items, &failure));
    fixture_check(r);
}

static inline void fixture_free_keeping_context(fixture *r)
{
    qn_split_close(r->split);
    for (int d = 0; d < RIG_DEVICES; d++)
        for (int s = 0; s < QN_SPLIT_MAX_DEPTH; s++) {
            qn_buf_free(r->slots[d][s].x);
            qn_buf_free(r->slots[d][s].y);
            qn_buf_free(r->slots[d][s].out);
        }
    free(r->result);
    free(r->delivered);
}

static inline void fixture_close(fixture *r)
{
    fixture_free_keeping_context(r);
    qn_ctx_close(r->ctx);
}

#endif
