/* tool.c - registers solweig with the engine. */
#include "domain/tools.h"

#include <quern/solweig.h>

#include <string.h>

static QN_DERIVE(svf_fallbacks)
{
    double sum = 0;

    for (const qn_metric *m = NULL; (m = qn_metric_next(metrics, "gpu_fallback_count", m));) {
        const char *stage = qn_metric_label(m, "stage");

        if (stage && strncmp(stage, "svf.", 4) == 0)
            sum += qn_series_value(m);
    }
    return sum;
}

static const qn_metric_def names[] = {
    QN_HISTOGRAM_ROW("tile_turnaround_ms", "Submission of a tile to its result"),
    QN_GAUGE_ROW("mean_turnaround", "Mean of tile_turnaround_ms", .derive = qn_derive_mean,
                 .from = "tile_turnaround_ms"),
    QN_GAUGE_ROW("max_queue", "Most tiles, or pieces of host work, in progress at once"),
    QN_GAUGE_ROW("inflight_limit", "Limit of max_queue"),
    QN_HISTOGRAM_ROW("svf_tile_wall_time_s", "Sky view factors: time per tile"),
    QN_HISTOGRAM_ROW("svf_stitch_copy_time_ms", "Sky view factors: time to copy a tile's core"),
    QN_GAUGE_ROW("svf_patch_progress_rate", "Sky view factors: patches per second"),
    QN_COUNTER_ROW("svf_gpu_fallback_count", "Fallbacks of the stages svf.*",
                   .derive = svf_fallbacks),
    QN_HISTOGRAM_ROW("timestep_wall_time_s", "Wall time per time step"),
};

static const qn_abi_entry layouts[] = {
    QN_WHOLE(qn_sw_grid),
    QN_MEMBER(qn_sw_grid, rows),
    QN_MEMBER(qn_sw_grid, cols),
    QN_MEMBER(qn_sw_grid, pixel_size),
    QN_MEMBER(qn_sw_grid, was_smoothed),
    QN_WHOLE(qn_sw_weather_step),
    QN_MEMBER(qn_sw_weather_step, minutes),
    QN_MEMBER(qn_sw_weather_step, ta),
    QN_MEMBER(qn_sw_weather_step, rh),
    QN_MEMBER(qn_sw_weather_step, ws),
    QN_MEMBER(qn_sw_weather_step, pressure_hpa),
    QN_MEMBER(qn_sw_weather_step, global),
    QN_MEMBER(qn_sw_weather_step, direct),
    QN_MEMBER(qn_sw_weather_step, diffuse),
    QN_WHOLE(qn_sw_step),
    QN_MEMBER(qn_sw_step, minutes),
    QN_MEMBER(qn_sw_step, ta),
    QN_MEMBER(qn_sw_step, rh),
    QN_MEMBER(qn_sw_step, ws),
    QN_MEMBER(qn_sw_step, global),
    QN_MEMBER(qn_sw_step, direct),
    QN_MEMBER(qn_sw_step, diffuse),
    QN_MEMBER(qn_sw_step, diffuse_fraction),
    QN_MEMBER(qn_sw_step, clearness),
    QN_MEMBER(qn_sw_step, sun_altitude),
    QN_MEMBER(qn_sw_step, sun_azimuth),
    QN_MEMBER(qn_sw_step, tmrt_mean),
    QN_MEMBER(qn_sw_step, utci_mean),
    QN_MEMBER(qn_sw_step, sun_fraction),
    QN_MEMBER(qn_sw_step, n_valid),
    QN_MEMBER(qn_sw_step, is_day),
    QN_LAYOUTS_END,
};

const qn_tool qn_tool_solweig = {
    .name = "solweig",
    .metrics = names,
    .n_metrics = sizeof names / sizeof *names,
    .layouts = layouts,
};
