/* dome.c - constants of sky patches.
 *
 * A wall is sunlit in a patch if an angle in degrees is below the patch's altitude. The angle is an
 * arc tangent, whose last bit differs between devices and which costs more than all other work for
 * a patch. Since it increases with its argument, we compare arguments instead of angles, using the
 * smallest float whose angle passes. That float is found here by bisection over floats, with the
 * arithmetic of the reference.
 */
#include "step.h"

#include "kernel/solweig/sw_radiation.h"

#include <math.h>
#include <string.h>

#define DEGREE (3.14159265358979f / 180)

/* Maps a float to an integer in the same order. */
static int64_t place_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits & 0x80000000u ? -(int64_t)(bits & 0x7fffffffu) : (int64_t)bits;
}

static float float_at(int64_t place)
{
    const uint32_t bits = place < 0 ? (uint32_t)-place | 0x80000000u : (uint32_t)place;
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static int passes(float x, float altitude, int is_beyond)
{
    const float degrees = atanf(x) * (180 / 3.14159265358979f);

    return is_beyond ? degrees > altitude : degrees >= altitude;
}

float qn_sw_tangent_from(float altitude, int is_beyond)
{
    int64_t low = place_of(-INFINITY), high = place_of(INFINITY);

    if (!passes(INFINITY, altitude, is_beyond))
        return INFINITY;
    while (high - low > 1) { /* low does not pass, high does */
        const int64_t middle = low + (high - low) / 2;

        if (passes(float_at(middle), altitude, is_beyond))
            high = middle;
        else
            low = middle;
    }
    return float_at(high);
}

qn_status qn_sw_dome_make(int n, const float *altitude, const float *azimuth,
                          const float *steradian, qn_sw_dome *out, qn_err *err)
{
    const int most = 32 * SW_MAX_WORDS;

    if (n < 1 || n > most)
        return qn_fail(err, QN_ERR_LIMIT, "%d sky patches; must be 1 to %d", n, most);
    for (int i = 0; i < n; i++)
        if (!(altitude[i] > 0 && altitude[i] <= 90))
            return qn_fail(err, QN_ERR_INPUT, "sky patch %d has altitude %g, not in (0, 90]", i,
                           (double)altitude[i]);
    memset(out, 0, sizeof *out);
    out->n = n;
    out->n_table = (n + SW_PATCH_CHUNK - 1) / SW_PATCH_CHUNK * SW_PATCH_CHUNK;
    for (int i = 0; i < n; i++) {
        const float across = cosf((90 - altitude[i]) * DEGREE);
        const float c = steradian[i] * cosf(altitude[i] * DEGREE);
        const float s = steradian[i] * sinf(altitude[i] * DEGREE);

        out->thin[i] = expf(0.308f * (1.7f - 1 / across));
        out->table[i] = (sw_patch){ .cos_ster = c,
                                    .sin_ster = s,
                                    .lit_below = qn_sw_tangent_from(altitude[i], 0),
                                    .dark_from = qn_sw_tangent_from(altitude[i], 1),
                                    .altitude = altitude[i],
                                    .azimuth = azimuth[i] };
    }
    return QN_OK;
}

qn_status qn_sw_patch_sky_make(int option, qn_sw_patch_sky *out, qn_err *err)
{
    qn_sw_patch patches[QN_SW_MAX_PATCHES];
    float steradian[QN_SW_MAX_PATCHES];
    const int n = qn_sw_patch_count(option);
    qn_status st = QN_OK;

    QN_TRY(qn_sw_patches(option, patches, err));
    for (int i = 0; i < n; i++) {
        out->altitude[i] = patches[i].altitude;
        out->azimuth[i] = patches[i].azimuth;
    }
    qn_sw_steradians(out->altitude, (size_t)n, steradian);
    QN_TRY(qn_sw_dome_make(n, out->altitude, out->azimuth, steradian, &out->dome, err));
out:
    return st;
}
