/* big_block.h - zeroed memory that may be larger than RAM: plain, or a mapped file.
 *
 * The file has no name. It is in QUERN_SPILL_DIR, else TMPDIR, else /tmp, and the system writes
 * unused pages to it.
 */
#ifndef QN_UTIL_BIG_BLOCK_H
#define QN_UTIL_BIG_BLOCK_H

#include "util/status.h"

/* Zero-initialised: empty. */
typedef struct qn_big_block {
    void *data;
    size_t bytes;
    int is_mapped;
} qn_big_block;

/* `what` names the content in messages ("view factors"), `tag` in the file name ("svf"). */
qn_status qn_big_block_new(size_t bytes, int is_mapped, const char *what, const char *tag,
                           qn_big_block *out, qn_err *err);
void qn_big_block_free(qn_big_block *block);

#endif
