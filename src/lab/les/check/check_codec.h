/* check_codec.h - checks of random numbers, codec and proxy. */
#ifndef QN_LAB_LES_CHECK_CHECK_CODEC_H
#define QN_LAB_LES_CHECK_CHECK_CODEC_H

#include "check.h"

/* V9 to V11, ended by a NULL name. Here V11 recovers a known operator; check_pipeline.c checks the
 * whole pipeline. */
extern const qn_les_check qn_les_codec_checks[];

/* V11 of the pipeline: flow, codec, proxy and decoding, at two sizes in both precisions. */
qn_status qn_les_check_pipeline(qn_ctx *ctx, qn_findings *findings, qn_err *err);

#endif
