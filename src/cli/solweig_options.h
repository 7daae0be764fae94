/* solweig_options.h - options that the verbs of `quern solweig` share: the layers of a city. */
#ifndef QN_CLI_SOLWEIG_OPTIONS_H
#define QN_CLI_SOLWEIG_OPTIONS_H

#include "cli/cli.h"
#include "domain/solweig/surface/surface.h"

/* Rows of an option table. Every verb that reads a city has those of layers and heights;
 * --landcover, walls and --parity with --fixed only where they mean something. */
#define QN_SW_OPTIONS_LAYERS                                                                       \
    { .name = "dsm",                                                                               \
      .kind = QN_OPT_TEXT,                                                                         \
      .help = "heights of ground and buildings, .tif or .npy",                                     \
      .value = "FILE" },                                                                           \
        { .name = "dem",                                                                           \
          .kind = QN_OPT_TEXT,                                                                     \
          .help = "heights of the bare ground",                                                    \
          .value = "FILE" },                                                                       \
        { .name = "cdsm", .kind = QN_OPT_TEXT, .help = "tops of trees", .value = "FILE" },         \
        { .name = "tdsm",                                                                          \
          .kind = QN_OPT_TEXT,                                                                     \
          .help = "undersides of their crowns; without it a share of the tops",                    \
          .value = "FILE" },                                                                       \
    {                                                                                              \
        .name = "pixel-size", .kind = QN_OPT_TEXT,                                                 \
        .help = "metres: of .npy files (default 1); of .tif files a coarser grid to work on",      \
        .value = "M"                                                                               \
    }

#define QN_SW_OPTIONS_HEIGHTS                                                                      \
    { .name = "dsm-relative", .kind = QN_OPT_FLAG, .help = "the DSM is height above the DEM" },    \
        { .name = "cdsm-absolute",                                                                 \
          .kind = QN_OPT_FLAG,                                                                     \
          .help = "the CDSM is elevation, not height above ground" },                              \
        { .name = "tdsm-absolute", .kind = QN_OPT_FLAG, .help = "the same of the TDSM" },          \
        { .name = "trunk-ratio",                                                                   \
          .kind = QN_OPT_TEXT,                                                                     \
          .help = "underside of a crown over its top, without a TDSM (default 0.25)",              \
          .value = "X" },                                                                          \
        { .name = "min-height",                                                                    \
          .kind = QN_OPT_TEXT,                                                                     \
          .help = "metres; lower objects are ground (default 1)",                                  \
          .value = "M" },                                                                          \
        { .name = "keep-quantised",                                                                \
          .kind = QN_OPT_FLAG,                                                                     \
          .help = "do not smooth a DEM of whole metres" },                                         \
    {                                                                                              \
        .name = "parity", .kind = QN_OPT_FLAG,                                                     \
        .help = "missing trees and trunks as the reference treats them"                            \
    }

#define QN_SW_OPTIONS_COVER                                                                        \
    {                                                                                              \
        .name = "landcover", .kind = QN_OPT_TEXT,                                                  \
        .help = "ids of the surface: 0 paved .. 7 water", .value = "FILE"                          \
    }

#define QN_SW_OPTIONS_WALLS                                                                        \
    { .name = "wall-height",                                                                       \
      .kind = QN_OPT_TEXT,                                                                         \
      .help = "heights of walls; computed when absent",                                            \
      .value = "FILE" },                                                                           \
    {                                                                                              \
        .name = "wall-aspect", .kind = QN_OPT_TEXT, .help = "where they face, degrees",            \
        .value = "FILE"                                                                            \
    }

#define QN_SW_OPTIONS_PATCHES                                                                      \
    {                                                                                              \
        .name = "patches", .kind = QN_OPT_CHOICE, .help = "patches of the sky",                    \
        .value = "145|153|305|609", .fallback = "153"                                              \
    }

/* --tile auto|N; read it with qn_sw_tile_of. */
#define QN_SW_OPTIONS_TILE                                                                         \
    {                                                                                              \
        .name = "tile", .kind = QN_OPT_TEXT,                                                       \
        .help = "side of a tile's core in pixels; auto: as memory allows", .value = "auto|N",      \
        .fallback = "auto"                                                                         \
    }

#define QN_SW_OPTION_OUT                                                                           \
    {                                                                                              \
        .name = "out", .kind = QN_OPT_TEXT, .help = "folder of the results", .value = "DIR",       \
        .fallback = "out"                                                                          \
    }

/* What the options ask to be read; options that the verb's table lacks count as not given. Strings
 * point into `args`. Named files that are not there fail with QN_ERR_INPUT. */
qn_status qn_sw_load_options_of(const qn_args *args, qn_sw_load_options *out, qn_err *err);

/* Reads the surface, and tells on stderr when its DEM was smoothed. */
qn_status qn_sw_surface_of(const qn_args *args, qn_sw_surface *out, qn_err *err);

/* Number 1 to 4 of the set of patches that --patches names. */
int qn_sw_patch_option_of(const qn_args *args);

/* 0 for auto. */
qn_status qn_sw_tile_of(const qn_args *args, int *out, qn_err *err);

/* The number behind a text option: QN_ERR_USAGE unless `low` <= it <= `high`. Not given: `*out`
 * stays. */
qn_status qn_sw_number_of(const qn_args *args, const char *name, double low, double high,
                          double *out, qn_err *err);

/* Makes --out where needed and checks that files can be made there, before anything is computed. */
qn_status qn_sw_folder_of(const qn_args *args, const char **out, qn_err *err);

#endif
