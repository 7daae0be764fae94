/* shadow_impl.h - the raster that shadows and view factors share. */
#ifndef QN_SW_SHADOW_IMPL_H
#define QN_SW_SHADOW_IMPL_H

#include "shadow.h"

struct qn_sw_shadow_raster {
    qn_ctx *ctx;
    qn_sw_height_bufs layers; /* absent layers are the ground */
    sw_grid par;
    int has_tiles;
    qn_buf *high, *low, *top, *leaf_top; /* sw_cover.c; without vegetation only `top` */
    qn_buf *no_detail;                   /* given to kernels that write no detail */
};

/* Groups of a march over the core. */
qn_range qn_sw_march_range(const qn_sw_shadow_raster *shadow, int n_words);

#endif
