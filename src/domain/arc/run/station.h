/* station.h - launches of the virtual machine on one device of the context.
 *
 * A station has a copy of the pool, and seats, each with buffers and graphs of its own, so that
 * copies of one launch overlap the kernel of another. A session has one station, for all tiers; the
 * last of these runs on the CPU wherever the station is. Further ones run the first tier: of
 * several devices that share a batch, and of the CPU beside a device.
 */
#ifndef QN_ARC_STATION_H
#define QN_ARC_STATION_H

#include "domain/arc/run/vm.h"

enum { QN_ARC_SEATS = 8 };

typedef struct qn_arc_station qn_arc_station;

qn_status qn_arc_station_new(qn_ctx *ctx, const qn_arc_limits *limits, int device,
                             qn_arc_station **out, qn_err *err);
void qn_arc_station_free(qn_arc_station *station); /* NULL is fine */

uint32_t qn_arc_station_arena(const qn_arc_station *station, qn_arc_tier tier); /* per team */

/* Slots of a tier: programs with more are for a later one. */
uint32_t qn_arc_station_slots(const qn_arc_station *station, qn_arc_tier tier);

uint32_t qn_arc_station_teams(const qn_arc_station *station, qn_arc_tier tier);

uint32_t qn_arc_station_steps(const qn_arc_station *station); /* that a run may have */
uint32_t qn_arc_station_turns(const qn_arc_station *station); /* likewise; 0: any */

/* Limits with which the CPU does what the station does: the same room for a run, and the built-in
 * kernel, which needs no compiler. */
qn_arc_limits qn_arc_station_on_cpu(const qn_arc_station *station);

/* Brings the pool up to date. All seats are free. */
qn_status qn_arc_station_load(qn_arc_station *station, const qn_arc_pooled *pooled, qn_err *err);

/* Prepares work in a free seat; its pool is what was loaded. The graph is the seat's and is to be
 * run once. Numbers of instances begin at `first`. */
qn_status qn_arc_station_take(qn_arc_station *station, qn_arc_tier tier, const qn_arc_work *work,
                              uint32_t first, int *seat, qn_graph **graph, qn_err *err);

/* Takes the results of a graph that has run. The answer is the seat's, which is free again, and
 * stays until the seat is taken. */
qn_status qn_arc_station_give(qn_arc_station *station, int seat, const qn_arc_work *work,
                              qn_arc_answer *answer, qn_err *err);

/* Frees all seats: nothing runs in them any more. */
void qn_arc_station_rise(qn_arc_station *station);

/* Loads, takes, runs, waits and gives. A device that fails makes the CPU run the launch where the
 * engine can, with the line that says so; *device says who did. */
qn_status qn_arc_station_run(qn_arc_station *station, qn_arc_tier tier, const qn_arc_work *work,
                             qn_arc_answer *answer, int *device, qn_err *err);

#endif
