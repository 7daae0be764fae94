/* fuzz.h - feeds arbitrary bytes to readers of files that others may have made.
 *
 * A reader gets its input as a file, and in memory followed by a NUL. It returns the status of the
 * function under test; a failure must come with a sentence of one line. Anything it opens once (a
 * context, a folder) stays open until the process ends.
 */
#ifndef QN_TESTS_FUZZ_H
#define QN_TESTS_FUZZ_H

#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fuzz_input {
    const char *folder, *path; /* of the file, under the name that the reader needs */
    const uint8_t *bytes;
    size_t n;
} fuzz_input;

typedef struct fuzz_reader {
    const char *name; /* also the name of its folder of seeds */
    const char *file; /* NULL: it needs no file */
    qn_status (*read)(const fuzz_input *in, qn_err *err);
    void (*mend)(uint8_t *bytes, size_t n); /* corrects checksums, so that changes get past them */
    void (*seed)(
        const char *path); /* writes a good file, for formats that change with the program */
} fuzz_reader;

/* Rows of the table, in files by layer. */
extern const fuzz_reader fuzz_util[], fuzz_engine[], fuzz_results[], fuzz_solweig[], fuzz_les[],
    fuzz_fit[], fuzz_arc[];

/* Ends the process if something that must hold does not. */
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
