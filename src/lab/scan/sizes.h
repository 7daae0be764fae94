/* sizes.h - lists of ops and sizes as users write them. */
#ifndef QN_LAB_SCAN_SIZES_H
#define QN_LAB_SCAN_SIZES_H

#include "util/status.h"
#include "util/str.h"

typedef struct qn_sizes {
    qn_i64 *list; /* ascending, each once */
    size_t n;
} qn_sizes;

void qn_sizes_free(qn_sizes *sizes);

/* "1000,2e4,50000", or "MIN:MAX:PER_DECADE", which ends with MAX. */
qn_status qn_sizes_parse(const char *text, qn_sizes *out, qn_err *err);

/* 1-2-5 steps over the range that suits the op: 1000 to 10 000 000 for most. */
qn_status qn_sizes_default(const char *op, qn_sizes *out, qn_err *err);

/* Adds one size in its place. */
qn_status qn_sizes_add(qn_sizes *sizes, qn_i64 size, qn_err *err);

/* "all" is every op. An unknown name is QN_ERR_USAGE, and the message lists the known ones. */
qn_status qn_op_list_check(const char *ops, qn_err *err);
const char *qn_op_list_of(const char *ops); /* expands "all" and NULL */

#endif
