/* route.h - which device runs a stage, and why.
 *
 * The router predicts the cost of each choice: waiting, missing transfers, the stage itself, the
 * download of results. Times come from measurements by size (the device's profile, and samples
 * taken while running); without measurements they are estimated from the op's cost, and the device
 * is tried now and then. Stages that share data are placed together. All calls here are optional:
 * graphs are routed without them.
 */
#ifndef QUERN_ROUTE_H
#define QUERN_ROUTE_H

#include <quern/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qn_route_mode {
    QN_ROUTE_AUTO,    /* the cheapest by prediction */
    QN_ROUTE_CPU,     /* everything on the CPU */
    QN_ROUTE_GPU,     /* everything on the best device */
    QN_ROUTE_BALANCE, /* independent stages are divided among devices by rate */
    QN_ROUTE_STATIC   /* from the profile's threshold on the best device, below it the CPU */
} qn_route_mode;

QN_API qn_route_mode qn_route_get_mode(const qn_ctx *ctx);
QN_API void qn_route_set_mode(qn_ctx *ctx,
                              qn_route_mode mode); /* from the next run of a graph on */

/* Explanations. */

typedef struct qn_route_option {
    int device;
    double predicted_us; /* with transfers, if the other stages stay where they are */
    int n_samples;       /* behind the prediction; 0: estimated from the op's cost */
    int is_chosen;
} qn_route_option;

/* Lists up to `max` options of a stage of a compiled graph as predicted now; returns how many there
 * are. A stage bound to a device has one option. */
QN_API int qn_route_options(qn_graph *graph, int stage, qn_route_option *out, int max);

/* Why the stage runs on its device: "best", "kept" (no device is better by 10 %), "probe",
 * "pinned", "cpu-only", "mode", "threshold", "balance". */
QN_API const char *qn_route_reason(const qn_graph *graph, int stage);

typedef enum { QN_RESIDENT, QN_COLD } qn_residency;

/* The smallest size at which `device` is predicted to take at most 0.90 of the CPU's time; 0 if
 * there is none, -1 if nothing is known. QN_COLD includes the copies of inputs and results. */
QN_API qn_i64 qn_route_threshold(qn_ctx *ctx, const char *op, int device, qn_residency residency);

/* Devices. */

/* The k best devices other than the CPU, best first: by measured rate times the fraction of time
 * they are free; without measurements discrete before integrated before CPU devices, then by
 * memory, then by units. Returns how many were found, at most k. */
QN_API int qn_devices_select(qn_ctx *ctx, int k, int *out);

/* Measuring. */

typedef struct qn_calibration {
    size_t size;       /* sizeof(qn_calibration), as QN_CALIBRATION sets it */
    const char *ops;   /* separated by commas; NULL: every op that can be measured */
    int is_quick;      /* only vadd, matmul and copies, within two seconds */
    double op_seconds; /* time limit per op and device; 0: 2 s */
    /* Called before each op of each device; may be NULL. */
    void (*progress)(void *user, const char *device, const char *op, int done, int total);
    void *user;
} qn_calibration;

#define QN_CALIBRATION(...) ((qn_calibration){ .size = sizeof(qn_calibration), __VA_ARGS__ })

/* Measures the devices of the context and writes their profiles. */
QN_API qn_status qn_calibrate(qn_ctx *ctx, const qn_calibration *options, qn_err *err);

#ifdef __cplusplus
}
#endif
#endif
