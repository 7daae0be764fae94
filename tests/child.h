/* child.h - starts the test program again as a child that answers with a few bytes.
 *
 * The child is a new process image, since the threads that drivers start do not survive a fork. It
 * is called as `NAME child FD BACKEND FOLDER` and writes its answer to FD.
 */
#ifndef QN_TESTS_CHILD_H
#define QN_TESTS_CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fails the test unless the child succeeds and answers with `bytes` bytes. */
static inline void ask_child(const char *name, const char *backend, const char *folder, void *out,
                             size_t bytes)
{
    int ends[2], status = -1;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    if (!(child = fork())) {
        char to[16];

        snprintf(to, sizeof to, "%d", ends[1]);
        execl("/proc/self/exe", name, "child", to, backend, folder, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], out, bytes), bytes);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#endif
