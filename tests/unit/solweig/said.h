/* said.h - what a test's own program writes to stderr. */
#ifndef QN_TESTS_SAID_H
#define QN_TESTS_SAID_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

/* What is written to stderr between the two calls. */
static int kept_stderr;
static FILE *said;

static inline void listen_begin(void)
{
    fflush(stderr);
    kept_stderr = dup(STDERR_FILENO);
    said = tmpfile();
    assert_non_null(said);
    dup2(fileno(said), STDERR_FILENO);
}

static inline void listen_end(char *text, size_t size)
{
    fflush(stderr);
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    rewind(said);
    text[fread(text, 1, size - 1, said)] = 0;
    fclose(said);
}

#endif
