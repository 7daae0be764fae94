/* sw_sun_body.h - body of the kernels that march towards one sun; see sw_sun.c.
 *
 * Pixels beside a wall continue after they are shaded, since the wall above them may be sunlit,
 * until the shade is higher than the wall. For other pixels the march ends at the first shade.
 */
const sw_ray ray = rays[which[0]];
const i64 core_cells = (i64)par.core_rows * par.core_cols;
const i32 is_quick = (par.exits & (SW_EXIT_ABOVE | SW_EXIT_LEGS)) == (SW_EXIT_ABOVE | SW_EXIT_LEGS);
PRIV(float, ground);
PRIV(float, limit);
PRIV(float, rise);   /* height of the shade */
PRIV(float, leaves); /* height of the shade of leaves */
PRIV(float, wall);
PRIV(i32, away); /* called face in the reference */
PRIV(i32, shade);
PRIV(i32, leaf);

EACH_LANE
{
    const i64 at = (i64)ROW * par.cols + COL;
    const float height = IN_CORE ? dsm[at] : NAN;
    const float w = IN_CORE && par.has_walls ? wall_height[at] : 0.0f;
    const float a = IN_CORE && par.has_walls ? wall_aspect[at] : 0.0f;

    P(ground) = height;
    P(limit) = height == height ? height : INFINITY;
    P(rise) = height;
    P(leaves) = IN_CORE && par.has_veg ? canopy[at] : NAN;
    P(wall) = w;
    P(away) = facing_away(ray, w, a);
    P(shade) = 0;
    P(leaf) = 0;
}
for (i32 j = 0; j < ray.n_legs; j++) {
    const sw_leg leg = legs[ray.leg + j];
    const i64 at_step = (i64)(ray.leg + j) * SW_LEG_STEPS;
    i32 seen, has_leaves;

    const i32 is_whole = is_leg_inside(par, leg, FIRST_ROW, FIRST_COL);

    if (is_whole & is_quick) {
        ANY_LANE(seen)
        {
            const i64 at = (i64)(ROW + leg.row0) * par.cols + (COL + leg.col0);

            seen |= look_at_leg(par, leg.prev, top[at], P(limit));
        }
    } else {
        ANY_LANE(seen)
        {
            seen |= look_at_edge(par, leg, top, ROW, COL, P(limit));
        }
    }
    if (!(seen & LEG_ALIVE))
        break;
    if (!(seen & LEG_NEEDED))
        continue;
    has_leaves = par.has_veg;
    if (is_whole && par.has_veg && (par.exits & SW_EXIT_LEAVES)) {
        ANY_LANE(has_leaves)
        {
            const i64 at = (i64)(ROW + leg.row0) * par.cols + (COL + leg.col0);

            has_leaves |= (!P(leaf) | (P(wall) > 0.0f)) & (leaf_top[at] - leg.prev > P(limit));
        }
    }
    if (!is_whole || has_leaves) {
#define STEP(s)                                                                                    \
    {                                                                                              \
        const sw_step step = steps[at_step + s];                                                   \
        const i32 is_in = is_inside(par, row + step.row, col + step.col);                          \
        const i64 q = at + (i64)step.row * par.cols + step.col;                                    \
        const float above = (is_in ? dsm[q] : -INFINITY) - step.dz;                                \
        const float up = is_in & par.has_veg ? high[q] : NAN;                                      \
        const float lo = is_in & par.has_veg ? low[q] : NAN;                                       \
        const float crown = is_in & par.has_veg ? canopy[q] : NAN;                                 \
        highest = fmax(highest, above);                                                            \
        is_shaded |= above > P(limit);                                                             \
        is_leaf |= passes_leaves(up, lo, step.dz, step.prev, P(limit)) & !is_shaded;               \
        crowns = fmax(crowns, crown - step.dz);                                                    \
    }
        EACH_LANE
        {
            const i32 row = ROW, col = COL;
            const i64 at = (i64)row * par.cols + col;
            float highest = P(rise), crowns = P(leaves);
            i32 is_shaded = P(shade), is_leaf = P(leaf);

            EACH_STEP(STEP)
            P(rise) = highest;
            P(leaves) = crowns;
            P(shade) = is_shaded;
            P(leaf) = is_leaf;
        }
#undef STEP
    } else {
#define STEP(s)                                                                                    \
    {                                                                                              \
        const sw_step step = steps[at_step + s];                                                   \
        const float above = dsm[at + (i64)step.row * par.cols + step.col] - step.dz;               \
        highest = fmax(highest, above);                                                            \
        is_shaded |= above > P(limit);                                                             \
    }
        EACH_LANE
        {
            const i64 at = (i64)ROW * par.cols + COL;
            float highest = P(rise);
            i32 is_shaded = P(shade);

            EACH_STEP(STEP)
            P(rise) = highest;
            P(shade) = is_shaded;
        }
#undef STEP
    }
    EACH_LANE
    {
        const i32 is_over = !(P(wall) > 0.0f) | (P(away) == 1) | (P(rise) - P(ground) >= P(wall));

        P(limit) = P(shade) & is_over && (par.exits & SW_EXIT_SHADE) ? INFINITY : P(limit);
    }
}
EACH_LANE
{
    if (IN_CORE) {
        const i64 to = (i64)CORE_ROW * par.core_cols + CORE_COL;
        const i32 is_wall = P(wall) > 0.0f;
        const i32 is_up = ray.faces != SW_FACES_NONE;
        const i32 is_leafy = P(leaf) & !P(shade);
        const float lit = P(ground) != P(ground) && is_up ? NAN : (float)!P(shade);
        const float crown = is_leafy ? fmax(P(leaves) - P(ground), 0.0f) : 0.0f;
        float sun = fmax(P(wall) - (P(rise) - P(ground)), 0.0f);
        float sh, shveg;

        sun = P(away) == 1 ? 0.0f : sun;
        sun = is_up ? sun : P(wall);
        sh = P(wall) - sun;
        shveg = fmin(fmax((is_wall ? crown : 0.0f) - sh, 0.0f), P(wall));
        shveg = is_up ? shveg : 0.0f;
        sun -= shveg;
        shveg = sun < 0.0f ? 0.0f : shveg;
        sun = fmax(sun, 0.0f);
        shadow[to] = lit - (is_leafy ? 1.0f : 0.0f) * (1.0f - ray.psi);
        wall_sun[to] = sun;
        if (par.has_detail) {
            const i32 has_sky = par.has_veg | !is_up;

            detail[SW_DETAIL_BLDG * core_cells + to] = lit;
            detail[SW_DETAIL_VEG * core_cells + to] = has_sky ? (float)!is_leafy : 0.0f;
            detail[SW_DETAIL_VB * core_cells + to] = has_sky ? (float)!(P(leaf) & P(shade)) : 0.0f;
            detail[SW_DETAIL_WALL_SH * core_cells + to] = sh;
            detail[SW_DETAIL_WALL_SHVEG * core_cells + to] = shveg;
            detail[SW_DETAIL_FACE_SH * core_cells + to] = (float)P(away);
            detail[SW_DETAIL_FACE_SUN * core_cells + to] = (float)(is_wall & (P(away) == 0));
        }
    }
}
