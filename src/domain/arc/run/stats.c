/* stats.c - statistics as JSON. */
#include "domain/arc/run/session.h"

static json_t *fallbacks_json(const qn_arc_stats *s)
{
    json_t *out = json_object();

    for (int c = ARC_E_OVERFLOW; c < ARC_N_CODES; c++)
        if (s->fallbacks[c])
            qn_json_put(&out, qn_arc_code_name(c), json_integer((json_int_t)s->fallbacks[c]));
    if (s->oversize)
        qn_json_put(&out, "POOL", json_integer((json_int_t)s->oversize));
    return out;
}

json_t *qn_arc_stats_json(const qn_arc_stats *s)
{
    const struct {
        const char *name;
        uint64_t value;
    } counts[] = {
        { "instances", s->instances },
        { "ok", s->ok },
        { "errors", s->errors },
        { "limits", s->limits },
        { "timeouts", s->timeouts },
        { "not_ok_steps", s->not_ok_steps },
        { "gpu_ops", s->gpu_ops },
        { "cpu_ops", s->cpu_ops },
        { "reruns", s->reruns },
        { "launches", s->launches },
        { "pool_pieces", s->pool_pieces },
        { "pool_shrinks", s->pool_shrinks },
        { "transfers", s->transfers },
        { "transfer_bytes", s->transfer_bytes },
        { "cache_hits", s->cache_hits },
        { "cache_misses", s->cache_misses },
        { "cache_evictions", s->cache_evictions },
        { "cache_bytes", s->cache_bytes },
        { "shared_nodes", s->shared_nodes },
        { "shared_hits", s->shared_hits },
        { "adapted_programs", s->measured_programs },
        { "cpu_programs", s->cpu_programs },
        { "arena_high_water", s->arena_high_water },
        { "frames_high_water", s->frames_high_water },
        { "steps_total", s->steps_total },
    };
    const struct {
        const char *name;
        double value;
    } times[] = {
        { "time_compile", s->time_compile }, { "time_upload", s->time_upload },
        { "time_kernel", s->time_kernel },   { "time_download", s->time_download },
        { "time_cpu", s->time_cpu },
    };
    json_t *out = json_object();

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        qn_json_put(&out, counts[i].name, json_integer((json_int_t)counts[i].value));
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        qn_json_put(&out, times[i].name, json_real(times[i].value));
    qn_json_put(&out, "fallbacks", fallbacks_json(s));
    return out;
}
