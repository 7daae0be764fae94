/* patches.c - bands of the sky, their patches and weights. */
#include "shadow.h"

#include <math.h>

#define PI 3.14159265358979323846f

enum { MAX_BANDS = 15 };

typedef struct sky {
    int n_bands;
    int altitude[MAX_BANDS], n[MAX_BANDS], first[MAX_BANDS]; /* first azimuth */
    int edge[MAX_BANDS + 1];
} sky;

#define WIDE_BANDS                                                                                 \
    .n_bands = 8, .altitude = { 6, 18, 30, 42, 54, 66, 78, 90 },                                   \
    .first = { 0, 4, 2, 5, 8, 0, 10, 0 }, .edge = { 0, 12, 24, 36, 48, 60, 72, 84, 90 }

static const sky skies[] = {
    { WIDE_BANDS, .n = { 30, 30, 24, 24, 18, 12, 6, 1 } },
    { WIDE_BANDS, .n = { 31, 30, 28, 24, 19, 13, 7, 1 } },
    { WIDE_BANDS, .n = { 62, 60, 56, 48, 38, 26, 14, 1 } },
    { .n_bands = 15,
      .altitude = { 3, 9, 15, 21, 27, 33, 39, 45, 51, 57, 63, 69, 75, 81, 90 },
      .n = { 62, 62, 60, 60, 56, 56, 48, 48, 38, 38, 26, 26, 14, 14, 1 },
      .first = { 0, 0, 4, 4, 2, 2, 5, 5, 8, 8, 0, 0, 10, 10, 0 },
      .edge = { 0, 4, 9, 15, 21, 27, 33, 39, 45, 51, 57, 63, 69, 75, 81, 90 } },
};
enum { N_SKIES = sizeof skies / sizeof *skies };

/* Weight of one of `n` patches between two altitudes. The order of operations is that of the
 * reference: any other order changes the last bit of two thirds of the patches. */
static float weight_of(int n, int edge0, int edge1)
{
    const float width = (360.0f / (float)n) * (PI / 180.0f);
    const float ring = (1.0f / (2.0f * PI)) * sinf(PI / 180.0f);
    float sum = 0;

    for (int a = edge0 + 1; a <= edge1; a++)
        sum += sinf(PI * (2.0f * (float)(91 - a) - 1.0f) / 180.0f);
    return width * ring * sum;
}

int qn_sw_patch_count(int option)
{
    int n = 0;

    if (option < 1 || option > N_SKIES)
        return 0;
    for (int b = 0; b < skies[option - 1].n_bands; b++)
        n += skies[option - 1].n[b];
    return n;
}

qn_status qn_sw_patches(int option, qn_sw_patch *out, qn_err *err)
{
    const sky *s;

    if (option < 1 || option > N_SKIES)
        return qn_fail(err, QN_ERR_INPUT, "patch option %d is not 1 to %d", option, N_SKIES);
    s = &skies[option - 1];
    for (int b = 0; b < s->n_bands; b++) {
        const float step = 360.0f / (float)s->n[b];
        const float all = weight_of(s->n[b], s->edge[b], s->edge[b + 1]);
        const float side = weight_of((s->n[b] + 1) / 2, s->edge[b], s->edge[b + 1]);

        for (int k = 0; k < s->n[b]; k++) {
            const float az = fmodf((float)s->first[b] + (float)k * step, 360.0f);

            *out++ = (qn_sw_patch){ .altitude = (float)s->altitude[b],
                                    .azimuth = az,
                                    .weight = { .all = all,
                                                .north = az >= 270 || az < 90 ? side : 0,
                                                .east = az < 180 ? side : 0,
                                                .south = az >= 90 && az < 270 ? side : 0,
                                                .west = az >= 180 ? side : 0 } };
        }
    }
    return QN_OK;
}
