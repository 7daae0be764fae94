/* scenarios.h - a small run of each tool through its public calls, for tests that repeat them.
 *
 * A run writes into `folder` and adds all computed numbers to `sum`, which is thus the same in
 * every run.
 */
#ifndef QN_TESTS_SCENARIOS_H
#define QN_TESTS_SCENARIOS_H

#include <quern/arc.h>
#include <quern/fit.h>
#include <quern/les.h>
#include <quern/metrics.h>
#include <quern/pipe.h>
#include <quern/solweig.h>
#include <quern/tasks.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/hash.h"
#include "util/status.h"

enum { PATH_SIZE = 1200 };

typedef struct {
    qn_ctx *ctx;
    const char *folder;
    uint64_t sum;
} scenario_run;

static void add_up(scenario_run *run, const void *data, size_t bytes)
{
    run->sum = qn_fnv1a64_add(run->sum, data, bytes);
}

static const char *in_run(const scenario_run *run, const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", run->folder, name);
    return path;
}

/* Tasks. */

static qn_status run_tasks(scenario_run *run, qn_err *err)
{
    static const qn_task list[] = { { .id = 1, .op = "vadd", .n = 1000, .seed = 7 },
                                    { .id = 2, .op = "merkle", .n = 300, .seed = 9 },
                                    { .id = 3, .op = "saxpy", .n = 20000, .seed = 2, .arg = "3" },
                                    { .id = 4, .op = "sum", .n = 5000, .seed = 4 } };
    enum { N = sizeof list / sizeof *list };
    char sum[QN_TASK_CHECKSUM_SIZE], path[PATH_SIZE];
    qn_tasks *tasks = NULL;
    qn_status st;

    QN_TRY(qn_tasks_new(run->ctx, NULL, &tasks, err));
    QN_TRY(qn_tasks_run(tasks, list, N, err));
    QN_TRY(qn_tasks_run(tasks, list, N - 1, err));
    QN_TRY(qn_tasks_verify(tasks, err));
    for (int i = 0; i < N - 1; i++) {
        QN_TRY(qn_tasks_checksum(tasks, i, sum, err));
        add_up(run, sum, strlen(sum));
    }
    QN_TRY(qn_tasks_memory_map(tasks, in_run(run, "map.md", path), err));
    QN_TRY(qn_metrics_write(run->ctx, "tasks", in_run(run, "metrics.json", path), err));
out:
    qn_tasks_free(tasks);
    return st;
}

/* Flows. */

static void add_array(scenario_run *run, const qn_les_result *result, const char *name)
{
    const qn_les_array *a = qn_les_result_array(result, name);
    size_t bytes = a ? (size_t)(a->type[2] - '0') : 0;

    for (int i = 0; a && i < a->n_dims; i++)
        bytes *= (size_t)a->dims[i];
    if (bytes)
        add_up(run, a->data, bytes);
}

static qn_status run_flow(scenario_run *run, int is_pair, qn_err *err)
{
    qn_les_options o;
    qn_les_result *result = NULL;
    char path[PATH_SIZE];
    qn_status st;

    qn_les_options_init(&o, sizeof o);
    o.N = 16;
    o.steps = 20;
    o.stride = 10;
    o.hash_every = 5;
    o.k_cut = 3;
    o.k_mid = 6;
    o.pairs = 8;
    o.observer = QN_LES_OBSERVE_SNAPSHOTS;
    o.ensemble = 1 + is_pair;
    o.precision = is_pair ? QN_LES_F64 : QN_LES_F32;
    o.checkpoint_every = is_pair ? 10 : 0;
    o.out = in_run(run, "flow", path);
    QN_TRY(qn_les_run(run->ctx, &o, &result, err));
    add_array(run, result, "omega");
    add_array(run, result, "z");
    add_array(run, result, "A");
    add_array(run, result, "series");
out:
    qn_les_result_free(result);
    return st;
}

static qn_status run_les(scenario_run *run, qn_err *err)
{
    return run_flow(run, 0, err);
}

static qn_status run_les_pair(scenario_run *run, qn_err *err)
{
    return run_flow(run, 1, err);
}

/* Programs over grids. */

static qn_status run_arc(scenario_run *run, qn_err *err)
{
    static const unsigned char in[] = { 1, 2, 3, 4, 0, 6 }, out[] = { 3, 2, 1, 6, 0, 4 };
    static const qn_arc_pair pairs[] = { { { 2, 3, in }, { 2, 3, out } }, { { 3, 2, in }, { 0 } } };
    static const qn_arc_task task = { "turn", pairs, 1, 1 };
    static const qn_arc_program programs[] = {
        { "turn", "def solve(I):\n    x1 = vmirror(I)\n    return x1\n" },
        { "parts", "def solve(I):\n    x1 = objects(I, T, F, T)\n    x2 = argmax(x1, size)\n"
                   "    x3 = subgrid(x2, I)\n    return x3\n" },
        { "map", "def solve(I):\n    x1 = compose(vmirror, hmirror)\n    x2 = apply(x1, (I, I))\n"
                 "    x3 = first(x2)\n    return hconcat(x3, x3)\n" },
    };
    qn_arc_run_options o;
    const qn_arc_result *results;
    const char *answer;
    qn_arc *arc = NULL;
    size_t n;
    qn_status st;

    QN_TRY(qn_arc_new(run->ctx, NULL, &arc, err));
    QN_TRY(qn_arc_add_tasks(arc, &task, 1, err));
    QN_TRY(qn_arc_add_programs(arc, programs, sizeof programs / sizeof *programs, err));
    qn_arc_run_options_init(&o, sizeof o);
    o.match = QN_ARC_MATCH_ALL;
    for (int round = 0; round < 2; round++) {
        QN_TRY(qn_arc_run(arc, &o, &results, &n, err));
        for (size_t i = 0; i < n; i++) {
            add_up(run, &results[i].steps, sizeof results[i].steps);
            add_up(run, &results[i].is_solved, sizeof results[i].is_solved);
            if (results[i].output)
                add_up(run, results[i].output, (size_t)(results[i].rows * results[i].cols));
        }
    }
    if (!(answer = qn_arc_ask(arc, "{\"run\": {\"match\": \"all\"}}"))) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for an answer");
        goto out;
    }
    if (strstr(answer, "\"error\""))
        st = qn_fail(err, strstr(answer, "mem") ? QN_ERR_NOMEM : QN_ERR_FAILED, "%s", answer);
out:
    qn_arc_free(arc);
    return st;
}

/* Least squares. */

static qn_status solve(scenario_run *run, const char *text, const qn_fit_options *o, qn_err *err)
{
    qn_fit_solution *solution = NULL;
    qn_fit_parameter p;
    qn_status st;

    QN_TRY(qn_fit_solve_program(run->ctx, text, o, &solution, NULL, err));
    for (int i = 0; i < qn_fit_solution_n_parameters(solution); i++) {
        qn_fit_solution_parameter(solution, i, &p);
        add_up(run, p.values, (size_t)p.count * p.dim * sizeof *p.values);
    }
out:
    qn_fit_solution_free(solution);
    return st;
}

static qn_status run_fit_curve(scenario_run *run, qn_err *err)
{
    static const char text[] =
        "fit 1;\ntable T = csv(\"points.csv\", header=1);\nparam a = 1;\nparam b = 0.1;\n"
        "residual r over i in T { yield i.y - a*exp(-b*i.t); }\n"
        "solve lm { max_iterations = 50; function_tolerance = 1e-18; }\n";
    static double t[12], y[12];
    const qn_fit_column columns[] = {
        { .file = "points.csv", .name = "t", .data = t, .count = 12 },
        { .file = "points.csv", .name = "y", .data = y, .count = 12 }
    };
    char json[PATH_SIZE], html[PATH_SIZE];
    const char *reports[] = { in_run(run, "curve.json", json), in_run(run, "curve.html", html) };
    qn_fit_options o;

    for (int i = 0; i < 12; i++) {
        t[i] = i / 4.0;
        y[i] = 3 / (1 + t[i]);
    }
    qn_fit_options_init(&o, sizeof o);
    o.columns = columns;
    o.n_columns = 2;
    o.report = reports;
    o.n_report = 2;
    return solve(run, text, &o, err);
}

static qn_status run_fit_mesh(scenario_run *run, qn_err *err)
{
    static const char text[] = "fit 1;\nmesh M = grid(5, 4, 1.0, 1.0);\n"
                               "param x[M.verts] : vec3 = M.pos fixed where self.boundary == 1;\n"
                               "residual spring over e in M.edges { yield x[e.a] - x[e.b]; }\n"
                               "solve lm { max_iterations = 20; linear_solver = pcg; }\n";
    char picture[PATH_SIZE];
    qn_fit_options o;

    qn_fit_options_init(&o, sizeof o);
    o.picture = in_run(run, "mesh.png", picture);
    o.out = run->folder;
    return solve(run, text, &o, err);
}

/* Cities. */

enum { SIDE = 24 };

typedef struct {
    qn_sw_layer_options layers;
    float dsm[SIDE * SIDE], cdsm[SIDE * SIDE];
} town;

static void build_town(town *t)
{
    memset(t, 0, sizeof *t);
    for (int row = 0; row < SIDE; row++)
        for (int col = 0; col < SIDE; col++) {
            const int is_house = row >= 5 && row < 11 && col >= 4 && col < 15;
            const int is_tree = row >= 14 && row < 18 && col >= 8 && col < 12;

            t->dsm[row * SIDE + col] = is_house ? 9 : 0.05f * (float)row;
            t->cdsm[row * SIDE + col] = is_tree ? 6 : 0;
        }
    qn_sw_layer_options_init(&t->layers, sizeof t->layers);
    t->layers.rows = t->layers.cols = SIDE;
    t->layers.dsm = t->dsm;
    t->layers.n_dsm = SIDE * SIDE;
    t->layers.cdsm = t->cdsm;
    t->layers.n_cdsm = SIDE * SIDE;
}

static qn_status run_sky(scenario_run *run, qn_err *err)
{
    static float maps[QN_SW_SVF_MAPS * SIDE * SIDE];
    static town t;
    qn_sw_svf_options svf;
    qn_sw_shadow_options shadow;
    qn_sw_wall_options walls;
    char sky[PATH_SIZE], png[PATH_SIZE], folder[PATH_SIZE];
    qn_status st;

    build_town(&t);
    qn_sw_svf_options_init(&svf, sizeof svf);
    svf.patches = QN_SW_145_PATCHES;
    svf.rasters = QN_SW_NPY_RASTERS;
    svf.tile = 13;
    svf.out = in_run(run, "sky", sky);
    QN_TRY(qn_sw_svf(run->ctx, &t.layers, &svf, maps, NULL, NULL, err));
    add_up(run, maps, sizeof maps);
    qn_sw_shadow_options_init(&shadow, sizeof shadow);
    shadow.azimuth = 135;
    shadow.altitude = 30;
    shadow.file = in_run(run, "shadow.png", png);
    QN_TRY(qn_sw_shadow(run->ctx, &t.layers, &shadow, maps, NULL, err));
    qn_sw_wall_options_init(&walls, sizeof walls);
    walls.out = in_run(run, "walls", folder);
    QN_TRY(qn_sw_walls(run->ctx, &t.layers, &walls, maps + SIDE * SIDE, maps + 2 * SIDE * SIDE,
                       NULL, err));
    add_up(run, maps, 3 * SIDE * SIDE * sizeof *maps);
out:
    return st;
}

static qn_status run_heat(scenario_run *run, qn_err *err)
{
    /* 26 July 2006: a night and a noon. */
    const qn_sw_weather_step weather[] = {
        { .minutes = 19231200,
          .ta = 17,
          .rh = 80,
          .ws = 1,
          .pressure_hpa = 1013,
          .global = 0,
          .direct = NAN,
          .diffuse = NAN },
        { .minutes = 19231980,
          .ta = 26,
          .rh = 55,
          .ws = 2,
          .pressure_hpa = 1013,
          .global = 800,
          .direct = NAN,
          .diffuse = NAN },
    };
    static town t;
    qn_sw_run_options o;
    qn_sw_result *result = NULL;
    const float *plane;
    char folder[PATH_SIZE];
    qn_status st;

    build_town(&t);
    qn_sw_run_options_init(&o, sizeof o);
    o.weather = weather;
    o.n_weather = 2;
    o.latitude = 57.7;
    o.longitude = 12;
    o.utc_offset = 1;
    o.patches = QN_SW_145_PATCHES;
    o.outputs = "tmrt,utci,pet,shadow";
    o.maps = "13";
    o.tile = 16;
    o.out = in_run(run, "heat", folder);
    QN_TRY(qn_sw_run(run->ctx, &t.layers, &o, &result, err));
    if ((plane = qn_sw_result_plane(result, "tmrt")))
        add_up(run, plane, (size_t)2 * SIDE * SIDE * sizeof *plane);
    if ((plane = qn_sw_result_plane(result, "utci")))
        add_up(run, plane, (size_t)2 * SIDE * SIDE * sizeof *plane);
out:
    qn_sw_result_free(result);
    return st;
}

/* All of them. */

typedef struct {
    const char *name;
    qn_status (*run)(scenario_run *run, qn_err *err);
} scenario;

static const scenario scenarios[] = {
    { "tasks", run_tasks },
    { "les", run_les },
    { "les pair", run_les_pair },
    { "arc", run_arc },
    { "sky", run_sky },
    { "heat", run_heat },
    { "fit curve", run_fit_curve },
    { "fit mesh", run_fit_mesh },
};

enum { N_SCENARIOS = sizeof scenarios / sizeof *scenarios };

#endif
