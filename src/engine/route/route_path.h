/* route_path.h - the cheapest devices for stages that share data.
 *
 * Pairs of a stage and a device form a graph whose edges are the transfers between them; the
 * cheapest path through it is the choice. Where a buffer is valid depends on the path, so each
 * device stores the residency along its best path so far. This code computes with numbers only,
 * without contexts and buffers.
 */
#ifndef QN_ENGINE_ROUTE_PATH_H
#define QN_ENGINE_ROUTE_PATH_H

#include "engine/device/context.h"

typedef struct qn_path_use {
    int buf; /* of the path */
    uint8_t reads, writes;
} qn_path_use;

typedef struct qn_path_stage {
    const qn_path_use *uses;
    int n_uses;
    int forced;                /* device, -1: any candidate */
    double us[QN_MAX_DEVICES]; /* of the stage itself */
} qn_path_stage;

typedef struct qn_path_buf {
    double bytes;
    unsigned valid;        /* at the start, one bit per device; bit 0 is the host */
    double upload_share;   /* part of an upload's cost that this run must pay */
    double download_share; /* probability that the host will want the content at the end */
} qn_path_buf;

typedef struct qn_path {
    qn_path_stage *stages;
    int n_stages;
    qn_path_buf *bufs;
    int n_bufs;
    unsigned candidates;
    unsigned unified;               /* devices that work in host memory */
    unsigned peers[QN_MAX_DEVICES]; /* devices from which d gets data directly */
    qn_link links[QN_MAX_DEVICES];
    double wait_us[QN_MAX_DEVICES]; /* paid once: wait for the device, and its overhead */
    unsigned *masks, *next;         /* scratch: QN_MAX_DEVICES * n_bufs each */
    int *back;                      /* scratch: n_stages * QN_MAX_DEVICES */
} qn_path;

/* Cost of a complete choice. */
double qn_path_cost(qn_path *path, const int *devices);

/* The cost of having stage `stage` on `device`, with transfers but without the stage itself, if all
 * others stay. */
double qn_path_stage_cost(qn_path *path, const int *devices, int stage, int device);

/* The cheapest choice, and its cost. */
double qn_path_find(qn_path *path, int *devices);

#endif
