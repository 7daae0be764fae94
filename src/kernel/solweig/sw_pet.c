/* sw_pet.c - the Physiologically Equivalent Temperature of every pixel.
 *
 * Two searches: first skin and clothes of the person outdoors, then the room in which that person
 * would feel the same. Both walk in steps of 1, 0.1, 0.01 and 0.001 K, taking a smaller step each
 * time the heat balance changes sign. The blood flow is not known in advance: six hypotheses are
 * tried in turn until one is consistent with its result.
 *
 * Lanes are pixels. All lanes of a group try the same hypothesis, but each walks at its own pace;
 * values that a lane must not change any more are protected by a selection, so that the CPU can use
 * vectors. 10^x is computed here from + - * and bit operations: the loops have no library
 * functions, and every device gives the same bits (except with a map of wind, whose power of 0.67
 * is computed by the device's library).
 */
#define LANES 64
#include "dialect.h"
#include "sw_pet.h"

#define KELVIN       273.2f
#define VAPORIZATION 2.42e6f
#define HYPOTHESES   6
#define MOST_WALKS   200
#define ROOM_VAPOUR  12.0f
#define ROOM_HC      4.0596754f /* 2.67 + 6.5 * 0.1^0.67 */

FN float fourth(float x)
{
    const float square = x * x;
    return square * square;
}

/* 10^x, within 1.1e-7. The exponent n is split off exactly: its product with the short first part
 * of log10(2) is not rounded. */
FN float ten_to(float x)
{
    const float low = x > -37.0f ? x : -37.0f, cut = low < 38.0f ? low : 38.0f;
    const float n = (cut * 3.32192809f + 12582912.0f) - 12582912.0f;
    const float r = (cut - n * 0.301025391f) - n * 4.60503898e-6f;
    float sum = 0.0680893651f;

    sum = sum * r + 0.206995849f;
    sum = sum * r + 0.539382929f;
    sum = sum * r + 1.17125515f;
    sum = sum * r + 2.03467859f;
    sum = sum * r + 2.65094906f;
    sum = sum * r + 2.30258509f;
    sum = sum * r + 1.0f;
    return sum * bits_f32((u32)((i32)n + 127) << 23);
}

/* 1, 0.1, 0.01, 0.001, 0; at 0 a walk has converged. */
FN float smaller_step(float step)
{
    return step > 0.5f ? 0.1f : step > 0.05f ? 0.01f : step > 0.005f ? 0.001f : 0.0f;
}

FN float vapour_at(float t)
{
    return 6.11f * ten_to(7.45f * t / (235.0f + t));
}

/* Selects one of six values by bit operations: a chain of six conditionals keeps gcc from
 * vectorising. */
FN u32 bits_if(i32 is, float x)
{
    return f32_bits(x) & (0u - (u32)is);
}

/* The person at one guess of the clothes' temperature. core1 .. core6 of the published solution
 * keep their last value if the equation has no root. */
typedef struct {
    float tsk, core, core1, core2, core5, core6, c9, c11;
    float vpts, wet, esw, vb, balance;
} pet_person;

FN pet_person person_at(sw_pet_par p, float hc, float tm4, float tcl, i32 hypothesis, pet_person s)
{
    const float tcl4 = fourth(tcl + KELVIN);
    const float tsk = (hc * (tcl - p.ta) + p.radiation * (tcl4 - tm4)) / p.htcl + tcl;
    const float rsum =
        p.skin_radiation * (tm4 - fourth(tsk + KELVIN)) + p.clothes_radiation * (tm4 - tcl4);
    const float csum = hc * (p.ta - tsk) * p.skin_area + hc * (p.ta - tcl) * p.clothes_area;
    const float c3 = 18.0f - 0.5f * tsk;
    const float c4 = p.conduction * c3;
    const float c7 = c4 - p.c6 - tsk * p.c5;
    const float c8 = -p.c1 * c3 - tsk * c4 + tsk * p.c6;
    const float c9 = c7 * c7 - 4.0f * p.c5 * c8;
    const float c10 = p.conduction - p.c6 - p.c5 * tsk;
    const float c11 = c10 * c10 - 4.0f * p.c5 * (p.c6 * tsk - p.c1 - p.conduction * tsk);
    const float root9 = sqrt(fabs(c9)), root11 = sqrt(fabs(c11));
    const float half_c5 = 1.0f / (2.0f * p.c5); /* common factor: one division instead of four */
    const float t = tsk == 36.0f ? 36.01f : tsk;
    const float cold = p.c1 / (p.conduction + p.blood_rest / (1.0f + 0.5f * (34.0f - t))) + t;
    const float he = 0.633f * hc / (1013.25f * 1010.0f), fec = 1.0f / (1.0f + hc * p.clothes_wet);
    const float vpts = vapour_at(tsk);
    const float epot = he * (p.vapour - vpts) * p.area * VAPORIZATION * fec;

    s.core1 = c11 >= 0.0f ? (-c10 + root11) * half_c5 : s.core1;
    s.core6 = c11 >= 0.0f ? (-c10 - root11) * half_c5 : s.core6;
    s.core2 = c9 >= 0.0f ? (-c7 + root9) * half_c5 : s.core2;
    s.core5 = c9 >= 0.0f ? (-c7 - root9) * half_c5 : s.core5;
    s.core = bits_f32(bits_if(hypothesis == 1, s.core1) | bits_if(hypothesis == 2, s.core2) |
                      bits_if(hypothesis == 3, cold) | bits_if(hypothesis == 4, p.core_most + t) |
                      bits_if(hypothesis == 5, s.core5) | bits_if(hypothesis == 6, s.core6));

    const float tb = 0.1f * tsk + 0.9f * s.core;
    const float esp = tb <= 36.6f ? 0.0f : -(p.sweat * (tb - 36.6f)) * VAPORIZATION;
    const float share = esp / epot, esw = esp - epot <= 0.0f ? epot : esp;
    const float warm = s.core - 36.6f, cool = 34.0f - tsk;

    s.wet = share < 1.0f ? share : 1.0f;
    s.esw = esw < 0.0f ? esw : 0.0f;
    s.vb =
        (6.3f + 75.0f * (warm > 0.0f ? warm : 0.0f)) / (1.0f + 0.5f * (cool > 0.0f ? cool : 0.0f));
    s.balance =
        p.met + p.diffusion * (1.0f - s.wet) * (p.vapour - vpts) + p.breath + s.esw + csum + rsum;
    s.tsk = tsk;
    s.vpts = vpts;
    s.c9 = c9;
    s.c11 = c11;
    return s;
}

FN i32 agrees(i32 hypothesis, float core, float tsk, float c9, float c11, float vb)
{
    const i32 is_core_warm = core >= 36.6f;
    const i32 fits =
        hypothesis == 2 || hypothesis == 5   ? c9 >= 0.0f && is_core_warm && tsk <= 34.05f
        : hypothesis == 1 || hypothesis == 6 ? c11 > 0.0f && is_core_warm && tsk > 33.85f
        : hypothesis == 3                    ? core < 36.6f && tsk <= 34.0f
                                             : 1;

    return fits && !(hypothesis == 4 ? vb < 89.0f : vb >= 91.0f);
}

/* The heat balance of the person in a room at temperature `tx`, with the same skin and clothes. */
FN float room_balance(sw_pet_par p, float tx, float tsk, float tcl, float vpts, float wet,
                      float esw)
{
    const float tx4 = fourth(tx + KELVIN), tex = 0.47f * tx + 21.0f;
    const float rsum = p.skin_radiation * (tx4 - fourth(tsk + KELVIN)) +
                       p.clothes_radiation * (tx4 - fourth(tcl + KELVIN));
    const float csum = ROOM_HC * (tx - tsk) * p.skin_area + ROOM_HC * (tx - tcl) * p.clothes_area;
    const float ere = p.breath_dry * (tx - tex) + p.breath_wet * (ROOM_VAPOUR - vapour_at(tex));
    const float ed = p.diffusion * (1.0f - wet) * (ROOM_VAPOUR - vpts);

    return p.met + ed + ere + esw + csum + rsum;
}

/* wind: read only with is_wind_map; any buffer otherwise. */
GROUP(sw_pet, VAL(sw_pet_par, p), IN(float, wind), IN(float, tmrt), OUT(float, pet))
{
    PRIV(float, hc);
    PRIV(float, tm);
    PRIV(float, tcl);
    PRIV(float, tx);
    PRIV(float, before); /* previous balance with this step */
    PRIV(float, tsk);
    PRIV(float, core);
    PRIV(float, core1);
    PRIV(float, core2);
    PRIV(float, core5);
    PRIV(float, core6);
    PRIV(float, c9);
    PRIV(float, c11);
    PRIV(float, vpts);
    PRIV(float, wet);
    PRIV(float, esw);
    PRIV(float, vb);
    PRIV(float, step); /* 0: converged */
    PRIV(i32, walks);
    PRIV(i32, is_valid);
    PRIV(i32, is_open); /* no hypothesis was consistent yet */
    const i64 first = (i64)GROUP_X * LANES;
    i32 any;

    EACH_LANE
    {
        const i64 at = first + LANE < p.n ? first + LANE : p.n - 1;
        const float v = p.is_wind_map ? wind[at] : 1.0f;
        const float t = tmrt[at];
        const float h = p.is_wind_map ? 2.67f + 6.5f * pow(v, 0.67f) : p.hc;
        const i32 ok = fabs(t) <= FLT_MAX && t > -999.0f && fabs(v) <= FLT_MAX && v > 0.0f &&
                       h == h && p.ta == p.ta;

        P(is_valid) = ok;
        P(is_open) = ok;
        P(hc) = ok ? h : 1.0f;
        P(tm) = ok ? t : 0.0f;
        P(core1) = P(core2) = P(core5) = P(core6) = 0.0f;
        P(tcl) = P(tsk) = P(core) = P(c9) = P(c11) = P(vpts) = P(wet) = P(esw) = P(vb) = 0.0f;
    }
    for (i32 hypothesis = 1; hypothesis <= HYPOTHESES; hypothesis++) {
        ANY_LANE(any)
        {
            P(step) = P(is_open) ? 1.0f : 0.0f;
            P(tcl) = P(is_open) ? (p.ta + P(tm) + 34.0f) / 3.0f : P(tcl);
            P(before) = 0.0f;
            P(walks) = 1;
            any |= P(is_open);
        }
        while (any) {
            ANY_LANE(any)
            {
                const pet_person old = { P(tsk),   P(core), P(core1), P(core2), P(core5),
                                         P(core6), P(c9),   P(c11),   P(vpts),  P(wet),
                                         P(esw),   P(vb),   0.0f };
                const pet_person s =
                    person_at(p, P(hc), fourth(P(tm) + KELVIN), P(tcl), hypothesis, old);
                const float size = P(step);
                const i32 is_live = size > 0.0f, n = P(walks) + 1;
                const i32 has_crossed = !(s.balance * P(before) >= 0.0f);

                P(tcl) += s.balance > 0.0f ? size : -size;
                P(before) = has_crossed ? 0.0f : s.balance;
                P(step) = n >= MOST_WALKS ? 0.0f : has_crossed ? smaller_step(size) : size;
                P(walks) = n;
                P(tsk) = is_live ? s.tsk : old.tsk;
                P(core) = is_live ? s.core : old.core;
                P(core1) = is_live ? s.core1 : old.core1;
                P(core2) = is_live ? s.core2 : old.core2;
                P(core5) = is_live ? s.core5 : old.core5;
                P(core6) = is_live ? s.core6 : old.core6;
                P(c9) = is_live ? s.c9 : old.c9;
                P(c11) = is_live ? s.c11 : old.c11;
                P(vpts) = is_live ? s.vpts : old.vpts;
                P(wet) = is_live ? s.wet : old.wet;
                P(esw) = is_live ? s.esw : old.esw;
                P(vb) = is_live ? s.vb : old.vb;
                any |= P(step) > 0.0f;
            }
        }
        EACH_LANE
        {
            P(is_open) = P(is_open) && !agrees(hypothesis, P(core), P(tsk), P(c9), P(c11), P(vb));
        }
    }
    ANY_LANE(any)
    {
        P(tx) = p.ta;
        P(before) = 0.0f;
        P(walks) = 1;
        P(step) = P(is_valid) ? 1.0f : 0.0f;
        any |= P(is_valid);
    }
    while (any) {
        ANY_LANE(any)
        {
            const float balance = room_balance(p, P(tx), P(tsk), P(tcl), P(vpts), P(wet), P(esw));
            const float size = P(step);
            const i32 n = P(walks) + 1;
            const i32 is_over = !(balance * P(before) >= 0.0f) || n >= MOST_WALKS;
            const float move = balance > 0.0f ? -size : balance < 0.0f ? size : 0.0f;

            P(tx) += move;
            P(before) = is_over ? 0.0f : balance;
            P(walks) = is_over ? 1 : n;
            P(step) = is_over ? smaller_step(size) : size;
            any |= P(step) > 0.0f;
        }
    }
    EACH_LANE if (first + LANE < p.n) pet[first + LANE] = P(is_valid) ? P(tx) : NAN;
}

/* The mean of five adjacent entries, fewer at the ends. A walk stops up to 0.001 K too far, which
 * appears in the PET of a sweating body as a sawtooth of 0.04 K; the table needs its middle. */
MAP(sw_pet_smooth, VAL(i32, n), IN(float, solved), OUT(float, table))
{
    const i32 edge = MIN(gx, n - 1 - gx), reach = MIN(edge, 2);
    float sum = 0.0f;

    for (i32 k = gx - reach; k <= gx + reach; k++)
        sum += solved[k];
    table[gx] = sum / (float)(2 * reach + 1);
}

/* NaN outside the table; Tmrt never leaves it, because it is clamped to -50 .. 80. */
MAP(sw_pet_look, VAL(sw_pet_look_par, p), IN(float, table), IN(float, tmrt), OUT(float, pet))
{
    const i64 at = (i64)gy * p.cols + gx;
    const float t = tmrt[at], place = (t - p.first) * p.per_k;
    const i32 is_inside = place >= 0.0f && place <= (float)(p.n - 1);
    const float inside = is_inside ? place : 0.0f;
    const i32 k = MIN((i32)inside, p.n - 2);
    const float share = is_inside ? inside - (float)k : NAN; /* keeps the loads without a branch */
    const float low = table[k], high = table[k + 1];

    pet[at] = low + share * (high - low);
}
