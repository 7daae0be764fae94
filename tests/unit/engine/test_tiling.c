/* test_tiling.c - tile sizes follow the budget and the largest array of a device. */
#include "engine_fixture.h"

#include "engine/memory/residency.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static void the_table_of_limits(void **state)
{
    static const struct {
        uint64_t budget, max_alloc, mem_free; /* of a device */
        int is_unified;
        uint64_t usable, tile, array; /* expected results */
    } table[] = {
        /* The budget decides; an array may be all of a tile. */
        { 8 * GIB, 16 * GIB, 10 * GIB, 0, 8 * GIB, 4 * GIB, 4 * GIB },
        /* The device allocates at most a quarter of its memory at once, as many do. */
        { 8 * GIB, 2560 * MIB, 10 * GIB, 0, 8 * GIB, 4 * GIB, 2560 * MIB },
        { 8 * GIB, 128 * MIB, 10 * GIB, 0, 8 * GIB, 4 * GIB, 128 * MIB },
        /* Exactly half, and one byte around it. */
        { 8 * GIB, 4 * GIB, 10 * GIB, 0, 8 * GIB, 4 * GIB, 4 * GIB },
        { 8 * GIB, 4 * GIB - 1, 10 * GIB, 0, 8 * GIB, 4 * GIB, 4 * GIB - 1 },
        { 8 * GIB, 4 * GIB + 1, 10 * GIB, 0, 8 * GIB, 4 * GIB, 4 * GIB },
        /* Half of an odd number is never more than half. */
        { 7, 100, 100, 0, 7, 3, 3 },
        { 1, 100, 100, 0, 1, 0, 0 },
        { 0, 100, 100, 0, 0, 0, 0 },
        /* A device that reports no largest array. */
        { 64 * MIB, 0, GIB, 0, 64 * MIB, 32 * MIB, 32 * MIB },
        /* In host memory: the free part of it; there is no budget. */
        { 0, 16 * GIB, 6 * GIB, 1, 6 * GIB, 3 * GIB, 3 * GIB },
        { 0, 2 * GIB, 6 * GIB, 1, 6 * GIB, 3 * GIB, 2 * GIB },
        /* Far beyond 32 bits. */
        { 1000 * GIB, 700 * GIB, 1000 * GIB, 0, 1000 * GIB, 500 * GIB, 500 * GIB },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const qn_device_info info = { .max_alloc = table[i].max_alloc,
                                      .mem_free = table[i].mem_free,
                                      .unified_memory = (uint8_t)table[i].is_unified };
        const qn_tile_limits l = qn_tile_limits_of(&info, table[i].budget);

        if (l.usable_bytes != table[i].usable || l.tile_bytes != table[i].tile ||
            l.array_bytes != table[i].array)
            fail_msg("row %zu: usable %llu, tile %llu, array %llu", i,
                     (unsigned long long)l.usable_bytes, (unsigned long long)l.tile_bytes,
                     (unsigned long long)l.array_bytes);
        assert_true(2 * l.tile_bytes <= l.usable_bytes);
        assert_true(l.array_bytes <= l.tile_bytes);
    }
}

static void a_device_is_asked_and_never_assumed(void **state)
{
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "sim", .mem_budget = "50%",
                                       .fault = "sim.mem=64M,sim.max_alloc=10M"));
    const qn_tile_limits device = qn_device_tiles(ctx, 1), cpu = qn_device_tiles(ctx, 0);

    (void)state;
    assert_int_equal(device.usable_bytes, 32 * MIB);
    assert_int_equal(device.tile_bytes, 16 * MIB);
    assert_int_equal(device.array_bytes, 10 * MIB);
    assert_int_equal(cpu.usable_bytes, qn_device_get(ctx, 0)->mem_free);
    assert_true(cpu.tile_bytes > 0 && cpu.array_bytes > 0);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_limits),
        cmocka_unit_test(a_device_is_asked_and_never_assumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
