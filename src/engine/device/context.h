/* context.h - declarations shared by the engine's files: the context, its devices, their
 * streams. */
#ifndef QN_ENGINE_CONTEXT_H
#define QN_ENGINE_CONTEXT_H

#include "engine/engine.h"
#include "engine/device/pool.h"
#include "hal/backend.h"
#include "util/map.h"
#include "util/str.h"

#include <sys/types.h>

enum { QN_MAX_BACKENDS = 8 };

typedef struct qn_faults qn_faults;
typedef struct qn_fallbacks qn_fallbacks;
typedef struct qn_router qn_router;
typedef struct qn_kcache qn_kcache;
typedef struct qn_pack qn_pack;
typedef struct qn_ahead qn_ahead;
typedef struct qn_ledger qn_ledger;

/* A point in the work of one stream of a device: "everything up to submission seq"; seq 0 is always
 * in the past. This is cheaper than an event per buffer, since events are made only for waits. */
typedef struct qn_point {
    qn_stream stream;
    uint64_t seq;
} qn_point;

/* One point on each of several streams of a device. */
typedef struct qn_points {
    uint64_t seq[QN_N_STREAMS];
} qn_points;

/* Progress of one stream of a device. */
typedef struct qn_timeline {
    uint64_t submitted; /* seq of the last submission */
    uint64_t done;      /* known to be finished */
    qn_event *mark;     /* latest recorded event, NULL if none is pending */
    uint64_t mark_seq;
    uint64_t seen[QN_N_STREAMS]; /* this stream already waits for seen[s] of stream s */
} qn_timeline;

/* Rolling record of success and failure (fallback.c). */
typedef struct qn_health {
    uint64_t window; /* one bit per stage, newest lowest; 1 = failed */
    int n_window, in_a_row;
    int bad; /* refused until `until_us`, then one probe decides */
    double until_us, pause_us;
    int mismatches_in_a_row;
} qn_health;

/* Series that hot paths update, looked up once per device. */
typedef struct qn_device_metrics {
    qn_metric *h2d_count, *h2d_bytes, *d2h_count, *d2h_bytes, *d2d_count, *d2d_bytes;
    qn_metric *executions, *failures, *exec_seconds, *queue_depth, *queue_peak, *busy;
    qn_metric *mem_used, *mem_peak;
} qn_device_metrics;

typedef struct qn_device {
    qn_ctx *ctx;
    const qn_backend *backend;
    int slot;  /* place in the context */
    int index; /* place in its backend */
    char id[24];
    qn_dev *dev;
    qn_device_info info;
    size_t budget_bytes;
    qn_pool *pool; /* NULL on devices that work in host memory */
    qn_timeline streams[QN_N_STREAMS];
    qn_map modules;      /* cache key -> qn_loaded (module.h) */
    qn_map builtin;      /* the same by name of a built-in file: no key to compute */
    size_t modules_kept; /* how many modules stay loaded, those without holders included */
    qn_map ffts;         /* shape -> qn_fft */
    qn_map ffts_ahead;   /* shape -> a plan that nobody has asked for yet (fft.c) */
    qn_health health;
    qn_device_metrics m;
    int lost;
    int is_loss_counted;
    char failure[480]; /* why a split last continued without it, with the stage; "": none did */
    unsigned n_queued; /* stages of all graphs submitted and not yet waited for */
} qn_device;

/* Series of the whole context that hot paths update. */
typedef struct qn_ctx_metrics_cache {
    qn_metric *elided, *transfers, *transfer_us, *crossings, *gpu_ops, *cpu_ops;
    qn_metric *captures, *replays, *fused, *submit_us;
    qn_metric *evict_clean, *evict_dirty, *spill, *spill_file, *splits;
    qn_metric *cache_hits, *cache_disk_hits, *cache_misses, *cache_bad, *compiles, *compile_ms;
    qn_metric *pack_hits, *compile_wait_ms;
} qn_ctx_metrics_cache;

/* Runs, transfers and time of one stage on one device, over all graphs of the context. */
typedef struct qn_stage_log {
    char name[64];
    const char *device;
    uint64_t runs, h2d_bytes, d2h_bytes;
    double exec_us;
} qn_stage_log;

struct qn_ctx {
    pid_t pid;   /* the process that opened it */
    int n_forks; /* number of forks before that */
    qn_log log;
    qn_device devices[QN_MAX_DEVICES];
    int n_devices;
    int pinned;                        /* slot of the only device in --backend, else -1 */
    qn_fallback_policy graph_fallback; /* initial policy of graphs */
    unsigned candidates;               /* devices the router may choose, one bit per slot */
    int is_list;                       /* --backend names several */
    const qn_device *timekeeper; /* device whose clock the context uses, NULL: monotonic clock */
    qn_backend_state backends[QN_MAX_BACKENDS];
    int n_backends;

    qn_settings settings;
    uint64_t verify_seen; /* device stages that were eligible for a check */

    qn_metrics *metrics;
    qn_ctx_metrics_cache m;
    qn_faults *faults;
    qn_fallbacks *fallbacks;
    qn_router *router;
    qn_kcache *kcache;
    qn_pack *pack;   /* NULL: there is none */
    qn_ahead *ahead; /* threads that make modules and plans before they are needed */
    qn_sim_clock clock;
    qn_pool *host_pool; /* pinned where a device offers it */
    qn_device *pinner;  /* the device whose host_alloc the host pool uses, or NULL */
    qn_buf *bufs;       /* all buffers, for eviction */
    qn_ledger *ledger;  /* NULL: no ledger */
    uint64_t tick;      /* LRU time */
    qn_transfer_count transfers;
    qn_map stage_logs; /* name and device -> qn_stage_log */
    double opened_us;
    char started[24];
};

/* process.c. */

/* Records the process that opens the context. */
void qn_process_enter(qn_ctx *ctx);

/* Only one thread of the process at a time finds, opens or closes devices. */
void qn_drivers_lock(void);
void qn_drivers_unlock(void);

/* Counts the devices of qn_backends[b]. Fails in a forked child if the parent has used the
 * driver. */
qn_status qn_drivers_count(int b, const qn_hal_config *config, qn_backend_state *state,
                           qn_err *err);

/* Whether this is a forked child of the process that opened the context on devices. */
int qn_ctx_is_inherited(const qn_ctx *ctx);

/* Checks at the start of a public call that no pointer in `...` is NULL, and that `of`, if not
 * NULL, has a context of this process. */
#define QN_CHECK_CALL(ctx, err, ...)                                                               \
    qn_check_call(__func__, ctx, #__VA_ARGS__, (const void *const[]){ __VA_ARGS__ },               \
                  sizeof((const void *const[]){ __VA_ARGS__ }) / sizeof(void *), err)
qn_status qn_check_call(const char *call, const qn_ctx *ctx, const char *names,
                        const void *const *given, size_t n, qn_err *err);

/* device.c. */
qn_status qn_device_check(const qn_ctx *ctx, int device, qn_err *err); /* is there one? */

/* stream.c. */

/* Counts one submission on `on` and returns its point. */
qn_point qn_stream_step(qn_device *device, qn_stream on);

/* Makes stream `on` wait for `point`, unless it already does. */
qn_status qn_stream_wait(qn_device *device, qn_stream on, qn_point point, qn_err *err);

/* Like qn_stream_wait, but with an event recorded exactly at `point`, so later work on that stream
 * does not count. */
qn_status qn_stream_meet(qn_device *device, qn_stream on, qn_event *event, qn_point point,
                         qn_err *err);

/* Makes the host wait. On QN_ERR_DEVICE_LOST the device is marked as lost. */
qn_status qn_point_await(qn_device *device, qn_point point, qn_err *err);
int qn_point_is_done(qn_device *device, qn_point point);

/* The same operations for a set of points. */
void qn_points_add(qn_points *points, qn_point point);
qn_status qn_stream_wait_all(qn_device *device, qn_stream on, const qn_points *points, qn_err *err);
qn_status qn_points_await(qn_device *device, const qn_points *points, qn_err *err);
int qn_points_are_done(qn_device *device, const qn_points *points);

/* Waits for all streams and forgets their events. */
qn_status qn_device_sync(qn_device *device, qn_err *err);
void qn_streams_close(qn_device *device);

/* settings.c: flags override the environment, which overrides defaults; resolved once per
 * context. */

/* Fills the plain settings of the context (log, route, fallback, threads, budgets, folders). */
qn_status qn_settings_resolve(qn_ctx *ctx, const qn_options *options, qn_err *err);

/* Appends all fault rules, from the option and the environment, to `out`. */
void qn_settings_faults(const qn_options *options, qn_str *out);

/* Converts "80%" of `free_bytes`, or "512M", to bytes. */
qn_status qn_settings_budget(const char *text, uint64_t free_bytes, size_t *out, qn_err *err);

/* fault.c: injected faults, from QUERN_FAULT and qn_options.fault.
 *
 * A list, separated by commas, of rules `where[:stage][>bytes][@n][*count]`; where = compile alloc
 * launch copy_h2d copy_d2h timeout device_lost corrupt. Parts `sim.key=value` are limits of the sim
 * device. Without rules a check only tests a pointer. */

/* Parses `rules` (NULL or "" gives *out = NULL). sim.* parts are appended to `sim`; they are
 * checked even if no sim device is opened. */
qn_status qn_faults_new(const char *rules, qn_faults **out, qn_str *sim, qn_err *err);
void qn_faults_free(qn_faults *faults);

/* Counts one event and returns whether a rule makes it fail. `stage` may be NULL, `bytes` 0. */
int qn_fault_hits(qn_faults *faults, const char *where, const char *stage, size_t bytes);

/* fallback.c: logs and counts fallbacks, and tracks the health of devices. */

qn_fallbacks *qn_fallbacks_new(void);
void qn_fallbacks_free(qn_fallbacks *list);

const char *qn_fallback_reason(qn_status status);

/* Health. */
void qn_health_note(qn_device *device, int failed);
/* Two mismatches in a row trip the breaker at once. */
void qn_health_mismatch(qn_device *device, int mismatched);
/* 0 while the device is refused. After the pause one caller gets 1, and its stage is the probe. */
int qn_health_ok(qn_device *device);

/* compile.c: turns kernel text into device modules, with caches in memory and on disk. */

enum { QN_MODULES_KEPT = 512 };

/* The module on the device, compiled if neither cache has it. The device owns it, and it stays
 * loaded until every caller has dropped it. Modules without holders stay loaded too, up to
 * device->modules_kept in all; beyond that, the least recently requested ones are unloaded. */
qn_status qn_compile(qn_device *device, const qn_kernel_module *module, qn_module **out,
                     qn_err *err);

/* Begins to make it, where threads may do that for the backend; qn_compile waits for the end. The
 * module must live until then, or until it is forgotten. */
void qn_compile_ahead(qn_device *device, const qn_kernel_module *module);

/* The kernel's place in its module. */
int qn_stage_kernel_i(const qn_kernel_info *kernel);

/* LANES of a TEAM kernel on the device. */
int qn_team_lanes(const qn_device *device, const qn_kernel_info *kernel);

/* Unloads all modules of the device. */
void qn_compile_close(qn_device *device);

/* fft.c: FFT plans, made once per device and shape. */

/* The device's plan for the shape, made on first use. The device owns it, except for a plan with
 * its own working memory, which has only one user: then *is_own is set, and the caller frees it
 * with qn_fft_free. */
qn_status qn_fft_get(qn_device *device, const qn_fft_shape *shape, qn_fft **out, int *is_own,
                     qn_err *err);
void qn_fft_free(qn_device *device, qn_fft *plan);

/* Begins to make it, where threads may do that for the backend; qn_fft_get waits for the end. */
void qn_fft_ahead(qn_device *device, const qn_fft_shape *shape);

/* Frees everything the device holds. */
void qn_fft_close(qn_device *device);

#endif
