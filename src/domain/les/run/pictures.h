/* pictures.h - pictures of snapshots, with a title and a bar of colours, and the film of them.
 *
 * The device makes the pixels of fields and bar (digest.h). The thread of the write queue adds the text,
 * compresses, and feeds the film, while the next picture is computed.
 */
#ifndef QN_LES_PICTURES_H
#define QN_LES_PICTURES_H

#include "run.h"

typedef struct qn_les_pictures qn_les_pictures;

/* Opens the film, if one is wanted. Without ffmpeg it is a .y4m, and a sentence says so. The options
 * and the result outlive the pictures; the result has the rows of the log. */
qn_status qn_les_pictures_begin(const qn_les_options *config, qn_les_result *result, int panels,
                                qn_les_pictures **out, qn_err *err);

/* Values of the first and the last colour of the next picture, which shows `flow`. */
qn_status qn_les_picture_range(qn_les_pictures *pictures, qn_buf *flow, double *low, double *high,
                               qn_err *err);

/* Puts the picture of `step` with these pixels, which are copied, to the queue: in the order of steps,
 * at most two behind the ranges. */
qn_status qn_les_put_picture(qn_les_pictures *pictures, const uint8_t *rgb, int step, qn_err *err);

/* Ends the film; nothing is in the queue any more. */
qn_status qn_les_pictures_end(qn_les_pictures *pictures, qn_err *err);

/* Waits for the queue, and drops a film that has not ended. NULL is fine. */
void qn_les_pictures_free(qn_les_pictures *pictures);

#endif
