/* sw_gvf_geometry.c - how far each of 18 rays gets over open ground; computed once for a surface.
 *
 * Lanes are along a row and take the steps of a ray together: a step is then the same offset for
 * all of them, and reads are contiguous.
 */
#define LANES 128
#include "dialect.h"
#include "sw_gvf.h"
#include "sw_moment.h"

/* Makes rasters with a border: 1 where a ray continues, and the albedo, which is -1 beyond the
 * grid. */
MAP(sw_gvf_pad, VAL(sw_gvf_par, p), IN(u8, buildings), IN(float, albedo), OUT(float, open),
    OUT(float, ground))
{
    const i32 x = gx - p.pad, y = gy - p.pad;
    const i32 is_inside = (x >= 0) & (x < p.cols) & (y >= 0) & (y < p.rows);
    const i64 at = (i64)clamp_i32(y, 0, p.rows - 1) * p.cols + clamp_i32(x, 0, p.cols - 1);
    const i64 out = (i64)gy * p.stride + gx;

    open[out] = is_inside && buildings[at] == 0 ? 0.0f : 1.0f;
    ground[out] = is_inside ? albedo[at] : -1.0f;
}

/* Bit k: a sunlit wall here does not count in the far part of ray k, since it faces the ray. */
MAP(sw_gvf_face, VAL(sw_gvf_par, p), VAL(sw_gvf_sectors, s), IN(float, wall_height),
    IN(float, aspect), OUT(u32, face))
{
    const i64 at = (i64)gy * p.cols + gx;
    const float angle = aspect[at] * s.unit, turn = 6.28318530718f;
    const i32 is_wall = wall_height[at] > 0.0f;
    u32 bits = 0;

    for (i32 k = 0; k < SW_RAYS; k++) {
        const float low = s.low[k], high = s.high[k];
        const i32 is_within = (angle >= low) & (angle < high) & is_wall;
        const i32 is_below = (angle > low + turn) | (angle <= high);
        const i32 is_above = (angle > low) | (angle <= high - turn);
        const i32 is_faced = low >= 0.0f ? (high < turn ? is_within : is_above)
                                         : (high <= turn ? is_below : is_above);

        bits |= (u32)is_faced << k;
    }
    face[at] = bits;
}

/* The length of each ray, and the unshaded albedo that a person sees. */
GROUP(sw_gvf_geometry, VAL(sw_gvf_par, p), IN(i32, offset), IN(float, open), IN(float, ground),
      OUT(u8, block), OUT(float, nosh))
{
    PRIV(float, is_open);
    PRIV(float, last);
    PRIV(float, sum);
    PRIV(float, near);
    PRIV(float, sector);
    PRIV(float, all);
    PRIV(i32, edge);
    const i32 from = GROUP_X * LANES, n = MIN(LANES, p.cols - from);
    const i64 at = (i64)GROUP_Y * p.cols + from;
    const i64 here = (i64)(GROUP_Y + p.pad) * p.stride + from + p.pad;

    EACH_LANE_BELOW(n) P(all) = 0.0f;
    for (i32 quarter = 0; quarter < 4; quarter++) {
        EACH_LANE_BELOW(n) P(sector) = 0.0f;
        for (i32 k = SW_FIRST_RAY(quarter); k < SW_FIRST_RAY(quarter + 1); k++) {
            EACH_LANE_BELOW(n)
            {
                P(is_open) = open[here + LANE];
                P(last) = 0.0f;
                P(sum) = 0.0f;
                P(near) = 0.0f;
                P(edge) = p.second;
            }
            for (i32 j = 0; j < p.second; j++) {
                const i64 q = here + offset[k * p.n_table + j];
                const i32 is_near = j < p.first;

                EACH_LANE_BELOW(n)
                {
                    const float albedo = ground[q + LANE], clear = open[q + LANE];
                    const float seen = albedo < 0.0f ? P(last) : albedo;
                    const float f = MIN(P(is_open), clear);
                    const i32 stop = f == 0.0f ? j : p.second;

                    P(last) = seen;
                    P(is_open) = f;
                    P(sum) += seen * f;
                    P(near) = is_near ? P(sum) : P(near);
                    P(edge) = MIN(P(edge), stop);
                }
            }
            EACH_LANE_BELOW(n)
            {
                const i32 rest = p.second - P(edge), near_rest = MAX(p.first - P(edge), 0);
                const float wall = (float)rest * p.wall_albedo;
                const float near_wall = (float)near_rest * p.wall_albedo;
                const float g1 =
                    near_rest > 0 ? (near_wall + P(near)) * p.near_wall : P(near) * p.near_plain;
                const float g2 = (wall + P(sum)) * p.far_plain;

                block[k * p.plane + at + LANE] = (u8)(P(edge) & 255);
                P(sector) += 0.5f * g1 + 0.4f * g2;
            }
            if (p.second > 255)
                EACH_LANE_BELOW(n) block[(SW_RAYS + k) * p.plane + at + LANE] = (u8)(P(edge) >> 8);
        }
        EACH_LANE_BELOW(n)
        {
            P(all) += P(sector);
            if (p.n_dirs == SW_DIRS)
                nosh[(quarter + 1) * p.plane + at + LANE] = P(sector);
        }
    }
    EACH_LANE_BELOW(n)
    {
        const float b = open[here + LANE], own = ground[here + LANE] * (1.0f - b);

        nosh[at + LANE] = P(all) * (1.0f / (18.0f * 0.9f)) * b + own;
        if (p.n_dirs == SW_DIRS) {
            const float ne = nosh[p.plane + at + LANE], es = nosh[2 * p.plane + at + LANE];
            const float sw = nosh[3 * p.plane + at + LANE], wn = nosh[4 * p.plane + at + LANE];
            const float scale = 1.0f / (9.0f * 0.9f) * b;

            nosh[SW_N * p.plane + at + LANE] = (wn + ne) * scale + own;
            nosh[SW_E * p.plane + at + LANE] = (ne + es) * scale + own;
            nosh[SW_S * p.plane + at + LANE] = (es + sw) * scale + own;
            nosh[SW_W * p.plane + at + LANE] = (sw + wn) * scale + own;
        }
    }
}
