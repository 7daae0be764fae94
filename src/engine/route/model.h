/* model.h - how long an op takes on a device, as a function of its size.
 *
 * Samples are kept by size bucket, four buckets per doubling, the last 32 of each, and summarised
 * by median and MAD (median absolute deviation). Between buckets the time is interpolated in
 * log-log; outside them it follows the fitted a + b * size.
 *
 * Disturbances only add time. So a sample that is far too slow is set aside until others confirm
 * it, while one that is far too fast is believed at once: the window restarts with it. When samples
 * of several buckets in a row are off in the same direction, the device has changed: all times are
 * scaled, and a bucket without newer samples is replaced by its first new one.
 */
#ifndef QN_ENGINE_MODEL_H
#define QN_ENGINE_MODEL_H

#include "engine/engine.h"

enum {
    QN_MODEL_WINDOW = 32,
    QN_MODEL_CONFIRM = 3, /* slow samples that make a change; and a measured bucket */
    QN_MODEL_MADS = 5     /* samples farther than this many MAD from the median are set aside */
};

typedef struct qn_timed {
    double size, us;
} qn_timed;

typedef struct qn_model_bucket {
    qn_i64 bucket;
    qn_timed samples[QN_MODEL_WINDOW];
    int n, next;
    double median_us, mad_us, min_us, size; /* summary; size: median of the sizes */
    double noted_us;                        /* summary when it last increased `generation` */
    int noted_n, noted_aside;
    double factor; /* its scale since it was measured; 0 means 1 */
    int is_old;    /* older than the change: scaled, and replaced by the next sample */
    qn_timed aside[QN_MODEL_CONFIRM];
    int n_aside;
} qn_model_bucket;

/* Zero-initialised: empty. */
typedef struct qn_model {
    qn_model_bucket **buckets; /* ascending */
    int n_buckets;
    qn_line fit;
    uint64_t n_samples;  /* samples ever added, including those set aside */
    uint64_t generation; /* increases when predictions change by more than 2 % or become doubtful */
    /* Samples in a row that were off in the same direction. */
    struct {
        qn_timed sample;
        qn_i64 bucket;
        double ratio;
    } run[QN_MODEL_CONFIRM];
    int n_run, run_side, noted_run;
    int n_absurd; /* first samples in a row that were set aside */
    /* After a slow-down: the old time / the new one. Multiplied by four with every sample that
     * confirms it. 0: there was none. */
    double relief, noted_relief;
    uint64_t relief_at; /* n_samples when it began */
} qn_model;

void qn_model_free(qn_model *model);

/* The bucket of a size: the next power of 2^(1/4), rounded. */
qn_i64 qn_model_bucket_of(double size);

/* Adds one sample. Times that are not positive and finite are ignored. */
void qn_model_add(qn_model *model, double size, double us);

/* Restores the summary of a bucket from a profile. */
void qn_model_restore(qn_model *model, double size, double median_us, double mad_us, int n);

/* Predicted time. With fewer than two known buckets the shape comes from `prior`. */
double qn_model_predict(const qn_model *model, double size, const qn_line *prior);

/* The best case: the time if every value seen less than three times was bad luck, and a slowed
 * device has recovered. Never above the prediction. */
double qn_model_hope(const qn_model *model, double size, const qn_line *prior);

/* Samples within a factor of two of `size`. */
int qn_model_support(const qn_model *model, double size);

/* Whether a change of the device, or at this size, is suspected, so that the next sample matters
 * more than usual. */
int qn_model_is_in_doubt(const qn_model *model, double size);

#endif
