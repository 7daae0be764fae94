/* solweig_options.h - options shared by the verbs of `quern solweig`: the layers of a city, tiles,
 * folders.
 *
 * Most rows of their tables come from <quern/options/solweig_*.def>. Before a list is included,
 * OPTION is QN_CLI_OPTION, MEMBER is QN_CLI_NO_OPTION, and RENAMED is QN_SW_CLI_RENAMED.
 */
#ifndef QN_CLI_SOLWEIG_OPTIONS_H
#define QN_CLI_SOLWEIG_OPTIONS_H

#include "cli/options.h"

#include <quern/solweig.h>

/* A row with an old spelling that still works. */
#define QN_SW_CLI_RENAMED(was_, kind_, member, flag, value_, min_, max_, fallback_, help_)         \
    { .name = flag, .help = help_, .value = value_, .was = was_, QN_CLI_KIND_##kind_ },

/* --tile auto|N; read it with qn_sw_tile_of. */
#define QN_SW_OPTION_TILE                                                                          \
    {                                                                                              \
        .name = "tile", .kind = QN_OPT_TEXT,                                                       \
        .help = "side of a tile's core in pixels; auto: as large as memory allows",                \
        .value = "auto|N", .fallback = "auto"                                                      \
    }

#define QN_SW_OPTION_OUT                                                                           \
    {                                                                                              \
        .name = "out", .kind = QN_OPT_TEXT, .help = "folder of the results", .value = "DIR",       \
        .fallback = "out"                                                                          \
    }

/* The layers of the command line; `store` owns their texts. A missing file is QN_ERR_INPUT. */
qn_status qn_sw_layers_of(const qn_args *args, qn_sw_layer_options *out, qn_option_store *store,
                          qn_err *err);

/* 0 for auto. */
qn_status qn_sw_tile_of(const qn_args *args, qn_i64 *out, qn_err *err);

/* --progress as the choice in option structs. */
qn_status qn_sw_progress_of(const qn_args *args, int *out, qn_err *err);

/* Reports on stderr if the DEM was smoothed. */
void qn_sw_note_smoothed(const qn_args *args, const qn_sw_layer_options *layers,
                         const qn_sw_grid *grid);

#endif
