/* cmd_devices.c - `quern devices`: lists backends and devices, and why some are missing. */
#include "cli/cli.h"

#include "engine/engine.h"
#include "util/clock.h"
#include "util/crossover.h"
#include "util/json.h"
#include "util/str.h"
#include "util/table.h"

#include <string.h>

static const qn_opt options[] = {
    { 'v', "verbose", QN_OPT_FLAG,
      .help = "also show limits, budget, tile sizes, profile and crossovers" },
    { 0, "json", QN_OPT_FLAG, .help = "print JSON instead of a table, with all of -v" },
    { 0 }
};

static const char *const examples[] = { "quern devices -v", NULL };

static const char *const kinds[] = {
    [QN_KIND_CPU] = "cpu",
    [QN_KIND_INTEGRATED] = "integrated",
    [QN_KIND_DISCRETE] = "discrete",
    [QN_KIND_SIM] = "sim",
};

/* The simulated device is for tests; it is listed only on request. */
static int is_missing(const qn_backend_state *state)
{
    return !state->n_devices && strcmp(state->name, "sim") != 0;
}

/* The next op with a crossover in the device's profile; NULL at the end. The CPU has none, since
 * the others are compared with it. */
static const qn_route_op *next_crossover(const qn_ctx *ctx, int d, size_t *at)
{
    const qn_route_op *op;

    while (d != QN_CPU_SLOT && (op = qn_route_op_next(ctx, at)))
        if (qn_route_op_crossover(op, d, QN_COLD) >= 0 ||
            qn_route_op_crossover(op, d, QN_RESIDENT) >= 0)
            return op;
    return NULL;
}

/* For people. */

static qn_status print_table(const qn_ctx *ctx, qn_err *err)
{
    qn_table table = qn_table_begin("ID", "NAME", "KIND", "MEM GIB", "UNITS", "ARCH", "STATE");

    for (int i = 0; i < qn_device_count(ctx); i++) {
        const qn_device_info *info = qn_device_get(ctx, i);

        qn_table_addf(&table, "%s\t%s\t%s\t%.1f\t%u\t%s\t%s", qn_device_id(ctx, i), info->name,
                      kinds[info->kind], (double)info->mem_total / (1 << 30), info->units,
                      info->arch, qn_device_state(ctx, i));
    }
    for (int i = 0; i < qn_backend_state_count(ctx); i++) {
        const qn_backend_state *state = qn_backend_state_at(ctx, i);

        if (!is_missing(state))
            continue;
        qn_table_addf(&table, "%s:-", state->name);
        for (size_t c = 1; c < table.n_cols - 1; c++)
            qn_table_add(&table, "-");
        qn_table_add(&table, state->reason);
    }
    return qn_cli_print_table(&table, 0, err);
}

static void print_abilities(const qn_device_info *info)
{
    const struct {
        int has;
        const char *name;
    } list[] = {
        { info->has_f64, "f64" },
        { info->has_exact_f32, "exact f32 division and root" },
        { info->has_async_copy, "async copy" },
        { info->has_graph_replay, "graph replay" },
        { info->unified_memory, "works in host memory" },
    };
    int n = 0;

    printf("  abilities  ");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].has)
            printf("%s%s", n++ ? ", " : "", list[i].name);
    printf("%s\n", n ? "" : "none");
}

static void print_profile(const qn_ctx *ctx, int d)
{
    const char *updated = qn_profile_updated(ctx, d), *head = "crossovers";
    const double age_s = qn_utc_age_s(updated);
    const qn_route_op *op;
    size_t at = 0;
    char cold[32], resident[32];

    if (!*updated) {
        printf("  profile    %s\n", qn_profile_is_used() ? "no profile; run quern calibrate"
                                                         : "not read, QUERN_PROFILE is 0");
        return;
    }
    if (age_s < 2 * 86400)
        printf("  profile    %.0f h old (%s)\n", age_s / 3600, updated);
    else
        printf("  profile    %.0f days old (%s)\n", age_s / 86400, updated);
    for (; (op = next_crossover(ctx, d, &at)); head = "")
        printf("  %-10s %-12s cold %s, resident %s\n", head, qn_route_op_name(op),
               qn_crossover_text(qn_route_op_crossover(op, d, QN_COLD), cold, sizeof cold),
               qn_crossover_text(qn_route_op_crossover(op, d, QN_RESIDENT), resident,
                                 sizeof resident));
}

static void print_details(const qn_ctx *ctx, int i)
{
    const qn_device_info *info = qn_device_get(ctx, i);
    const qn_tile_limits tiles = qn_device_tiles(ctx, i);
    char a[32], b[32], c[32];

    printf("\n%s  %s\n", qn_device_id(ctx, i), info->name);
    printf("  vendor     %s\n", info->vendor[0] ? info->vendor : "-");
    printf("  driver     %s\n", info->driver[0] ? info->driver : "-");
    printf("  memory     %s, free %s, largest array %s\n",
           qn_format_bytes((double)info->mem_total, a, sizeof a),
           qn_format_bytes((double)info->mem_free, b, sizeof b),
           qn_format_bytes((double)info->max_alloc, c, sizeof c));
    printf("  limits     group %u, grid %u x %u x %u, local memory %s, alignment %u\n",
           info->max_group, info->max_grid[0], info->max_grid[1], info->max_grid[2],
           qn_format_bytes(info->local_mem, a, sizeof a), info->align);
    print_abilities(info);
    printf("  budget     %s%s\n", qn_format_bytes((double)tiles.usable_bytes, a, sizeof a),
           info->unified_memory ? " (free host memory)" : "");
    printf("  tiles      working set <= %s (50 %% of the budget), each array <= %s\n",
           qn_format_bytes((double)tiles.tile_bytes, a, sizeof a),
           qn_format_bytes((double)tiles.array_bytes, b, sizeof b));
    print_profile(ctx, i);
}

/* For programs. */

/* Names and values as in the profile's file: 0 means none, a missing member unknown. */
static json_t *crossover_json(const qn_route_op *op, int d)
{
    const qn_i64 cold = qn_route_op_crossover(op, d, QN_COLD);
    const qn_i64 resident = qn_route_op_crossover(op, d, QN_RESIDENT);

    return json_pack("{s:o, s:o*, s:o*}", "op", qn_json_text(qn_route_op_name(op)),
                     "crossover_cold", cold >= 0 ? json_integer(cold) : NULL, "crossover_resident",
                     resident >= 0 ? json_integer(resident) : NULL);
}

static json_t *profile_json(const qn_ctx *ctx, int d)
{
    const char *updated = qn_profile_updated(ctx, d);
    const qn_route_op *op;
    json_t *ops;
    size_t at = 0;

    if (!*updated)
        return json_null();
    ops = json_array();
    while ((op = next_crossover(ctx, d, &at)))
        qn_json_push(&ops, crossover_json(op, d));
    return json_pack("{s:o, s:o, s:o}", "updated", qn_json_text(updated), "age_s",
                     qn_json_number(qn_utc_age_s(updated)), "ops", ops);
}

static json_t *device_json(const qn_ctx *ctx, int i)
{
    const qn_device_info *info = qn_device_get(ctx, i);
    const qn_tile_limits tiles = qn_device_tiles(ctx, i);

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I,"
        " s:[III], s:b, s:b, s:b, s:b, s:b, s:o}",
        "id", qn_json_text(qn_device_id(ctx, i)), "name", qn_json_text(info->name), "vendor",
        qn_json_text(info->vendor), "driver", qn_json_text(info->driver), "arch",
        qn_json_text(info->arch), "kind", qn_json_text(kinds[info->kind]), "state",
        qn_json_text(qn_device_state(ctx, i)), "mem_total_bytes", (json_int_t)info->mem_total,
        "mem_free_bytes", (json_int_t)info->mem_free, "max_alloc_bytes",
        (json_int_t)info->max_alloc, "budget_bytes", (json_int_t)tiles.usable_bytes, "tile_bytes",
        (json_int_t)tiles.tile_bytes, "tile_array_bytes", (json_int_t)tiles.array_bytes,
        "local_mem_bytes", (json_int_t)info->local_mem, "align_bytes", (json_int_t)info->align,
        "units", (json_int_t)info->units, "max_group", (json_int_t)info->max_group, "max_grid",
        (json_int_t)info->max_grid[0], (json_int_t)info->max_grid[1], (json_int_t)info->max_grid[2],
        "has_f64", info->has_f64, "has_exact_f32", info->has_exact_f32, "has_async_copy",
        info->has_async_copy, "has_graph_replay", info->has_graph_replay, "unified_memory",
        info->unified_memory, "profile", profile_json(ctx, i));
}

static qn_status print_json(const qn_ctx *ctx, qn_err *err)
{
    qn_status st = QN_OK;
    json_t *root, *devices = json_array(), *missing = json_array();

    for (int i = 0; i < qn_device_count(ctx); i++)
        qn_json_push(&devices, device_json(ctx, i));
    for (int i = 0; i < qn_backend_state_count(ctx); i++) {
        const qn_backend_state *state = qn_backend_state_at(ctx, i);

        if (is_missing(state))
            qn_json_push(&missing, json_pack("{s:o, s:o}", "backend", qn_json_text(state->name),
                                             "reason", qn_json_text(state->reason)));
    }
    root = json_pack("{s:s, s:s, s:o, s:o}", "format", "quern-devices/1", "version", qn_version(),
                     "devices", devices, "missing", missing);
    if (!root)
        st = qn_fail(err, QN_ERR_NOMEM, "%d devices as JSON", qn_device_count(ctx));
    else if (json_dumpf(root, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF)
        st = qn_fail(err, ferror(stdout) ? QN_ERR_IO : QN_ERR_NOMEM, "cannot write to stdout");
    json_decref(root);
    return st;
}

static qn_status run(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;

    qn_profile_load_all(ctx);
    if (qn_flag(args, "json"))
        return print_json(ctx, err);
    QN_TRY(print_table(ctx, err));
    for (int i = 0; qn_flag(args, "verbose") && i < qn_device_count(ctx); i++)
        print_details(ctx, i);
out:
    return st;
}

const qn_command qn_cmd_devices = {
    .name = "devices",
    .summary = "list devices, and why a backend has none",
    .options = options,
    .examples = examples,
    .run = run,
};
