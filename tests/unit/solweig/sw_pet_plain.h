/* sw_pet_plain.h - PET of one point, in the form of the published program: scalar, nested loops,
 * with the functions of the C library. The kernel must take the same steps.
 */
#ifndef QN_TESTS_SW_PET_PLAIN_H
#define QN_TESTS_SW_PET_PLAIN_H

#include "domain/solweig/comfort/comfort.h"

#include <math.h>

static inline float pet_plain_p4(float t)
{
    const float k = t + 273.2f;

    return k * k * k * k;
}

static inline float pet_plain_vapour(float t)
{
    return 6.11f * powf(10, 7.45f * t / (235 + t));
}

/* Results of the first search that the second needs. */
typedef struct pet_plain_state {
    float tsk, tcl, wet, esw, vpts;
    int hypothesis; /* the accepted one; 7: none */
    int walks;      /* evaluations of the balance, both searches */
} pet_plain_state;

static inline float pet_plain(const qn_sw_body *b, float ta, float rh, float v, float tmrt,
                              pet_plain_state *s)
{
    const float sbc = 5.67051e-8f, m = (float)b->mass_kg, h = (float)b->height_m, c = (float)b->clo,
                age = (float)b->age;
    const float vpa = rh * 6.107f * powf(10, 7.5f * ta / (238 + ta)) / 100;
    const float ratio = 100 * h / powf(m, 1 / 3.0f);
    const float met =
        (float)b->activity_w +
        (b->sex == QN_SW_MALE
             ? 3.45f * powf(m, .75f) * (1 + .004f * (30 - age) + .010f * (ratio - 43.4f))
             : 3.19f * powf(m, .75f) * (1 + .004f * (30 - age) + .018f * (ratio - 42.1f)));
    const float rtv = 1.44e-6f * met;
    float tex = .47f * ta + 21;
    float ere =
        1010 * (ta - tex) * rtv + .623f * 2.42e6f / 1013.25f * (vpa - pet_plain_vapour(tex)) * rtv;
    const float feff = .725f, adu = .203f * powf(m, .425f) * powf(h, .725f);
    const float facl =
        fminf(1, (-2.36f + 173.51f * c - 100.76f * c * c + 19.28f * c * c * c) / 100);
    const float rcl = c / 6.45f / facl;
    const float y = c <= .3f ? .1f : c <= .6f ? .5f : c < 2 ? (h - .2f) / h : 1;
    const float fcl = 1 + .15f * c, pi2 = 6.2831853f;
    const float r2 = adu * (fcl - 1 + facl) / (pi2 * h * y), r1 = facl * adu / (pi2 * h * y);
    const float acl = adu * facl + adu * (fcl - 1);
    float hc = 2.67f + 6.5f * powf(v, .67f);
    const float c1 = met + ere, he = .633f * hc / (1013.25f * 1010),
                fec = 1 / (1 + .92f * hc * rcl);
    const float htcl = 6.28f * h * y * (r2 - r1) / (rcl * logf(r2 / r1) * acl), aeff = adu * feff;
    const float c2 = adu * 1.06f * 3640, c5 = .0208f * c2, c6 = .76075f * c2, rdsk = .79e7f;
    const float steps[4] = { 1, .1f, .01f, .001f };
    float core[8] = { 0 }, eb = 0, eb2 = 0, ed = 0, rsum = 0, csum = 0, tx = ta;
    int count = 0;

    s->walks = 0;
    for (int j = 1; j <= 6; j++) {
        float c9 = 0, c11 = 0, vb = 0;
        int count3 = 1, ok;

        s->tcl = (ta + tmrt + 34) / 3;
        eb2 = 0;
        for (int k = 0; k < 4; k++) {
            eb = 0;
            while (eb * eb2 >= 0 && count3 < 200) {
                float c3, c4, c7, c8, c10, t, tb, sw, esp, epot;

                eb2 = eb;
                s->tsk = (hc * (s->tcl - ta) +
                          .95f * sbc * (pet_plain_p4(s->tcl) - pet_plain_p4(tmrt)) * feff) /
                             htcl +
                         s->tcl;
                rsum =
                    aeff * (1 - facl) * .99f * sbc * (pet_plain_p4(tmrt) - pet_plain_p4(s->tsk)) +
                    feff * acl * .95f * sbc * (pet_plain_p4(tmrt) - pet_plain_p4(s->tcl));
                csum = hc * (ta - s->tsk) * adu * (1 - facl) + hc * (ta - s->tcl) * acl;
                c3 = 18 - .5f * s->tsk;
                c4 = 5.28f * adu * c3;
                c7 = c4 - c6 - s->tsk * c5;
                c8 = -c1 * c3 - s->tsk * c4 + s->tsk * c6;
                c9 = c7 * c7 - 4 * c5 * c8;
                c10 = 5.28f * adu - c6 - c5 * s->tsk;
                c11 = c10 * c10 - 4 * c5 * (c6 * s->tsk - c1 - 5.28f * adu * s->tsk);
                t = s->tsk == 36 ? 36.01f : s->tsk;
                core[7] = c1 / (5.28f * adu + c2 * 6.3f / 3600) + t;
                core[3] = c1 / (5.28f * adu + (c2 * 6.3f / 3600) / (1 + .5f * (34 - t))) + t;
                if (c11 >= 0) {
                    core[6] = (-c10 - sqrtf(c11)) / (2 * c5);
                    core[1] = (-c10 + sqrtf(c11)) / (2 * c5);
                }
                if (c9 >= 0) {
                    core[2] = (-c7 + sqrtf(fabsf(c9))) / (2 * c5);
                    core[5] = (-c7 - sqrtf(fabsf(c9))) / (2 * c5);
                }
                core[4] = c1 / (5.28f * adu + c2 / 40) + t;
                tb = .1f * s->tsk + .9f * core[j];
                sw = tb <= 36.6f ? 0 : 304.94f * (tb - 36.6f) * adu / 3.6e6f;
                if (b->sex == QN_SW_FEMALE)
                    sw *= .7f;
                s->vpts = pet_plain_vapour(s->tsk);
                esp = -sw * 2.42e6f;
                epot = he * (vpa - s->vpts) * adu * 2.42e6f * fec;
                s->wet = fminf(esp / epot, 1);
                s->esw = fminf(esp - epot <= 0 ? epot : esp, 0);
                ed = 2.42e6f / rdsk * adu * (1 - s->wet) * (vpa - s->vpts);
                vb = (6.3f + 75 * fmaxf(core[j] - 36.6f, 0)) / (1 + .5f * fmaxf(34 - s->tsk, 0));
                eb = met + ed + ere + s->esw + csum + rsum;
                s->tcl += eb > 0 ? steps[k] : -steps[k];
                count3++;
                s->walks++;
            }
            eb2 = 0;
        }
        ok = j == 2 || j == 5   ? c9 >= 0 && core[j] >= 36.6f && s->tsk <= 34.05f
             : j == 1 || j == 6 ? c11 > 0 && core[j] >= 36.6f && s->tsk > 33.85f
             : j == 3           ? core[3] < 36.6f && s->tsk <= 34
                                : 1;
        s->hypothesis = j;
        if (ok && !((j != 4 && vb >= 91) || (j == 4 && vb < 89)))
            break;
        s->hypothesis = 7;
    }
    hc = 2.67f + 6.5f * powf(.1f, .67f);
    eb2 = 0;
    for (int k = 0; k < 4; k++) {
        eb = 0;
        count = 1;
        while (eb * eb2 >= 0 && count < 200) {
            eb2 = eb;
            count++;
            s->walks++;
            rsum = aeff * (1 - facl) * .99f * sbc * (pet_plain_p4(tx) - pet_plain_p4(s->tsk)) +
                   feff * acl * .95f * sbc * (pet_plain_p4(tx) - pet_plain_p4(s->tcl));
            csum = hc * (tx - s->tsk) * adu * (1 - facl) + hc * (tx - s->tcl) * acl;
            ed = 2.42e6f / rdsk * adu * (1 - s->wet) * (12 - s->vpts);
            tex = .47f * tx + 21;
            ere = 1010 * (tx - tex) * rtv +
                  .623f * 2.42e6f / 1013.25f * (12 - pet_plain_vapour(tex)) * rtv;
            eb = met + ed + ere + s->esw + csum + rsum;
            tx += eb > 0 ? -steps[k] : eb < 0 ? steps[k] : 0;
        }
        eb2 = 0;
    }
    return tx;
}

#endif
