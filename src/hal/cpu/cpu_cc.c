/* cpu_cc.c - runs the system's C compiler on kernel text that is made at run time. */
#include "hal/cpu/cpu_cc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/cpu/cpu_host.h"
#include "util/env.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/str.h"
#include "util/temp_dir.h"

/* A large generated module takes seconds, on a busy machine minutes; after this time we assume the
 * compiler hangs. */
#define COMPILE_LIMIT_US  600e6
#define QUESTION_LIMIT_US 60e6

enum { KEPT_OUTPUT = 1 << 16 };

extern char **environ;

/* Running a program. */

/* The environment with TMPDIR set to our folder, so that the compiler's temporary files are removed
 * with it, and with untranslated messages. Only the array is allocated. */
static char **make_environ(char *tmpdir)
{
    static char locale[] = "LC_ALL=C";
    size_t n = 0, kept = 0;
    char **list;

    while (environ && environ[n])
        n++;
    if (!(list = calloc(n + 3, sizeof *list)))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0 &&
            (!tmpdir || strncmp(environ[i], "TMPDIR=", 7) != 0))
            list[kept++] = environ[i];
    list[kept++] = locale;
    list[kept] = tmpdir;
    return list;
}

/* Runs in the child, which shares our memory until exec: only system calls are allowed. */
static void become(char *const *argv, char **env, int output, pid_t parent, const sigset_t *mask)
{
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    /* The kernel kills the child when the thread that waits for it ends, for whatever reason. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() != parent)
        _exit(127);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        dup2(output, STDERR_FILENO) >= 0 && sigprocmask(SIG_SETMASK, mask, NULL) == 0)
        execve(argv[0], argv, env);
}

/* The child gets its own process group, so that we can stop the compiler together with the passes
 * it has started. Returns 0 or an errno. */
static int spawn(char *const *argv, char **env, int output, pid_t *pid)
{
    const pid_t parent = getpid();
    volatile int why = 0; /* set by the child before it exits */
    sigset_t all, mask;

    sigfillset(&all); /* our signal handlers must not run in the child */
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    *pid = vfork();
    if (*pid == 0) {
        become(argv, env, output, parent, &mask);
        why = errno;
        _exit(127);
    }
    if (*pid < 0)
        why = errno;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (*pid > 0 && why)
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    return why;
}

/* Reads until the program closes its output. Returns 0, or -1 when the time is up. */
static int read_output(int fd, double until_us, qn_str *output)
{
    char chunk[4096];

    for (;;) {
        const double left_us = until_us - qn_now_us();
        struct pollfd waiting = { .fd = fd, .events = POLLIN };
        ssize_t n;

        if (left_us <= 0)
            return -1;
        if (poll(&waiting, 1, (int)(left_us / 1e3) + 1) <= 0)
            continue;
        n = read(fd, chunk, sizeof chunk);
        if (n == 0 || (n < 0 && errno != EINTR))
            return 0;
        if (n > 0 && output->len < KEPT_OUTPUT)
            qn_str_add_n(output, chunk, (size_t)n);
    }
}

/* Waits for the program to end. Returns its wait status, or -1 when the time is up. */
static int reap(pid_t pid, double until_us)
{
    int status = 0;

    for (;;) {
        const pid_t got = waitpid(pid, &status, WNOHANG);

        if (got == pid)
            return status;
        if (got < 0 && errno == ECHILD)
            return 0; /* the application ignores SIGCHLD; the object file shows the result */
        if (qn_now_us() > until_us)
            return -1;
        qn_sleep_us(500);
    }
}

/* Runs argv[0] and collects its output in `output` and its exit status in *code. Fails if it cannot
 * be run or does not end in time. */
static qn_status run(char *const *argv, const char *folder, double limit_us, qn_str *output,
                     int *code, qn_err *err)
{
    const double until_us = qn_now_us() + limit_us;
    qn_status st = QN_OK;
    char tmpdir[PATH_MAX + 8];
    char **env = NULL;
    int ends[2] = { -1, -1 }, rc, status = -1;
    pid_t pid;

    snprintf(tmpdir, sizeof tmpdir, "TMPDIR=%s", folder ? folder : "");
    if (!(env = make_environ(folder ? tmpdir : NULL)) || pipe2(ends, O_CLOEXEC) != 0)
        QN_FAIL(err, QN_ERR_UNSUPPORTED, "cannot run %s: %s", argv[0], strerror(errno));
    if ((rc = spawn(argv, env, ends[1], &pid)) != 0)
        QN_FAIL(err, QN_ERR_UNSUPPORTED, "cannot run %s: %s", argv[0], strerror(rc));
    close(ends[1]);
    ends[1] = -1;
    if (read_output(ends[0], until_us, output) == 0)
        status = reap(pid, until_us);
    if (status == -1) {
        kill(-pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
        QN_FAIL(err, QN_ERR_COMPILE, "%s did not end within %g s", argv[0], limit_us / 1e6);
    }
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
out:
    free(env);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return st;
}

/* Finding the compiler. */

static int is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

int qn_find_program(const char *name, char *out, size_t size)
{
    const char *path = getenv("PATH");
    const char *dir = strchr(name, '/') ? "" : path ? path : "/usr/local/bin:/usr/bin:/bin";

    if (!*dir)
        return (size_t)snprintf(out, size, "%s", name) < size && is_program(out);
    while (*dir) {
        const size_t n = strcspn(dir, ":");

        if (n && (size_t)snprintf(out, size, "%.*s/%s", (int)n, dir, name) < size &&
            is_program(out))
            return 1;
        dir += n + (dir[n] == ':');
    }
    return 0;
}

/* The first word of the compiler's answer to `question`, or "". */
static void ask(qn_cc *cc, const char *question, char *out, size_t size)
{
    char *argv[] = { cc->path, (char *)(uintptr_t)question, NULL };
    qn_str output = { 0 };
    int code = 1;

    out[0] = '\0';
    if (run(argv, NULL, QUESTION_LIMIT_US, &output, &code, NULL) == QN_OK && code == 0)
        snprintf(out, size, "%.*s", (int)strcspn(qn_str_get(&output), " \t\n"),
                 qn_str_get(&output));
    qn_str_free(&output);
}

static void ask_once(qn_cc *cc)
{
    const char *base = strrchr(cc->want, '/');
    char version[64], machine[64], real[PATH_MAX];
    qn_cpu_host host;

    if (cc->asked)
        return;
    cc->asked = 1;
    if (!qn_find_program(cc->want, cc->path, sizeof cc->path)) {
        cc->path[0] = '\0';
        snprintf(cc->label, sizeof cc->label, "no C compiler");
        return;
    }
    ask(cc, "-dumpfullversion", version, sizeof version);
    if (!version[0])
        ask(cc, "-dumpversion", version, sizeof version);
    ask(cc, "-dumpmachine", machine, sizeof machine);
    host = qn_cpu_host_get();
    /* The real path distinguishes gcc from clang where cc is a link. */
    snprintf(cc->label, sizeof cc->label, "%.64s %s %s %s %016llx %.255s",
             base ? base + 1 : cc->want, version, machine, host.arch,
             (unsigned long long)host.features, realpath(cc->path, real) ? real : cc->path);
}

void qn_cc_init(qn_cc *cc, const char *want)
{
    if (!want || !*want)
        want = qn_env("QUERN_CC");
    memset(cc, 0, sizeof *cc);
    cc->limit_us = COMPILE_LIMIT_US;
    snprintf(cc->want, sizeof cc->want, "%s", want && *want ? want : "cc");
}

const char *qn_cc_label(qn_cc *cc)
{
    ask_once(cc);
    return cc->label;
}

/* Compiling. */

/* The first line with an error, without the path of our folder. */
static void first_error(const char *output, const char *folder, char *out, size_t size)
{
    const char *line = strstr(output, "error:");
    const size_t n_folder = strlen(folder);

    if (!line)
        line = output + strspn(output, "\n");
    while (line > output && line[-1] != '\n')
        line--;
    if (strncmp(line, folder, n_folder) == 0)
        line += n_folder + 1;
    snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
}

static qn_status run_compiler(qn_cc *cc, const char *folder, char *source, char *object,
                              int contracts, char *log, size_t log_size, qn_err *err)
{
    char *argv[] = { cc->path,
                     "-O3",
#ifdef __aarch64__
                     "-mcpu=native",
#else
                     "-march=native",
#endif
                     contracts ? "-ffp-contract=fast" : "-ffp-contract=off",
                     "-fno-math-errno",
                     "-fno-trapping-math",
                     "-fopenmp-simd",
                     "-std=gnu11",
                     "-shared",
                     "-fPIC",
                     "-w",
                     "-o",
                     object,
                     source,
                     "-lm",
                     NULL };
    qn_status st;
    qn_str output = { 0 };
    char line[256];
    int code = 0;

    QN_TRY(run(argv, folder, cc->limit_us, &output, &code, err));
    if (code != 0) {
        first_error(qn_str_get(&output), folder, line, sizeof line);
        st = qn_fail(err, QN_ERR_COMPILE, "%s", line[0] ? line : "the C compiler failed");
    }
out:
    if (log && log_size)
        snprintf(log, log_size, "%s", qn_str_get(&output));
    qn_str_free(&output);
    return st;
}

static qn_status write_source(const char *path, const char *text, qn_err *err)
{
    qn_out out;
    const qn_status st = qn_out_direct(path, &out, err);

    if (st != QN_OK)
        return st;
    fputs(text, out.file);
    return qn_out_commit(&out, err);
}

qn_status qn_cc_compile(qn_cc *cc, const char *text, int contracts, char *log, size_t log_size,
                        qn_blob *out, qn_err *err)
{
    qn_status st;
    qn_temp_dir folder = { .path = "" };
    char source[PATH_MAX], object[PATH_MAX];
    char *data = NULL;
    size_t bytes = 0;

    ask_once(cc);
    if (!cc->path[0])
        return qn_fail(err, QN_ERR_UNSUPPORTED, "no C compiler: %s not found", cc->want);
    QN_TRY(qn_temp_dir_make(&folder, err));
    snprintf(source, sizeof source, "%s/unit.c", folder.path);
    snprintf(object, sizeof object, "%s/unit.so", folder.path);
    QN_TRY(write_source(source, text, err));
    QN_TRY(run_compiler(cc, folder.path, source, object, contracts, log, log_size, err));
    QN_TRY(qn_file_read(object, &data, &bytes, err));
    *out = (qn_blob){ data, bytes, QN_BIN_OBJECT };
out:
    qn_temp_dir_remove(&folder);
    /* For the engine a full temporary folder means a device that cannot compile. */
    if (st == QN_ERR_IO && err)
        err->status = QN_ERR_UNSUPPORTED;
    return st == QN_ERR_IO ? QN_ERR_UNSUPPORTED : st;
}
