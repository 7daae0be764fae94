/* sw_gvf_umep.c - ground view factors as computed by UMEP, for checks only.
 *
 * It differs from sw_gvf_thermal in three ways: only walls in full sun count, beyond the grid a ray
 * repeats the last pixel, and wall aspects are in radians (as set in sw_gvf_face).
 */
#include "dialect.h"
#include "sw_gvf.h"
#include "sw_math.h"
#include "sw_moment.h"

/* row_col: row and column offset of each step. */
MAP(sw_gvf_umep, VAL(sw_gvf_par, p), IN(i32, now), IN(sw_moment, steps), IN(i32, row_col),
    IN(u32, face), IN(u8, buildings), IN(float, emissivity), IN(float, wall_height),
    IN(float, wall_sun), IN(float, excess), IN(float, reflect), OUT(float, lup), OUT(float, alb))
{
    const i64 at = (i64)gy * p.cols + gx;
    const i64 own = (i64)(gy + p.pad) * p.stride + gx + p.pad;
    const float wall_l = steps[now[0]].wall_excess;
    const float closed = buildings[at] ? 0.0f : 1.0f;
    float sum_l = 0.0f, sum_a = 0.0f;

    for (i32 k = 0; k < SW_RAYS; k++) {
        float open = buildings[at] ? 1.0f : 0.0f, l = 0.0f, a = 0.0f, seen_l = 0.0f, seen_a = 0.0f;
        float near_l = 0.0f, near_a = 0.0f;
        i32 walls = 0, near_walls = 0, is_sunlit = 0, is_latched = 0;

        for (i32 j = 0; j < p.second; j++) {
            const i32 y = gy + row_col[2 * (k * p.second + j)];
            const i32 x = gx + row_col[2 * (k * p.second + j) + 1];

            if (y >= 0 && y < p.rows && x >= 0 && x < p.cols) {
                const i64 q = (i64)y * p.cols + x;
                const i64 padded = (i64)(y + p.pad) * p.stride + x + p.pad;
                const float part = wall_sun[q] / wall_height[q] * (buildings[q] ? 1.0f : 0.0f);

                open = buildings[q] ? open : 0.0f;
                seen_l = excess[padded];
                seen_a = fabs(reflect[padded]);
                is_sunlit = wall_height[q] > 0.0f && fabs(part - 1.0f) < 1e-6f;
            }
            l += seen_l * open;
            a += seen_a * open;
            is_latched |= is_sunlit && open > 0.0f;
            walls += is_latched;
            if (j + 1 == p.first) {
                near_l = l;
                near_a = a;
                near_walls = walls;
            }
        }
        {
            const i32 is_faced = walls == p.second && (face[at] >> k & 1u);
            const float counted = is_faced ? 0.0f : (float)walls;
            const float near_scale = near_walls > 0 ? p.near_wall : p.near_plain;
            const float scale = walls > 0 ? p.far_wall : p.far_plain;

            near_l = ((float)near_walls * wall_l + near_l) * near_scale;
            near_a = ((float)near_walls * p.wall_albedo + near_a) * near_scale;
            sum_l += 0.5f * near_l + 0.4f * (counted * wall_l + l) * scale;
            sum_a += 0.5f * near_a + 0.4f * (counted * p.wall_albedo + a) * scale;
        }
    }
    lup[at] = sum_l * (1.0f / (18.0f * 0.9f)) + excess[own] * closed +
              emissivity[at] * steps[now[0]].air4;
    alb[at] = sum_a * (1.0f / (18.0f * 0.9f)) + fabs(reflect[own]) * closed;
}
