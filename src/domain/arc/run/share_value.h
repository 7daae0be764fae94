/* share_value.h - the output of a run as a value that others get. Private to domain/arc/run. */
#ifndef QN_ARC_SHARE_VALUE_H
#define QN_ARC_SHARE_VALUE_H

#include "domain/arc/run/attic.h"

#include <quern/quern.h>

#include <stdint.h>

typedef struct qn_arc_shared_value {
    uint64_t slot; /* its payload an offset into the output; then into bytes */
    unsigned char *bytes;
    size_t n;
} qn_arc_shared_value;

/* Copies what the slot points to. bytes stays NULL when the value belongs to its run, since there
 * are functions in it, or has containers in containers in containers. */
qn_status qn_arc_shared_copy(qn_arc_shared_value *value, const unsigned char *out, size_t n_out,
                             qn_arc_attic *attic, qn_err *err);

#endif
