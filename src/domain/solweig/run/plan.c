/* plan.c - the tiles of a run: bytes per pixel, margins, and the plan line of a run.
 *
 * The device memory of a tile has two peaks: at its start, for sky view factors and the geometry of
 * the ground view, and during the steps. The larger one counts.
 */
#include "run_impl.h"

#include "domain/solweig/shadow/shadow.h"

#include "util/env.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of the plan line, which identifies unfinished runs. */
#define PLAN_HEAD "solweig tile=%lld border=%lld+%lld"

/* Blocks of a GeoTIFF: with cores of whole blocks no block is read or written twice. */
enum { FILE_BLOCK = 256, LEAST_SIDE = 256 };

/* Bytes per pixel of the buffers that tile.c makes. */

#define PLANE 4.0 /* bytes */

/* Heights, walls, and further planes for casting rays. */
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
    return n->sky == QN_SW_ANISOTROPIC ? 1 : SW_DIRS;
}

/* Results of the ground view's geometry: unshaded albedo, lengths of rays, faces. */
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
           (double)qn_sw_summary_words(n->n_thresholds, n->n_steps) * sizeof(u32);
}

/* View factors that steps read: all for an isotropic sky, else two and the bits of patches. */
static double sky(const qn_sw_tile_needs *n)
{
    if (n->sky == QN_SW_ISOTROPIC)
        return PLANE * SW_VIEW_PLANES;
    return 2 * PLANE + words(n) * matrices(n);
}

/* Temporaries of the start share one allocation: first five planes of windows of heights, then view
 * factors or bits that steps do not read, then two planes of the ground view. */
static double start_temps(const qn_sw_tile_needs *n)
{
    const double march = n->sky == QN_SW_ISOTROPIC
                             ? 3 * words(n)
                             : PLANE * SW_VIEW_PLANES + (3 - matrices(n)) * words(n);

    return fmax(march, 5 * PLANE);
}

static double at_start(const qn_sw_tile_needs *n)
{
    return heights(n) + ground() + 2 * PLANE + geometry(n) + sky(n) + start_temps(n) + summary(n);
}

/* Shadow; also Tmrt, UTCI and PET if they cannot use the planes of the ground view's sides. */
static double results(const qn_sw_tile_needs *n)
{
    const int is_lent = n->sky == QN_SW_ISOTROPIC;

    return PLANE + (is_lent ? 0 : PLANE * (n->has_pet ? 3 : 2));
}

/* Lup, albedo and delayed state of the ground view, and its two bordered planes per step. */
static double in_steps(const qn_sw_tile_needs *n)
{
    const double view = 3 * PLANE * dirs(n) + 2 * PLANE;
    const double radiation =
        PLANE * (n->sky == QN_SW_ISOTROPIC ? SW_ISO_PLANES : SW_RADIATION_PLANES);

    return heights(n) + ground() + geometry(n) + sky(n) + view + radiation + results(n) +
           summary(n);
}

qn_tiles_cost qn_sw_tile_cost(const qn_sw_tile_needs *needs)
{
    const double layers = heights(needs) + ground();
    const double views = needs->sky == QN_SW_ISOTROPIC ? PLANE * SW_VIEW_PLANES : 0;

    /* The host has the layers of a tile and of the next one, and steps waiting to be written. */
    return (qn_tiles_cost){ .device = fmax(at_start(needs), in_steps(needs)),
                            .host = 2 * layers + 64,
                            .widest = fmax(start_temps(needs), views) };
}

/* Tiles. */

/* The padding is the reach of the ground view, and the border that of shadows: a pixel reads
 * shadows `padding` pixels away, and each of those needs its whole ray. */
static void set_margins(const qn_sw_job *job, qn_tiles_needs *needs)
{
    const qn_sw_place *place = &job->city.surface.dsm.place;
    const qn_sw_ray_limits limits = { .rows = (int)place->rows,
                                      .cols = (int)place->cols,
                                      .px = (float)place->pixel_size,
                                      .max_height = job->city.relief.max_height,
                                      .max_dist = job->scene.cached
                                                      ? (float)job->options->max_distance
                                                      : 0 };
    const qn_sw_gvf_options gvf = { .pixel_m = (float)place->pixel_size,
                                    .height_m = (float)job->config->params.person.height_m,
                                    .divides_by_pixel = job->options->corrected };
    int first, second;

    qn_sw_gvf_reach(&gvf, &first, &second);
    needs->border = qn_sw_ray_border(&limits);
    needs->padding = second > 1 ? second - 1 : 0;
}

/* Reads the numbers of a plan line; returns 0 if it has another form. */
static int read_plan(const char *line, qn_i64 *core, int *has_margin)
{
    static const char *const names[] = { "tile=", "border=", "+" };
    qn_i64 numbers[3];
    char *end = NULL;

    for (int i = 0; i < 3; i++) {
        const char *at = strstr(i ? end : line, names[i]);

        if (!at)
            return 0;
        numbers[i] = strtoll(at + strlen(names[i]), &end, 10);
    }
    *core = numbers[0];
    *has_margin = numbers[1] || numbers[2];
    return 1;
}

/* A resumed run continues with its old tiles unless others are requested, because available memory
 * may have changed. Returns 1 if there are old tiles. */
static int resume_tiles(const qn_sw_job *job, qn_tiles_needs *needs)
{
    char *plan;
    qn_i64 core;
    int is_known, has_margin;

    if (!job->options->resume || job->options->tile ||
        !(plan = qn_run_folder_plan(job->options->out)))
        return 0;
    is_known = read_plan(plan, &core, &has_margin);
    if (is_known) {
        needs->core = has_margin ? core : 0;
        needs->max_side = core;
    }
    free(plan);
    return is_known;
}

void qn_sw_job_plan(qn_sw_job *job)
{
    const qn_sw_place *place = &job->city.surface.dsm.place;
    const qn_sw_tile_needs tile = { .sky = job->options->sky,
                                    .patch_option = qn_sw_patch_option(job->config),
                                    .has_vegetation = job->city.surface.cdsm.data != NULL,
                                    .has_pet = job->scene.has_pet,
                                    .n_thresholds = job->config->n_thresholds,
                                    .n_steps = (qn_i64)job->forcing.n };
    const qn_tiles_limits unlimited = { 0 };
    qn_tiles_needs needs = { .rows = place->rows,
                             .cols = place->cols,
                             .cost = qn_sw_tile_cost(&tile),
                             .core = job->options->tile,
                             .max_side = (qn_i64)qn_env_number("QUERN_SOLWEIG_MAX_TILE_SIDE", 0),
                             .max_side_from = "QUERN_SOLWEIG_MAX_TILE_SIDE",
                             .least_side = LEAST_SIDE,
                             .multiple = FILE_BLOCK,
                             .fraction = qn_env_number("QUERN_SOLWEIG_RAM_FRACTION", 0) };

    set_margins(job, &needs);
    job->result->plan = resume_tiles(job, &needs) ? qn_tiles_plan(&needs, &unlimited)
                                                  : qn_tiles_plan_on(job->ctx, &needs);
}

/* The line of the plan. */

/* A hash of everything that outputs depend on. */
static uint64_t hash_of(const qn_sw_job *job)
{
    const qn_sw_run_config *c = job->config;
    const qn_sw_city *city = &job->city;
    const qn_sw_person *person = &job->config->params.person;
    const qn_sw_posture *posture = &job->config->params.posture[person->pose];
    const double body[] = { person->abs_k, person->abs_l,  person->height_m,    posture->f_side,
                            posture->f_up, posture->f_cyl, (double)person->pose };
    const size_t n = qn_sw_elems(&job->result->place), bytes = n * sizeof(float);
    const qn_sw_svf_key key = qn_sw_svf_key_of(&city->surface, qn_sw_patch_option(c));
    uint64_t hash = job->forcing.hash;

    hash = qn_fnv1a64_add(hash, key.hex, sizeof key.hex);
    hash = qn_fnv1a64_add(hash, body, sizeof body);
    hash = qn_fnv1a64_add(hash, city->class_of, n);
    hash = qn_fnv1a64_add(hash, city->buildings, n);
    hash = qn_fnv1a64_add(hash, city->ground.albedo, bytes);
    hash = qn_fnv1a64_add(hash, city->ground.emissivity, bytes);
    hash = qn_fnv1a64_add(hash, city->surface.wall_height.data, bytes);
    hash = qn_fnv1a64_add(hash, city->wall_radians, bytes);
    for (int i = 0; i < job->config->n_thresholds; i++)
        hash = qn_fnv1a64_add(hash, &job->config->thresholds[i], sizeof(qn_sw_threshold));
    for (size_t i = 0; i < job->figures.pois.n; i++) {
        const qn_i64 at[] = { job->figures.pois.list[i].row, job->figures.pois.list[i].col };

        hash = qn_fnv1a64_add(hash, at, sizeof at);
    }
    return qn_fnv1a64_add(hash, c->options.maps, strlen(c->options.maps));
}

void qn_sw_job_plan_line(const qn_sw_job *job, char *out, size_t size)
{
    const qn_sw_run_config *c = job->config;
    const qn_tiles *plan = &job->result->plan;

    snprintf(out, size,
             PLAN_HEAD " steps=%zu outputs=%x grids=%d sky=%d corrected=%d pet-table=%d "
                       "max-distance=%g geotiff=%d inputs=%016llx",
             (long long)plan->core, (long long)plan->border, (long long)plan->padding,
             job->forcing.n, job->written,
             c->options.no_summary ? 0 : qn_sw_grid_count(&job->scene), c->options.sky,
             c->options.corrected, c->options.pet_table, c->options.max_distance,
             qn_sw_has_geotiff(), (unsigned long long)hash_of(job));
}
