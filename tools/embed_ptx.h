/* embed_ptx.h - PTX of a kernel file, for machines that have a driver but no NVRTC. */
#ifndef QN_TOOLS_EMBED_PTX_H
#define QN_TOOLS_EMBED_PTX_H

#include "util/str.h"

#include <quern/quern.h>

/* Compiles a CUDA unit for the oldest architecture that quern supports. QN_ERR_INIT: no NVRTC on
 * this machine. QN_ERR_COMPILE: `out` has the compiler's log. */
qn_status qn_embed_ptx(const char *file, const char *unit, qn_str *out, qn_err *err);

#endif
