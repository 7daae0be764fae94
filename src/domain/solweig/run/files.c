/* files.c - files written after the rasters: time series as CSV, and run_metadata.json. */
#include "run_impl.h"

#include "util/clock.h"
#include "util/csv.h"
#include "util/file.h"
#include "util/json.h"

#include <math.h>
#include <stdlib.h>

/* Series. */

/* Writes a number, or an empty field for NaN. */
static void put(qn_csv_writer *w, double value, const char *format)
{
    char text[32];

    snprintf(text, sizeof text, format, value);
    qn_csv_put(w, isfinite(value) ? text : "");
}

static void put_step(qn_csv_writer *w, const qn_sw_step *r)
{
    const double values[] = {
        r->ta,      r->rh,           r->ws,          r->global,    r->direct,
        r->diffuse, r->sun_altitude, r->sun_azimuth, r->clearness, r->diffuse_fraction
    };
    char stamp[20];

    qn_sw_stamp_iso(r->minutes, stamp);
    qn_csv_put(w, stamp);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        put(w, values[i], "%.6g");
    qn_csv_put(w, r->is_day ? "1" : "0");
    put(w, r->tmrt_mean, "%.5f");
    put(w, r->utci_mean, "%.5f");
    put(w, r->sun_fraction, "%.6f");
    qn_csv_putf(w, "%lld", (long long)r->n_valid);
    qn_csv_end_row(w);
}

static qn_status write_steps(const qn_sw_job *job, qn_err *err)
{
    static const char *const header[] = {
        "datetime",  "ta",           "rh",           "ws",        "global",           "direct",
        "diffuse",   "sun_altitude", "sun_azimuth",  "clearness", "diffuse_fraction", "is_daytime",
        "tmrt_mean", "utci_mean",    "sun_fraction", "n_valid"
    };
    qn_run_folder *folder = qn_sw_outputs_folder(job->outputs);
    qn_out out = { 0 };
    qn_csv_writer w;
    qn_status st = QN_OK;

    QN_TRY(qn_run_folder_create(folder, "timeseries.csv", &out, err));
    w = (qn_csv_writer){ .to = out.file };
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        qn_csv_put(&w, header[i]);
    qn_csv_end_row(&w);
    for (size_t r = 0; r < job->result->n_steps; r++)
        put_step(&w, &job->result->steps[r]);
    QN_TRY(qn_out_commit(&out, err));
    QN_TRY(qn_run_folder_add(folder, "timeseries.csv", err));
out:
    return st;
}

static qn_status write_pois(const qn_sw_job *job, qn_err *err)
{
    const qn_sw_figures *figures = &job->figures;
    qn_run_folder *folder = qn_sw_outputs_folder(job->outputs);
    char stamp[20];
    qn_out out = { 0 };
    qn_csv_writer w;
    qn_status st = QN_OK;

    if (!job->options->pois[0])
        return QN_OK;
    QN_TRY(qn_run_folder_create(folder, "pois.csv", &out, err));
    w = (qn_csv_writer){ .to = out.file };
    qn_csv_put(&w, "name");
    qn_csv_put(&w, "datetime");
    for (int p = 0; p < QN_SW_PLANES; p++)
        qn_csv_put(&w, qn_sw_plane_name((qn_sw_plane)p));
    qn_csv_end_row(&w);
    for (size_t i = 0; i < figures->pois.n; i++)
        for (size_t r = 0; r < figures->n_steps; r++) {
            qn_sw_stamp_iso(job->result->steps[r].minutes, stamp);
            qn_csv_put(&w, figures->pois.list[i].name);
            qn_csv_put(&w, stamp);
            for (int p = 0; p < QN_SW_PLANES; p++)
                put(&w, (double)qn_sw_figures_at(figures, i, r)[p], "%.7g");
            qn_csv_end_row(&w);
        }
    QN_TRY(qn_out_commit(&out, err));
    QN_TRY(qn_run_folder_add(folder, "pois.csv", err));
out:
    return st;
}

/* Metadata of the run. */

static json_t *grid_of(const qn_sw_job *job)
{
    const qn_sw_place *p = &job->result->place;

    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}", "rows", (json_int_t)p->rows, "cols",
                     (json_int_t)p->cols, "pixel_size", qn_json_number(p->pixel_size), "crs",
                     p->crs ? qn_json_text(p->crs) : json_null(), "west",
                     qn_json_number(p->transform[0]), "north", qn_json_number(p->transform[3]));
}

static json_t *location_of(const qn_sw_job *job)
{
    const qn_sw_site *s = &job->result->site;

    return json_pack("{s:o, s:o, s:o, s:o}", "latitude", qn_json_number(s->latitude), "longitude",
                     qn_json_number(s->longitude), "altitude", qn_json_number(s->altitude),
                     "utc_offset", qn_json_number(s->utc_offset));
}

static json_t *timeseries_of(const qn_sw_job *job)
{
    const qn_sw_run_result *r = job->result;
    char first[20], last[20];

    qn_sw_stamp_iso(r->steps[0].minutes, first);
    qn_sw_stamp_iso(r->steps[r->n_steps - 1].minutes, last);
    return json_pack("{s:s, s:s, s:I, s:o}", "start", first, "end", last, "timesteps",
                     (json_int_t)r->n_steps, "interval_hours",
                     qn_json_number(job->forcing.dt_hours));
}

static json_t *parameters_of(const qn_sw_job *job)
{
    const qn_sw_run_config *c = job->config;

    return json_pack("{s:b, s:b, s:i, s:o, s:b, s:b, s:b, s:b, s:b}", "use_anisotropic_sky",
                     c->options.sky == QN_SW_ANISOTROPIC, "conifer",
                     job->config->params.trees.is_conifer, "patch_option", qn_sw_patch_option(c),
                     "max_shadow_distance_m", qn_json_number(c->options.max_distance), "parity",
                     c->layers.reference, "fixed", c->options.corrected, "fix_pressure",
                     c->options.corrected || c->options.fix_pressure, "ignore_measured_split",
                     c->options.ignore_split, "dem_was_smoothed", job->result->was_smoothed);
}

static json_t *outputs_of(const qn_sw_job *job)
{
    json_t *names = json_array();

    for (int p = 0; p < QN_SW_PLANES; p++)
        if (QN_SW_HAS(job->written, p))
            qn_json_push(&names, json_string(qn_sw_plane_name((qn_sw_plane)p)));
    return json_pack("{s:o, s:o, s:b}", "directory", qn_json_text(job->options->out), "variables",
                     names, "summary", !job->options->no_summary);
}

static json_t *human_of(const qn_sw_params *params)
{
    const qn_sw_person *p = &params->person;

    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "posture",
                     p->pose == QN_SW_SITTING ? "sitting" : "standing", "abs_k",
                     qn_json_number(p->abs_k), "abs_l", qn_json_number(p->abs_l), "age",
                     qn_json_number(p->age), "weight", qn_json_number(p->weight_kg), "height",
                     qn_json_number(p->height_m), "activity", qn_json_number(p->activity_w), "clo",
                     qn_json_number(p->clo), "sex", p->is_female ? "female" : "male");
}

static json_t *material(const qn_sw_material *m)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "albedo", qn_json_number((double)m->albedo),
                     "emissivity", qn_json_number((double)m->emissivity), "tgk",
                     qn_json_number((double)m->tgk), "tstart", qn_json_number((double)m->tstart),
                     "tmaxlst", qn_json_number((double)m->tmaxlst));
}

static json_t *materials_of(const qn_sw_job *job)
{
    json_t *all = json_object();
    char name[8];

    qn_json_put(&all, "wall", material(&job->config->params.wall));
    if (!job->result->has_land_cover)
        qn_json_put(&all, "ground", material(&job->config->params.plain));
    for (int i = 0; job->result->has_land_cover && i < QN_SW_COVERS; i++) {
        snprintf(name, sizeof name, "%d", i);
        qn_json_put(&all, name, material(&job->config->params.cover[i]));
    }
    return all;
}

static json_t *physics_of(const qn_sw_job *job)
{
    const qn_sw_trees *t = &job->config->params.trees;

    return json_pack("{s:o, s:o, s:i, s:i, s:o, s:o}", "transmissivity", qn_json_number(t->leaf_on),
                     "transmissivity_leafoff", qn_json_number(t->leaf_off), "first_leaf_day",
                     t->first_leaf_day, "last_leaf_day", t->last_leaf_day, "trunk_ratio",
                     qn_json_number(job->config->params.trunk_ratio), "max_height",
                     qn_json_number((double)job->result->max_height));
}

static json_t *plan_of(const qn_sw_job *job)
{
    const qn_tiles *p = &job->result->plan;

    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o}", "core", (json_int_t)p->core,
                     "across", (json_int_t)p->across, "down", (json_int_t)p->down, "shadow_border",
                     (json_int_t)p->border, "view_border", (json_int_t)p->padding, "limited_by",
                     p->limited_by, "device_bytes_per_pixel", qn_json_number(p->cost.device),
                     "host_bytes_per_pixel", qn_json_number(p->cost.host));
}

static json_t *telemetry_of(const qn_sw_job *job)
{
    const qn_sw_run_result *r = job->result;
    const qn_sw_run_times *t = &r->times;

    json_t *all = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "total_s",
        qn_json_number(t->total_s), "load_s", qn_json_number(t->load_s), "walls_s",
        qn_json_number(t->walls_s), "svf_s", qn_json_number(t->svf_s), "steps_s",
        qn_json_number(t->steps_s), "write_s", qn_json_number(t->write_s), "checkpoints_s",
        qn_json_number(job->pace.spent_us * 1e-6), "timestep_wall_time_s",
        qn_json_number(t->step_mean_s), "tile_turnaround_mean_ms", qn_json_number(t->tile_mean_ms),
        "tile_turnaround_p95_ms", qn_json_number(t->tile_p95_ms), "stitch_copy_time_ms",
        qn_json_number(t->stitch_ms), "h2d_bytes_in_rows", (json_int_t)r->h2d_bytes_loop,
        "d2h_bytes_in_rows", (json_int_t)r->d2h_bytes_loop);

    if (r->n_tiles_done)
        return all;
    /* The interrupted run had finished all tiles, so nothing was timed. */
    json_object_del(all, "timestep_wall_time_s");
    json_object_del(all, "tile_turnaround_mean_ms");
    json_object_del(all, "tile_turnaround_p95_ms");
    return all;
}

static json_t *fallbacks_of(const qn_sw_job *job)
{
    json_t *all = json_object();

    for (int i = 0; i < qn_ctx_fallback_count(job->ctx); i++) {
        qn_fallback f;
        const json_t *before;

        qn_ctx_fallback_get(job->ctx, i, &f);
        before = json_object_get(all, f.stage);
        qn_json_put(&all, f.stage, json_integer(json_integer_value(before) + (json_int_t)f.count));
    }
    return all;
}

static json_t *devices_of(qn_ctx *ctx)
{
    json_t *all = json_array();

    for (int d = 0; d < qn_device_count(ctx); d++)
        if (qn_device_is_candidate(ctx, d))
            qn_json_push(&all, json_pack("{s:s, s:o}", "backend", qn_device_id(ctx, d), "device",
                                         qn_json_text(qn_device_get(ctx, d)->name)));
    return all;
}

static qn_status write_metadata(const qn_sw_job *job, qn_err *err)
{
    char *path = NULL, now[QN_UTC_SIZE];
    json_t *root = NULL;
    qn_status st = QN_OK;

    qn_utc(now);
    root = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, "
                     "s:o}",
                     "version", QN_VERSION, "run_timestamp", now, "grid", grid_of(job), "location",
                     location_of(job), "timeseries", timeseries_of(job), "parameters",
                     parameters_of(job), "outputs", outputs_of(job), "human",
                     human_of(&job->config->params), "physics", physics_of(job), "materials",
                     materials_of(job), "devices", devices_of(job->ctx), "precision", "f32", "svf",
                     job->result->svf_was_read ? "read" : "computed", "tile_plan", plan_of(job),
                     "telemetry", telemetry_of(job), "fallbacks", fallbacks_of(job));
    if (!root)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for run_metadata.json");
    QN_TRY(qn_run_folder_path(qn_sw_outputs_folder(job->outputs), "run_metadata.json", &path, err));
    QN_TRY(qn_json_write(path, root, err));
    QN_TRY(qn_run_folder_add(qn_sw_outputs_folder(job->outputs), "run_metadata.json", err));
out:
    free(path);
    json_decref(root);
    return st;
}

qn_status qn_sw_job_files(qn_sw_job *job, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(write_steps(job, err));
    QN_TRY(write_pois(job, err));
    QN_TRY(write_metadata(job, err));
    QN_TRY(qn_sw_write_report(job, err));
out:
    return st;
}
