/* main.c - the table of commands; runs a command line and returns its exit code. */
#include "cli/cli.h"

#include "engine/engine.h"
#include "util/env.h"
#include "util/file.h"

#include <signal.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Commands that only have verbs, which are in files of their own. */

#define VERBS(...)                                                                                 \
    (const qn_command *const[])                                                                    \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static const qn_command cmd_solweig = {
    .name = "solweig",
    .summary = "how hot it feels across a city, pixel by pixel",
    .one_device = 1,
    .verbs = VERBS(&qn_verb_solweig_run, &qn_verb_solweig_svf, &qn_verb_solweig_shadow,
                   &qn_verb_solweig_walls, &qn_verb_solweig_check, &qn_verb_solweig_bench),
};

static const qn_command cmd_arc = {
    .name = "arc",
    .summary = "programs over small colour grids, many at once",
    .verbs = VERBS(&qn_verb_arc_run, &qn_verb_arc_check, &qn_verb_arc_bench, &qn_verb_arc_dis,
                   &qn_verb_arc_ops, &qn_verb_arc_show, &qn_verb_arc_serve),
};

static const qn_command cmd_fit = {
    .name = "fit",
    .summary = "nonlinear least squares: curves, meshes, cameras, sketches",
    .one_device = 1,
    .verbs = VERBS(&qn_verb_fit_run, &qn_verb_fit_check, &qn_verb_fit_new, &qn_verb_fit_emit,
                   &qn_verb_fit_grad, &qn_verb_fit_bench),
};

static const qn_command cmd_make = {
    .name = "make",
    .summary = "generate input files: a town, programs with tasks, a mesh",
    .verbs = VERBS(&qn_verb_make_town, &qn_verb_make_programs, &qn_verb_make_mesh),
};

const qn_command *const qn_commands[] = {
    &qn_cmd_devices,    &qn_cmd_tasks,     &qn_cmd_scan,  &qn_cmd_compare,
    &qn_cmd_les,        &cmd_solweig,      &cmd_arc,      &cmd_fit,
    &cmd_make,          &qn_cmd_calibrate, &qn_cmd_route, &qn_cmd_bench,
    &qn_cmd_report,     &qn_cmd_selftest,  &qn_cmd_cache, &qn_cmd_man,
    &qn_cmd_completion, &qn_cmd_version,   NULL,
};

/* The only place that maps a status to its exit code. */
static qn_exit exit_of(qn_status status)
{
    static const unsigned char codes[] = {
        [QN_OK] = QN_EXIT_OK,
        [QN_ERR_FAILED] = QN_EXIT_FAILED,
        [QN_ERR_USAGE] = QN_EXIT_USAGE,
        [QN_ERR_NOMEM] = QN_EXIT_NOMEM,
        [QN_ERR_IO] = QN_EXIT_FAILED,
        [QN_ERR_INPUT] = QN_EXIT_INPUT,
        [QN_ERR_LIMIT] = QN_EXIT_USAGE,
        [QN_ERR_INIT] = QN_EXIT_DEVICE,
        [QN_ERR_COMPILE] = QN_EXIT_FAILED,
        [QN_ERR_LAUNCH] = QN_EXIT_FAILED,
        [QN_ERR_TIMEOUT] = QN_EXIT_FAILED,
        [QN_ERR_DEVICE_LOST] = QN_EXIT_DEVICE,
        [QN_ERR_BUSY] = QN_EXIT_DEVICE,
        [QN_ERR_MISMATCH] = QN_EXIT_VERIFY,
        [QN_ERR_CYCLE] = QN_EXIT_FAILED,
        [QN_ERR_UNSUPPORTED] = QN_EXIT_DEVICE,
        [QN_ERR_INJECTED] = QN_EXIT_FAILED,
        [QN_ERR_FALLBACK] = QN_EXIT_DEVICE,
    };

    return (size_t)status < sizeof codes ? (qn_exit)codes[status] : QN_EXIT_FAILED;
}

/* Refuses several --devices for a command that works on one. How many devices a name without an
 * index means is known only when the context is open; before that `ctx` is NULL. */
static qn_status check_devices(const qn_args *args, const qn_ctx *ctx, qn_err *err)
{
    const char *devices = args->global.devices;

    if (!devices || !(args->parent ? args->parent : args->command)->one_device)
        return QN_OK;
    if (strcmp(devices, "all") && !strchr(devices, ',') && (!ctx || qn_device_count(ctx) <= 2))
        return QN_OK; /* the first device of a context is the CPU */
    return qn_fail(err, QN_ERR_USAGE, "--devices: %s works on one device; choose it with --backend",
                   args->title);
}

qn_status qn_cli_open(const qn_args *args, qn_ctx **out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_session *session = args->session;
    qn_ctx *ctx = NULL;

    QN_TRY(qn_ctx_open(&args->global.engine, &ctx, err));
    QN_TRY(check_devices(args, ctx, err));
    if (args->global.memory_map)
        QN_TRY(qn_ledger_open(ctx, err));
    if (args->global.metrics_port && !session->server) {
        QN_TRY(
            qn_serve_open(qn_ctx_metrics(ctx), args->global.metrics_port, &session->server, err));
        session->served = ctx;
    }
    *out = ctx;
    ctx = NULL;
out:
    qn_ctx_close(ctx);
    return st;
}

qn_status qn_cli_progress(const qn_args *args, qn_progress_mode *out, qn_err *err)
{
    const qn_status st = qn_progress_parse(args->global.progress, out, err);

    if (st == QN_OK && args->global.quiet)
        *out = QN_PROGRESS_OFF;
    return st;
}

void qn_cli_summary(const qn_args *args, double n_items, const char *item, const char *items)
{
    args->session->n_items = n_items;
    args->session->item = item;
    args->session->items = items;
}

void qn_cli_check(const qn_args *args, qn_run_check check)
{
    qn_session *session = args->session;
    const size_t i = session->n_checks;

    if (i == QN_MAX_CHECKS)
        return;
    snprintf(session->check_texts[i][0], sizeof session->check_texts[i][0], "%s", check.what);
    snprintf(session->check_texts[i][1], sizeof session->check_texts[i][1], "%s", check.against);
    check.what = session->check_texts[i][0];
    check.against = session->check_texts[i][1];
    session->checks[session->n_checks++] = check;
}

void qn_cli_check_equal(const qn_args *args, const char *what, const char *against, double n,
                        double n_equal)
{
    qn_cli_check(args, (qn_run_check){ .what = what,
                                       .against = against,
                                       .n_values = n,
                                       .n_equal = n_equal,
                                       .error = NAN,
                                       .limit = NAN,
                                       .is_ok = n_equal == n });
}

/* --quiet suppresses the summary, but not the tables of QUERN_STATS. */
static void print_end(const qn_args *args, qn_ctx *ctx, const char *status)
{
    const qn_session *session = args->session;
    const qn_run_info info = { .command = args->title,
                               .status = status,
                               .n_items = session->n_items,
                               .item = session->item,
                               .items = session->items };

    if (session->items && !args->global.quiet) {
        qn_report_print(ctx, stderr, &info);
    } else if (qn_env_number("QUERN_STATS", 0) > 0) {
        qn_report_refresh(ctx);
        qn_stats_print(stderr, qn_ctx_metrics(ctx));
    }
}

static qn_status write_metrics(const qn_args *args, qn_ctx *ctx, const char *status, qn_err *err)
{
    const qn_session *session = args->session;
    qn_err no_folder = { 0 };
    qn_str line = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_line(args, &line, err));
    const qn_run_info info = { .command = args->title,
                               .command_line = qn_str_get(&line),
                               .status = status,
                               .checks = session->checks,
                               .n_checks = session->n_checks,
                               .n_items = session->n_items,
                               .item = session->item,
                               .items = session->items };

    qn_make_parent(args->global.metrics, &no_folder); /* what it lacks shows in the next line */
    st = qn_report_write(ctx, &info, args->global.metrics, err);
out:
    qn_str_free(&line);
    return st;
}

static qn_status write_memory_map(const qn_args *args, const qn_ctx *ctx, qn_err *err)
{
    qn_err no_folder = { 0 };

    qn_make_parent(args->global.memory_map, &no_folder); /* what it lacks shows in the next line */
    return qn_ledger_write(ctx, args->title, args->global.memory_map, err);
}

qn_status qn_cli_close(const qn_args *args, qn_ctx *ctx, qn_status st, qn_err *err)
{
    const char *status = st == QN_OK ? "ok" : qn_status_name(st);
    qn_err late = { 0 };

    if (!ctx)
        return st;
    if (args->session->served == ctx) {
        qn_serve_close(args->session->server);
        args->session->server = NULL;
        args->session->served = NULL;
    }
    print_end(args, ctx, status);
    if (args->global.metrics)
        write_metrics(args, ctx, status, &late);
    if (args->global.memory_map && late.status == QN_OK)
        write_memory_map(args, ctx, &late);
    if (late.status != QN_OK && st == QN_OK) {
        *err = late;
        st = err->status;
    }
    qn_ctx_close(ctx);
    return st;
}

qn_status qn_cli_print_table(qn_table *table, int is_json, qn_err *err)
{
    return qn_table_print(table, stdout, is_json ? QN_TABLE_JSON : QN_TABLE_TEXT, err);
}

qn_status qn_cli_input(const char *path, qn_err *err)
{
    qn_status st = QN_OK;
    struct stat info;
    const int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &info) != 0)
        st = qn_fail(err, QN_ERR_INPUT, "cannot open %s: %s", path, strerror(errno));
    else if (S_ISDIR(info.st_mode))
        st = qn_fail(err, QN_ERR_INPUT, "cannot read %s: it is a folder", path);
    if (file >= 0)
        close(file);
    return st;
}

/* Runs the command in its context. Returns the first failure. */
static qn_status run_command(const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    qn_ctx *ctx = NULL;

    QN_TRY(qn_env_check(err));
    QN_TRY(check_devices(args, NULL, err));
    if (!args->command->bare)
        QN_TRY(qn_cli_open(args, &ctx, err));
    st = args->command->run(ctx, args, err);
    st = qn_cli_close(args, ctx, st, err);
out:
    return st;
}

/* If stdout is a full disk or a closed pipe, the run has failed. */
static qn_status finish_stdout(qn_err *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return qn_fail(err, QN_ERR_IO, "cannot write to stdout: %s", strerror(errno));
    return QN_OK;
}

static qn_status dispatch(const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;

    if (args->help)
        qn_help_print(qn_commands, args, stdout);
    else if (args->version)
        printf("quern %s\n", qn_version());
    else
        QN_TRY(run_command(args, err));
    QN_TRY(finish_stdout(err));
out:
    return st;
}

int main(int argc, char **argv)
{
    qn_args args;
    qn_session session = { 0 };
    qn_err err = { 0 };
    qn_status st = qn_args_parse(qn_commands, argc, argv, &args, &err);
    const int is_parsed = st == QN_OK;

    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit of the shell fails as a full disk does */
    args.session = &session;
    if (is_parsed && !args.global.quiet)
        fputs(qn_str_get(&args.notices), stderr);
    if (is_parsed)
        st = dispatch(&args, &err);
    if (st != QN_OK)
        fprintf(stderr, "quern%s%s: %s\n", args.title[0] ? " " : "", args.title, err.text);
    if (!is_parsed)
        qn_usage_print(&args, stderr);
    qn_args_free(&args);
    return (int)exit_of(st);
}
