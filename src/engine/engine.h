/* engine.h - what tools, lab and command need of the engine beyond its public headers.
 *
 * Code outside of src/engine includes this header and <quern/...>, and no other header of the
 * engine. Devices are numbered as in <quern/quern.h>: 0 is the CPU.
 */
#ifndef QN_ENGINE_ENGINE_H
#define QN_ENGINE_ENGINE_H

#include <quern/fallback.h>
#include <quern/graph.h>
#include <quern/metrics.h>
#include <quern/fft.h>
#include <quern/route.h>

#include "engine/content.h"
#include "engine/tiles.h"
#include "engine/tool.h"
#include "util/write_queue.h"
#include "util/compare.h"
#include "util/csv.h"
#include "util/log.h"
#include "util/str.h"

#include <stdio.h>

enum { QN_MAX_DEVICES = 16, QN_CPU_SLOT = 0 };

/* The context. */

/* Settings as options, environment and defaults give them. */
typedef struct qn_settings {
    qn_route_mode route_mode;
    qn_fallback_policy fallback;
    int threads, op_priority;
    int timing;         /* every stage is timed */
    int overlap;        /* branches of a graph run side by side */
    int fuse;           /* chains of element-wise stages become one */
    double verify_pct;  /* of device stages, recomputed on the CPU */
    size_t host_budget; /* 0: no limit */
    size_t bucket_min;
    char cache_dir[1024]; /* "": no cache */
    char spill_dir[1024], explain_path[1024];
} qn_settings;

const qn_settings *qn_ctx_settings(const qn_ctx *ctx);

/* Sets the percentage of device stages that are recomputed on the CPU. Returns the old one. */
double qn_ctx_set_verify(qn_ctx *ctx, double pct);

qn_log *qn_ctx_log(qn_ctx *ctx);

/* Now, in the time of the context: virtual when a sim device is open. */
double qn_ctx_now_us(const qn_ctx *ctx);

/* True when faults are injected into the context. */
int qn_ctx_has_faults(const qn_ctx *ctx);

/* Prints "[GPU] <stage> failed: <reason>. CPU fallback.", counts it and clears `err`. With
 * --fallback=error prints nothing and returns QN_ERR_FALLBACK with the sentence. */
qn_status qn_fallback_note(qn_ctx *ctx, const char *stage, qn_err *err);

/* 1 when a device failed, not the request: the CPU can still do the work. */
int qn_status_is_device_fault(qn_status status);

/* Devices. */

/* The number of "cuda:0" (or of the first device of "cuda"), or -1. */
int qn_device_find(const qn_ctx *ctx, const char *id);

const char *qn_device_backend(const qn_ctx *ctx, int device); /* "cuda" */
const char *qn_device_state(const qn_ctx *ctx, int device);   /* "ok", "lost", "unhealthy" */

/* True when the router may choose the device. */
int qn_device_is_candidate(const qn_ctx *ctx, int device);

/* The device that --backend names alone, -1 for "auto" and lists. */
int qn_ctx_pinned(const qn_ctx *ctx);

/* For work that repeats itself on the CPU when a device fails: where stages go from now on, as
 * qn_ctx_pinned has it, and the policy that graphs begin with (qn_graph_set_fallback). */
typedef struct qn_placing {
    int pinned;
    qn_fallback_policy fallback;
} qn_placing;

/* Returns what held before. */
qn_placing qn_ctx_set_placing(qn_ctx *ctx, qn_placing placing);

/* How many devices the user wants to share work, by a list (`text`, QUERN_DEVICES, --backend) or by
 * the route `balance`. 0: nothing of that kind, or one device that everything goes to anyway, or
 * one and the CPU for the router to choose from. */
int qn_devices_shared(qn_ctx *ctx, const char *text);

/* A backend as `quern devices` shows it: how many devices, or why none. */
typedef struct qn_backend_state {
    const char *name;
    int n_devices;
    char reason[160];
} qn_backend_state;

int qn_backend_state_count(const qn_ctx *ctx);
const qn_backend_state *qn_backend_state_at(const qn_ctx *ctx, int i);

/* The --backend value: flag, QUERN_BACKEND (or QUERN_DEVICES), "auto". */
const char *qn_settings_backend(const qn_options *options);

/* True when QUERN_HIDE names the backend. */
int qn_settings_is_hidden(const char *backend);

/* Memory. */

/* max(16384, smallest power of two >= n), with another minimum when QUERN_BUCKET_MIN is set.
 * Fails above 2^62. */
enum { QN_BUCKET_MIN = 16384 };
qn_status qn_bucket(uint64_t n, uint64_t minimum, uint64_t *out, qn_err *err);

/* How large a tile may be on a device. The working set of a tile, all its arrays together, is at
 * most half of the memory budget: pools round a block up to a power of two, so it may take up to
 * twice its bytes. Each array of the tile must be one allocation of the device. */
typedef struct qn_tile_limits {
    uint64_t usable_bytes; /* the budget, or what is free of the host memory a device works in */
    uint64_t tile_bytes;   /* of the working set */
    uint64_t array_bytes;  /* of one array */
} qn_tile_limits;

qn_tile_limits qn_device_tiles(const qn_ctx *ctx, int device);

/* 1 when every candidate with memory of its own can allocate `bytes` now, in blocks. A budget says
 * what a device should have; other programs may use it too. */
int qn_devices_can_hold(qn_ctx *ctx, double bytes);

/* Frees the idle blocks of all pools of devices, of the host, or of both. */
enum { QN_TRIM_DEVICES = 1, QN_TRIM_HOST = 2 };
void qn_ctx_trim(qn_ctx *ctx, unsigned which);

/* From now on blocks of devices above 1 MiB are not rounded to powers of two: for work that has few
 * arrays, large and long-lived, where a power of two would cost half as much again and be reused
 * for nothing. */
void qn_ctx_pack_memory(qn_ctx *ctx);

/* Pools, to be measured. */
typedef struct qn_pool qn_pool;

qn_pool *qn_ctx_host_pool(const qn_ctx *ctx);
int qn_ctx_host_is_pinned(const qn_ctx *ctx);           /* a device gave the host memory */
qn_pool *qn_device_pool(const qn_ctx *ctx, int device); /* NULL: it works in host memory */
void qn_pool_set_disabled(qn_pool *pool, int disabled); /* never reuse */

/* Takes a block as stages do, writes all of it when `is_touched` (host pools only), and gives it
 * back. */
qn_status qn_pool_cycle(qn_pool *pool, size_t bytes, int is_host, int is_touched, qn_err *err);

/* Kernels. */

typedef struct qn_module qn_module;

/* The function of a kernel on the CPU, compiled where its text was made at run time, for callers
 * that run it themselves. It stays loaded until qn_compile_drop(ctx, held). */
qn_status qn_compile_for_cpu(qn_ctx *ctx, const qn_kernel_info *kernel,
                             qn_module *held[QN_MAX_DEVICES], qn_cpu_kernel *out, qn_err *err);
void qn_compile_drop(qn_ctx *ctx, qn_module *modules[QN_MAX_DEVICES]);

/* Every kernel file built into the library, ended by NULL. */
extern const qn_kernel_module *const qn_builtin_modules[];

/* Makes a module ready on a device, through the caches, and says how long that took; NaN where
 * built-in modules need nothing of the kind. */
qn_status qn_compile_time(qn_ctx *ctx, int device, const qn_kernel_module *module, double *us,
                          qn_err *err);

/* Threads that compile beside the one that waits: QUERN_COMPILE_THREADS, else one per core, 16 at
 * most. */
int qn_compile_threads(void);

/* Whether the device has the module without waiting for a compiler, or threads beside cannot make it
 * ready; and beginning to do so: then the module lives as long as the context,
 * or until qn_compile_forget. */
int qn_compile_is_ready(qn_ctx *ctx, int device, const qn_kernel_module *module);
void qn_compile_begin(qn_ctx *ctx, int device, const qn_kernel_module *module);
void qn_compile_begin_named(qn_ctx *ctx, int device, const char *const *names); /* built in */
void qn_fft_begin(qn_ctx *ctx, int device, const qn_fft_shape *shape);

/* Before a module is freed that was begun and that no graph may have used. */
void qn_compile_forget(qn_ctx *ctx, const qn_kernel_module *module);

/* Where large work will run, as far as that is known before the router has seen it: on the device
 * that was named, or on the first GPU with memory of its own; QN_CPU_SLOT: nobody knows. */
int qn_ctx_likely_device(const qn_ctx *ctx);

/* A pack (device/pack.h): every built-in module, compiled for NVIDIA GPUs of these architectures (90:
 * sm_90), by so many threads beside the caller's. `only`, ended by NULL, names
 * other modules. What a pack of that name has is not compiled again. */
typedef struct qn_pack_made {
    int n_entries, n_compiled;
    size_t bytes;
} qn_pack_made;

qn_status qn_pack_make(const qn_kernel_module *const *only, const int *archs, int n_archs,
                       int n_threads, const char *path, qn_pack_made *made, qn_err *err);

/* Those that the compiler of this machine knows; the caller frees *out. */
qn_status qn_pack_archs(int **out, int *n, qn_err *err);

/* Compiled kernels on disk. */
enum { QN_KEY_CHARS = 64 };

typedef struct qn_kcache_entry {
    char key[QN_KEY_CHARS + 1];
    uint32_t kind; /* qn_bin_kind; 0: damaged */
    uint64_t bytes;
    int64_t used_s; /* seconds since 1970 */
} qn_kcache_entry;

/* "damaged", "cubin", "ptx", ...; NULL past the last kind. */
const char *qn_kcache_kind(uint32_t kind);

/* All entries, oldest use first. The caller frees *out. A folder that does not exist is empty;
 * one that cannot be read is QN_ERR_IO. */
qn_status qn_kcache_list(const char *dir, qn_kcache_entry **out, int *n, qn_err *err);

/* Removes all entries, and temporary files that are older than an hour. */
qn_status qn_kcache_clear(const char *dir, int *n_removed, qn_err *err);

/* Ops. */

const qn_op *qn_op_find(const char *name); /* NULL: there is none */

/* All ops: 0 .. qn_op_count() - 1. */
int qn_op_count(void);
const qn_op *qn_op_at(int i);

/* Head and body that a stage of the op runs: its built-in kernel, or the CPU-only one, which has
 * no module and therefore never leaves the CPU. NULL when this build lacks the kernel. */
const qn_kernel_info *qn_op_kernel(const qn_op *op);

/* Compares `bytes` bytes of elements of `type` as exactly as the op promises. */
qn_diff qn_op_compare(const qn_op *op, const char *type, const void *want, const void *got,
                      size_t bytes);

/* Times the smallest use of the op that has `items` work items or more, `n` times after two runs
 * that are not counted, inputs and results on the host. */
qn_status qn_op_time(qn_ctx *ctx, int device, const qn_op *op, qn_i64 items, int n, double *us,
                     qn_err *err);

/* Shared accumulation: many items add into few cells, always in the same order. An index sorts the
 * items by their cell once; results depend on it alone and have the same bits on every device, for
 * any number of threads. */
typedef struct qn_segments qn_segments;

/* Item i belongs to cell target[i], 0 <= target[i] < n_cells; items of a cell keep their order.
 * `target` is not needed afterwards. */
qn_status qn_segments_new(qn_ctx *ctx, const char *name, const int32_t *target, qn_i64 n_items,
                          qn_i64 n_cells, qn_segments **out, qn_err *err);

/* Graphs that use it must be freed before. NULL is fine. */
void qn_segments_free(qn_segments *segments);

/* Adds stages "<name>.short", "<name>.part" and "<name>.join" (the last two only when a cell has
 * more than 32 items): cell[c] = sum of value[i] over the items of c. `value` has n_items
 * floats, `cell` n_cells. */
qn_status qn_segments_sum(qn_segments *segments, qn_graph *graph, const char *name, qn_buf *value,
                          qn_buf *cell, qn_err *err);

/* Knowledge of the router. */

/* Cost of copies between host and device. 10^9 bytes per second. */
typedef struct qn_link {
    double h2d_us, h2d_gbps, d2h_us, d2h_gbps;
    double sync_us; /* what a run on the device takes beyond its copies and stages */
} qn_link;

/* Speed of a device, for estimates where nothing was measured. */
typedef struct qn_speed {
    double launch_us, gbps, gflops;
    int is_measured;
} qn_speed;

/* a + b * size */
typedef struct qn_line {
    double a_us, b_us;
} qn_line;

/* Reads the profiles of all devices, once. */
void qn_profile_load_all(qn_ctx *ctx);
int qn_profile_is_used(void); /* 0: QUERN_PROFILE=0 */

/* The file of a device; QN_ERR_INIT without a cache folder. */
qn_status qn_profile_path(const qn_ctx *ctx, int device, char *out, size_t size, qn_err *err);

/* When the device's profile was last written ("2026-01-31T12:00:00Z"), "" when there is none. */
const char *qn_profile_updated(const qn_ctx *ctx, int device);

qn_speed qn_device_speed(const qn_ctx *ctx, int device);
qn_link qn_device_link(const qn_ctx *ctx, int device, int *is_measured);

/* Times of one op by size, on every device. */
typedef struct qn_route_op qn_route_op;

/* The op of that name, made on first use. NULL for lack of memory. */
qn_route_op *qn_router_op(qn_ctx *ctx, const char *name);

/* One that is known already, or NULL; all of them, from *at = 0 on until NULL. */
const qn_route_op *qn_route_op_find(const qn_ctx *ctx, const char *name);
const qn_route_op *qn_route_op_next(const qn_ctx *ctx, size_t *at);

const char *qn_route_op_name(const qn_route_op *op);

/* As the profile has it: 0 none, -1 not known. */
qn_i64 qn_route_op_crossover(const qn_route_op *op, int device, qn_residency residency);

/* Times measured at about one size. */
typedef struct qn_route_point {
    double size, median_us, mad_us;
    int n;
} qn_route_point;

int qn_route_op_points(const qn_route_op *op, int device);
qn_route_point qn_route_op_point(const qn_route_op *op, int device, int i);
qn_line qn_route_op_fit(const qn_route_op *op, int device);
int qn_route_op_is_warm(const qn_route_op *op,
                        int device); /* its first run, which is slow, is over */

/* Decisions about work that is no stage of a graph. */

typedef enum qn_why {
    QN_WHY_BEST,
    QN_WHY_KEPT,
    QN_WHY_PROBE,
    QN_WHY_PINNED,
    QN_WHY_CPU_ONLY,
    QN_WHY_MODE,
    QN_WHY_THRESHOLD,
    QN_WHY_BALANCE,
    QN_N_WHY
} qn_why;

const char *qn_why_name(qn_why why);

typedef struct qn_route_case {
    double size;
    unsigned devices;               /* that can do it, one bit each */
    int bound;                      /* the device it must run on, -1: any of them */
    qn_why why;                     /* the reason, where it is bound */
    int present;                    /* leaving this device needs a gain of 10 %; -1: none */
    qn_line prior[QN_MAX_DEVICES];  /* the time where too little was measured */
    double more_us[QN_MAX_DEVICES]; /* added to it */
} qn_route_case;

typedef struct qn_route_choice {
    int device;  /* -1: none can do it */
    int settled; /* the cheapest one, whichever is measured */
    qn_why why;
    double predicted_us[QN_MAX_DEVICES]; /* NaN: no candidate */
} qn_route_choice;

/* The cheapest device, or another one that is to be measured again. Counts the decision in the
 * metrics of `ctx`, which may be NULL. Without `op` (no memory) it is where it is bound. */
qn_route_choice qn_route_choose(qn_ctx *ctx, qn_route_op *op, const qn_route_case *question);

/* It took `us` there. */
void qn_router_observe(qn_ctx *ctx, qn_route_op *op, int device, double size, double us);

/* It failed on the device: busy ones cost more for a while, those that cannot run it are not asked
 * again. */
void qn_router_failed(qn_ctx *ctx, qn_route_op *op, int device, qn_status status);

/* An op outside of a context, for decisions that are only played through. */
qn_route_op *qn_route_op_new(const char *name);
void qn_route_op_free(qn_route_op *op);
void qn_route_observe(qn_route_op *op, int device, double size, double us);
double qn_route_predict_us(const qn_route_op *op, int device, double size, qn_line prior);
void qn_route_spend(qn_route_op *op, double us); /* time lost by a probe */

/* Runs of a graph in which something was timed or tried, so far. */
uint64_t qn_route_experiments(const qn_graph *graph);

/* Every decision as rows of the CSV file of --explain-route. */
typedef struct qn_explain_row {
    uint64_t seq;
    const char *stage, *op, *candidate, *reason;
    qn_i64 size;
    double predicted_us, actual_us; /* NaN: not known */
    int chosen;
} qn_explain_row;

/* Writes the rows of one decision, one per candidate of `choice`; nothing without --explain-route.
 * `actual_us` is the time on the chosen device, NaN: not known. */
void qn_route_explain_choice(qn_ctx *ctx, const char *stage, const char *op, qn_i64 size,
                             const qn_route_choice *choice, double actual_us);

/* Reads such a file; cells are checked, strings live as long as `csv`. */
qn_status qn_explain_read(const char *path, qn_csv *csv, qn_explain_row **rows, size_t *n,
                          qn_err *err);

/* Reports of a run. */

/* Series of a name, one after another; NULL starts and ends. */
const qn_metric *qn_metric_next(const qn_metrics *metrics, const char *name,
                                const qn_metric *before);
const char *qn_metric_label(const qn_metric *metric, const char *key); /* NULL: it has none */

/* Value of a counter or gauge series, count of a histogram. */
double qn_series_value(const qn_metric *series);

/* A comparison that the run made of its results. */
typedef struct qn_run_check {
    const char *what, *against; /* "results", "a plain computation on the host" */
    double n_values;            /* how many were compared */
    double n_equal;      /* of them the same, as exactly as the op promises; NAN: not counted */
    double error, limit; /* the largest one and what is allowed; NAN: only counted */
    int is_ok;
} qn_run_check;

/* Description of a run by its command; the engine adds the rest. Works when zeroed. */
typedef struct qn_run_info {
    const char *command;      /* "tasks run" */
    const char *command_line; /* as one would type it; NULL: not known */
    const char *status;       /* "ok", or the name of a qn_status; NULL means "ok" */
    const qn_run_check *checks;
    size_t n_checks;
    double n_items;           /* what the run worked on; 0: not known */
    const char *item, *items; /* "task", "tasks" */
} qn_run_info;

/* Brings gauges up to date that are read off pools and devices. */
void qn_report_refresh(qn_ctx *ctx);

/* The summary for people on `to`, and the pool and bucket tables with QUERN_STATS=1. */
void qn_report_print(qn_ctx *ctx, FILE *to, const qn_run_info *info);

/* Only these tables. */
void qn_stats_print(FILE *to, const qn_metrics *metrics);

/* The metrics file, .json or .prom. */
qn_status qn_report_write(qn_ctx *ctx, const qn_run_info *info, const char *path, qn_err *err);

/* Appends the text of the .json file. */
qn_status qn_report_json(qn_ctx *ctx, const qn_run_info *info, qn_str *out, qn_err *err);

/* Notes what becomes of every array of the context from now on; before the first one is made. */
qn_status qn_ledger_open(qn_ctx *ctx, qn_err *err);

/* Writes the map of all arrays as Markdown; `title` is what ran. */
qn_status qn_ledger_write(const qn_ctx *ctx, const char *title, const char *path, qn_err *err);

/* Metrics over HTTP while a run goes on: GET /metrics, GET /health, on 127.0.0.1:`port`; 0 takes a
 * free port. `metrics` must outlive the server. Closing NULL is fine. */
typedef struct qn_serve qn_serve;
qn_status qn_serve_open(qn_metrics *metrics, int port, qn_serve **out, qn_err *err);
int qn_serve_port(const qn_serve *serve);
void qn_serve_close(qn_serve *serve);

#endif
