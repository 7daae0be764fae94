/* quern.h - the root of the API: status codes, the context, its devices.
 *
 * A context owns everything: devices, caches, router and metrics. Open one, make buffers (buffer.h)
 * and graphs (graph.h) in it, run them, close it. Calls on one context come from one thread at a
 * time, except where a header says otherwise; several threads may each have a context of their own.
 * A call that returns a status fails with QN_ERR_USAGE if an object, a name or a place for a result
 * is NULL. Do not use or free an object again after closing or freeing it: as with free(), this is
 * not detected.
 *
 * A context with devices belongs to the process that opened it. After a fork, calls in the child
 * fail with a message, and closing and freeing do nothing there. The child can open a context of
 * its own if the parent had not opened one on a system's driver before the fork.
 */
#ifndef QUERN_QUERN_H
#define QUERN_QUERN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QN_VERSION_MAJOR 0
#define QN_VERSION_MINOR 1
#define QN_VERSION_PATCH 0
#define QN_VERSION       "0.1.0"

/* Marks the functions that the shared library exports. */
#if defined(__GNUC__)
#define QN_API __attribute__((visibility("default")))
#else
#define QN_API
#endif

typedef int64_t qn_i64;

typedef enum qn_status {
    QN_OK = 0,
    QN_ERR_FAILED,      /* the run itself failed */
    QN_ERR_USAGE,       /* the request makes no sense */
    QN_ERR_NOMEM,       /* host or device memory */
    QN_ERR_IO,          /* a file or folder could not be read or written */
    QN_ERR_INPUT,       /* the content of a file is wrong */
    QN_ERR_LIMIT,       /* beyond a limit of the device or of quern */
    QN_ERR_INIT,        /* no such backend or device, or it could not be opened */
    QN_ERR_COMPILE,     /* kernel text refused by a compiler */
    QN_ERR_LAUNCH,      /* the device refused a launch or a copy */
    QN_ERR_TIMEOUT,     /* the device did not finish in time */
    QN_ERR_DEVICE_LOST, /* the device is gone; its memory too */
    QN_ERR_BUSY,        /* the device cannot take work now */
    QN_ERR_MISMATCH,    /* a result differs from its reference */
    QN_ERR_CYCLE,       /* stages wait for each other */
    QN_ERR_UNSUPPORTED, /* the device or the build cannot do this */
    QN_ERR_INJECTED,    /* a fault asked for by QUERN_FAULT */
    QN_ERR_FALLBACK     /* a fallback was needed and --fallback=error forbids it */
} qn_status;

/* A status with its message: one line without a final period. */
typedef struct qn_err {
    qn_status status;
    char text[480];
} qn_err;

typedef struct qn_ctx qn_ctx;

typedef enum { QN_FALLBACK_DEFAULT, QN_FALLBACK_CPU, QN_FALLBACK_ERROR } qn_fallback_policy;

/* A member that is zero takes its value from the environment, else from the defaults in
 * docs/engine.md. */
typedef struct qn_options {
    size_t size;               /* sizeof(qn_options), as QN_OPTIONS sets it */
    const char *backend;       /* "auto", "cpu", "cuda:0", "cuda:0,cuda:1"; QUERN_BACKEND */
    const char *route;         /* "auto", "cpu", "gpu", "balance", "static"; QUERN_ROUTE */
    const char *mem_budget;    /* "512M", "8G", "80%"; QUERN_MEM_BUDGET */
    const char *log;           /* "none", "error", "warn", "info", "debug"; QUERN_LOG */
    const char *cache_dir;     /* kernels and profiles; QUERN_CACHE_DIR */
    const char *fault;         /* rules as in QUERN_FAULT, added to those of the environment */
    const char *explain_route; /* CSV file for every routing decision */
    qn_fallback_policy fallback;
    int threads;       /* of the CPU backend; QUERN_THREADS */
    int op_priority;   /* ops up to this priority may leave the CPU; 0 means 3 */
    double verify_pct; /* percentage of device stages recomputed on the CPU */
} qn_options;

/* Options with their size: qn_ctx_open(&QN_OPTIONS(.backend = "cpu"), ...) in C. Elsewhere set
 * `size` and zero the rest. An older, smaller struct works; size 0 is refused. */
#define QN_OPTIONS(...) ((qn_options){ .size = sizeof(qn_options), __VA_ARGS__ })

/* `options` may be NULL. */
QN_API qn_status qn_ctx_open(const qn_options *options, qn_ctx **out, qn_err *err);

/* Waits for the devices, then frees everything the context owns. Free its buffers and graphs first.
 * NULL is fine. */
QN_API void qn_ctx_close(qn_ctx *ctx);

QN_API const char *qn_status_name(qn_status status); /* "nomem", "device_lost", ... */
QN_API const char *qn_version(void);

/* Devices. */

typedef enum { QN_KIND_CPU, QN_KIND_INTEGRATED, QN_KIND_DISCRETE, QN_KIND_SIM } qn_device_kind;

typedef struct qn_device_info {
    char name[128], vendor[64], driver[64], arch[32]; /* arch: "avx512", "sm_90", "OpenCL 3.0" */
    qn_device_kind kind;
    uint64_t mem_total, mem_free, max_alloc; /* bytes */
    uint32_t max_group, max_grid[3];         /* items per group; groups per axis */
    uint32_t local_mem, units, align;
    uint8_t has_f64, has_async_copy, has_graph_replay;
    uint8_t unified_memory; /* the device uses host memory; nothing is ever copied */
    uint8_t has_exact_f32;  /* f32 division and square root are correctly rounded */
} qn_device_info;

/* Devices of the context: 0 is always the CPU; the others follow in the order of `quern
 * devices`. */
QN_API int qn_device_count(const qn_ctx *ctx);
QN_API const char *qn_device_id(const qn_ctx *ctx, int device); /* "cuda:0"; NULL: no such device */
QN_API const qn_device_info *qn_device_get(const qn_ctx *ctx, int device);

/* Waits until everything submitted to every device has finished. */
QN_API qn_status qn_ctx_sync(qn_ctx *ctx, qn_err *err);

#ifdef __cplusplus
}
#endif
#endif
