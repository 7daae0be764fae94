/* svf_job.h - sky view factors of a whole raster, of any size.
 *
 * What does not fit a device is done in tiles (svf_plan.h), two in flight: one is computed while
 * the core of the one before is copied out. Only cores come back from the device, once.
 */
#ifndef QN_SOLWEIG_VIEW_SVF_JOB_H
#define QN_SOLWEIG_VIEW_SVF_JOB_H

#include "domain/solweig/cache/svf_cache.h"
#include "util/progress.h"

#include <quern/quern.h>

typedef struct qn_sw_svf_options {
    int patch_option;      /* 1 to 4; 0 means 2, 153 patches */
    qn_i64 tile;           /* side of a tile's core; 0: as memory allows */
    qn_progress *progress; /* gets a phase that takes `share` of it; may be NULL */
    double share;
} qn_sw_svf_options;

typedef struct qn_sw_svf_report {
    qn_i64 n_tiles, core; /* side of a core */
    int overlap;          /* pixels around it */
    int n_patches;
    double wall_s, stitch_ms; /* stitching: cores copied to where they belong */
    double tile_bytes;        /* of device memory, for the largest tile */
    double d2h_bytes;         /* that came back */
    int is_mapped;            /* results lie in a file, not in memory */
    char device[32];          /* that made the last sums: "cuda:0" */
} qn_sw_svf_report;

/* `surface` is prepared (heights.h). A device without the memory gets smaller tiles once, then it
 * is as the context's fallback says. After a failure `out` is unchanged. `report` may be NULL. */
qn_status qn_sw_svf_compute(qn_ctx *ctx, const qn_sw_surface *surface,
                            const qn_sw_svf_options *options, qn_sw_svf_arrays *out,
                            qn_sw_svf_report *report, qn_err *err);

#endif
