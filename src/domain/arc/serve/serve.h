/* serve.h - a desk that answers lines of one file in another. */
#ifndef QN_ARC_SERVE_H
#define QN_ARC_SERVE_H

#include "domain/arc/serve/desk.h"

#include <stdio.h>

/* Bytes of a line unless it is said otherwise: some hundred thousand programs. */
#define QN_ARC_USUAL_LINE ((size_t)64 << 20)

/* Until `from` ends or a line asks to end. Every answer is flushed. Empty lines have none. A line
 * of more than `most_bytes` is passed over, and its answer says so. `*n_lines` counts those that
 * were answered. Fails when `to` cannot be written. */
qn_status qn_arc_serve(qn_arc_desk *desk, FILE *from, FILE *to, size_t most_bytes,
                       uint64_t *n_lines, qn_err *err);

#endif
