/* sw_ground.c - emission and reflection of the ground in a time step. */
#include "dialect.h"
#include "sw_gvf.h"
#include "sw_math.h"
#include "sw_moment.h"

/* Advances to the next step of the series. */
MAP(sw_next, INOUT(i32, now))
{
    now[gx] += 1;
}

/* Computes emission beyond that of ground at air temperature, and reflected sunlight per unit of
 * sunlight, in rasters with a border of 0. The sign of the second marks a sunlit wall, so the rays
 * of sw_gvf_thermal read two numbers per step instead of three. */
MAP(sw_ground, VAL(sw_gvf_par, p), IN(i32, now), IN(sw_moment, steps), IN(u8, class_of),
    IN(float, albedo), IN(float, emissivity), IN(float, shadow), IN(float, wall_sun),
    INOUT(float, excess), INOUT(float, reflect))
{
    const i64 at = (i64)gy * p.cols + gx;
    const i64 out = (i64)(gy + p.pad) * p.stride + gx + p.pad;
    const i32 step = now[0];
    const float emitted = steps[step].sbc * emissivity[at];
    const float air = steps[step].ta_k;
    const float sun = shadow[at];
    const u32 wall = wall_sun[at] > 0.0f ? 0x80000000u : 0u;

    excess[out] =
        emitted * sw_pow4(steps[step].tg[class_of[at]] * sun + air) - emitted * sw_pow4(air);
    reflect[out] = bits_f32(f32_bits(albedo[at] * sun) | wall);
}

/* Without walls a person sees only the ground at their own pixel. */
MAP(sw_ground_open, VAL(sw_gvf_par, p), IN(i32, now), IN(sw_moment, steps), IN(u8, class_of),
    IN(float, albedo), IN(float, emissivity), IN(float, shadow), IN(float, svf), OUT(float, lup),
    OUT(float, alb))
{
    const i64 at = (i64)gy * p.cols + gx;
    const i32 step = now[0];
    const float warm = steps[step].ta + steps[step].tg[class_of[at]] * shadow[at] + 273.15f;

    lup[gz * p.plane + at] = emissivity[at] * steps[step].sbc * sw_pow4(warm);
    alb[gz * p.plane + at] = albedo[at] * (1.0f - svf[at]);
}

/* The unshaded albedo that a person sees without walls: that of the pixel. */
MAP(sw_plain_albedo, VAL(sw_gvf_par, p), IN(float, albedo), OUT(float, nosh))
{
    const i64 at = (i64)gy * p.cols + gx;

    nosh[gz * p.plane + at] = albedo[at];
}
