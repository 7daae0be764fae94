/* backend.h - the interface between engine and hardware: one table of functions per backend.
 *
 * Backends hold mechanism. Policy (pools, routing, retries, fallback, injected faults) lives in the
 * engine and is written once. Calls that queue work return before it is done; streams and events
 * tell when it is. A later call reports an error found after queueing.
 *
 * A backend returns QN_ERR_NOMEM, _LIMIT, _COMPILE, _LAUNCH, _TIMEOUT, _DEVICE_LOST, _BUSY,
 * _UNSUPPORTED, _INIT. After _DEVICE_LOST every call but close and release may fail.
 */
#ifndef QN_HAL_BACKEND_H
#define QN_HAL_BACKEND_H

#include <quern/fft.h>
#include <quern/graph.h>

#include "util/status.h"

/* Opaque to the engine; each backend defines its own. */
typedef struct qn_dev qn_dev;
typedef struct qn_mem qn_mem;
typedef struct qn_module qn_module;
typedef struct qn_event qn_event;
typedef struct qn_replay qn_replay;
typedef struct qn_fft qn_fft;

/* Streams of a device. Work on one stream runs in order; events order work on different streams. */
typedef int qn_stream;
enum {
    QN_COMPUTE = 0, /* 0 .. QN_N_COMPUTE - 1 */
    QN_N_COMPUTE = 8,
    QN_UPLOAD = QN_N_COMPUTE,
    QN_DOWNLOAD,
    QN_N_STREAMS
};

/* Uses of a block of memory. A block can be reused for any subset of its uses. */
enum {
    QN_USE_READ = 1,
    QN_USE_WRITE = 2,
    QN_USE_COPY_SRC = 4,
    QN_USE_COPY_DST = 8,
    QN_USE_MAP_READ = 16,
    QN_USE_MAP_WRITE = 32,
    QN_USE_ATOMIC = 64
};

/* Simulated time: one host clock, shared by all sim devices of a context. */
typedef struct qn_sim_clock {
    double host_us;
} qn_sim_clock;

/* Settings of a context for the backends it opens. */
typedef struct qn_hal_config {
    int threads;         /* of the CPU backend; 0 = all */
    const char *sim;     /* "devices=4,max_grid=4": the sim.* limits, without the prefix */
    qn_sim_clock *clock; /* for sim */
    const char *cc;      /* C compiler for run-time kernels on the CPU; NULL = QUERN_CC, cc */
} qn_hal_config;

typedef enum { QN_LANG_C, QN_LANG_OPENCL, QN_LANG_CUDA } qn_language;
typedef enum {
    QN_BIN_NONE,
    QN_BIN_CUBIN,
    QN_BIN_PTX,
    QN_BIN_OPENCL,
    QN_BIN_OBJECT,
    QN_BIN_FFT, /* data that an FFT library wants back: its kernels, or FFTW's wisdom */
    QN_N_BINS
} qn_bin_kind;

typedef struct qn_blob {
    void *data; /* from malloc; the receiver frees it */
    size_t bytes;
    qn_bin_kind kind;
} qn_blob;

/* One kernel module to be compiled or loaded. */
typedef struct qn_source {
    const qn_kernel_module *module;
    const char *text; /* complete text in the backend's language; NULL: built in (CPU, sim) */
    int team_lanes;   /* LANES of TEAM kernels, already defined in `text` */
    int contracts;    /* the compiler may fuse a * b + c */
    qn_blob binary;   /* from the disk cache; data NULL: compile `text` */
    char *log;        /* gets the compiler's log, NUL-terminated */
    size_t log_size;
} qn_source;

/* One argument: a value, device memory, or (unified memory) a host address. */
typedef struct qn_launch_arg {
    const void *value;
    qn_mem *mem;
    size_t at; /* bytes into mem */
    void *host;
    /* Size of the value, needed where the head does not say it (structs in run-time text). For a
     * buffer: the bytes that the stage may use from `at` on, 0 if unknown. */
    size_t bytes;
} qn_launch_arg;

/* One launch that fits the device's limits (geometry.h cuts larger ranges into these). */
typedef struct qn_launch {
    qn_module *module;
    const qn_kernel_info *kernel;
    int kernel_i;      /* index in module->kernels */
    qn_span span;      /* points covered; the kernel gets it as hidden arguments */
    uint32_t group[3]; /* items of a group; TEAM: {lanes, teams per group, 1} */
    uint32_t grid[3];  /* enough groups for the span */
    const qn_launch_arg *args;
    qn_stream stream;
} qn_launch;

/* One FFT plan being made: what was stored before, and what is new. */
typedef struct qn_fft_build {
    qn_blob stored; /* `made` of an earlier run; data NULL: there is none */
    int is_kept;    /* `made` will be stored, so measuring pays off */
    qn_blob made;   /* data NULL: `stored` was complete */
    int n_compiled; /* kernels compiled or algorithms measured */
    /* Device memory that runs of the plan write. If not 0, runs must not overlap. */
    size_t scratch_bytes;
} qn_fft_build;

typedef struct qn_backend {
    const char *name; /* "cuda"; also the --backend value */
    qn_language language;
    int has_driver;        /* uses a system driver, which does not survive a fork */
    int teams_share_group; /* TEAM: several teams may share one group (warps of a block) */
    int builds_beside;     /* several threads may call build and fft_make, and others beside them */

    /* Required. When count() returns 0, `reason` says why. */
    int (*count)(const qn_hal_config *config, char *reason, size_t reason_size);
    qn_status (*open)(const qn_hal_config *config, int index, qn_dev **out, qn_err *err);
    void (*close)(qn_dev *dev);
    void (*info)(const qn_dev *dev, qn_device_info *out);

    qn_status (*alloc)(qn_dev *dev, size_t bytes, unsigned usage, qn_mem **out, qn_err *err);
    void (*release)(qn_dev *dev, qn_mem *mem);
    /* Queued on `on`. Host memory must not change until the copy is done; copies to or from memory
     * not allocated by host_alloc may block. */
    qn_status (*upload)(qn_dev *dev, qn_mem *dst, size_t at, const void *src, size_t bytes,
                        qn_stream on, qn_err *err);
    qn_status (*download)(qn_dev *dev, qn_mem *src, size_t at, void *dst, size_t bytes,
                          qn_stream on, qn_err *err);

    qn_status (*build)(qn_dev *dev, qn_source *src, qn_module **out, qn_err *err);
    void (*unload)(qn_dev *dev, qn_module *module);
    qn_status (*launch)(qn_dev *dev, const qn_launch *call, qn_err *err);

    /* An event marks a point of a stream; `drop` releases it, even if the point is not reached
     * yet. */
    qn_status (*record)(qn_dev *dev, qn_stream on, qn_event **out, qn_err *err);
    qn_status (*wait)(qn_dev *dev, qn_stream on, qn_event *event, qn_err *err); /* stream waits */
    qn_status (*await)(qn_dev *dev, qn_event *event, qn_err *err);              /* host waits */
    int (*is_done)(qn_dev *dev, qn_event *event); /* 1 done, 0 not yet, -1 failed */
    void (*drop)(qn_dev *dev, qn_event *event);
    qn_status (*sync)(qn_dev *dev, qn_err *err);

    /* Optional: NULL means "not supported"; the engine then uses a slower way. */
    qn_status (*host_alloc)(qn_dev *dev, size_t bytes, void **out, qn_err *err); /* pinned */
    void (*host_free)(qn_dev *dev, void *ptr);
    qn_status (*download_rect)(qn_dev *dev, qn_mem *src, size_t at, size_t pitch, void *dst,
                               size_t row_bytes, size_t rows, qn_stream on, qn_err *err);
    qn_status (*copy_peer)(qn_dev *from, qn_mem *src, qn_dev *to, qn_mem *dst, size_t bytes,
                           qn_stream on, qn_err *err);
    /* The address of the memory, for other libraries; NULL: it has none. */
    void *(*address)(qn_dev *dev, qn_mem *mem);
    /* Device microseconds between two finished events; negative if unknown. */
    double (*elapsed_us)(qn_dev *dev, qn_event *from, qn_event *to);
    double (*now_us)(qn_dev *dev); /* the backend's own clock (sim); default: the monotonic clock */

    /* Between begin and end, work on `on` (and on streams that wait for it) is recorded
     * instead of run. Launches are numbered in order; `update` replaces the value arguments
     * of launch number `launch_i` of a recording. */
    qn_status (*capture_begin)(qn_dev *dev, qn_stream on, qn_err *err);
    qn_status (*capture_end)(qn_dev *dev, qn_stream on, qn_replay **out, qn_err *err);
    qn_status (*replay)(qn_dev *dev, qn_replay *recording, qn_stream on, qn_err *err);
    qn_status (*update)(qn_dev *dev, qn_replay *recording, int launch_i, const qn_launch *call,
                        qn_err *err);
    void (*replay_free)(qn_dev *dev, qn_replay *recording);

    qn_status (*binary)(qn_dev *dev, qn_module *module, qn_blob *out, qn_err *err);
    /* For kernel `kernel_i` of a module: registers per item, and bytes of spilled registers.
     */
    void (*resources)(qn_dev *dev, const qn_module *module, int kernel_i, int *registers,
                      int *local_bytes);
    /* Compiler and driver, as part of the cache key. */
    void (*compiler)(qn_dev *dev, char *out, size_t size);

    /* Binaries for architectures whose devices need not be here, all or none: those that the
     * compiler knows, src->text for one of them (90 for sm_90), and all options of that. */
    qn_status (*image_archs)(int **out, int *n, qn_err *err);
    qn_status (*image_for)(int arch, qn_source *src, qn_blob *out, qn_err *err);
    void (*image_options)(int arch, int contracts, char *out, size_t size);

    /* Transforms (fft.h), all three or none. `run` queues on any compute stream, allocates nothing
     * and can be captured; if it fails, part of the work may have been queued. */
    qn_status (*fft_make)(qn_dev *dev, const qn_fft_shape *shape, qn_fft_build *build, qn_fft **out,
                          qn_err *err);
    qn_status (*fft_run)(qn_dev *dev, qn_fft *plan, qn_fft_direction direction,
                         const qn_launch_arg *data, qn_stream on, qn_err *err);
    void (*fft_free)(qn_dev *dev, qn_fft *plan);
} qn_backend;

extern const qn_backend qn_backend_cpu, qn_backend_opencl, qn_backend_cuda, qn_backend_sim;

/* All backends, in the order of device lists; NULL ends the array. */
extern const qn_backend *const qn_backends[];

const qn_backend *qn_backend_find(const char *name);

#endif
