/* parity.c - every op on a device against one thread of the CPU; launches against what they
 * were asked to cover. */
#include "lab/selftest/selftest_impl.h"

#include "kernel/selftest.gen.h"
#include "util/str.h"

#include <stdlib.h>
#include <string.h>

/* Ops. */

/* The registry's row that the comma list ends with. */
static const qn_op *last_op(const char *list)
{
    const char *comma = strrchr(list, ',');

    return qn_op_find(comma ? comma + 1 : list);
}

static int is_map(const qn_op *op)
{
    return !strncmp(qn_op_name(op), "map_", 4);
}

static qn_status compare(const qn_case *c, const char *type, const void *want, size_t n_want,
                         const void *got, size_t n_got, qn_err *err)
{
    qn_diff diff;

    if (n_want != n_got)
        return qn_fail(err, QN_ERR_MISMATCH, "%zu bytes, not %zu", n_got, n_want);
    diff = qn_op_compare(last_op(c->ops), type, want, got, n_want);
    if (!diff.mismatched)
        return QN_OK;
    return qn_fail(err, QN_ERR_MISMATCH, "%zu of %zu elements differ, first at %zu, worst by %g",
                   diff.mismatched, diff.checked, diff.first, diff.max_abs);
}

static qn_status check_case(qn_ctx *reference, qn_ctx *ctx, const char *device, const qn_case *c,
                            qn_err *err)
{
    void *want = NULL, *got = NULL;
    size_t n_want = 0, n_got = 0;
    const char *type;
    qn_status st = QN_OK;

    QN_TRY(qn_case_run(reference, "cpu", c, &type, &want, &n_want, err));
    QN_TRY(qn_case_run(ctx, device, c, &type, &got, &n_got, err));
    QN_TRY(compare(c, type, want, n_want, got, n_got, err));
out:
    free(want);
    free(got);
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
    if (qn_op_is_cpu_only(op) && device != QN_CPU_SLOT)
        return qn_selftest_skip(findings, name, id, "runs on the CPU only", err);
    const qn_status found = check_case(reference, ctx, id, c, &why);
    return qn_selftest_note(findings, name, id, found, &why, err);
}

static int is_covered(const qn_op *op)
{
    int is_in = is_map(op);

    for (const qn_case *c = qn_cases; c->name; c++)
        is_in |= qn_list_has(c->ops, qn_op_name(op));
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
        snprintf(name, sizeof name, "parity: %.32s", qn_op_name(op));
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
    void *got = NULL;
    size_t bytes;
    qn_status st = qn_fixture_open(ctx, &fixture, err);

    if (st == QN_OK)
        st = (fixture.out = qn_fixture_new(&fixture, sizeof want)) ? QN_OK : QN_ERR_NOMEM;
    if (st == QN_OK)
        st = stage_selftest_echo(fixture.graph, "echo", qn_range_1d(1), 42, p, -1.0f, fixture.out,
                                 err);
    if (st != QN_OK) {
        goto out;
    }
    QN_TRY(qn_fixture_run(&fixture, device, &got, &bytes, err));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (((uint32_t *)got)[i] != want[i]) {
            st = qn_fail(err, QN_ERR_MISMATCH, "word %zu of the parameters is %08x, not %08x", i,
                         ((uint32_t *)got)[i], want[i]);
            break;
        }
out:
    free(got);
    qn_fixture_close(&fixture);
    return st;
}

/* Every point of the range is visited once, for any shape. */
static qn_status check_visits(qn_ctx *ctx, const char *device, i32 cols, i32 rows, qn_err *err)
{
    const size_t n = (size_t)cols * (size_t)rows;
    qn_fixture fixture = { 0 };
    void *seen = NULL;
    size_t bytes;
    qn_status st = qn_fixture_open(ctx, &fixture, err);

    if (st == QN_OK)
        st = (fixture.out = qn_fixture_new(&fixture, n * sizeof(uint32_t))) ? QN_OK : QN_ERR_NOMEM;
    if (st == QN_OK)
        st = stage_selftest_visit(fixture.graph, "visit", qn_range_2d(cols, rows), cols, rows,
                                  fixture.out, err);
    if (st != QN_OK) {
        goto out;
    }
    QN_TRY(qn_fixture_run(&fixture, device, &seen, &bytes, err));
    for (size_t i = 0; i < n; i++)
        if (((uint32_t *)seen)[i] != 1) {
            st = qn_fail(err, QN_ERR_MISMATCH, "%d x %d: point %zu was visited %u times", cols,
                         rows, i, ((uint32_t *)seen)[i]);
            break;
        }
out:
    free(seen);
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
