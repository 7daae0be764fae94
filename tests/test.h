/* test.h - cmocka, and helpers for tests of every folder. */
#ifndef QN_TESTS_TEST_H
#define QN_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/status.h"
#include "util/temp_dir.h"

/* Calls that must succeed, or fail. */

/* Where calls of a test leave the reason of their failure. */
static qn_err failure __attribute__((unused));

#define must(call)                                                                                 \
    do {                                                                                           \
        if ((call) != QN_OK)                                                                       \
            fail_msg("%s: %s", #call, failure.text);                                               \
    } while (0)

/* `call` fails with `want`, and its message holds `part`. */
#define must_fail(call, want, part)                                                                \
    do {                                                                                           \
        failure.text[0] = 0;                                                                       \
        assert_int_equal((call), want);                                                            \
        if (!strstr(failure.text, part))                                                           \
            fail_msg("\"%s\" does not hold \"%s\"", failure.text, part);                           \
    } while (0)

static inline void must_ok(qn_status st, const qn_err *err)
{
    if (st != QN_OK)
        fail_msg("%s", err->text);
}

/* Numbers. */

static inline void assert_near(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want)))
        fail_msg("%.17g is not within %g of %.17g", got, relative, want);
}

/* A folder for the files of a program: make_folder and remove_folder are setup and teardown. */

static qn_temp_dir test_folder __attribute__((unused));

static inline int make_folder(void **state)
{
    (void)state;
    return qn_temp_dir_make(&test_folder, NULL) == QN_OK ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    qn_temp_dir_remove(&test_folder);
    return 0;
}

/* The path of `name` in the folder; the last sixteen paths stay valid. */
static inline const char *in_folder(const char *name)
{
    static char paths[16][1400];
    static int next;
    char *path = paths[next++ % 16];

    snprintf(path, sizeof paths[0], "%s/%s", test_folder.path, name);
    return path;
}

/* Captures what is written to stderr between the two calls. */

static struct {
    FILE *file;
    int stderr_fd;
} capture __attribute__((unused));

static inline void capture_begin(void)
{
    fflush(stderr);
    capture.stderr_fd = dup(STDERR_FILENO);
    capture.file = tmpfile();
    assert_non_null(capture.file);
    dup2(fileno(capture.file), STDERR_FILENO);
}

static inline void capture_end(char *text, size_t size)
{
    fflush(stderr);
    dup2(capture.stderr_fd, STDERR_FILENO);
    close(capture.stderr_fd);
    rewind(capture.file);
    text[fread(text, 1, size - 1, capture.file)] = 0;
    fclose(capture.file);
}

/* Captures what `body` writes to stderr in `text`. */
#define CAPTURE_STDERR(text, size, body)                                                           \
    do {                                                                                           \
        capture_begin();                                                                           \
        body;                                                                                      \
        capture_end(text, size);                                                                   \
    } while (0)

#endif
