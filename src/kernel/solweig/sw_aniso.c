/* sw_aniso.c - radiation from a sky of patches, and from walls and leaves in front of them.
 *
 * The radiation of a patch depends only on its class: sky, leaves, sunlit or shaded wall. So a
 * pixel adds up weights of patches by class, and temperatures are multiplied in at the end.
 * Sunlight on a wall ends at an angle; patches have its tangent, computed on the host so that x <
 * lit_below agrees with the arc tangent in degrees for every x. A wall that faces away from the sun
 * is cool at any angle, but its sunlight is still counted by the angle, as in the reference.
 *
 * Lanes are along a row. As a MAP with a loop over patches per pixel gcc would not vectorise; with
 * lanes inside the loop over patches it does. Several patches share one block of lanes, because
 * sums go through memory after each block.
 */
#define LANES 64
#include "dialect.h"
#include "sw_math.h"
#include "sw_radiation.h"
#include "sw_moment.h"

/* Sums over patches of one pixel. */
typedef struct {
    float open_lum, leaf_lum;        /* luminance: without buildings in front; behind leaves */
    float sky_cos, sky_sin, sky_lum; /* visible sky: emissivity, luminance */
    float leaf_cos, leaf_sin;
    float cool_cos, cool_sin, warm_cos, warm_sin; /* walls by temperature */
    float dark, lit;                              /* walls by sunlight */
    float back_cos, back_sin;                     /* everything but sky */
} sw_sums;

/* Patches of a word by class. */
typedef struct {
    u32 open, leafy, sky, leaf, wall, back;
} sw_classes;

/* Selecting the sum, not the summand, is one vector instruction. */
FN float sw_plus(u32 is_so, float sum, float x)
{
    return is_so ? sum + x : sum;
}

/* Adds patch `bit` of the words; `limit` is the tangent where sunlight ends, without the part that
 * depends on the sun. */
FN sw_sums sw_add(sw_sums t, sw_classes w, u32 bit, sw_patch patch, sw_sky now, float limit)
{
    const float c = patch.cos_ster, s = patch.sin_ster, x = limit + now.shift;
    const u32 is_sky = w.sky & bit, is_leaf = w.leaf & bit, is_back = w.back & bit;
    const u32 is_wall = (w.wall & bit) != 0u;
    const u32 is_lit = is_wall & (u32)(x < patch.lit_below);
    const u32 is_dark = is_wall & (u32)(x >= patch.dark_from);
    const u32 is_warm = is_wall & (u32)(x < now.warm_below);
    const u32 is_cool = is_wall & (u32)(x >= now.cool_from);

    t.open_lum = sw_plus(w.open & bit, t.open_lum, now.share);
    t.leaf_lum = sw_plus(w.leafy & bit, t.leaf_lum, now.share);
    t.sky_cos = sw_plus(is_sky, t.sky_cos, now.emissivity * c);
    t.sky_sin = sw_plus(is_sky, t.sky_sin, now.emissivity * s);
    t.sky_lum = sw_plus(is_sky, t.sky_lum, now.share * c);
    t.leaf_cos = sw_plus(is_leaf, t.leaf_cos, c);
    t.leaf_sin = sw_plus(is_leaf, t.leaf_sin, s);
    t.cool_cos = sw_plus(is_cool, t.cool_cos, c);
    t.cool_sin = sw_plus(is_cool, t.cool_sin, s);
    t.warm_cos = sw_plus(is_warm, t.warm_cos, c);
    t.warm_sin = sw_plus(is_warm, t.warm_sin, s);
    t.dark = sw_plus(is_dark, t.dark, c);
    t.lit = sw_plus(is_lit, t.lit, c);
    t.back_cos = sw_plus(is_back, t.back_cos, c);
    t.back_sin = sw_plus(is_back, t.back_sin, s);
    return t;
}

#define GET(t)                                                                                     \
    sw_sums t = { P(open_lum), P(leaf_lum), P(sky_cos),  P(sky_sin),  P(sky_lum),                  \
                  P(leaf_cos), P(leaf_sin), P(cool_cos), P(cool_sin), P(warm_cos),                 \
                  P(warm_sin), P(dark),     P(lit),      P(back_cos), P(back_sin) };

#define PUT(t)                                                                                     \
    P(open_lum) = (t).open_lum;                                                                    \
    P(leaf_lum) = (t).leaf_lum;                                                                    \
    P(sky_cos) = (t).sky_cos;                                                                      \
    P(sky_sin) = (t).sky_sin;                                                                      \
    P(sky_lum) = (t).sky_lum;                                                                      \
    P(leaf_cos) = (t).leaf_cos;                                                                    \
    P(leaf_sin) = (t).leaf_sin;                                                                    \
    P(cool_cos) = (t).cool_cos;                                                                    \
    P(cool_sin) = (t).cool_sin;                                                                    \
    P(warm_cos) = (t).warm_cos;                                                                    \
    P(warm_sin) = (t).warm_sin;                                                                    \
    P(dark) = (t).dark;                                                                            \
    P(lit) = (t).lit;                                                                              \
    P(back_cos) = (t).back_cos;                                                                    \
    P(back_sin) = (t).back_sin;

#define ADD(t, k)                                                                                  \
    t = sw_add(t, w, 1u << (bit + (k)), patches[first + (k)], sky[row + first + (k)], P(limit));

/* KDOWN gets the diffuse part only; sw_kup adds the rest. */
GROUP(sw_aniso, VAL(sw_sky_par, p), VAL(sw_body, body), IN(i32, now), IN(sw_moment, steps),
      IN(sw_sky, sky), IN(sw_patch, patches), IN(u32, bldg_bits), IN(u32, veg_bits),
      IN(u32, vb_bits), IN(float, svf), IN(float, shadow), IN(float, lup), INOUT(float, radiation))
{
    PRIV(float, open_lum);
    PRIV(float, leaf_lum);
    PRIV(float, sky_cos);
    PRIV(float, sky_sin);
    PRIV(float, sky_lum);
    PRIV(float, leaf_cos);
    PRIV(float, leaf_sin);
    PRIV(float, cool_cos);
    PRIV(float, cool_sin);
    PRIV(float, warm_cos);
    PRIV(float, warm_sin);
    PRIV(float, dark);
    PRIV(float, lit);
    PRIV(float, back_cos);
    PRIV(float, back_sin);
    PRIV(float, limit);
    PRIV(u32, open);
    PRIV(u32, bare);
    PRIV(u32, behind);
    const i32 from = GROUP_X * LANES, n = MIN(LANES, p.cols - from);
    const i64 at = (i64)GROUP_Y * p.cols + from;
    const i32 step = now[0];
    const i64 row = (i64)step * p.n_patches;
    const u32 bare_or_walls = p.bits == SW_BITS_BARE ? 0u : 0xffffffffu;

    EACH_LANE_BELOW(n)
    {
        const sw_sums none = { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
                               0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f };

        PUT(none)
        P(limit) = sw_tan_acos(sqrt(sw_unit(svf[at + LANE])));
    }
    for (i32 word = 0; 32 * word < p.n_patches; word++) {
        const i64 bits = word * p.plane + at;
        const i32 n_bits = MIN(32, p.n_patches - 32 * word);

        EACH_LANE_BELOW(n)
        {
            P(open) = bldg_bits[bits + LANE];
            P(bare) = 0xffffffffu;
            P(behind) = P(open) | bare_or_walls;
        }
        if (p.bits == SW_BITS_GIVEN)
            EACH_LANE_BELOW(n)
            {
                P(bare) = veg_bits[bits + LANE];
                P(behind) = vb_bits[bits + LANE];
            }
        for (i32 bit = 0; bit < n_bits; bit += SW_PATCH_CHUNK) {
            const i32 first = 32 * word + bit;

            EACH_LANE_BELOW(n)
            {
                const u32 sees = P(open) & P(bare);
                const sw_classes w = { P(open),
                                       ~P(bare),
                                       sees,
                                       ~(P(bare) & P(behind)),
                                       ~P(open) & P(behind),
                                       ~(sees & P(behind)) };
                GET(t)

                ADD(t, 0)
                ADD(t, 1)
                ADD(t, 2)
                ADD(t, 3)
                PUT(t)
            }
        }
    }
    EACH_LANE_BELOW(n)
    {
        const float air = steps[step].air4 / SW_PI, ew = body.wall_emissivity;
        const float cool = ew * air, warm = ew * steps[step].wall4 / SW_PI;
        const float sky_side = air * P(sky_cos), sky_down = air * P(sky_sin);
        const float back = (sky_down + lup[at + LANE]) * (1.0f - ew) * 0.5f / SW_PI;
        const float beam = steps[step].direct * steps[step].cos_alt;
        const float diffuse = steps[step].diffuse;
        const float on_lit = (body.wall_albedo * beam + 0.5f * diffuse) / SW_PI;
        const float on_dim = body.wall_albedo * diffuse * 0.5f / SW_PI;
        const float own = (1.0f - body.box) * shadow[at + LANE] * beam;
        const float walls = on_dim * (P(leaf_cos) + P(dark)) + on_lit * P(lit);
        const float side = own + steps[step].sky_scale * P(sky_lum) + walls;

        radiation[SW_KDOWN * p.plane + at + LANE] =
            diffuse * (P(open_lum) - (1.0f - steps[step].psi) * P(leaf_lum));
        radiation[SW_LDOWN * p.plane + at + LANE] =
            sky_down + cool * (P(leaf_sin) + P(cool_sin)) + warm * P(warm_sin) + back * P(back_sin);
        radiation[SW_KSIDE * p.plane + at + LANE] = steps[step].is_day ? side : 0.0f;
        radiation[SW_LSIDE * p.plane + at + LANE] =
            sky_side + cool * (P(leaf_cos) + P(cool_cos)) + warm * P(warm_cos) + back * P(back_cos);
    }
}
