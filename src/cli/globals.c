/* globals.c - the options that every command takes. */
#include "cli/cli.h"

#include "util/str.h"

#include <stdlib.h>
#include <string.h>

/* Checks NAME[:INDEX], separated by commas; "auto" cannot be part of a list. */
static const char *check_backend(const char *value)
{
    static const char *const names[] = { "auto", "cpu", "opencl", "cuda", "sim" };

    for (const char *at = value;;) {
        const size_t len = strcspn(at, ":,");
        int known = 0;

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            known |= strlen(names[i]) == len && memcmp(names[i], at, len) == 0;
        if (!known)
            return "names no backend; there are: auto, cpu, opencl, cuda, sim";
        at += len;
        if (*at == ':') {
            const size_t digits = strspn(at + 1, "0123456789");

            if (!digits || digits > 3)
                return "has an index that is not a number from 0 to 999";
            at += 1 + digits;
        }
        if (!*at)
            return NULL;
        if (*at++ != ',')
            return "is not NAME[:INDEX][,NAME[:INDEX]...]";
    }
}

static const char *check_devices(const char *value)
{
    return strcmp(value, "all") == 0 ? NULL : check_backend(value);
}

static const char *check_budget(const char *value)
{
    static const char wrong[] = "is not a size such as 512M, 8G or 80%";
    const size_t len = strlen(value);
    size_t bytes;
    char *end;

    if (value[len - 1] == '%') {
        const double pct = strtod(value, &end);

        return end == value + len - 1 && end != value && pct > 0 && pct <= 100 ? NULL : wrong;
    }
    return qn_parse_bytes(value, &bytes) == 0 && bytes > 0 ? NULL : wrong;
}

static int ends_in(const char *text, const char *ending)
{
    const size_t n = strlen(text), m = strlen(ending);

    return n > m && strcmp(text + n - m, ending) == 0;
}

static const char *check_metrics(const char *value)
{
    return ends_in(value, ".json") || ends_in(value, ".prom") ? NULL
                                                              : "does not end in .json or .prom";
}

const qn_opt qn_global_options[] = {
    /* The engine reads these two variables itself, since it must know which one was set. */
    { 0, "backend", QN_OPT_TEXT, .value = "NAME[:I]", .check = check_backend,
      .help = "auto, cpu, opencl, cuda or sim (default auto) [QUERN_BACKEND]" },
    { 0, "devices", QN_OPT_TEXT, .value = "LIST", .check = check_devices,
      .help = "devices that share a batch, such as cuda:0,cuda:1, or all [QUERN_DEVICES]" },
    { 0, "threads", QN_OPT_INT, .value = "N", .env = "QUERN_THREADS", .min = 1, .max = 1024,
      .help = "threads of the CPU backend (default: all cores)" },
    { 0, "fallback", QN_OPT_CHOICE, .value = "cpu|error", .env = "QUERN_FALLBACK",
      .help = "when a device fails: rerun on the CPU (default), or stop with exit 3" },
    { 0, "route", QN_OPT_CHOICE, .value = "auto|cpu|gpu|balance|static", .env = "QUERN_ROUTE",
      .help = "how the device of a stage is chosen (default auto)" },
    { 0, "explain-route", QN_OPT_TEXT, .value = "FILE.csv",
      .help = "write every routing decision to this file" },
    { 0, "op-priority", QN_OPT_INT, .value = "N", .min = 1, .max = 9,
      .help = "ops up to priority N may leave the CPU (default 3)" },
    { 0, "mem-budget", QN_OPT_TEXT, .value = "SIZE", .env = "QUERN_MEM_BUDGET",
      .check = check_budget,
      .help = "device memory to use, such as 512M, 8G or 80% (default 80%)" },
    { 0, "memory-map", QN_OPT_TEXT, .value = "FILE.md",
      .help = "write a list of the arrays, where they were and what was copied" },
    { 0, "pipeline", QN_OPT_INT, .value = "DEPTH", .env = "QUERN_PIPELINE", .fallback = "2",
      .min = 1, .max = 8, .help = "number of batches in flight" },
    { 0, "chunk-elems", QN_OPT_INT, .value = "N", .env = "QUERN_CHUNK_ELEMS", .fallback = "524288",
      .min = 1, .max = (qn_i64)1 << 40, .help = "elements per chunk of a large batch" },
    { 0, "metrics", QN_OPT_TEXT, .value = "FILE", .check = check_metrics,
      .help = "write counters to FILE.json, or to FILE.prom for Prometheus" },
    { 0, "metrics-port", QN_OPT_INT, .value = "N", .min = 1, .max = 65535,
      .help = "serve /metrics and /health on this port of 127.0.0.1" },
    { 0, "log", QN_OPT_CHOICE, .value = "none|error|warn|info|debug", .env = "QUERN_LOG",
      .help = "level of the messages on stderr (default warn)" },
    { 0, "progress", QN_OPT_CHOICE, .value = "auto|on|off", .fallback = "auto",
      .help = "show progress on stderr" },
    { 'q', "quiet", QN_OPT_FLAG, .help = "show no progress and no summary at the end" },
    { 0, "seed", QN_OPT_INT, .value = "N", .fallback = "1", .min = 0, .max = INT64_MAX,
      .help = "seed of generated data" },
    { 0, "split", QN_OPT_CHOICE, .value = "equal|proportional|dynamic", .fallback = "dynamic",
      .help = "how devices share a batch" },
    { 0, "verify-sample", QN_OPT_REAL, .value = "PCT", .fallback = "0", .min = 0, .max = 100,
      .help = "percentage of device stages to recompute on the CPU" },
    { 'h', "help", QN_OPT_FLAG, .help = "print this help" },
    { 0, "version", QN_OPT_FLAG, .help = "print the version" },
    { 0 }
};

/* If an option was not given, the engine's field stays zero and the engine uses its own default. */
void qn_globals_read(qn_args *args)
{
    const char *fallback = qn_text(args, "fallback");
    const char *devices = qn_text(args, "devices");

    args->global = (qn_globals){
        .engine = {
            .size = sizeof(qn_options),
            /* Listed devices are opened, so that a missing one is noticed. */
            .backend = devices && (strcmp(devices, "all") || !qn_given(args, "backend"))
                           ? devices
                           : qn_text(args, "backend"),
            .route = qn_text(args, "route"),
            .mem_budget = qn_text(args, "mem-budget"),
            .log = qn_text(args, "log"),
            .explain_route = qn_text(args, "explain-route"),
            .fallback = !fallback ? QN_FALLBACK_DEFAULT
                        : strcmp(fallback, "cpu") == 0 ? QN_FALLBACK_CPU
                                                       : QN_FALLBACK_ERROR,
            .threads = (int)qn_int(args, "threads"),
            .op_priority = (int)qn_int(args, "op-priority"),
            .verify_pct = qn_real(args, "verify-sample"),
        },
        .metrics = qn_text(args, "metrics"),
        .memory_map = qn_text(args, "memory-map"),
        .progress = qn_text(args, "progress"),
        .split = qn_text(args, "split"),
        .devices = devices,
        .pipeline = (int)qn_int(args, "pipeline"),
        .metrics_port = (int)qn_int(args, "metrics-port"),
        .quiet = qn_flag(args, "quiet"),
        .chunk_elems = qn_int(args, "chunk-elems"),
        .seed = (uint64_t)qn_int(args, "seed"),
    };
}
