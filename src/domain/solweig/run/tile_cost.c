/* tile_cost.c - bytes of a pixel, by the buffers that tile.c makes.
 *
 * A tile lives twice: at its start, when the sky is marched over and the view of the ground is
 * measured, and while rows are computed. The larger of the two counts.
 */
#include "tile.h"

#include "domain/solweig/shadow/shadow.h"

#include <math.h>

#define PLANE 4.0 /* bytes */

/* Heights, walls, and the planes that marches need besides. */
static double heights(const qn_sw_tile_needs *n)
{
    return PLANE * (n->has_vegetation ? 9 : 4);
}

/* Class, buildings, albedo, emissivity. */
static double ground(void)
{
    return 1 + 1 + 2 * PLANE;
}

static double dirs(const qn_sw_tile_needs *n)
{
    return n->sky == QN_SW_SKY_ANISO ? 1 : SW_DIRS;
}

/* Of the view of the ground what its geometry makes: albedo unshaded, lengths of rays, faces. */
static double geometry(const qn_sw_tile_needs *n)
{
    return PLANE * dirs(n) + SW_RAYS + sizeof(u32);
}

static double words(const qn_sw_tile_needs *n)
{
    const int n_words = (qn_sw_patch_count(n->patch_option) + 31) / 32;

    return sizeof(u32) * (double)n_words;
}

static double matrices(const qn_sw_tile_needs *n)
{
    return n->has_vegetation ? 3 : 1;
}

static double summary(const qn_sw_tile_needs *n)
{
    return SW_SUMS * sizeof(double) + SW_EXTREMES * sizeof(float) +
           (double)qn_sw_summary_words(n->n_thresholds, n->n_rows) * sizeof(u32);
}

/* View factors that steps read: all under an isotropic sky, else two and the bits of patches. */
static double sky(const qn_sw_tile_needs *n)
{
    if (n->sky == QN_SW_SKY_ISO)
        return PLANE * SW_VIEW_PLANES;
    return 2 * PLANE + words(n) * matrices(n);
}

/* Temporaries of the start lie in one allocation: view factors or bits that are not kept, before
 * them five planes of windows of heights, after them two of the ground's view. */
static double start_temps(const qn_sw_tile_needs *n)
{
    const double march = n->sky == QN_SW_SKY_ISO
                             ? 3 * words(n)
                             : PLANE * SW_VIEW_PLANES + (3 - matrices(n)) * words(n);

    return fmax(march, 5 * PLANE);
}

static double at_start(const qn_sw_tile_needs *n)
{
    return heights(n) + ground() + 2 * PLANE + geometry(n) + sky(n) + start_temps(n) + summary(n);
}

/* Shadow, and where the view of the ground has no sides to lend Tmrt, UTCI and PET. */
static double results(const qn_sw_tile_needs *n)
{
    const int is_lent = n->sky == QN_SW_SKY_ISO;

    return PLANE + (is_lent ? 0 : PLANE * (n->has_pet ? 3 : 2));
}

/* Lup, albedo and delayed state of the view, and its two bordered planes of a step. */
static double in_rows(const qn_sw_tile_needs *n)
{
    const double view = 3 * PLANE * dirs(n) + 2 * PLANE;
    const double radiation =
        PLANE * (n->sky == QN_SW_SKY_ISO ? SW_ISO_PLANES : SW_RADIATION_PLANES);

    return heights(n) + ground() + geometry(n) + sky(n) + view + radiation + results(n) +
           summary(n);
}

qn_sw_plan_cost qn_sw_tile_cost(const qn_sw_tile_needs *needs)
{
    const double layers = heights(needs) + ground();
    const double views = needs->sky == QN_SW_SKY_ISO ? PLANE * SW_VIEW_PLANES : 0;

    /* The host has the layers of a tile and of the next one, and rows on their way to files. */
    return (qn_sw_plan_cost){ .device = fmax(at_start(needs), in_rows(needs)),
                              .host = 2 * layers + 64,
                              .largest = fmax(start_temps(needs), views) };
}
