/* cmd_solweig_run.c - `quern solweig run`: computes a city for the time steps of a weather file. */

#include "cli/solweig_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_WEATHER = 64 };

static const qn_opt options[] = {
#define RUN_OPTION QN_CLI_OPTION
#include "cli/solweig_layer_rows.def"
    { 0, "weather", QN_OPT_TEXT, .value = "FILE[,..]", .help = "an .epw file, or UMEP text files" },
#define OPTION  QN_CLI_OPTION
#define MEMBER  QN_CLI_NO_OPTION
#define RENAMED QN_SW_CLI_RENAMED
#include <quern/options/solweig_run.def>
    QN_SW_OPTION_TILE,
    QN_SW_OPTION_OUT,
    { 0 }
};

static const char *const examples[] = {
    "quern make town --size 64 --out city",
    "echo 2006 207 13 0 0 0 0 0 0 2 60 26 -999 0 800 0 0 0 0 0 0 -999 -999 0 >noon.txt",
    "quern solweig run --dsm city/dsm.npy --weather noon.txt --lat 57.7 --lon 12 --utc 1 --out hot",
    NULL
};

/* Splits the list of --weather into `files`, which point into `text`; the caller frees `text`. */
static qn_status read_weather(const qn_args *args, char **text, const char **files, size_t *n,
                              qn_err *err)
{
    const char *list = qn_text(args, "weather");
    qn_status st = QN_OK;

    if (!list)
        return qn_fail(err, QN_ERR_USAGE, "--weather FILE is needed: an .epw file or UMEP text");
    if (!(*text = strdup(list)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for names of weather files");
    for (char *at = *text, *next; at; at = next) {
        if ((next = strchr(at, ',')))
            *next++ = '\0';
        if (*n == MAX_WEATHER)
            return qn_fail(err, QN_ERR_LIMIT, "--weather: over %d files", MAX_WEATHER);
        QN_TRY(qn_cli_input(at, err));
        files[(*n)++] = at;
    }
out:
    return st;
}

static void print_hottest(const qn_sw_result *result)
{
    const qn_sw_step *steps = qn_sw_result_steps(result), *hottest = steps;
    time_t seconds;
    struct tm when;

    for (size_t i = 1; i < qn_sw_result_n_steps(result); i++)
        if (steps[i].tmrt_mean > hottest->tmrt_mean)
            hottest = &steps[i];
    seconds = (time_t)hottest->minutes * 60;
    gmtime_r(&seconds, &when);
    printf("hottest at %04d-%02d-%02dT%02d:%02d: Tmrt %.2f, UTCI %.2f in the mean\n",
           when.tm_year + 1900, when.tm_mon + 1, when.tm_mday, when.tm_hour, when.tm_min,
           hottest->tmrt_mean, hottest->utci_mean);
}

static void print_result(const qn_sw_layer_options *layers, const qn_sw_run_options *o,
                         const qn_sw_result *result)
{
    const qn_sw_run_report *r = qn_sw_result_report(result);
    const size_t n = qn_sw_result_n_steps(result);

    if (r->was_finished) {
        printf("the run in %s has already finished: nothing to do\n", o->out);
        return;
    }
    printf("%lld x %lld pixels of %g m, %zu time step%s: %.3f s", (long long)r->grid.rows,
           (long long)r->grid.cols, r->grid.pixel_size, n, n == 1 ? "" : "s", r->total_s);
    if (!isnan(r->step_mean_s))
        printf(", %.2f ms per step and tile", 1e3 * r->step_mean_s);
    putchar('\n');
    print_hottest(result);
    printf("sky view %s in %.3f s; %s sky, %.0f bytes per pixel on the device\n",
           r->svf_was_read ? "read" : "computed", r->svf_s,
           o->sky == QN_SW_ANISOTROPIC ? "anisotropic" : "isotropic", r->device_bytes_per_pixel);
    if (r->n_tiles > 1)
        printf("%lld tiles of %lld pixels with a margin of %lld (%s)", (long long)r->n_tiles,
               (long long)r->core, (long long)r->border, r->limited_by);
    if (r->n_tiles > 1 && !isnan(r->tile_mean_ms))
        printf(": mean %.0f ms, p95 %.0f ms", r->tile_mean_ms, r->tile_p95_ms);
    if (r->n_tiles > 1)
        putchar('\n');
    if (r->n_tiles_resumed)
        printf("%lld tiles were finished by the interrupted run\n", (long long)r->n_tiles_resumed);
    if (r->n_steps_resumed)
        printf("%lld steps of a tile were finished by the interrupted run\n",
               (long long)r->n_steps_resumed);
    if (layers->reference || o->corrected || o->fix_pressure)
        printf("switches:%s%s%s\n", layers->reference ? " --reference" : "",
               o->corrected ? " --corrected" : "", o->fix_pressure ? " --fix-pressure" : "");
    printf("files: %s/run_metadata.json, report.html, timeseries.csv%s%s%s\n", o->out,
           o->pois[0] ? ", pois.csv" : "", o->no_summary ? "" : ", summary/",
           strcmp(o->outputs, "none") ? ", rasters by name" : "");
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *weather[MAX_WEATHER];
    char *weather_text = NULL;
    qn_sw_layer_options layers;
    qn_sw_run_options o;
    qn_sw_result *result = NULL;
    const qn_sw_run_report *r;
    qn_option_store store = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_layers_of(args, &layers, &store, err));
    QN_TRY(qn_cli_options(args, qn_sw_run_option_table(), &o, &store, err));
    QN_TRY(read_weather(args, &weather_text, weather, &o.n_weather_files, err));
    QN_TRY(qn_sw_tile_of(args, &o.tile, err));
    QN_TRY(qn_sw_progress_of(args, &o.progress, err));
    o.weather_files = weather;
    o.out = qn_text(args, "out");
    o.files_only = 1;
    QN_TRY(qn_sw_run(ctx, &layers, &o, &result, err));
    r = qn_sw_result_report(result);
    qn_sw_note_smoothed(args, &layers, &r->grid);
    if (r->svf_note[0] && !args->global.quiet)
        fprintf(stderr, "sky view computed: %s\n", r->svf_note);
    print_result(&layers, &o, result);
    qn_cli_summary(args, (double)qn_sw_result_n_steps(result), "time step", "time steps");
out:
    qn_sw_result_free(result);
    qn_option_store_free(&store);
    free(weather_text);
    return st;
}

const qn_command qn_verb_solweig_run = {
    .name = "run",
    .summary = "mean radiant temperature and comfort for every time step of a weather file",
    .options = options,
    .notes =
        "Files in --out: <name>/<name>_YYYYMMDD_HHMM.tif for every name of --outputs, summary/\n"
        "with means, extremes and hours, timeseries.csv, pois.csv, maps/, run_metadata.json and\n"
        "report.html. A build without GDAL writes .npy rasters. Files are written in\n"
        "run.unfinished/ and get their names when they are complete and on disk; run.journal\n"
        "records the progress. To continue an interrupted run, repeat the command with --resume;\n"
        "it ends with the same files. Tiling does not change a single bit.\n"
        "--corrected affects: pressure in the clearness index, distances and aspects in the view\n"
        "of the ground, the id of water, an EPW humidity of 99, walls where there are no trees.",
    .examples = examples,
    .run = run,
};
