/* test_geometry.c - every point of a range is launched exactly once, within the limits. */
#include "test.h"

#include "hal/geometry.h"

/* A fake device that records launches. */
struct qn_dev {
    qn_range want; /* the box that launches are expected to tile, x fastest */
    qn_device_info info;
    qn_i64 n_launches, points;
    qn_launch first, last;
    int is_lattice; /* every span begins where the one before it ended */
    int fail_at;    /* number of the launch to refuse, from 1; 0 = none */
};

static qn_i64 volume(const qn_span *s)
{
    return ((qn_i64)s->x1 - s->x0) * ((qn_i64)s->y1 - s->y0) * ((qn_i64)s->z1 - s->z0);
}

/* Points along each axis that the grid of a launch reaches. */
static void reach(const qn_launch *call, qn_i64 out[3])
{
    const int form = call->kernel->form;

    for (int i = 0; i < 3; i++)
        out[i] = form == QN_FORM_MAP ? call->group[i] : 1;
    if (form == QN_FORM_MAP)
        out[0] *= call->kernel->unroll;
    if (form == QN_FORM_TEAM)
        out[0] = call->group[1];
}

static void check_fit(const qn_dev *dev, const qn_launch *call)
{
    const qn_i64 size[3] = { (qn_i64)call->span.x1 - call->span.x0,
                             (qn_i64)call->span.y1 - call->span.y0,
                             (qn_i64)call->span.z1 - call->span.z0 };
    qn_i64 each[3];

    reach(call, each);
    assert_true(call->group[0] * call->group[1] * call->group[2] <= dev->info.max_group);
    for (int i = 0; i < 3; i++) {
        assert_true(size[i] > 0);
        assert_in_range(call->grid[i], 1, dev->info.max_grid[i]);
        assert_true(each[i] * call->grid[i] >= size[i]);
        assert_true(each[i] * (call->grid[i] - 1) < size[i]);
    }
}

/* In a row-major lattice a span continues its row, begins the next row, or the next layer. */
static int follows(const qn_dev *dev, const qn_span *a, const qn_span *b)
{
    const qn_range *w = &dev->want;

    if (a->x1 < w->x1)
        return b->x0 == a->x1 && b->y0 == a->y0 && b->y1 == a->y1 && b->z0 == a->z0 &&
               b->z1 == a->z1;
    if (a->y1 < w->y1)
        return b->x0 == w->x0 && b->y0 == a->y1 && b->z0 == a->z0 && b->z1 == a->z1;
    return b->x0 == w->x0 && b->y0 == w->y0 && b->z0 == a->z1;
}

static qn_status note(qn_dev *dev, const qn_launch *call, qn_err *err)
{
    if (dev->fail_at && dev->n_launches + 1 == dev->fail_at)
        return qn_fail(err, QN_ERR_LAUNCH, "refused");
    check_fit(dev, call);
    if (dev->n_launches == 0)
        dev->first = *call;
    else
        dev->is_lattice = dev->is_lattice && follows(dev, &dev->last.span, &call->span);
    dev->last = *call;
    dev->n_launches++;
    dev->points += volume(&call->span);
    return QN_OK;
}

static const qn_backend fake = { .name = "fake", .launch = note };
static const qn_backend fake_sharing = { .name = "fake", .teams_share_group = 1, .launch = note };

static const qn_kernel_info map_kernel = { .name = "m", .form = QN_FORM_MAP, .unroll = 1 };
static const qn_kernel_info map4_kernel = { .name = "m4", .form = QN_FORM_MAP, .unroll = 4 };
static const qn_kernel_info fold_kernel = {
    .name = "f", .form = QN_FORM_MAP, .unroll = 1, .folds = 1
};
static const qn_kernel_info group_kernel = {
    .name = "g", .form = QN_FORM_GROUP, .unroll = 1, .lanes = 512
};
static const qn_kernel_info team_kernel = { .name = "t", .form = QN_FORM_TEAM, .unroll = 1 };

static qn_dev device(uint32_t max_group, uint32_t gx, uint32_t gy, uint32_t gz)
{
    qn_dev dev = { .is_lattice = 1 };

    dev.info.max_group = max_group;
    dev.info.max_grid[0] = gx;
    dev.info.max_grid[1] = gy;
    dev.info.max_grid[2] = gz;
    return dev;
}

static qn_status launch(const qn_backend *backend, qn_dev *dev, const qn_kernel_info *kernel,
                        qn_range range, int team_lanes, int *n, qn_err *err)
{
    qn_launch call = { .kernel = kernel };

    dev->want = range;
    return qn_launch_range(backend, dev, &dev->info, &call, &range, team_lanes, n, err);
}

static void expect_tiled(qn_dev *dev, const qn_kernel_info *kernel, qn_range range)
{
    const qn_i64 points = (range.x1 - range.x0) * (range.y1 - range.y0) * (range.z1 - range.z0);
    const qn_span *a = &dev->first.span, *b = &dev->last.span;
    int n = -1;

    assert_int_equal(launch(&fake, dev, kernel, range, 0, &n, NULL), QN_OK);
    assert_int_equal(n, dev->n_launches);
    assert_true(dev->is_lattice);
    assert_int_equal(dev->points, points);
    assert_true(a->x0 == range.x0 && a->y0 == range.y0 && a->z0 == range.z0);
    assert_true(b->x1 == range.x1 && b->y1 == range.y1 && b->z1 == range.z1);
}

static void expect_group(const qn_dev *dev, uint32_t x, uint32_t y, uint32_t z)
{
    assert_int_equal(dev->last.group[0], x);
    assert_int_equal(dev->last.group[1], y);
    assert_int_equal(dev->last.group[2], z);
}

static void shapes_are_tiled_on_every_device(void **state)
{
    static const qn_range ranges[] = {
        { 0, 1, 0, 4194307, 0, 1 },    { 0, 4194307, 0, 1, 0, 1 },   { 0, 70000, 0, 3, 0, 1 },
        { 0, 3, 0, 70000, 0, 1 },      { 0, 46341, 0, 46341, 0, 1 }, { 0, 1, 0, 1, 0, 1 },
        { 5, 1030, -3, 77, 2, 9 },     { 0, 7, 0, 5, 0, 100000 },    { 0, QN_MAX_AXIS, 0, 1, 0, 1 },
        { -7, 4194300, 0, 1, 11, 12 },
    };
    static const uint32_t limits[][4] = {
        { 1024, INT32_MAX, 65535, 65535 },
        { 1024, 65535, 65535, 65535 },
        { 256, 4096, 4096, 64 },
        { 96, UINT32_MAX, UINT32_MAX, UINT32_MAX },
    };

    (void)state;
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
            qn_dev dev = device(limits[l][0], limits[l][1], limits[l][2], limits[l][3]);

            expect_tiled(&dev, &map_kernel, ranges[r]);
            if (limits[l][0] >= 256) {
                dev = device(limits[l][0], limits[l][1], limits[l][2], limits[l][3]);
                expect_tiled(&dev, &map4_kernel, ranges[r]);
            }
        }
}

static void tiny_grids_cover_large_ranges_in_parts(void **state)
{
    qn_dev dev = device(256, 4, 4, 1);

    (void)state;
    expect_tiled(&dev, &map_kernel, qn_range_2d(46341, 46341));
    assert_int_equal(dev.n_launches, 363 * 1449); /* parts of 4*32 by 4*8 points */

    dev = device(256, 4, 4, 1);
    expect_tiled(&dev, &map_kernel, qn_range_1d(4194307));
    assert_int_equal(dev.n_launches, 4097); /* parts of 4*256 points */

    dev = device(1024, 4, 4, 1);
    expect_tiled(&dev, &group_kernel, qn_range_3d(9, 5, 3));
    assert_int_equal(dev.n_launches, 3 * 2 * 3);
}

/* Independent of the order of launches: every cell of a small box is counted. */
static unsigned char cells[64 * 64];

static qn_status count_cells(qn_dev *dev, const qn_launch *call, qn_err *err)
{
    (void)dev;
    (void)err;
    for (int y = call->span.y0; y < call->span.y1; y++)
        for (int x = call->span.x0; x < call->span.x1; x++)
            cells[y * 64 + x]++;
    return QN_OK;
}

static void every_point_is_covered_exactly_once(void **state)
{
    const qn_backend counting = { .name = "fake", .launch = count_cells };

    (void)state;
    for (uint32_t grid = 1; grid <= 4; grid++)
        for (qn_i64 nx = 1; nx <= 64; nx += 9) {
            qn_dev dev = device(16, grid, grid, 1);

            memset(cells, 0, sizeof cells);
            assert_int_equal(
                launch(&counting, &dev, &map_kernel, qn_range_2d(nx, 65 - nx), 0, NULL, NULL),
                QN_OK);
            for (qn_i64 i = 0; i < 64 * 64; i++)
                assert_int_equal(cells[i], i % 64 < nx && i / 64 < 65 - nx);
        }
}

static void groups_follow_the_shape_of_the_range(void **state)
{
    qn_dev dev = device(1024, INT32_MAX, 65535, 65535);

    (void)state;
    launch(&fake, &dev, &map_kernel, qn_range_1d(100000), 0, NULL, NULL);
    expect_group(&dev, 256, 1, 1);
    launch(&fake, &dev, &map_kernel, qn_range_2d(1000, 1000), 0, NULL, NULL);
    expect_group(&dev, 32, 8, 1);
    launch(&fake, &dev, &map_kernel, qn_range_3d(64, 64, 64), 0, NULL, NULL);
    expect_group(&dev, 32, 8, 1);
    launch(&fake, &dev, &map_kernel, qn_range_2d(3, 70000), 0, NULL, NULL);
    expect_group(&dev, 4, 64, 1);
    launch(&fake, &dev, &map_kernel, qn_range_2d(70000, 3), 0, NULL, NULL);
    expect_group(&dev, 64, 4, 1);
    launch(&fake, &dev, &map_kernel, qn_range_2d(1, 4194307), 0, NULL, NULL);
    expect_group(&dev, 1, 256, 1);
    launch(&fake, &dev, &map4_kernel, qn_range_2d(3, 70000), 0, NULL, NULL);
    expect_group(&dev, 256, 1, 1);
    launch(&fake, &dev, &group_kernel, qn_range_1d(10), 0, NULL, NULL);
    expect_group(&dev, 512, 1, 1);
}

static void small_devices_get_small_groups(void **state)
{
    qn_dev dev = device(64, INT32_MAX, 65535, 65535);

    (void)state;
    launch(&fake, &dev, &map_kernel, qn_range_1d(100000), 0, NULL, NULL);
    expect_group(&dev, 64, 1, 1);
    launch(&fake, &dev, &map_kernel, qn_range_2d(1000, 1000), 0, NULL, NULL);
    expect_group(&dev, 32, 2, 1);
    dev.info.max_group = 1;
    launch(&fake, &dev, &map_kernel, qn_range_2d(10, 10), 0, NULL, NULL);
    expect_group(&dev, 1, 1, 1);
}

static void teams_share_a_group_where_the_backend_allows(void **state)
{
    qn_dev dev = device(1024, INT32_MAX, 65535, 65535);
    qn_err err;

    (void)state;
    launch(&fake, &dev, &team_kernel, qn_range_1d(1001), 16, NULL, NULL);
    expect_group(&dev, 16, 1, 1);
    assert_int_equal(dev.last.grid[0], 1001);
    launch(&fake_sharing, &dev, &team_kernel, qn_range_1d(1001), 16, NULL, NULL);
    expect_group(&dev, 16, 16, 1);
    assert_int_equal(dev.last.grid[0], 63);
    launch(&fake_sharing, &dev, &team_kernel, qn_range_1d(5), 256, NULL, NULL);
    expect_group(&dev, 256, 1, 1);
    assert_int_equal(launch(&fake, &dev, &team_kernel, qn_range_1d(5), 2048, NULL, &err),
                     QN_ERR_LIMIT);
}

static void groups_beyond_the_device_limit_are_refused(void **state)
{
    qn_dev dev = device(128, INT32_MAX, 65535, 65535);
    qn_err err;

    (void)state;
    assert_int_equal(launch(&fake, &dev, &group_kernel, qn_range_1d(5), 0, NULL, &err),
                     QN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "group of 512 exceeds device limit 128"));
    assert_int_equal(launch(&fake, &dev, &map4_kernel, qn_range_1d(5), 0, NULL, &err),
                     QN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "group of 256 exceeds device limit 128"));
    assert_int_equal(dev.n_launches, 0);
}

static void empty_ranges_launch_nothing(void **state)
{
    qn_dev dev = device(256, 4, 4, 1);
    const qn_range empty[] = { { 0, 0, 0, 1, 0, 1 }, { 3, 3, 0, 9, 0, 1 }, { 0, 9, 5, 4, 0, 1 } };

    (void)state;
    for (int i = 0; i < 3; i++) {
        int n = -1;

        assert_int_equal(launch(&fake, &dev, &map_kernel, empty[i], 0, &n, NULL), QN_OK);
        assert_int_equal(n, 0);
    }
    assert_int_equal(dev.n_launches, 0);
}

static void long_1d_ranges_fold_for_kernels_that_use_gi(void **state)
{
    const qn_i64 row = QN_MAX_AXIS;
    const qn_range cases[] = {
        { 0, row + 1, 0, 1, 0, 1 },           { 0, 3 * row, 0, 1, 0, 1 },
        { 5, 3 * row + 7, 0, 1, 0, 1 },       { 2 * row + 3, 2 * row + 10, 0, 1, 0, 1 },
        { 2 * row, 4 * row + 1, 0, 1, 0, 1 }, { row - 1, row + 1, 0, 1, 0, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn_dev dev = device(1024, INT32_MAX, 65535, 65535);
        const qn_span *a = &dev.first.span, *b = &dev.last.span;

        assert_int_equal(launch(&fake, &dev, &fold_kernel, cases[i], 0, NULL, NULL), QN_OK);
        assert_int_equal(dev.points, cases[i].x1 - cases[i].x0);
        assert_int_equal(a->y0 * row + a->x0, cases[i].x0);
        assert_int_equal((b->y1 - 1) * row + b->x1, cases[i].x1);
        assert_true(dev.n_launches <= 3);
        expect_group(&dev, 256, 1, 1);
    }
}

static void ranges_beyond_the_axis_limit_are_refused(void **state)
{
    qn_dev dev = device(1024, INT32_MAX, 65535, 65535);
    const qn_i64 over = (qn_i64)QN_MAX_AXIS + 1;
    const qn_range bad[] = {
        { 0, over, 0, 1, 0, 1 },
        { 0, 2, 0, over, 0, 1 },
        { 0, 2, 0, 2, -over, 0 },
        { INT64_MIN, INT64_MAX, 0, 1, 0, 1 },
    };
    qn_err err;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(qn_range_check(&map_kernel, &bad[i], &err), QN_ERR_LIMIT);
        assert_int_equal(launch(&fake, &dev, &map_kernel, bad[i], 0, NULL, &err), QN_ERR_LIMIT);
        assert_non_null(strstr(err.text, "1073741824"));
    }
    assert_int_equal(qn_range_check(&fold_kernel, &bad[0], &err), QN_OK);
    assert_int_equal(qn_range_check(&fold_kernel, &bad[1], &err), QN_ERR_LIMIT);
    assert_int_equal(qn_range_check(&fold_kernel, &bad[3], &err), QN_ERR_LIMIT);
    assert_int_equal(dev.n_launches, 0);
}

static void a_refused_part_ends_the_launch(void **state)
{
    qn_dev dev = device(256, 4, 4, 1);
    qn_err err;

    (void)state;
    dev.fail_at = 3;
    assert_int_equal(launch(&fake, &dev, &map_kernel, qn_range_1d(10000), 0, NULL, &err),
                     QN_ERR_LAUNCH);
    assert_int_equal(dev.n_launches, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_tiled_on_every_device),
        cmocka_unit_test(tiny_grids_cover_large_ranges_in_parts),
        cmocka_unit_test(every_point_is_covered_exactly_once),
        cmocka_unit_test(groups_follow_the_shape_of_the_range),
        cmocka_unit_test(small_devices_get_small_groups),
        cmocka_unit_test(teams_share_a_group_where_the_backend_allows),
        cmocka_unit_test(groups_beyond_the_device_limit_are_refused),
        cmocka_unit_test(empty_ranges_launch_nothing),
        cmocka_unit_test(long_1d_ranges_fold_for_kernels_that_use_gi),
        cmocka_unit_test(ranges_beyond_the_axis_limit_are_refused),
        cmocka_unit_test(a_refused_part_ends_the_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
