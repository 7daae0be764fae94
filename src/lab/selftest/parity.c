/* parity.c - every op on a device against one thread of the CPU; launches must cover their whole
 * range exactly once. */
#include "lab/selftest/selftest_impl.h"

#include "kernel/selftest.gen.h"
#include "util/str.h"

#include <stdlib.h>
#include <string.h>

/* Ops. */

/* The last op of a comma list. */
static const qn_op *last_op(const char *list)
{
    const char *comma = strrchr(list, ',');

    return qn_op_find(comma ? comma + 1 : list);
}

static int is_map(const qn_op *op)
{
    return !strncmp(op->name, "map_", 4);
}

static qn_status compare(const qn_case *c, const qn_fixture *want, const void *want_data,
                         const qn_fixture *got, const void *got_data, qn_err *err)
{
    const size_t n = qn_buf_bytes(want->out), n_got = qn_buf_bytes(got->out);
    qn_diff diff;

    if (n != n_got)
        return qn_fail(err, QN_ERR_MISMATCH, "%zu bytes, not %zu", n_got, n);
    diff = qn_op_compare(last_op(c->ops), got->type, want_data, got_data, n);
    if (!diff.mismatched)
        return QN_OK;
    return qn_fail(err, QN_ERR_MISMATCH, "%zu of %zu elements differ, first at %zu, worst by %g",
                   diff.mismatched, diff.checked, diff.first, diff.max_abs);
}

static qn_status check_case(qn_ctx *reference, qn_ctx *ctx, const char *device, const qn_case *c,
                            qn_err *err)
{
    qn_fixture want = { 0 }, got = { 0 };
    void *want_data, *got_data;
    qn_status st = QN_OK;

    QN_TRY(qn_fixture_open(reference, &want, err));
    QN_TRY(qn_fixture_open(ctx, &got, err));
    QN_TRY(qn_case_run(&want, "cpu", c, &want_data, err));
    QN_TRY(qn_case_run(&got, device, c, &got_data, err));
    QN_TRY(compare(c, &want, want_data, &got, got_data, err));
out:
    qn_fixture_close(&want);
    qn_fixture_close(&got);
    return st;
}

static qn_status note_case(qn_findings *findings, qn_ctx *reference, qn_ctx *ctx, int device,
                           const qn_case *c, qn_err *err)
{
    const char *id = qn_device_id(ctx, device);
    const qn_op *op = last_op(c->ops);
    qn_err why = { 0 };
    char name[48];

    snprintf(name, sizeof name, "parity: %s", c->name);
    if (!op || !qn_op_kernel(op))
        return qn_selftest_skip(findings, name, id, "this build lacks the kernel", err);
    if (op->priority == QN_PRIORITY_CPU && device != QN_CPU_SLOT)
        return qn_selftest_skip(findings, name, id, "runs on the CPU only", err);
    const qn_status found = check_case(reference, ctx, id, c, &why);
    return qn_selftest_note(findings, name, id, found, &why, err);
}

static int is_covered(const qn_op *op)
{
    int is_in = is_map(op);

    for (const qn_case *c = qn_cases; c->name; c++)
        is_in |= qn_list_has(c->ops, op->name);
    return is_in;
}

qn_status qn_selftest_parity(qn_findings *findings, qn_ctx *reference, qn_ctx *ctx, int device,
                             qn_err *err)
{
    qn_status st = QN_OK;

    for (const qn_case *c = qn_cases; c->name; c++)
        QN_TRY(note_case(findings, reference, ctx, device, c, err));
    for (int i = 0; i < qn_op_count(); i++) {
        const qn_op *op = qn_op_at(i);
        const qn_case map = qn_case_of_map(op);
        char name[48];

        if (is_map(op))
            QN_TRY(note_case(findings, reference, ctx, device, &map, err));
        if (is_covered(op))
            continue;
        snprintf(name, sizeof name, "parity: %.32s", op->name);
        QN_TRY(qn_selftest_skip(findings, name, qn_device_id(ctx, device), "no case for this op",
                                err));
    }
out:
    return st;
}

/* Launches. */

static qn_status check_echo(qn_ctx *ctx, const char *device, qn_err *err)
{
    const selftest_par p = { .wide = INT64_C(-2) * (INT64_C(1) << 32) + 5,
                             .mask = UINT64_C(0x0123456789abcdef),
                             .count = -7,
                             .bits = 0xdeadbeef,
                             .scale = 0.5f,
                             .list = { 11, 1, 2, 3, 55 } };
    const uint32_t want[] = { 42,         0xfffffffe, 5,  0x01234567, 0x89abcdef, (uint32_t)-7,
                              0xdeadbeef, 0x3f000000, 11, 55,         0xbf800000, 6 };
    qn_fixture fixture = { 0 };
    uint32_t *got;
    qn_status st = QN_OK;

    QN_TRY(qn_fixture_open(ctx, &fixture, err));
    QN_TRY(qn_fixture_out(&fixture, sizeof want, err));
    QN_TRY(
        stage_selftest_echo(fixture.graph, "echo", qn_range_1d(1), 42, p, -1.0f, fixture.out, err));
    QN_TRY(qn_fixture_run(&fixture, device, &got, err));
    for (size_t i = 0; i < sizeof want / sizeof *want && st == QN_OK; i++)
        if (got[i] != want[i])
            st = qn_fail(err, QN_ERR_MISMATCH, "word %zu of the parameters is %08x, not %08x", i,
                         got[i], want[i]);
out:
    qn_fixture_close(&fixture);
    return st;
}

/* Every point of the range is visited once, for any shape. */
static qn_status check_visits(qn_ctx *ctx, const char *device, i32 cols, i32 rows, qn_err *err)
{
    const size_t n = (size_t)cols * (size_t)rows;
    qn_fixture fixture = { 0 };
    uint32_t *seen;
    qn_status st = QN_OK;

    QN_TRY(qn_fixture_open(ctx, &fixture, err));
    QN_TRY(qn_fixture_out(&fixture, n * sizeof(uint32_t), err));
    QN_TRY(stage_selftest_visit(fixture.graph, "visit", qn_range_2d(cols, rows), cols, rows,
                                fixture.out, err));
    QN_TRY(qn_fixture_run(&fixture, device, &seen, err));
    for (size_t i = 0; i < n && st == QN_OK; i++)
        if (seen[i] != 1)
            st = qn_fail(err, QN_ERR_MISMATCH, "%d x %d: point %zu was visited %u times", cols,
                         rows, i, seen[i]);
out:
    qn_fixture_close(&fixture);
    return st;
}

static qn_status check_shapes(qn_ctx *ctx, const char *device, qn_err *err)
{
    static const i32 shapes[][2] = {
        { 1, 1 }, { 1, 70003 }, { 70003, 1 }, { 70000, 3 }, { 257, 129 }
    };
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        QN_TRY(check_visits(ctx, device, shapes[i][0], shapes[i][1], err));
out:
    return st;
}

qn_status qn_selftest_geometry(qn_findings *findings, qn_ctx *ctx, int device, qn_err *err)
{
    const char *id = qn_device_id(ctx, device);
    qn_status st = QN_OK, found;
    qn_err why = { 0 };

    found = check_echo(ctx, id, &why);
    QN_TRY(qn_selftest_note(findings, "launch: parameters", id, found, &why, err));
    found = check_shapes(ctx, id, &why);
    QN_TRY(qn_selftest_note(findings, "launch: every point once", id, found, &why, err));
out:
    return st;
}
