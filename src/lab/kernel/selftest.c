/* selftest.c - kernels that record which points a launch visited and which arguments it got. For
 * tests and `quern selftest`.
 */
#include "dialect.h"
#include "selftest.h"

/* Writes the parameters as received, word by word. x: 1 point. */
MAP(selftest_echo, VAL(u32, first), VAL(selftest_par, p), VAL(float, last), OUT(u32, word))
{
    word[0] = first;
    word[1] = (u32)((u64)p.wide >> 32);
    word[2] = (u32)p.wide;
    word[3] = (u32)(p.mask >> 32);
    word[4] = (u32)p.mask;
    word[5] = (u32)p.count;
    word[6] = p.bits;
    word[7] = f32_bits(p.scale);
    word[8] = (u32)p.list[0];
    word[9] = (u32)p.list[4];
    word[10] = f32_bits(last);
    word[11] = (u32)(p.list[1] + p.list[2] + p.list[3]);
}

/* Counts the visits of each point of a grid. */
MAP(selftest_visit, VAL(i32, cols), VAL(i32, rows), INOUT(u32, seen))
{
    ATOMIC_ADD(&seen[((i64)gz * rows + gy) * cols + gx], 1u);
}

MAP(selftest_visit4, UNROLL(4), VAL(i32, cols), INOUT(u32, seen))
{
    ATOMIC_ADD(&seen[(i64)gy * cols + gx], 1u);
}

/* Counts the visits of every point whose number is a multiple of 2^20, for grids too large to count
 * each point. */
MAP(selftest_sparse, VAL(i32, cols), INOUT(u32, seen))
{
    const i64 at = (i64)gy * cols + gx;

    if ((at & 0xfffff) == 0)
        ATOMIC_ADD(&seen[at >> 20], 1u);
}

/* Counts such visits along one axis longer than 2^30. */
MAP(selftest_fold, INOUT(u32, seen))
{
    if ((GI & 0xfffff) == 0)
        ATOMIC_ADD(&seen[GI >> 20], 1u);
}

/* Counts the visits of each lane of each group; `cols` is the number of groups along x. */
GROUP(selftest_lanes, VAL(i32, cols), VAL(i32, rows), INOUT(u32, seen))
{
    LOCAL(u32, tile, LANES);

    EACH_LANE tile[LANE] = (u32)LANE;
    SYNC;
    EACH_LANE
    {
        const i64 group = ((i64)GROUP_Z * rows + GROUP_Y) * cols + GROUP_X;

        ATOMIC_ADD(&seen[group * LANES + LANE], tile[LANES - 1 - LANE] + 1u);
    }
}
