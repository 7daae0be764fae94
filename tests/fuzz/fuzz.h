/* fuzz.h - readers of files that somebody else may have made, fed with any bytes.
 *
 * A reader gets its input as a file, and as memory that ends with a NUL behind it. It returns what
 * the function under test returned; a failure must come with a sentence of one line. Whatever it
 * opens once (a context, a folder) stays open to the end of the process.
 */
#ifndef QN_TESTS_FUZZ_H
#define QN_TESTS_FUZZ_H

#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fuzz_input {
    const char *folder, *path; /* of the file, which has the name that the reader wants */
    const uint8_t *bytes;
    size_t n;
} fuzz_input;

typedef struct fuzz_reader {
    const char *name; /* also of its folder of seeds */
    const char *file; /* NULL: it needs no file */
    qn_status (*read)(const fuzz_input *in, qn_err *err);
    void (*mend)(uint8_t *bytes,
                 size_t n); /* makes checksums right, so that changes get past them */
    void (*seed)(
        const char *path); /* writes a good file: of formats that change with the program */
} fuzz_reader;

/* Rows of the table, in files by layer. */
extern const fuzz_reader fuzz_util[], fuzz_engine[], fuzz_results[], fuzz_solweig[], fuzz_les[],
    fuzz_fit[], fuzz_arc[];

/* Ends the process where something must hold and does not. */
static inline void fuzz_must(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static inline void fuzz_ok(qn_status st, const qn_err *err)
{
    fuzz_must(st == QN_OK, err->text);
}

/* A context on the CPU alone. */
static inline qn_ctx *fuzz_ctx(void)
{
    static qn_ctx *ctx;
    qn_err err;

    if (!ctx)
        fuzz_ok(qn_ctx_open(&QN_OPTIONS(.backend = "cpu", .log = "error"), &ctx, &err), &err);
    return ctx;
}

#endif
