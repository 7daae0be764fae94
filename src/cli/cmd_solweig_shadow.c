/* cmd_solweig_shadow.c - `quern solweig shadow` and `walls`: maps of one sun, and of no sun. */
#include "cli/cmd_solweig.h"

#include "cli/solweig_options.h"
#include "domain/solweig/sky/sky.h"
#include "domain/solweig/view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const qn_opt shadow_options[] = {
    QN_SW_OPTIONS_LAYERS,
    QN_SW_OPTIONS_HEIGHTS,
    { .name = "azimuth",
      .kind = QN_OPT_TEXT,
      .help = "of the sun, degrees clockwise from north",
      .value = "DEG" },
    { .name = "altitude", .kind = QN_OPT_TEXT, .help = "of the sun, degrees", .value = "DEG" },
    { .name = "at",
      .kind = QN_OPT_TEXT,
      .help = "instead: the sun of this time, 2006-07-26T13:30",
      .value = "TIME" },
    { .name = "lat", .kind = QN_OPT_TEXT, .help = "degrees north", .value = "DEG" },
    { .name = "lon", .kind = QN_OPT_TEXT, .help = "degrees east", .value = "DEG" },
    { .name = "utc",
      .kind = QN_OPT_TEXT,
      .help = "hours that --at is ahead of UTC",
      .value = "H",
      .fallback = "0" },
    { .name = "psi",
      .kind = QN_OPT_TEXT,
      .help = "light that trees let through; without it 0.03, or by the day of --at",
      .value = "X" },
    { .name = "max-distance",
      .kind = QN_OPT_TEXT,
      .help = "metres that a shadow reaches; 0: no limit",
      .value = "M",
      .fallback = "1000" },
    QN_SW_OPTIONS_TILE,
    { 'o', NULL, QN_OPT_TEXT, "write the result: .tif, .npy or .png", .value = "FILE" },
    { 0 }
};

static const char *const shadow_examples[] = {
    "quern solweig bench --size 64 --steps 1 --samples 1 --save city --backend cpu",
    "quern solweig shadow --dsm city/dsm.npy --azimuth 135 --altitude 30 -o morning.png",
    "quern solweig shadow --dsm city/dsm.npy --at 2006-07-26T11:30Z --lat 57.7 --lon 12 -o "
    "july.npy",
    NULL
};

/* Where the sun is. */

/* Exactly `n` digits and, where it is not 0, the character behind them. */
static int take(const char **at, int n, char behind, int *out)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if ((*at)[i] < '0' || (*at)[i] > '9')
            return 0;
        value = 10 * value + (*at)[i] - '0';
    }
    if (behind && (*at)[n] != behind)
        return 0;
    *at += n + (behind != 0);
    *out = value;
    return 1;
}

static qn_status parse_time(const char *text, qn_sw_stamp *out, qn_err *err)
{
    qn_sw_stamp t = { 0 };
    const char *at = text;
    int is_time = take(&at, 4, '-', &t.year) && take(&at, 2, '-', &t.month) &&
                  take(&at, 2, 'T', &t.day) && take(&at, 2, ':', &t.hour) &&
                  take(&at, 2, 0, &t.minute);

    if (is_time && *at == ':') {
        at++;
        is_time = take(&at, 2, 0, &t.second);
    }
    at += is_time && *at == 'Z';
    if (is_time && !*at && t.second < 60 && qn_sw_stamp_is_valid(&t)) {
        *out = t;
        return QN_OK;
    }
    return qn_fail(err, QN_ERR_USAGE, "--at: '%s' is not a time such as 2006-07-26T13:30", text);
}

static qn_status sun_at(const qn_args *args, qn_sw_beam *out, qn_err *err)
{
    const qn_sw_trees trees = qn_sw_trees_default();
    qn_sw_site site = { 0 };
    qn_sw_stamp time;
    qn_sw_sun sun;
    qn_status st = QN_OK;

    QN_TRY(parse_time(qn_text(args, "at"), &time, err));
    if (!qn_text(args, "lat") || !qn_text(args, "lon")) {
        st = qn_fail(err, QN_ERR_USAGE, "--at needs --lat and --lon");
        goto out;
    }
    QN_TRY(qn_sw_number_of(args, "lat", -90, 90, &site.latitude, err));
    QN_TRY(qn_sw_number_of(args, "lon", -180, 360, &site.longitude, err));
    QN_TRY(qn_sw_number_of(args, "utc", -14, 14, &site.utc_offset, err));
    if (strchr(qn_text(args, "at"), 'Z') && site.utc_offset != 0) {
        st = qn_fail(err, QN_ERR_USAGE, "--at %s is UTC; --utc %g contradicts it",
                     qn_text(args, "at"), site.utc_offset);
        goto out;
    }
    sun = qn_sw_sun_at(&site, &time);
    *out = (qn_sw_beam){ .azimuth = (float)sun.azimuth,
                         .altitude = (float)sun.altitude,
                         .psi = (float)qn_sw_psi(&trees, qn_sw_day_of_year(&time)) };
out:
    return st;
}

static qn_status sun_of(const qn_args *args, qn_sw_beam *out, qn_err *err)
{
    double azimuth = 0, altitude = 0, psi = -1;
    qn_status st = QN_OK;

    if (qn_text(args, "at") && (qn_text(args, "azimuth") || qn_text(args, "altitude"))) {
        st = qn_fail(err, QN_ERR_USAGE, "--at and --azimuth, --altitude exclude each other");
        goto out;
    }
    if (qn_text(args, "at")) {
        QN_TRY(sun_at(args, out, err));
    } else if (qn_text(args, "azimuth") && qn_text(args, "altitude")) {
        QN_TRY(qn_sw_number_of(args, "azimuth", 0, 360, &azimuth, err));
        QN_TRY(qn_sw_number_of(args, "altitude", -90, 90, &altitude, err));
        *out = (qn_sw_beam){ .azimuth = (float)azimuth, .altitude = (float)altitude, .psi = 0.03f };
    } else {
        st = qn_fail(err, QN_ERR_USAGE,
                     "where is the sun? --azimuth and --altitude, or --at, --lat and --lon");
        goto out;
    }
    QN_TRY(qn_sw_number_of(args, "psi", 0, 1, &psi, err));
    if (psi >= 0)
        out->psi = (float)psi;
out:
    return st;
}

/* Shadow. */

static double mean_of(const qn_sw_raster *raster)
{
    const size_t n = qn_sw_elems(&raster->place);
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(raster->data[i])) {
            sum += (double)raster->data[i];
            count++;
        }
    return count ? sum / (double)count : NAN;
}

static qn_status run_shadow(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *path = qn_text(args, "o");
    qn_sw_map look = { .title = "Sunlit share", .low = 0, .high = 1 };
    qn_sw_surface surface = { 0 };
    qn_sw_raster shadow = { 0 };
    qn_sw_sun_options job = { 0 };
    qn_sw_beam sun;
    int tile = 0;
    qn_status st = QN_OK;

    if (!path)
        return qn_fail(err, QN_ERR_USAGE, "-o FILE is needed: .tif, .npy or .png");
    QN_TRY(qn_sw_map_check(path, err));
    QN_TRY(sun_of(args, &sun, err));
    QN_TRY(qn_sw_number_of(args, "max-distance", 0, 1e6, &job.max_dist, err));
    QN_TRY(qn_sw_tile_of(args, &tile, err));
    job.tile = tile;
    QN_TRY(qn_sw_surface_of(args, &surface, err));
    QN_TRY(qn_sw_shadow_compute(ctx, &surface, &sun, &job, &shadow, err));
    look.pixel_size = shadow.place.pixel_size;
    QN_TRY(qn_sw_map_out(path, &shadow, &look, err));
    printf("sun at azimuth %.3f, altitude %.3f%s: %.1f %% sunlit\nfile: %s\n", (double)sun.azimuth,
           (double)sun.altitude, sun.altitude > 0 ? "" : ", below the horizon",
           100 * mean_of(&shadow), path);
    qn_cli_summary(args, (double)qn_sw_elems(&shadow.place), "pixel", "pixels");
out:
    qn_sw_raster_free(&shadow);
    qn_sw_surface_free(&surface);
    return st;
}

const qn_command qn_verb_solweig_shadow = {
    .name = "shadow",
    .summary = "shadows of buildings and trees for one sun",
    .options = shadow_options,
    .notes =
        "1 is in the sun, 0 in the shade of a building, --psi in that of a tree. With the sun\n"
        "below the horizon everything is 1.",
    .examples = shadow_examples,
    .run = run_shadow,
};

/* Walls. */

static const qn_opt walls_options[] = {
    QN_SW_OPTIONS_LAYERS, QN_SW_OPTIONS_HEIGHTS, QN_SW_OPTIONS_TILE, QN_SW_OPTION_OUT, { 0 }
};

static const char *const walls_examples[] = {
    "quern solweig bench --size 64 --steps 1 --samples 1 --save city --backend cpu",
    "quern solweig walls --dsm city/dsm.npy --out walls --backend cpu", NULL
};

static qn_status write_in(const char *folder, const char *name, const char *ending,
                          const qn_sw_raster *raster, const qn_sw_map *look, qn_err *err)
{
    char *path = NULL;
    qn_status st;

    if (asprintf(&path, "%s/%s%s", folder, name, ending) < 0)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for a name", folder);
    st = qn_sw_map_out(path, raster, look, err);
    free(path);
    return st;
}

static void print_walls(const qn_sw_raster *height, const char *folder, const char *ending)
{
    const size_t n = qn_sw_elems(&height->place);
    double highest = 0;
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (height->data[i] > 0) {
            highest = fmax(highest, (double)height->data[i]);
            count++;
        }
    printf("%zu of %zu pixels have a wall, the highest %.1f m\n", count, n, highest);
    printf("files: %s/wall_height%s, wall_aspect%s, wall_height.png\n", folder, ending, ending);
}

static qn_status run_walls(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_sw_map look = { .title = "Wall height", .unit = "m" };
    qn_sw_raster height = { 0 }, aspect = { 0 };
    qn_sw_surface surface = { 0 };
    const char *folder = NULL, *ending;
    qn_sw_walls_options job = { .limit = 1 };
    int tile = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_tile_of(args, &tile, err));
    job.tile = tile;
    QN_TRY(qn_sw_surface_of(args, &surface, err));
    QN_TRY(qn_sw_folder_of(args, &folder, err));
    QN_TRY(qn_sw_walls_compute(ctx, &surface.dsm, &job, &height, &aspect, err));
    ending = qn_sw_map_ending(&height.place);
    look.pixel_size = height.place.pixel_size;
    QN_TRY(write_in(folder, "wall_height", ending, &height, NULL, err));
    QN_TRY(write_in(folder, "wall_aspect", ending, &aspect, NULL, err));
    QN_TRY(write_in(folder, "wall_height", ".png", &height, &look, err));
    print_walls(&height, folder, ending);
    qn_cli_summary(args, (double)qn_sw_elems(&height.place), "pixel", "pixels");
out:
    qn_sw_raster_free(&height);
    qn_sw_raster_free(&aspect);
    qn_sw_surface_free(&surface);
    return st;
}

const qn_command qn_verb_solweig_walls = {
    .name = "walls",
    .summary = "heights of walls, and where they face",
    .options = walls_options,
    .notes = "wall_height is in metres, 0 without a wall; wall_aspect in degrees clockwise from\n"
             "north. A wall is the pixel beside a higher one, by 1 m at least.",
    .examples = walls_examples,
    .run = run_walls,
};
