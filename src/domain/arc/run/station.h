/* station.h - the first tier on any device of the context.
 *
 * vm.h drives all tiers on one device. A station is one more place for the first of them: one of
 * several devices that share a batch, or the CPU beside a device. It has a copy of the pool, and
 * seats, each with buffers and a graph of its own, so that copies of one launch overlap the kernel
 * of another.
 */
#ifndef QN_ARC_STATION_H
#define QN_ARC_STATION_H

#include "domain/arc/run/vm.h"

enum { QN_ARC_SEATS = 8 };

typedef struct qn_arc_station qn_arc_station;

qn_status qn_arc_station_new(qn_ctx *ctx, const qn_arc_limits *limits, int device,
                             qn_arc_station **out, qn_err *err);
void qn_arc_station_free(qn_arc_station *station); /* NULL is fine */

int qn_arc_station_device(const qn_arc_station *station);
uint32_t qn_arc_station_arena(const qn_arc_station *station); /* bytes per team */

/* Brings the pool up to date. All seats are free. */
qn_status qn_arc_station_load(qn_arc_station *station, const qn_arc_pooled *pooled, qn_err *err);

/* Prepares work in a free seat; its pool is what was loaded. The graph is the seat's and is to be
 * run once. Numbers of instances begin at `first`. */
qn_status qn_arc_station_take(qn_arc_station *station, const qn_arc_work *work, uint32_t first,
                              int *seat, qn_graph **graph, qn_err *err);

/* Takes the results of a graph that has run. The answer is the seat's, which is free again, and
 * stays until the seat is taken. */
qn_status qn_arc_station_give(qn_arc_station *station, int seat, const qn_arc_work *work,
                              qn_arc_answer *answer, qn_err *err);

/* Frees all seats: nothing runs in them any more. */
void qn_arc_station_rise(qn_arc_station *station);

#endif
