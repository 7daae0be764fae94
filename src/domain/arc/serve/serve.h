/* serve.h - a desk that answers lines of one file in another. */
#ifndef QN_ARC_SERVE_H
#define QN_ARC_SERVE_H

#include "domain/arc/serve/desk.h"

#include <stdio.h>

/* Until `from` ends or a line asks to end. Every answer is flushed. Empty lines have none.
 * `*n_lines` counts those that were answered. Fails when `to` cannot be written. */
qn_status qn_arc_serve(qn_arc_desk *desk, FILE *from, FILE *to, uint64_t *n_lines, qn_err *err);

#endif
