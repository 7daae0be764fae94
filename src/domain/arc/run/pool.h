/* pool.h - programs and values as content of a store, where devices read them. */
#ifndef QN_ARC_POOL_H
#define QN_ARC_POOL_H

#include "util/content_store.h"

/* Opens a store; slots can address 2 GiB of it. `resize` may be NULL. */
qn_status qn_arc_pool_open(size_t budget_bytes, qn_resize *resize, qn_content_store **out,
                           qn_err *err);

/* Takes a value. *slot points into the n bytes, and on QN_CONTENT_RESIDENT into the pool. */
qn_status qn_arc_pool_value(qn_content_store *pool, qn_content_hold *hold, uint64_t *slot,
                            const unsigned char *bytes, size_t n, qn_content_taken *taken,
                            qn_err *err);

/* Takes a program in the form that it has in a file. *at is its byte offset in the pool. */
qn_status qn_arc_pool_program(qn_content_store *pool, qn_content_hold *hold,
                              const unsigned char *bytes, size_t n, uint32_t *at,
                              qn_content_taken *taken, qn_err *err);

#endif
