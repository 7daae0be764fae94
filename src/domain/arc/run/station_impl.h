/* station_impl.h - the inside of a station. Private to domain/arc/run.
 *
 * station.c makes it: kernel, limits of tiers, pool. seats.c launches.
 */
#ifndef QN_ARC_STATION_IMPL_H
#define QN_ARC_STATION_IMPL_H

#include "domain/arc/run/load.h"
#include "domain/arc/run/station.h"
#include "engine/engine.h"
#include "util/status.h"

enum { QN_ARC_USUAL_LANES = 32, QN_ARC_KERNEL_ARGS = 7 };

/* What teams of a tier have. */
typedef struct qn_arc_room {
    uint32_t arena, frames, slots;
    int n_teams;
} qn_arc_room;

typedef struct qn_arc_seat {
    int is_taken;
    qn_graph *graphs[QN_ARC_N_TIERS];
    qn_buf *arenas[QN_ARC_N_TIERS];
    qn_buf *todo, *results, *out, *trace; /* of all tiers */
    arc_result *host_results;
    unsigned char *host_out;
    uint64_t *host_trace;
    size_t results_room, out_room, trace_room;
} qn_arc_seat;

struct qn_arc_station {
    qn_ctx *ctx;
    qn_arc_limits limits;
    int device, lanes;
    qn_kernel_module *variant; /* other lanes than the built-in kernel has, or NULL */
    const qn_kernel_info *kernel;
    qn_arc_room rooms[QN_ARC_N_TIERS];
    void *wide; /* arenas of the last tier, which only the CPU uses */
    qn_arc_load *load;
    qn_buf *pool; /* as graphs know it; the load's */
    arc_instance *list;
    size_t list_room;
    qn_arc_seat seats[QN_ARC_SEATS];
};

static inline const qn_device_info *qn_arc_station_info(const qn_arc_station *station)
{
    return qn_device_get(station->ctx, station->device);
}

static inline int qn_arc_station_units(const qn_arc_station *station)
{
    const qn_device_info *info = qn_arc_station_info(station);

    return info->units ? (int)info->units : 1;
}

/* seats.c */
void qn_arc_seat_free_graphs(qn_arc_seat *seat);
void qn_arc_seat_free(qn_arc_seat *seat);

#endif
