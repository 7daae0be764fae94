/* gvf_table.c - where rays go, in f32 on the host, so that all devices take the same steps. */
#include "gvf_impl.h"

#include <math.h>

static float azimuth_of(int ray)
{
    return (float)(5 + 20 * ray) * (3.14159265358979f / 180);
}

void qn_sw_gvf_reach(const qn_sw_gvf_options *options, int *first, int *second)
{
    const float scale = options->divides_by_pixel ? 1 / options->pixel_m : options->pixel_m;
    const float near_m = fmaxf(1, roundf(options->height_m));

    *first = (int)fmaxf(1, roundf(near_m * scale));
    *second = (int)roundf(options->height_m * 20 * scale);
}

void qn_sw_gvf_steps(int second, int *row_col)
{
    for (int ray = 0; ray < SW_RAYS; ray++) {
        const float a = azimuth_of(ray), t = tanf(a), turn = 6.28318530717959f;
        const int east = sinf(a) < 0 ? -1 : 1, north = cosf(a) < 0 ? -1 : 1;
        const int is_along_row =
            (a >= turn / 8 && a < 3 * turn / 8) || (a >= 5 * turn / 8 && a < 7 * turn / 8);

        for (int n = 0; n < second; n++) {
            int *at = row_col + 2 * (ray * second + n);

            at[0] = -north * (is_along_row ? (int)roundf(fabsf((float)n / t)) : n);
            at[1] = east * (is_along_row ? n : (int)roundf(fabsf((float)n * t)));
        }
    }
}

/* The half turn around each azimuth, as walls are compared with it. */
static void fill_sectors(const qn_sw_gvf_options *options, sw_gvf_sectors *out)
{
    const float quarter = 1.57079632679490f;

    for (int ray = 0; ray < SW_RAYS; ray++) {
        out->low[ray] = azimuth_of(ray) - quarter;
        out->high[ray] = azimuth_of(ray) + quarter;
    }
    out->unit = options->aspect_in_radians ? 3.14159265358979f / 180 : 1;
}

void qn_sw_gvf_plan(const qn_sw_gvf_options *options, sw_gvf_par *par, sw_gvf_sectors *sectors)
{
    int first, second;

    qn_sw_gvf_reach(options, &first, &second);
    *par = (sw_gvf_par){ .plane = (qn_i64)options->cols * options->rows,
                         .near_plain = 1 / (float)first,
                         .near_wall = 1 / (float)(first + 1),
                         .far_plain = 1 / (float)second,
                         .far_wall = 1 / (float)(second + 1),
                         .wall_albedo = options->wall_albedo,
                         .cols = options->cols,
                         .rows = options->rows,
                         .pad = second,
                         .stride = options->cols + 2 * second,
                         .first = first,
                         .second = second,
                         .n_dirs = options->has_sides ? SW_DIRS : 1,
                         .water = options->water_class };
    par->n_table = first + (second - first + SW_GVF_CHUNK - 1) / SW_GVF_CHUNK * SW_GVF_CHUNK;
    fill_sectors(options, sectors);
}

void qn_sw_gvf_offsets(const sw_gvf_par *par, const int *row_col, int *offset)
{
    for (int ray = 0; ray < SW_RAYS; ray++)
        for (int n = 0; n < par->n_table; n++) {
            const int *at = row_col + 2 * (ray * par->second + n);

            offset[ray * par->n_table + n] = n < par->second ? at[0] * par->stride + at[1] : 0;
        }
}
