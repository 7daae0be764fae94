/* fit_backends.h - contexts of the backends that resident solvers are tested on. */
#ifndef QN_TESTS_FIT_BACKENDS_H
#define QN_TESTS_FIT_BACKENDS_H

#include "fit_worlds.h"

#include <quern/quern.h>

static const char *const backends[] = { "cpu", "sim", "opencl", "cuda" };

enum { N_BACKENDS = sizeof backends / sizeof *backends };

/* NULL, with a line that says why, where there is none. */
static inline qn_ctx *open_backend(const char *backend)
{
    const qn_options options = { .backend = backend, .fallback = QN_FALLBACK_ERROR };
    qn_ctx *ctx = NULL;
    qn_err err = { .text = "" };

    if (qn_ctx_open(&options, &ctx, &err) != QN_OK)
        print_message("skipped on %s: %s\n", backend, err.text);
    return ctx;
}

#endif
