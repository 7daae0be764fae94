/* frame.h - pictures of fields, drawn on the device. */
#ifndef QN_LES_FRAME_H
#define QN_LES_FRAME_H

#include "domain/les/options/options.h"

#include <quern/graph.h>

/* Pixels of a frame of `panels` panels, 1 or 3: flow, decoded field, decoded minus flow. */
typedef struct qn_les_frame_size {
    int width, height;
    size_t bytes; /* red, green, blue per pixel, no gaps */
} qn_les_frame_size;

qn_les_frame_size qn_les_frame_size_of(const qn_les_options *config, int panels);

/* Adds the picture of member 0 of `flow` and `decoded` (the flow itself with one panel). `scale` is
 * the value of the last colour. */
qn_status qn_les_add_frame(qn_graph *graph, const qn_les_options *config, int panels, double scale,
                           qn_buf *flow, qn_buf *decoded, qn_buf *rgb, qn_err *err);

#endif
