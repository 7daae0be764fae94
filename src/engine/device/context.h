/* context.h - what the engine's files share: the context, its devices, their streams. */
#ifndef QN_ENGINE_CONTEXT_H
#define QN_ENGINE_CONTEXT_H

#include "engine/engine.h"
#include "engine/device/pool.h"
#include "hal/backend.h"
#include "util/map.h"

enum { QN_MAX_BACKENDS = 8 };

typedef struct qn_faults qn_faults;
typedef struct qn_fallbacks qn_fallbacks;
typedef struct qn_router qn_router;
typedef struct qn_kcache qn_kcache;
typedef struct qn_ledger qn_ledger;

/* A point in the work of one stream of a device: "everything up to submission seq". seq 0 is
 * always in the past. Cheaper than an event per buffer: events are made only for waits. */
typedef struct qn_point {
    qn_stream stream;
    uint64_t seq;
} qn_point;

/* Points on several streams of one device, one per stream: all of them together. */
typedef struct qn_points {
    uint64_t seq[QN_N_STREAMS];
} qn_points;

/* Where one stream of a device stands. */
typedef struct qn_timeline {
    uint64_t submitted; /* seq of the last submission */
    uint64_t done;      /* known to be finished */
    qn_event *mark;     /* youngest recorded event, NULL when none is pending */
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
    qn_map modules;      /* cache key -> what is loaded (compile.c) */
    qn_map builtin;      /* the same by name of a built-in file: no key to compute */
    size_t modules_kept; /* how many modules stay loaded, those without holders included */
    qn_map ffts;         /* shape -> qn_fft */
    qn_health health;
    qn_device_metrics m;
    int lost;
    int is_loss_counted;
    char failure[480]; /* why a split went on without it last, with the stage; "": none did */
    unsigned n_queued; /* stages submitted and not waited for, of all graphs */
} qn_device;

/* Series of the whole context that hot paths update. */
typedef struct qn_ctx_metrics_cache {
    qn_metric *elided, *transfers, *transfer_us, *crossings, *gpu_ops, *cpu_ops;
    qn_metric *captures, *replays, *fused, *submit_us;
    qn_metric *evict_clean, *evict_dirty, *spill, *spill_file, *splits;
    qn_metric *cache_hits, *cache_disk_hits, *cache_misses, *cache_bad, *compiles, *compile_ms;
} qn_ctx_metrics_cache;

struct qn_ctx {
    qn_log log;
    qn_device devices[QN_MAX_DEVICES];
    int n_devices;
    int pinned;                  /* slot that --backend names alone, -1 for auto and lists */
    unsigned candidates;         /* devices the router may choose, one bit per slot */
    int is_list;                 /* --backend names several */
    const qn_device *timekeeper; /* device whose clock is the context's, NULL: the monotonic one */
    qn_backend_state backends[QN_MAX_BACKENDS];
    int n_backends;

    qn_settings settings;
    uint64_t verify_seen; /* device stages that could have been checked */

    qn_metrics *metrics;
    qn_ctx_metrics_cache m;
    qn_faults *faults;
    qn_fallbacks *fallbacks;
    qn_router *router;
    qn_kcache *kcache;
    qn_sim_clock clock;
    qn_pool *host_pool; /* pinned where a device offers it */
    qn_device *pinner;  /* the device whose host_alloc the host pool uses, or NULL */
    qn_buf *bufs;       /* all buffers, for eviction */
    qn_ledger *ledger;  /* NULL: none is kept */
    uint64_t tick;      /* LRU time */
    qn_transfer_count transfers;
    qn_map stage_logs; /* stage_log.h */
    double opened_us;
    char started[24];
};

/* Stream.c. */

/* Notes one submission on `on`; the point it stands at. */
qn_point qn_stream_step(qn_device *device, qn_stream on);

/* Makes stream `on` wait for `point`; nothing happens when it already does. */
qn_status qn_stream_wait(qn_device *device, qn_stream on, qn_point point, qn_err *err);

/* The same with an event that stands for the submission of `point` exactly, not for what its
 * stream was given since. */
qn_status qn_stream_meet(qn_device *device, qn_stream on, qn_event *event, qn_point point,
                         qn_err *err);

/* The host waits. QN_ERR_DEVICE_LOST marks the device, whoever comes upon it first. */
qn_status qn_point_await(qn_device *device, qn_point point, qn_err *err);
int qn_point_is_done(qn_device *device, qn_point point);

/* The same for all of several points. */
void qn_points_add(qn_points *points, qn_point point);
qn_status qn_stream_wait_all(qn_device *device, qn_stream on, const qn_points *points, qn_err *err);
qn_status qn_points_await(qn_device *device, const qn_points *points, qn_err *err);
int qn_points_are_done(qn_device *device, const qn_points *points);

/* Waits for all streams and forgets their events. */
qn_status qn_device_sync(qn_device *device, qn_err *err);
void qn_streams_close(qn_device *device);

#endif
