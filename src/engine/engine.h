/* engine.h - engine functions for tools, lab and command, besides the public headers.
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

/* Settings, resolved from options, environment and defaults. */
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

/* The current time of the context: virtual if a sim device is open. */
double qn_ctx_now_us(const qn_ctx *ctx);

/* True when faults are injected into the context. */
int qn_ctx_has_faults(const qn_ctx *ctx);

/* Prints "[GPU] <stage> failed: <reason>. CPU fallback.", counts it and clears `err`. With
 * --fallback=error it prints nothing and returns QN_ERR_FALLBACK with the message. */
qn_status qn_fallback_note(qn_ctx *ctx, const char *stage, qn_err *err);

/* 1 if a device failed and not the request, so that the CPU can still do the work. */
int qn_status_is_device_fault(qn_status status);

/* Devices. */

/* The number of "cuda:0" (or of the first device of "cuda"), or -1. */
int qn_device_find(const qn_ctx *ctx, const char *id);

const char *qn_device_backend(const qn_ctx *ctx, int device); /* "cuda" */
const char *qn_device_state(const qn_ctx *ctx, int device);   /* "ok", "lost", "unhealthy" */

/* True when the router may choose the device. */
int qn_device_is_candidate(const qn_ctx *ctx, int device);

/* The single device in --backend, -1 for "auto" and lists. */
int qn_ctx_pinned(const qn_ctx *ctx);

/* For work that is repeated on the CPU when a device fails: where stages are placed from now on (as
 * in qn_ctx_pinned), and the initial policy of graphs (qn_graph_set_fallback). */
typedef struct qn_placing {
    int pinned;
    qn_fallback_policy fallback;
} qn_placing;

/* Returns the old values. */
qn_placing qn_ctx_set_placing(qn_ctx *ctx, qn_placing placing);

/* Number of devices that the user wants to share work, given by a list (`text`, QUERN_DEVICES,
 * --backend) or by the route `balance`. 0: neither is given, or there is only one device, or one
 * and the CPU for the router to choose from. */
int qn_devices_shared(qn_ctx *ctx, const char *text);

/* A backend for `quern devices`: number of devices, or why there are none. */
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

/* max(16384, smallest power of two >= n); QUERN_BUCKET_MIN changes the minimum. Fails above
 * 2^62. */
enum { QN_BUCKET_MIN = 16384 };
qn_status qn_bucket(uint64_t n, uint64_t minimum, uint64_t *out, qn_err *err);

/* How large a tile may be on a device. The working set of a tile, all its arrays together, is at
 * most half of the memory budget, because pools round blocks up to powers of two, at most doubling
 * them. Each array of the tile must fit in one allocation of the device. */
typedef struct qn_tile_limits {
    uint64_t usable_bytes; /* the budget, or free host memory if the device works in it */
    uint64_t tile_bytes;   /* of the working set */
    uint64_t array_bytes;  /* of one array */
} qn_tile_limits;

qn_tile_limits qn_device_tiles(const qn_ctx *ctx, int device);

/* 1 if every candidate with its own memory can allocate `bytes` now, in blocks. A budget does not
 * guarantee that, because other programs may use the device too. */
int qn_devices_can_hold(qn_ctx *ctx, double bytes);

/* Frees the idle blocks of the pools of devices, of the host, or of both. */
enum { QN_TRIM_DEVICES = 1, QN_TRIM_HOST = 2 };
void qn_ctx_trim(qn_ctx *ctx, unsigned which);

/* From now on device blocks above 1 MiB are not rounded to powers of two. For work with few large,
 * long-lived arrays, where rounding would cost half as much again and nothing would be reused. */
void qn_ctx_pack_memory(qn_ctx *ctx);

/* Pools, for benchmarks. */
typedef struct qn_pool qn_pool;

qn_pool *qn_ctx_host_pool(const qn_ctx *ctx);
int qn_ctx_host_is_pinned(const qn_ctx *ctx);           /* a device allocates the host memory */
qn_pool *qn_device_pool(const qn_ctx *ctx, int device); /* NULL: the device works in host memory */
void qn_pool_set_disabled(qn_pool *pool, int disabled); /* never reuse */

/* Acquires a block as stages do, writes all of it if `is_touched` (host pools only), and releases
 * it. */
qn_status qn_pool_cycle(qn_pool *pool, size_t bytes, int is_host, int is_touched, qn_err *err);

/* Kernels. */

typedef struct qn_module qn_module;

/* The CPU function of a kernel, for callers that run it themselves; run-time text is compiled. It
 * stays loaded until qn_compile_drop(ctx, held). */
qn_status qn_compile_for_cpu(qn_ctx *ctx, const qn_kernel_info *kernel,
                             qn_module *held[QN_MAX_DEVICES], qn_cpu_kernel *out, qn_err *err);
void qn_compile_drop(qn_ctx *ctx, qn_module *modules[QN_MAX_DEVICES]);

/* Every kernel file built into the library; NULL ends the array. */
extern const qn_kernel_module *const qn_builtin_modules[];

/* Loads a module on a device, using the caches, and returns how long that took; NaN for built-in
 * modules that need no loading. */
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

/* "damaged", "cubin", "ptx", ...; NULL past the last one. */
const char *qn_kcache_kind(uint32_t kind);

/* All entries, least recently used first. The caller frees *out. A missing folder counts as empty;
 * one that cannot be read is QN_ERR_IO. */
qn_status qn_kcache_list(const char *dir, qn_kcache_entry **out, int *n, qn_err *err);

/* Removes all entries, and temporary files that are older than an hour. */
qn_status qn_kcache_clear(const char *dir, int *n_removed, qn_err *err);

/* Ops. */

const qn_op *qn_op_find(const char *name); /* NULL: there is none */

/* All ops: 0 .. qn_op_count() - 1. */
int qn_op_count(void);
const qn_op *qn_op_at(int i);

/* The kernel that a stage of the op runs: the built-in one, or the CPU-only one, which has no
 * module and therefore never leaves the CPU. NULL if this build lacks the kernel. */
const qn_kernel_info *qn_op_kernel(const qn_op *op);

/* Compares `bytes` bytes of elements of `type` as exactly as the op promises. */
qn_diff qn_op_compare(const qn_op *op, const char *type, const void *want, const void *got,
                      size_t bytes);

/* Times the smallest use of the op with at least `items` work items, from inputs on the host to
 * results on the host: `n` runs after two that are not counted. */
qn_status qn_op_time(qn_ctx *ctx, int device, const qn_op *op, qn_i64 items, int n, double *us,
                     qn_err *err);

/* Shared accumulation: many items are added into few cells, always in the same order. An index
 * sorts the items by cell once and fixes that order, so results have the same bits on every device
 * and for any number of threads. */
typedef struct qn_segments qn_segments;

/* Item i belongs to cell target[i], 0 <= target[i] < n_cells; items of a cell keep their order.
 * `target` is not needed afterwards. */
qn_status qn_segments_new(qn_ctx *ctx, const char *name, const int32_t *target, qn_i64 n_items,
                          qn_i64 n_cells, qn_segments **out, qn_err *err);

/* Free graphs that use it first. NULL is fine. */
void qn_segments_free(qn_segments *segments);

/* Adds stages "<name>.short", "<name>.part" and "<name>.join" (the last two only if a cell has more
 * than 32 items): cell[c] = sum of value[i] over the items of c. `value` has n_items floats, `cell`
 * n_cells. */
qn_status qn_segments_sum(qn_segments *segments, qn_graph *graph, const char *name, qn_buf *value,
                          qn_buf *cell, qn_err *err);

/* Knowledge of the router. */

/* Cost of copies between host and device; rates in 10^9 bytes per second. */
typedef struct qn_link {
    double h2d_us, h2d_gbps, d2h_us, d2h_gbps;
    double sync_us; /* time of a run on the device beyond its copies and stages */
} qn_link;

/* Speed of a device, for estimates without measurements. */
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

/* When the device's profile was last written ("2026-01-31T12:00:00Z"), "" if there is none. */
const char *qn_profile_updated(const qn_ctx *ctx, int device);

qn_speed qn_device_speed(const qn_ctx *ctx, int device);
qn_link qn_device_link(const qn_ctx *ctx, int device, int *is_measured);

/* Times of one op by size, on every device. */
typedef struct qn_route_op qn_route_op;

/* The op of that name, made on first use. NULL if out of memory. */
qn_route_op *qn_router_op(qn_ctx *ctx, const char *name);

/* The op if it exists, or NULL. The next call iterates over all ops, from *at = 0 until NULL. */
const qn_route_op *qn_route_op_find(const qn_ctx *ctx, const char *name);
const qn_route_op *qn_route_op_next(const qn_ctx *ctx, size_t *at);

const char *qn_route_op_name(const qn_route_op *op);

/* As in the profile: 0: none, -1: unknown. */
qn_i64 qn_route_op_crossover(const qn_route_op *op, int device, qn_residency residency);

/* Times measured at about one size. */
typedef struct qn_route_point {
    double size, median_us, mad_us;
    int n;
} qn_route_point;

int qn_route_op_points(const qn_route_op *op, int device);
qn_route_point qn_route_op_point(const qn_route_op *op, int device, int i);
qn_line qn_route_op_fit(const qn_route_op *op, int device);
int qn_route_op_is_warm(const qn_route_op *op, int device); /* the slow first run is over */

/* Decisions about work that is not a stage of a graph. */

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
    unsigned devices;               /* devices that can do it, one bit each */
    int bound;                      /* the device it must run on, -1: any of them */
    qn_why why;                     /* why it is bound */
    int present;                    /* current device; moving needs a gain of 10 %; -1: none */
    qn_line prior[QN_MAX_DEVICES];  /* estimates if too little was measured */
    double more_us[QN_MAX_DEVICES]; /* added to the time */
} qn_route_case;

typedef struct qn_route_choice {
    int device;  /* -1: none can do it */
    int settled; /* the cheapest device, even if another is chosen to be measured */
    qn_why why;
    double predicted_us[QN_MAX_DEVICES]; /* NaN: no candidate */
} qn_route_choice;

/* Chooses the cheapest device, or another one to measure it again. Counts the decision in the
 * metrics of `ctx`, which may be NULL. If `op` is NULL (out of memory), the bound device is
 * chosen. */
qn_route_choice qn_route_choose(qn_ctx *ctx, qn_route_op *op, const qn_route_case *question);

/* Reports that the work took `us` on the device. */
void qn_router_observe(qn_ctx *ctx, qn_route_op *op, int device, double size, double us);

/* Reports that the work failed on the device: a busy device costs more for a while, one that cannot
 * run the op is not chosen again. */
void qn_router_failed(qn_ctx *ctx, qn_route_op *op, int device, qn_status status);

/* An op outside a context, for simulated decisions. */
qn_route_op *qn_route_op_new(const char *name);
void qn_route_op_free(qn_route_op *op);
void qn_route_observe(qn_route_op *op, int device, double size, double us);
double qn_route_predict_us(const qn_route_op *op, int device, double size, qn_line prior);
void qn_route_spend(qn_route_op *op, double us); /* time lost by a probe */

/* Number of runs of a graph so far in which something was timed or tried. */
uint64_t qn_route_experiments(const qn_graph *graph);

/* A row of the CSV file of --explain-route. */
typedef struct qn_explain_row {
    uint64_t seq;
    const char *stage, *op, *candidate, *reason;
    qn_i64 size;
    double predicted_us, actual_us; /* NaN: not known */
    int chosen;
} qn_explain_row;

/* Writes the rows of one decision, one per candidate of `choice`; does nothing without
 * --explain-route. `actual_us` is the time on the chosen device; NaN: unknown. */
void qn_route_explain_choice(qn_ctx *ctx, const char *stage, const char *op, qn_i64 size,
                             const qn_route_choice *choice, double actual_us);

/* Reads such a file; cells are checked, strings live as long as `csv`. */
qn_status qn_explain_read(const char *path, qn_csv *csv, qn_explain_row **rows, size_t *n,
                          qn_err *err);

/* Reports of a run. */

/* Iterates over the series of a name; NULL starts and ends. */
const qn_metric *qn_metric_next(const qn_metrics *metrics, const char *name,
                                const qn_metric *before);
const char *qn_metric_label(const qn_metric *metric, const char *key); /* NULL: it has none */

/* Value of a counter or gauge series, count of a histogram. */
double qn_series_value(const qn_metric *series);

/* A check of results made during the run. */
typedef struct qn_run_check {
    const char *what, *against; /* "results", "a plain computation on the host" */
    double n_values;            /* values compared */
    double n_equal;             /* equal within the op's promise; NAN: not counted */
    double error, limit;        /* largest error and its limit; NAN: only counted */
    int is_ok;
} qn_run_check;

/* Description of a run by its command; the engine adds the rest. All zero is valid. */
typedef struct qn_run_info {
    const char *command;      /* "tasks run" */
    const char *command_line; /* as typed; NULL: unknown */
    const char *status;       /* "ok", or the name of a qn_status; NULL means "ok" */
    const qn_run_check *checks;
    size_t n_checks;
    double n_items;           /* items processed; 0: unknown */
    const char *item, *items; /* "task", "tasks" */
} qn_run_info;

/* Updates the gauges that describe pools and devices. */
void qn_report_refresh(qn_ctx *ctx);

/* Prints the summary on `to`, and with QUERN_STATS=1 the tables of pools and buckets. */
void qn_report_print(qn_ctx *ctx, FILE *to, const qn_run_info *info);

/* Prints only these tables. */
void qn_stats_print(FILE *to, const qn_metrics *metrics);

/* Writes the metrics file, .json or .prom. */
qn_status qn_report_write(qn_ctx *ctx, const qn_run_info *info, const char *path, qn_err *err);

/* Appends the text of the .json file. */
qn_status qn_report_json(qn_ctx *ctx, const qn_run_info *info, qn_str *out, qn_err *err);

/* Starts recording the history of every array of the context; call it before the first is made. */
qn_status qn_ledger_open(qn_ctx *ctx, qn_err *err);

/* Writes the map of all arrays as Markdown; `title` names the run. */
qn_status qn_ledger_write(const qn_ctx *ctx, const char *title, const char *path, qn_err *err);

/* Serves metrics over HTTP during a run: GET /metrics, GET /health, on 127.0.0.1:`port`; 0 means
 * any free port. `metrics` must outlive the server. Closing NULL is fine. */
typedef struct qn_serve qn_serve;
qn_status qn_serve_open(qn_metrics *metrics, int port, qn_serve **out, qn_err *err);
int qn_serve_port(const qn_serve *serve);
void qn_serve_close(qn_serve *serve);

#endif
