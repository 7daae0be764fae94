/* route_path.c - finds the shortest path over stages and devices, with transfers as edges. */
#include "engine/route/route_path.h"

#include <math.h>
#include <string.h>

/* The state of a walk through the stages. */
typedef struct {
    unsigned *valid; /* per buffer */
    unsigned used;   /* devices whose queue is already included */
    double us;
} walk;

static int place_of(const qn_path *path, int device)
{
    return path->unified >> device & 1 ? QN_CPU_SLOT : device;
}

static double wait_once(const qn_path *path, walk *w, int device)
{
    if (w->used >> device & 1)
        return 0;
    w->used |= 1u << device;
    return path->wait_us[device];
}

static double copy_us(double latency_us, double bytes, double gbps)
{
    return latency_us + (gbps > 0 ? bytes / (gbps * 1e3) : 0);
}

/* Makes buffer `b` valid on `to`, as plan.c will, and returns the cost. Data that only a busy
 * device has must wait for that device. */
static double fetch(const qn_path *path, walk *w, int b, int to)
{
    const qn_path_buf *buf = &path->bufs[b];
    const int place = place_of(path, to);
    double us = 0;
    int from;

    if (!w->valid[b] || w->valid[b] >> place & 1)
        return 0;
    from = __builtin_ctz(w->valid[b]);
    if (from != QN_CPU_SLOT)
        us += wait_once(path, w, from);
    if (from != QN_CPU_SLOT && place != QN_CPU_SLOT && path->peers[place] >> from & 1) {
        w->valid[b] |= 1u << place;
        return us + copy_us(path->links[place].h2d_us, buf->bytes, path->links[place].h2d_gbps);
    }
    if (from != QN_CPU_SLOT) {
        us += copy_us(path->links[from].d2h_us, buf->bytes, path->links[from].d2h_gbps);
        w->valid[b] |= 1u;
    }
    if (place != QN_CPU_SLOT)
        us += copy_us(path->links[place].h2d_us, buf->bytes, path->links[place].h2d_gbps) *
              (from == QN_CPU_SLOT ? buf->upload_share : 1);
    w->valid[b] |= 1u << place;
    return us;
}

static void step(const qn_path *path, walk *w, int s, int device)
{
    const qn_path_stage *stage = &path->stages[s];

    for (int u = 0; u < stage->n_uses; u++)
        if (stage->uses[u].reads)
            w->us += fetch(path, w, stage->uses[u].buf, device);
    w->us += wait_once(path, w, device) + stage->us[device];
    for (int u = 0; u < stage->n_uses; u++)
        if (stage->uses[u].writes)
            w->valid[stage->uses[u].buf] = 1u << place_of(path, device);
}

static double end_us(const qn_path *path, const walk *w)
{
    double us = 0;

    for (int b = 0; b < path->n_bufs; b++) {
        const qn_path_buf *buf = &path->bufs[b];
        int from;

        if (buf->download_share <= 0 || !w->valid[b] || w->valid[b] & 1)
            continue;
        from = __builtin_ctz(w->valid[b]);
        us += buf->download_share *
              copy_us(path->links[from].d2h_us, buf->bytes, path->links[from].d2h_gbps);
    }
    return us;
}

static walk start(const qn_path *path, unsigned *masks)
{
    for (int b = 0; b < path->n_bufs; b++)
        masks[b] = path->bufs[b].valid;
    return (walk){ masks, path->unified, 0 };
}

double qn_path_cost(qn_path *path, const int *devices)
{
    walk w = start(path, path->masks);

    for (int s = 0; s < path->n_stages; s++)
        step(path, &w, s, devices[s]);
    return w.us + end_us(path, &w);
}

double qn_path_stage_cost(qn_path *path, const int *devices, int stage, int device)
{
    walk w = start(path, path->masks);
    double others = 0;

    for (int s = 0; s < path->n_stages; s++) {
        const int d = s == stage ? device : devices[s];

        step(path, &w, s, d);
        others += s == stage ? 0 : path->stages[s].us[d];
    }
    return w.us + end_us(path, &w) - others;
}

/* Search. */

static int can_run(const qn_path *path, int s, int device)
{
    const int forced = path->stages[s].forced;

    return forced >= 0 ? forced == device : path->candidates >> device & 1;
}

/* Extends the best path to stage s on device `to`; returns the device it came from, or -1. */
static int extend(const qn_path *path, int s, int to, const walk *from, walk *out)
{
    const size_t row = (size_t)path->n_bufs * sizeof *out->valid;
    walk best = *out;
    int back = -1;

    best.us = INFINITY;
    for (int d = 0; d < QN_MAX_DEVICES; d++) {
        double us;
        walk w = { out->valid, from[d].used, from[d].us };

        if (!isfinite(from[d].us))
            continue;
        memcpy(w.valid, from[d].valid, row);
        step(path, &w, s, to);
        us = w.us;
        if (us < best.us) {
            best = w;
            back = d;
        }
    }
    if (back >= 0) { /* the residency of the winner, not of the last one tried */
        memcpy(out->valid, from[back].valid, row);
        *out = (walk){ out->valid, from[back].used, from[back].us };
        step(path, out, s, to);
    } else {
        out->us = INFINITY;
    }
    return back;
}

double qn_path_find(qn_path *path, int *devices)
{
    walk a[QN_MAX_DEVICES], b[QN_MAX_DEVICES], *now = a, *next = b;
    double best_us = INFINITY;
    int best = -1;

    for (int d = 0; d < QN_MAX_DEVICES; d++) {
        unsigned *masks = path->masks + (size_t)d * (size_t)path->n_bufs;

        now[d] = start(path, masks);
        next[d].valid = path->next + (size_t)d * (size_t)path->n_bufs;
        if (d > 0) /* all paths begin in the same state */
            now[d].us = INFINITY;
    }
    for (int s = 0; s < path->n_stages; s++) {
        walk *swap = now;

        for (int d = 0; d < QN_MAX_DEVICES; d++) {
            int *back = &path->back[s * QN_MAX_DEVICES + d];

            next[d].us = INFINITY;
            *back = can_run(path, s, d) ? extend(path, s, d, now, &next[d]) : -1;
        }
        now = next;
        next = swap;
    }
    for (int d = 0; d < QN_MAX_DEVICES; d++) {
        const double us = isfinite(now[d].us) ? now[d].us + end_us(path, &now[d]) : INFINITY;

        if (us < best_us) {
            best_us = us;
            best = d;
        }
    }
    for (int s = path->n_stages - 1, d = best; s >= 0 && d >= 0; s--) {
        devices[s] = d;
        d = path->back[s * QN_MAX_DEVICES + d];
    }
    return best_us;
}
