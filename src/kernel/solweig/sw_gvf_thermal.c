/* sw_gvf_thermal.c - emission and reflection of the ground and walls that a person sees.
 *
 * Lanes are along a row, as in sw_gvf_geometry. A ray adds up open ground until it is blocked;
 * after the first sunlit wall, every step up to the last counts as a wall, blocked or not. So a ray
 * stops where it is blocked, and the walls of the remaining steps are added in one operation, or
 * subtracted if the last steps overshot the end. Several steps share one block of lanes, because
 * otherwise sums would go through memory after each step.
 */
#define LANES 128
#include "dialect.h"
#include "sw_gvf.h"
#include "sw_moment.h"

/* Sums of one ray of one lane; bit 31 of latch is set from the first sunlit wall on, and `walls`
 * counts steps with it set. */
typedef struct {
    float emitted, reflected;
    u32 latch;
    i32 walls;
} sw_ray;

/* Pixels beyond the edge are masked by bit operations; comparisons would take twice the
 * instructions. */
FN sw_ray sw_take(sw_ray r, i32 step, i32 edge, float excess, float reflect)
{
    const u32 open = (u32)((step - edge) >> 31);
    const u32 seen = f32_bits(reflect) & open;

    r.emitted += bits_f32(f32_bits(excess) & open);
    r.reflected += bits_f32(seen & 0x7fffffffu);
    r.latch |= seen;
    r.walls += (i32)(r.latch >> 31);
    return r;
}

#define TAKE(j)                                                                                    \
    ray = sw_take(ray, (j), P(edge), excess[here + offset[row + (j)] + LANE],                      \
                  reflect[here + offset[row + (j)] + LANE]);

#define PUT(ray)                                                                                   \
    P(sum_l) = (ray).emitted;                                                                      \
    P(sum_a) = (ray).reflected;                                                                    \
    P(latch) = (ray).latch;                                                                        \
    P(walls) = (ray).walls;

GROUP(sw_gvf_thermal, VAL(sw_gvf_par, p), IN(i32, now), IN(sw_moment, steps), IN(i32, offset),
      IN(u8, block), IN(u32, face), IN(u8, class_of), IN(u8, buildings), IN(float, emissivity),
      IN(float, excess), IN(float, reflect), OUT(float, lup), OUT(float, alb))
{
    PRIV(float, sum_l);
    PRIV(float, sum_a);
    PRIV(u32, latch);
    PRIV(i32, walls);
    PRIV(i32, edge);
    PRIV(float, near_l);
    PRIV(float, near_a);
    PRIV(float, sector_l);
    PRIV(float, sector_a);
    PRIV(float, all_l);
    PRIV(float, all_a);
    const i32 from = GROUP_X * LANES, n = MIN(LANES, p.cols - from);
    const i64 at = (i64)GROUP_Y * p.cols + from;
    const i64 here = (i64)(GROUP_Y + p.pad) * p.stride + from + p.pad;
    const float wall_l = steps[now[0]].wall_excess, wall_a = p.wall_albedo;

    EACH_LANE
    {
        P(all_l) = 0.0f;
        P(all_a) = 0.0f;
        P(edge) = 0;
    }
    for (i32 quarter = 0; quarter < 4; quarter++) {
        EACH_LANE
        {
            P(sector_l) = 0.0f;
            P(sector_a) = 0.0f;
        }
        for (i32 k = SW_FIRST_RAY(quarter); k < SW_FIRST_RAY(quarter + 1); k++) {
            const i64 row = (i64)k * p.n_table;
            i32 any, j;

            EACH_LANE_BELOW(n)
            {
                P(edge) = block[k * p.plane + at + LANE];
                P(sum_l) = 0.0f;
                P(sum_a) = 0.0f;
                P(latch) = 0u;
                P(walls) = 0;
            }
            if (p.second > 255)
                EACH_LANE_BELOW(n) P(edge) += 256 * block[(SW_RAYS + k) * p.plane + at + LANE];
            for (j = 0; j < p.first; j++)
                EACH_LANE_BELOW(n)
                {
                    sw_ray ray = { P(sum_l), P(sum_a), P(latch), P(walls) };

                    TAKE(j)
                    PUT(ray)
                }
            EACH_LANE_BELOW(n)
            {
                const float counted = (float)P(walls);
                const float scale = P(walls) > 0 ? p.near_wall : p.near_plain;

                P(near_l) = (counted * wall_l + P(sum_l)) * scale;
                P(near_a) = (counted * wall_a + P(sum_a)) * scale;
            }
            for (j = p.first; j < p.second; j += SW_GVF_CHUNK) {
                ANY_LANE(any)
                {
                    any |= P(edge) > j;
                }
                if (!any)
                    break;
                EACH_LANE_BELOW(n)
                {
                    sw_ray ray = { P(sum_l), P(sum_a), P(latch), P(walls) };

                    TAKE(j)
                    TAKE(j + 1)
                    TAKE(j + 2)
                    TAKE(j + 3)
                    PUT(ray)
                }
            }
            EACH_LANE_BELOW(n)
            {
                const i32 rest = (i32)(P(latch) >> 31) * (p.second - j);
                const i32 n_walls = P(walls) + rest;
                const i32 faced = (i32)(face[at + LANE] >> k & 1u);
                const i32 dropped = n_walls == p.second ? faced : 0;
                const float counted = (float)(n_walls * (1 - dropped));
                const float scale = n_walls > 0 ? p.far_wall : p.far_plain;
                const float far_l = (counted * wall_l + P(sum_l)) * scale;
                const float far_a = (counted * wall_a + P(sum_a)) * scale;

                P(sector_l) += 0.5f * P(near_l) + 0.4f * far_l;
                P(sector_a) += 0.5f * P(near_a) + 0.4f * far_a;
            }
        }
        EACH_LANE_BELOW(n)
        {
            P(all_l) += P(sector_l);
            P(all_a) += P(sector_a);
            if (p.n_dirs == SW_DIRS) {
                lup[(quarter + 1) * p.plane + at + LANE] = P(sector_l);
                alb[(quarter + 1) * p.plane + at + LANE] = P(sector_a);
            }
        }
    }
    EACH_LANE_BELOW(n)
    {
        const float closed = buildings[at + LANE] ? 0.0f : 1.0f;
        const float air = emissivity[at + LANE] * steps[now[0]].air4;
        const float own = class_of[at + LANE] == p.water ? 0.0f : excess[here + LANE];
        const float own_l = own * closed + air;
        const float own_a = fabs(reflect[here + LANE]) * closed;
        const float all = 1.0f / (18.0f * 0.9f), side = 1.0f / (9.0f * 0.9f);

        lup[at + LANE] = P(all_l) * all + own_l;
        alb[at + LANE] = P(all_a) * all + own_a;
        if (p.n_dirs == SW_DIRS) {
            const i64 ne = p.plane + at + LANE, es = ne + p.plane, sw = es + p.plane,
                      wn = sw + p.plane;
            const float l0 = lup[ne], l1 = lup[es], l2 = lup[sw], l3 = lup[wn];
            const float a0 = alb[ne], a1 = alb[es], a2 = alb[sw], a3 = alb[wn];

            lup[ne] = (l3 + l0) * side + own_l;
            lup[es] = (l0 + l1) * side + own_l;
            lup[sw] = (l1 + l2) * side + own_l;
            lup[wn] = (l2 + l3) * side + own_l;
            alb[ne] = (a3 + a0) * side + own_a;
            alb[es] = (a0 + a1) * side + own_a;
            alb[sw] = (a1 + a2) * side + own_a;
            alb[wn] = (a2 + a3) * side + own_a;
        }
    }
}
