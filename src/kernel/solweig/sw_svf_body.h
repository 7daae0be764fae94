/* sw_svf_body.h - body of the kernels that march towards all patches; see sw_svf.c.
 *
 * A group makes one word, the bits of 32 patches, for each of its pixels. Only two facts matter:
 * whether a building shades, and whether leaves did before it.
 */
const i64 core_cells = (i64)par.core_rows * par.core_cols;
const i32 first = GROUP_Z * 32;
const i32 n = MIN(par.n_rays - first, 32);
const i32 is_quick = (par.exits & (SW_EXIT_ABOVE | SW_EXIT_LEGS)) == (SW_EXIT_ABOVE | SW_EXIT_LEGS);
PRIV(float, ground);
PRIV(float, limit);
PRIV(i32, shade);
PRIV(i32, leaf);
PRIV(i32, bush);
PRIV(u32, bldg_word);
PRIV(u32, veg_word);
PRIV(u32, vb_word);

EACH_LANE
{
    const i64 at = (i64)ROW * par.cols + COL;
    const float height = IN_CORE ? dsm[at] : NAN;
    const float c = IN_CORE && par.has_veg ? canopy[at] : NAN;
    const float t = IN_CORE && par.has_veg ? trunk[at] : NAN;

    P(ground) = height == height ? height : INFINITY;
    P(bush) = !(t > 0.0f) & (c > 1.0f);
    P(bldg_word) = 0;
    P(veg_word) = 0;
    P(vb_word) = 0;
}
for (i32 k = 0; k < n; k++) {
    const sw_ray ray = rays[first + k];
    const i32 n_inside = is_quick ? legs_inside(par, ray, FIRST_ROW, FIRST_COL) : 0;
    i32 j = 0, seen = LEG_ALIVE;

    EACH_LANE
    {
        P(limit) = P(ground);
        P(shade) = 0;
        P(leaf) = ray.n_legs > 0 ? P(bush) : 0;
    }
    /* Legs inside the raster. */
    for (; j < n_inside; j++) {
        const u64 corner = short_legs[ray.leg + j];
        const float leg_prev = SW_SHORT_HEIGHT(corner);
        const i64 at_step = (i64)(ray.leg + j) * SW_LEG_STEPS;
        i32 leaves;

        ANY_LANE(seen)
        {
            const i64 at = (i64)ROW * par.cols + COL + SW_SHORT_AT(corner);

            seen |= look_at_leg(par, leg_prev, top[at], P(limit));
        }
        if (!(seen & LEG_ALIVE))
            break;
        if (!(seen & LEG_NEEDED))
            continue;
        leaves = par.has_veg;
        if (par.has_veg && (par.exits & SW_EXIT_LEAVES)) {
            ANY_LANE(leaves)
            {
                const i64 at = (i64)ROW * par.cols + COL + SW_SHORT_AT(corner);

                leaves |= !P(leaf) & (leaf_top[at] - leg_prev > P(limit));
            }
        }
        if (leaves) {
#define STEP(s)                                                                                    \
    {                                                                                              \
        const u64 step = short_steps[at_step + s];                                                 \
        const float dz = SW_SHORT_HEIGHT(step);                                                    \
        const i64 q = at + SW_SHORT_AT(step);                                                      \
        is_shaded |= dsm[q] - dz > P(limit);                                                       \
        is_leaf |= passes_leaves(high[q], low[q], dz, prev, P(limit)) & !is_shaded;                \
        prev = dz;                                                                                 \
    }
            EACH_LANE
            {
                const i64 at = (i64)ROW * par.cols + COL;
                i32 is_shaded = P(shade), is_leaf = P(leaf);
                float prev = leg_prev;

                EACH_STEP(STEP)
                P(shade) = is_shaded;
                P(leaf) = is_leaf;
                P(limit) = is_shaded && (par.exits & SW_EXIT_SHADE) ? INFINITY : P(limit);
            }
#undef STEP
        } else {
#define STEP(s)                                                                                    \
    {                                                                                              \
        const u64 step = short_steps[at_step + s];                                                 \
        is_shaded |= dsm[at + SW_SHORT_AT(step)] - SW_SHORT_HEIGHT(step) > P(limit);               \
    }
            EACH_LANE
            {
                const i64 at = (i64)ROW * par.cols + COL;
                i32 is_shaded = P(shade);

                EACH_STEP(STEP)
                P(shade) = is_shaded;
                P(limit) = is_shaded && (par.exits & SW_EXIT_SHADE) ? INFINITY : P(limit);
            }
#undef STEP
        }
    }
    /* Legs that may be outside for some lanes. */
    for (; j < ray.n_legs && (seen & LEG_ALIVE); j++) {
        const sw_leg leg = legs[ray.leg + j];
        const i64 at_step = (i64)(ray.leg + j) * SW_LEG_STEPS;

        ANY_LANE(seen)
        {
            seen |= look_at_edge(par, leg, top, ROW, COL, P(limit));
        }
        if (!(seen & LEG_NEEDED))
            continue;
#define STEP(s)                                                                                    \
    {                                                                                              \
        const sw_step step = steps[at_step + s];                                                   \
        const i32 is_in = is_inside(par, row + step.row, col + step.col);                          \
        const i64 q = at + (i64)step.row * par.cols + step.col;                                    \
        const float h = is_in ? dsm[q] : -INFINITY;                                                \
        const float up = is_in & par.has_veg ? high[q] : NAN;                                      \
        const float lo = is_in & par.has_veg ? low[q] : NAN;                                       \
        is_shaded |= h - step.dz > P(limit);                                                       \
        is_leaf |= passes_leaves(up, lo, step.dz, step.prev, P(limit)) & !is_shaded;               \
    }
        EACH_LANE
        {
            const i32 row = ROW, col = COL;
            const i64 at = (i64)row * par.cols + col;
            i32 is_shaded = P(shade), is_leaf = P(leaf);

            EACH_STEP(STEP)
            P(shade) = is_shaded;
            P(leaf) = is_leaf;
            P(limit) = is_shaded && (par.exits & SW_EXIT_SHADE) ? INFINITY : P(limit);
        }
#undef STEP
    }
    EACH_LANE
    {
        P(bldg_word) |= (u32)!P(shade) << k;
        P(veg_word) |= (u32) !(P(leaf) & !P(shade)) << k;
        P(vb_word) |= (u32) !(P(leaf) & P(shade)) << k;
    }
}
EACH_LANE
{
    if (IN_CORE) {
        const i64 to = (i64)GROUP_Z * core_cells + (i64)CORE_ROW * par.core_cols + CORE_COL;
        const u32 is_there = P(ground) < INFINITY ? 0xffffffffu : 0;

        bldg[to] = P(bldg_word) & is_there;
        veg[to] = (par.has_veg ? P(veg_word) : 0xffffffffu) & is_there;
        vb[to] = (par.has_veg ? P(vb_word) : P(bldg_word)) & is_there;
    }
}
