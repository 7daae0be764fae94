/* cpu_cc.h - the system's C compiler, for kernel text that is made at run time.
 *
 * The compiler is run without a shell, in a private temporary folder that is gone afterwards,
 * and is stopped when it does not come to an end.
 */
#ifndef QN_HAL_CPU_CC_H
#define QN_HAL_CPU_CC_H

#include <limits.h>

#include "hal/backend.h"

/* The compiler of one device. It is looked for on first use, since most runs need none. */
typedef struct qn_cc {
    char want[PATH_MAX]; /* a name to be found in PATH, or a path */
    char path[PATH_MAX]; /* what was found; "" for nothing */
    char label[512];
    double limit_us; /* when a compilation is given up */
    int asked;
} qn_cc;

/* The path of a program into `out`; 0 when there is none. Like a shell: a name with a slash is a
 * path, others are looked for in PATH. */
int qn_find_program(const char *name, char *out, size_t size);

/* `want` NULL: QUERN_CC, else "cc". */
void qn_cc_init(qn_cc *cc, const char *want);

/* "cc 12.2.0 x86_64-linux-gnu avx512 5d1c... /usr/bin/x86_64-linux-gnu-gcc-12": everything that
 * decides which code comes out. "no C compiler" when there is none. */
const char *qn_cc_label(qn_cc *cc);

/* Compiles a complete C text into a shared object for this machine. `contracts`: a multiplication
 * and an addition may become one operation. `log` (may be NULL) gets what the compiler said. No
 * compiler: QN_ERR_UNSUPPORTED. Refused text: QN_ERR_COMPILE with the first error. */
qn_status qn_cc_compile(qn_cc *cc, const char *text, int contracts, char *log, size_t log_size,
                        qn_blob *out, qn_err *err);

#endif
