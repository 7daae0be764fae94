/* sw_iso.c - radiation under a sky that is equally bright everywhere. */
#include "dialect.h"
#include "sw_radiation.h"
#include "sw_wedge.h"

#define SW_VIEW 4.4897f

/* View of the sky from a wall, out of 4.4897, as a polynomial in the sky view factor. It is not
 * clamped: below 0 it grows fast, as in the reference. */
FN float sw_view(float x)
{
    return (((((63.227f * x - 161.51f) * x + 156.91f) * x - 70.424f) * x + 16.773f) * x - 0.4863f) *
           x;
}

/* The view of one side of the person. */
typedef struct {
    float svf, veg, aveg;
    float kup, lup, ldown;
    float shaded; /* fraction of the walls */
} sw_side;

FN float sw_side_sun(sw_side v, GLOBAL const sw_moment *steps, i32 now, float wall_albedo)
{
    const float walls = (SW_VIEW - sw_view(v.svf)) / SW_VIEW;
    const float leaves = (SW_VIEW - sw_view(v.veg + v.svf - 1.0f)) / SW_VIEW - walls;
    const float hidden = walls + leaves * (1.0f - steps[now].psi);

    return 0.5f *
           (steps[now].diffuse * (1.0f - hidden) +
            hidden * sw_from_walls(wall_albedo, steps[now].total, steps[now].diffuse, v.shaded) +
            v.kup);
}

/* Long-wave radiation on side d; the walls it sees may be sunlit. */
FN float sw_side_heat(sw_side v, GLOBAL const sw_moment *steps, i32 now, i32 d, float ew)
{
    const float up = sw_unit(1.0f - v.svf);
    const float steep = sw_angle(sqrt(up), sqrt(1.0f - up)); /* asin of the first */
    const float wall_all = (SW_VIEW - sw_view(v.svf)) / SW_VIEW;
    const float wall = wall_all - (SW_VIEW - sw_view(v.aveg)) / SW_VIEW;
    const float poly = sw_view(v.veg + v.svf - 1.0f);
    const float back = (SW_VIEW - poly) / SW_VIEW, leaf = back - wall;
    const float f2 = 2.0f * v.shaded - 1.0f;
    const float low = steep * f2;
    const float middle = (sw_angle(steep, 1.0f) - low) * 0.5f + low;
    const float sunlit = steps[now].lit4[d - 1] * ew * wall * (1.0f - f2) * sw_cos(middle) * 0.5f;
    const float dark = steps[now].air4 * ew * wall * 0.5f;
    const float walls = dark + steps[now].lit[d - 1] * (sunlit + dark * (f2 - 1.0f));
    const float sky = steps[now].esky * steps[now].air4 * steps[now].ci +
                      (1.0f - steps[now].ci) * steps[now].air4;

    return (v.svf + v.veg - 1.0f) * sky * (poly / SW_VIEW) * 0.5f + walls +
           steps[now].air4 * ew * leaf * 0.5f + v.lup * 0.5f +
           (v.ldown + v.lup) * back * (1.0f - ew) * 0.5f;
}

/* Long-wave radiation from above under a sky of emissivity e. */
FN float sw_down(float svf, float veg, float aveg, float e, float ew, float air4, float wall4)
{
    return (svf + veg - 1.0f) * e * air4 + (2.0f - veg - aveg) * ew * air4 +
           (aveg - svf) * ew * wall4 + (2.0f - svf - veg) * (1.0f - ew) * e * air4;
}

/* Not a loop over sides, which the CPU's compiler would not vectorise. */
#define SIDE(d)                                                                                    \
    {                                                                                              \
        svf[(d)*p.plane + at], svf[(SW_VEG + (d)) * p.plane + at],                                 \
            svf[(SW_AVEG + (d)) * p.plane + at],                                                   \
            alb[(d)*p.plane + at] * beam + under *nosh[(d)*p.plane + at], lup[(d)*p.plane + at],   \
            ldown, shaded                                                                          \
    }

/* The planes of radiation of this sky. svf has 15 planes, lup, alb and nosh five. */
MAP(sw_iso, VAL(sw_sky_par, p), VAL(sw_body, body), IN(i32, now), IN(sw_moment, steps),
    IN(float, svf), IN(float, shadow), IN(float, lup), IN(float, alb), IN(float, nosh),
    OUT(float, radiation))
{
    const i64 at = (i64)gy * p.cols + gx;
    const i32 step = now[0];
    const float beam = steps[step].direct * steps[step].sin_alt, ew = body.wall_emissivity;
    const float all = svf[at], veg = svf[SW_VEG * p.plane + at], aveg = svf[SW_AVEG * p.plane + at];
    const float open = sw_open_sky(all, veg, steps[step].psi);
    const float wedge = sw_wedge(all, veg, steps[step].tan_zen);
    const float shaded = steps[step].has_wedge ? wedge : 1.0f;
    const float walls = (1.0f - open) * sw_from_walls(body.wall_albedo, steps[step].total,
                                                      steps[step].diffuse, shaded);
    const float under = steps[step].diffuse * open + walls;
    const float clear =
        sw_down(all, veg, aveg, steps[step].esky, ew, steps[step].air4, steps[step].wall4);
    const float cloud = sw_down(all, veg, aveg, 1.0f, ew, steps[step].air4, steps[step].wall4);
    const float clearness = steps[step].ci >= 0.95f ? 1.0f : steps[step].ci;
    const float ldown = clear * clearness + cloud * (1.0f - clearness);
    const sw_side n = SIDE(SW_N), e = SIDE(SW_E), s = SIDE(SW_S), w = SIDE(SW_W);
    const float box =
        steps[step].box[0] + steps[step].box[1] + steps[step].box[2] + steps[step].box[3];

    radiation[SW_KDOWN * p.plane + at] = beam * shadow[at] + steps[step].diffuse * open + walls;
    radiation[SW_KUP * p.plane + at] = alb[at] * beam + under * nosh[at];
    radiation[SW_LDOWN * p.plane + at] = ldown;
    radiation[SW_K4 * p.plane + at] = sw_side_sun(n, steps, step, body.wall_albedo) +
                                      sw_side_sun(e, steps, step, body.wall_albedo) +
                                      sw_side_sun(s, steps, step, body.wall_albedo) +
                                      sw_side_sun(w, steps, step, body.wall_albedo) +
                                      body.box * box * shadow[at];
    radiation[SW_L4 * p.plane + at] =
        sw_side_heat(n, steps, step, SW_N, ew) + sw_side_heat(e, steps, step, SW_E, ew) +
        sw_side_heat(s, steps, step, SW_S, ew) + sw_side_heat(w, steps, step, SW_W, ew);
}

/* For checks: radiation on side d, with given inputs. Planes of `given`: kup, lup, ldown,
 * shaded. */
MAP(sw_iso_side, VAL(sw_sky_par, p), VAL(sw_body, body), VAL(i32, d), IN(i32, now),
    IN(sw_moment, steps), IN(float, svf), IN(float, shadow), IN(float, given), OUT(float, sun),
    OUT(float, heat))
{
    const i64 at = (i64)gy * p.cols + gx, q = d * p.plane + at;
    const i32 step = now[0];
    const sw_side side = { svf[q],
                           svf[SW_VEG * p.plane + q],
                           svf[SW_AVEG * p.plane + q],
                           given[at],
                           given[p.plane + at],
                           given[2 * p.plane + at],
                           given[3 * p.plane + at] };

    sun[at] = sw_side_sun(side, steps, step, body.wall_albedo) +
              body.box * steps[step].box[d - 1] * shadow[at];
    heat[at] = sw_side_heat(side, steps, step, d, body.wall_emissivity);
}
