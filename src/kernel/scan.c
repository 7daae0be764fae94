/* scan.c - exclusive prefix sum of i32: y[i] = x[0] + ... + x[i - 1].
 *
 * Three stages: scan_part sums chunks of SCAN_CHUNK elements and scans inside them, scan_join turns
 * the sums of the chunks into offsets, scan_add adds these. Integer sums wrap around, so results do
 * not depend on the order.
 */
#include "dialect.h"
#include "scan.h"

#define PER_LANE (SCAN_CHUNK / LANES)

/* One step of a scan over the lanes' values in `sum`; `other` stores the value a lane has read,
 * since another lane overwrites it. */
#define SCAN_LANES(sum, other)                                                                     \
    for (i32 w = 1; w < LANES; w *= 2) {                                                           \
        EACH_LANE P(other) = LANE >= w ? sum[LANE - w] : 0;                                        \
        SYNC;                                                                                      \
        EACH_LANE sum[LANE] += P(other);                                                           \
        SYNC;                                                                                      \
    }

/* x: chunks of n elements. */
GROUP(scan_part, VAL(i64, n), IN(i32, x), OUT(i32, y), OUT(i32, part))
{
    LOCAL(i32, tile, SCAN_CHUNK);
    LOCAL(i32, sum, LANES);
    PRIV(i32, other);
    const i64 from = (i64)GROUP_X * SCAN_CHUNK;

    for (i32 j = 0; j < SCAN_CHUNK; j += LANES)
        EACH_LANE tile[j + LANE] = from + j + LANE < n ? x[from + j + LANE] : 0;
    SYNC;
    EACH_LANE
    {
        i32 s = 0;

        for (i32 j = 0; j < PER_LANE; j++) {
            const i32 v = tile[LANE * PER_LANE + j];

            tile[LANE * PER_LANE + j] = s;
            s += v;
        }
        sum[LANE] = s;
    }
    SYNC;
    SCAN_LANES(sum, other)
    for (i32 j = 0; j < SCAN_CHUNK; j += LANES)
        EACH_LANE
        {
            const i32 before = (j + LANE) / PER_LANE;

            if (from + j + LANE < n)
                y[from + j + LANE] = tile[j + LANE] + (before > 0 ? sum[before - 1] : 0);
        }
    EACH_LANE if (LANE == 0) part[GROUP_X] = sum[LANES - 1];
}

/* One group. Sums of n chunks become offsets of chunks; `total` gets the sum of everything. */
GROUP(scan_join, VAL(i32, n), INOUT(i32, part), OUT(i32, total))
{
    LOCAL(i32, sum, LANES);
    PRIV(i32, other);
    PRIV(i32, own);
    PRIV(i32, carry);

    EACH_LANE P(carry) = 0;
    for (i32 k = 0; k < n; k += LANES) {
        EACH_LANE
        {
            P(own) = k + LANE < n ? part[k + LANE] : 0;
            sum[LANE] = P(own);
        }
        SYNC;
        SCAN_LANES(sum, other)
        EACH_LANE
        {
            if (k + LANE < n)
                part[k + LANE] = P(carry) + sum[LANE] - P(own);
            P(carry) += sum[LANES - 1];
        }
        SYNC;
    }
    EACH_LANE if (LANE == 0) total[0] = P(carry);
}

MAP(scan_add, UNROLL(4), IN(i32, part), INOUT(i32, y))
{
    y[gx] += part[gx / SCAN_CHUNK];
}
