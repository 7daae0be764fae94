/* tool.c - what les registers with the engine. */
#include "domain/tools.h"

#include <quern/les.h>

#include "domain/les/flow/sim.h"

/* Builds that leave the solver out (CMakeLists.txt, NOT_FOR_TSAN) have this table all the same. */
#pragma weak qn_les_each_variant

static const qn_metric_def names[] = {
    QN_GAUGE_ROW("les_sim_time_s", "Time to simulate"),
    QN_GAUGE_ROW("les_encode_time_s", "Time to encode"),
    QN_GAUGE_ROW("les_learn_time_s", "Time to learn"),
    QN_GAUGE_ROW("les_rollout_time_s", "Time to roll out"),
    QN_GAUGE_ROW("les_decode_time_s", "Time to decode"),
    QN_GAUGE_ROW("les_plot_time_s", "Time to plot"),
    QN_GAUGE_ROW("les_video_time_s", "Time to make the video"),
    QN_GAUGE_ROW("les_l2_error", "Relative L2 error of the surrogate"),
    QN_GAUGE_ROW("les_correlation", "Correlation of surrogate and simulation"),
    QN_GAUGE_ROW("les_energy_drift", "Relative change of energy"),
    QN_GAUGE_ROW("les_enstrophy_drift", "Relative change of enstrophy"),
};

static const qn_abi_entry layouts[] = {
    QN_WHOLE(qn_les_size),
    QN_MEMBER(qn_les_size, n),
    QN_MEMBER(qn_les_size, ensemble),
    QN_MEMBER(qn_les_size, is_f64),
    QN_MEMBER(qn_les_size, n_shells),
    QN_WHOLE(qn_les_state),
    QN_MEMBER(qn_les_state, step),
    QN_MEMBER(qn_les_state, time),
    QN_MEMBER(qn_les_state, dt),
    QN_MEMBER(qn_les_state, energy),
    QN_MEMBER(qn_les_state, enstrophy),
    QN_MEMBER(qn_les_state, palinstrophy),
    QN_MEMBER(qn_les_state, max_vorticity),
    QN_WHOLE(qn_les_array),
    QN_MEMBER(qn_les_array, name),
    QN_MEMBER(qn_les_array, type),
    QN_MEMBER(qn_les_array, columns),
    QN_MEMBER(qn_les_array, n_dims),
    QN_MEMBER(qn_les_array, dims),
    QN_MEMBER(qn_les_array, data),
    QN_LAYOUTS_END,
};

const qn_tool qn_tool_les = {
    .name = "les",
    .metrics = names,
    .n_metrics = sizeof names / sizeof *names,
    .layouts = layouts,
    .each_variant = qn_les_each_variant,
};
