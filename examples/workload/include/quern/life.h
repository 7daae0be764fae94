/* life.h - the game of life on a board whose edges meet: an example of a workload. */
#ifndef QUERN_LIFE_H
#define QUERN_LIFE_H

#include <quern/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_life_options {
    size_t size;
#define OPTION QN_OPTION_MEMBER
#include <quern/options/life.def>
} qn_life_options;

QN_API void qn_life_options_init(qn_life_options *options, size_t size);
QN_API const qn_option_table *qn_life_option_table(void);

/* Writes the last generation, rows x cols cells, to `out`. It is unchanged after a failure. */
QN_API qn_status qn_life(qn_ctx *ctx, const qn_life_options *options, uint8_t *out, qn_err *err);

#ifdef __cplusplus
}
#endif
#endif
