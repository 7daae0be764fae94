/* cmd_solweig_run.c - `quern solweig run`: a city through the rows of a weather file. */
#include "cli/cmd_solweig.h"

#include "cli/solweig_options.h"
#include "domain/solweig/run/run.h"
#include "util/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WEATHER = 64 };

static const qn_opt options[] = {
    QN_SW_OPTIONS_LAYERS,
    QN_SW_OPTIONS_COVER,
    QN_SW_OPTIONS_HEIGHTS,
    QN_SW_OPTIONS_WALLS,
    { .name = "albedo",
      .kind = QN_OPT_TEXT,
      .help = "of the ground, where there is no land cover",
      .value = "FILE" },
    { .name = "emissivity", .kind = QN_OPT_TEXT, .help = "the same", .value = "FILE" },
    { .name = "weather",
      .kind = QN_OPT_TEXT,
      .help = "an .epw file, or UMEP text files",
      .value = "FILE[,..]" },
    { .name = "from",
      .kind = QN_OPT_TEXT,
      .help = "first row: a date, date and time, or MM-DD of any year",
      .value = "T" },
    { .name = "to",
      .kind = QN_OPT_TEXT,
      .help = "last row (default: the day of --from)",
      .value = "T" },
    { .name = "hours",
      .kind = QN_OPT_TEXT,
      .help = "only rows of these hours",
      .value = "9,12-15" },
    { .name = "hourly", .kind = QN_OPT_FLAG, .help = "of UMEP text: only rows at minute 0" },
    { .name = "lat",
      .kind = QN_OPT_TEXT,
      .help = "degrees north; an .epw file knows it",
      .value = "DEG" },
    { .name = "lon", .kind = QN_OPT_TEXT, .help = "degrees east; the same", .value = "DEG" },
    { .name = "utc",
      .kind = QN_OPT_TEXT,
      .help = "hours that local time is ahead of UTC",
      .value = "H" },
    { .name = "alt",
      .kind = QN_OPT_TEXT,
      .help = "metres above the sea (default 0)",
      .value = "M" },
    { .name = "sky",
      .kind = QN_OPT_CHOICE,
      .help = "the sky's light",
      .value = "aniso|iso",
      .fallback = "aniso" },
    QN_SW_OPTIONS_PATCHES,
    { .name = "person",
      .kind = QN_OPT_CHOICE,
      .help = "who feels it",
      .value = "standing|sitting",
      .fallback = "standing" },
    { .name = "params",
      .kind = QN_OPT_TEXT,
      .help = "materials, trees and person, in UMEP's layout",
      .value = "FILE.json" },
    { .name = "wall-material",
      .kind = QN_OPT_CHOICE,
      .help = "what walls are made of",
      .value = "generic|cobblestone|brick|concrete|wood" },
    { .name = "conifer", .kind = QN_OPT_FLAG, .help = "trees keep their leaves" },
    { .name = "max-distance",
      .kind = QN_OPT_TEXT,
      .help = "metres that shadows reach (default 1000)",
      .value = "M" },
    { .name = "outputs",
      .kind = QN_OPT_TEXT,
      .help = "rasters of every row: tmrt, utci, pet, shadow, kdown, kup, ldown, lup, or none",
      .value = "LIST",
      .fallback = "tmrt" },
    { .name = "pet-table", .kind = QN_OPT_FLAG, .help = "PET by a table over Tmrt: faster" },
    { .name = "no-summary", .kind = QN_OPT_FLAG, .help = "no grids of means, extremes and hours" },
    { .name = "above-day",
      .kind = QN_OPT_TEXT,
      .help = "count hours by day with UTCI above these",
      .value = "LIST",
      .fallback = "32,38" },
    { .name = "above-night",
      .kind = QN_OPT_TEXT,
      .help = "the same by night",
      .value = "LIST",
      .fallback = "26" },
    { .name = "maps",
      .kind = QN_OPT_TEXT,
      .help = "PNG maps of rows of these hours",
      .value = "9,12-15" },
    { .name = "pois",
      .kind = QN_OPT_TEXT,
      .help = "points whose series are written, .geojson or .csv",
      .value = "FILE" },
    { .name = "svf",
      .kind = QN_OPT_TEXT,
      .help = "sky view factors of `quern solweig svf`; computed where they do not fit",
      .value = "DIR" },
    QN_SW_OPTIONS_TILE,
    { .name = "ignore-split",
      .kind = QN_OPT_FLAG,
      .help = "estimate direct and diffuse light, also where measured" },
    { .name = "fix-pressure", .kind = QN_OPT_FLAG, .help = "hPa are hPa in the clearness index" },
    { .name = "fixed", .kind = QN_OPT_FLAG, .help = "mend the known faults of the reference" },
    { .name = "resume", .kind = QN_OPT_FLAG, .help = "go on with a run that was killed" },
    QN_SW_OPTION_OUT,
    { 0 }
};

static const char *const examples[] = {
    "quern solweig bench --size 64 --steps 1 --samples 1 --save city --backend cpu",
    "echo 2006 207 13 0 0 0 0 0 0 2 60 26 -999 0 800 0 0 0 0 0 0 -999 -999 0 >noon.txt",
    "quern solweig run --dsm city/dsm.npy --weather noon.txt --lat 57.7 --lon 12 --utc 1 --out hot",
    NULL
};

/* Options. */

/* What a command line says, with room for what the configuration points to. */
typedef struct request {
    qn_sw_run_config config;
    qn_sw_params params;
    char *weather_text;
    const char *weather[MAX_WEATHER];
    qn_sw_threshold thresholds[SW_THRESHOLDS];
} request;

static qn_status read_weather(const qn_args *args, request *r, qn_err *err)
{
    const char *list = qn_text(args, "weather");
    qn_status st = QN_OK;

    if (!list)
        return qn_fail(err, QN_ERR_USAGE, "--weather FILE is needed: an .epw file or UMEP text");
    if (!(r->weather_text = strdup(list)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for names of weather files");
    for (char *at = r->weather_text, *next; at; at = next) {
        if ((next = strchr(at, ',')))
            *next++ = '\0';
        if (r->config.n_weather == MAX_WEATHER)
            return qn_fail(err, QN_ERR_LIMIT, "--weather: over %d files", MAX_WEATHER);
        QN_TRY(qn_cli_input(at, err));
        r->weather[r->config.n_weather++] = at;
    }
    r->config.weather = r->weather;
    r->config.rows = (qn_sw_weather_options){ .start = qn_text(args, "from"),
                                              .end = qn_text(args, "to"),
                                              .hours = qn_text(args, "hours"),
                                              .hourly_only = qn_flag(args, "hourly") };
out:
    return st;
}

static qn_status read_site(const qn_args *args, qn_sw_run_config *c, qn_err *err)
{
    const int n = qn_given(args, "lat") + qn_given(args, "lon") + qn_given(args, "utc");
    qn_status st = QN_OK;

    if (n != 0 && n != 3)
        return qn_fail(err, QN_ERR_USAGE, "--lat, --lon and --utc come together");
    c->has_site = n == 3;
    QN_TRY(qn_sw_number_of(args, "lat", -90, 90, &c->site.latitude, err));
    QN_TRY(qn_sw_number_of(args, "lon", -180, 180, &c->site.longitude, err));
    QN_TRY(qn_sw_number_of(args, "utc", -14, 14, &c->site.utc_offset, err));
    QN_TRY(qn_sw_number_of(args, "alt", -500, 9000, &c->site.altitude, err));
out:
    return st;
}

static qn_status read_params(const qn_args *args, request *r, qn_err *err)
{
    const char *file = qn_text(args, "params");
    qn_status st = QN_OK;

    qn_sw_params_default(&r->params);
    if (file) {
        QN_TRY(qn_cli_input(file, err));
        QN_TRY(qn_sw_params_read(file, &r->params, err));
    }
    if (qn_given(args, "wall-material"))
        QN_TRY(qn_sw_params_set_wall(&r->params, qn_text(args, "wall-material"), err));
    if (!file || qn_given(args, "person"))
        r->params.person.pose =
            strcmp(qn_text(args, "person"), "sitting") ? QN_SW_STANDING : QN_SW_SITTING;
    r->params.trees.is_conifer |= qn_flag(args, "conifer");
    r->config.params = &r->params;
out:
    return st;
}

/* Adds the numbers of a list; one that is there already serves both day and night. */
static qn_status add_thresholds(const qn_args *args, const char *name, int by_day, request *r,
                                qn_err *err)
{
    const char *at = qn_text(args, name);

    while (at && *at && strcmp(at, "none")) {
        qn_sw_run_config *c = &r->config;
        char *end = NULL;
        const float above = strtof(at, &end);
        int i = 0;

        if (end == at || (*end && *end != ',') || !isfinite(above))
            return qn_fail(err, QN_ERR_USAGE, "--%s: '%s' is not a list of temperatures", name,
                           qn_text(args, name));
        while (i < c->n_thresholds && r->thresholds[i].above != above)
            i++;
        if (i == SW_THRESHOLDS)
            return qn_fail(err, QN_ERR_LIMIT, "--%s: over %d thresholds", name, SW_THRESHOLDS);
        r->thresholds[i].above = above;
        r->thresholds[i].by_day |= by_day;
        r->thresholds[i].by_night |= !by_day;
        c->n_thresholds += i == c->n_thresholds;
        at = *end ? end + 1 : end;
    }
    r->config.thresholds = r->thresholds;
    return QN_OK;
}

static qn_status read_files(const qn_args *args, qn_sw_run_config *c, qn_err *err)
{
    const char *const files[] = { qn_text(args, "albedo"), qn_text(args, "emissivity"),
                                  qn_text(args, "pois") };
    qn_sw_date_filter filter;
    int tile = 0;
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i])
            QN_TRY(qn_cli_input(files[i], err));
    c->surface.albedo = files[0];
    c->surface.emissivity = files[1];
    c->pois = files[2];
    c->svf = qn_text(args, "svf");
    c->maps = qn_text(args, "maps");
    if (c->maps)
        QN_TRY(qn_sw_date_filter_parse(NULL, NULL, c->maps, &filter, err));
    QN_TRY(qn_sw_planes_parse(qn_text(args, "outputs"), &c->outputs, err));
    c->no_outputs = c->outputs == 0;
    QN_TRY(qn_sw_tile_of(args, &tile, err));
    c->tile = tile;
    QN_TRY(qn_sw_folder_of(args, &c->out, err));
out:
    return st;
}

static qn_status read_request(const qn_args *args, request *r, qn_err *err)
{
    qn_sw_run_config *c = &r->config;
    qn_status st = QN_OK;

    QN_TRY(qn_sw_load_options_of(args, &c->surface, err));
    QN_TRY(read_weather(args, r, err));
    QN_TRY(read_site(args, c, err));
    QN_TRY(read_params(args, r, err));
    QN_TRY(add_thresholds(args, "above-day", 1, r, err));
    QN_TRY(add_thresholds(args, "above-night", 0, r, err));
    QN_TRY(qn_sw_number_of(args, "max-distance", 1, 1e6, &c->max_distance_m, err));
    c->sky = strcmp(qn_text(args, "sky"), "iso") ? QN_SW_SKY_ANISO : QN_SW_SKY_ISO;
    c->patch_option = qn_sw_patch_option_of(args);
    c->pet = qn_flag(args, "pet-table") ? QN_SW_PET_TABLED : QN_SW_PET_SOLVED;
    c->no_summary = qn_flag(args, "no-summary");
    c->ignore_split = qn_flag(args, "ignore-split");
    c->fix_pressure = qn_flag(args, "fix-pressure");
    c->fixed = qn_flag(args, "fixed");
    c->parity = qn_flag(args, "parity");
    c->resume = qn_flag(args, "resume");
    QN_TRY(read_files(args, c, err));
out:
    return st;
}

/* The run. */

static void advance(void *user, const char *phase, double share)
{
    (void)phase;
    qn_progress_at(user, share);
}

static void print_result(const qn_sw_run_config *c, const qn_sw_run_result *r)
{
    const qn_tiles *plan = &r->plan;
    size_t hottest = 0;

    for (size_t i = 1; i < r->n_rows; i++)
        if (r->rows[i].tmrt_mean > r->rows[hottest].tmrt_mean)
            hottest = i;
    const qn_sw_date when = qn_sw_date_of(r->rows[hottest].minutes);

    printf("%lld x %lld pixels of %g m, %zu row%s: %.3f s, %.2f ms per row and tile\n",
           (long long)r->place.rows, (long long)r->place.cols, r->place.pixel_size, r->n_rows,
           r->n_rows == 1 ? "" : "s", r->times.total_s, 1e3 * r->times.step_mean_s);
    printf("hottest at %04d-%02d-%02dT%02d:%02d: Tmrt %.2f, UTCI %.2f in the mean\n", when.year,
           when.month, when.day, when.hour, when.minute, r->rows[hottest].tmrt_mean,
           r->rows[hottest].utci_mean);
    printf("sky view %s in %.3f s; %s sky, %.0f bytes per pixel on the device\n",
           r->svf_was_read ? "read" : "computed", r->times.svf_s,
           c->sky == QN_SW_SKY_ANISO ? "anisotropic" : "isotropic", plan->cost.device);
    if (qn_tiles_count(plan) > 1)
        printf("%lld tiles of %lld pixels with %lld around them (%s): mean %.0f ms, p95 %.0f ms\n",
               (long long)qn_tiles_count(plan), (long long)plan->core,
               (long long)(plan->border + plan->padding), plan->limited_by, r->times.tile_mean_ms,
               r->times.tile_p95_ms);
    if (r->n_tiles_kept)
        printf("%d tiles were finished by the run before\n", r->n_tiles_kept);
    if (c->parity || c->fixed || c->fix_pressure)
        printf("switches:%s%s%s\n", c->parity ? " --parity" : "", c->fixed ? " --fixed" : "",
               c->fix_pressure ? " --fix-pressure" : "");
    printf("files: %s/run_metadata.json, report.html, timeseries.csv%s%s%s\n", c->out,
           c->pois ? ", pois.csv" : "", c->no_summary ? "" : ", summary/",
           c->no_outputs ? "" : ", rasters by name");
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_progress_options watch = { 0 };
    qn_progress *progress = NULL;
    qn_sw_run_options how = { .progress = advance };
    qn_sw_run_result result = { 0 };
    request r = { 0 };
    qn_status st = QN_OK;

    QN_TRY(read_request(args, &r, err));
    QN_TRY(qn_cli_progress(args, &watch.mode, err));
    QN_TRY(qn_progress_new(&watch, "solweig run", "", 1, &progress, err));
    how.user = progress;
    QN_TRY(qn_sw_run(ctx, &r.config, &how, &result, err));
    qn_progress_done(progress);
    if (result.was_smoothed && !args->global.quiet)
        fprintf(stderr, "%s: whole metres, smoothed (--keep-quantised leaves them)\n",
                r.config.surface.dem);
    if (result.svf_note[0] && !args->global.quiet)
        fprintf(stderr, "sky view computed: %s\n", result.svf_note);
    print_result(&r.config, &result);
    qn_cli_summary(args, (double)result.n_rows, "row", "rows");
out:
    qn_progress_free(progress);
    qn_sw_run_result_free(&result);
    free(r.weather_text);
    return st;
}

const qn_command qn_verb_solweig_run = {
    .name = "run",
    .summary = "mean radiant temperature and comfort for every row of a weather file",
    .options = options,
    .notes =
        "Files in --out: <name>/<name>_YYYYMMDD_HHMM.tif for every name of --outputs, summary/\n"
        "with means, extremes and hours, timeseries.csv, pois.csv, maps/, run_metadata.json and\n"
        "report.html. A build without GDAL writes .npy rasters. They have partial names until\n"
        "the run has succeeded; --resume goes on with those of a run that was killed, with the\n"
        "same options, and ends with the same files. Tiles change no bit of any result.\n"
        "--fixed mends: pressure in the clearness index, distances and aspects in the view of\n"
        "the ground, the id of water, an EPW humidity of 99, walls where there are no trees.",
    .examples = examples,
    .run = run,
};
