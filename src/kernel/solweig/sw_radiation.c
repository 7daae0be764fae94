/* sw_radiation.c - sunlight from below and above under a sky of patches, and mean radiant
 * temperature. */
#include "dialect.h"
#include "sw_radiation.h"
#include "sw_wedge.h"

/* The rest of the radiation under a sky of patches: sunlight from the ground and onto it. Each of
 * the four sides of a person gets half of the light from its half of the ground, in sum twice the
 * light of the whole ground, so no planes per direction are needed. */
MAP(sw_kup, VAL(sw_sky_par, p), VAL(sw_body, body), IN(i32, now), IN(sw_moment, steps),
    IN(float, svf), IN(float, veg), IN(float, shadow), IN(float, lup), IN(float, alb),
    IN(float, nosh), INOUT(float, radiation))
{
    const i64 at = (i64)gy * p.cols + gx;
    const i32 step = now[0];
    const float beam = steps[step].direct * steps[step].sin_alt;
    const float diffuse = steps[step].diffuse;
    const float open = sw_open_sky(svf[at], veg[at], steps[step].psi);
    const float wedge = sw_wedge(svf[at], veg[at], steps[step].tan_zen);
    const float shaded = steps[step].has_wedge ? wedge : 1.0f;
    const float walls =
        (1.0f - open) * sw_from_walls(body.wall_albedo, steps[step].total, diffuse, shaded);
    const float kup = alb[at] * beam + (diffuse * open + walls) * nosh[at];
    const float box =
        steps[step].box[0] + steps[step].box[1] + steps[step].box[2] + steps[step].box[3];

    radiation[SW_KDOWN * p.plane + at] += beam * shadow[at] + walls;
    radiation[SW_KUP * p.plane + at] = kup;
    radiation[SW_K4 * p.plane + at] =
        (steps[step].is_day ? 2.0f * kup : 0.0f) + body.box * box * shadow[at];
    radiation[SW_L4 * p.plane + at] = 2.0f * lup[at];
}

/* Mean radiant temperature of the radiation that a person absorbs; NaN where KDOWN is NaN. */
FN float sw_felt(sw_body body, float sbc, float kdown, float k, float l)
{
    const float absorbed = body.abs_k * k + body.abs_l * l;
    const float t = sqrt(sqrt(absorbed / (body.abs_l * sbc))) - 273.15f;
    const float low = t < -50.0f ? -50.0f : t;
    const float within = low > 80.0f ? 80.0f : low;

    return kdown - kdown == 0.0f ? within : NAN;
}

/* Under a sky of patches. */
MAP(sw_tmrt, VAL(sw_sky_par, p), VAL(sw_body, body), IN(i32, now), IN(sw_moment, steps),
    IN(float, radiation), IN(float, lup), OUT(float, tmrt))
{
    const i64 at = (i64)gy * p.cols + gx;
    const float kdown = radiation[SW_KDOWN * p.plane + at];
    const float k = radiation[SW_KSIDE * p.plane + at] * body.f_cyl +
                    (kdown + radiation[SW_KUP * p.plane + at]) * body.f_up +
                    radiation[SW_K4 * p.plane + at] * body.f_side;
    const float l = (radiation[SW_LDOWN * p.plane + at] + lup[at]) * body.f_up +
                    radiation[SW_LSIDE * p.plane + at] * body.f_cyl +
                    radiation[SW_L4 * p.plane + at] * body.f_side;

    tmrt[at] = sw_felt(body, steps[now[0]].sbc, kdown, k, l);
}

/* Under an isotropic sky, which has no planes of a cylinder. */
MAP(sw_tmrt_iso, VAL(sw_sky_par, p), VAL(sw_body, body), IN(i32, now), IN(sw_moment, steps),
    IN(float, radiation), IN(float, lup), IN(float, shadow), OUT(float, tmrt))
{
    const i64 at = (i64)gy * p.cols + gx;
    const i32 step = now[0];
    const float sun = (1.0f - body.box) * shadow[at] * steps[step].direct * steps[step].cos_alt;
    const float kdown = radiation[SW_KDOWN * p.plane + at];
    const float k = sun * body.f_cyl + (kdown + radiation[SW_KUP * p.plane + at]) * body.f_up +
                    radiation[SW_K4 * p.plane + at] * body.f_side;
    const float l = (radiation[SW_LDOWN * p.plane + at] + lup[at]) * body.f_up +
                    radiation[SW_L4 * p.plane + at] * body.f_side;

    tmrt[at] = sw_felt(body, steps[step].sbc, kdown, k, l);
}
