/* cpu_cc.h - runs the system's C compiler on kernel text that is made at run time.
 *
 * The compiler runs without a shell, in a private temporary folder that is removed afterwards, and
 * is killed if it does not finish in time.
 */
#ifndef QN_HAL_CPU_CC_H
#define QN_HAL_CPU_CC_H

#include <limits.h>

#include "hal/backend.h"

/* The compiler of one device. It is searched on first use, since most runs need none. */
typedef struct qn_cc {
    char want[PATH_MAX]; /* a name to look up in PATH, or a path */
    char path[PATH_MAX]; /* the program found, or "" */
    char label[512];
    double limit_us; /* time limit of a compilation */
    int asked;
} qn_cc;

/* Writes the path of a program to `out`; returns 0 if there is none. As in a shell, a name with a
 * slash is a path; others are looked up in PATH. */
int qn_find_program(const char *name, char *out, size_t size);

/* `want` NULL means QUERN_CC, else "cc". */
void qn_cc_init(qn_cc *cc, const char *want);

/* "cc 12.2.0 x86_64-linux-gnu avx512 5d1c... /usr/bin/x86_64-linux-gnu-gcc-12": everything that
 * affects the compiled code. "no C compiler" if there is none. */
const char *qn_cc_label(qn_cc *cc);

/* Compiles a complete C text into a shared object for this machine. `contracts`: the compiler may
 * fuse a * b + c. `log` (may be NULL) gets the compiler's output. No compiler: QN_ERR_UNSUPPORTED.
 * Refused text: QN_ERR_COMPILE with the first error. */
qn_status qn_cc_compile(qn_cc *cc, const char *text, int contracts, char *log, size_t log_size,
                        qn_blob *out, qn_err *err);

#endif
