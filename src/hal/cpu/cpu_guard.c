/* cpu_guard.c - copies of buffers between inaccessible pages, for QUERN_CHECK_RANGES=1.
 *
 * The kernel runs twice on copies: first each copy ends right before an inaccessible page, then
 * each starts right after one. The fault handler leaves the kernel by longjmp, so the kernel runs
 * on the calling thread. Accesses more than a GiB from a buffer may go undetected.
 */
#include "hal/cpu/cpu_launch.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t guard_bytes = (size_t)1 << 30; /* before and after each copy */

typedef struct copy {
    char *map;  /* NULL: the size of the argument is unknown */
    char *data; /* inside the mapping; the kernel's `args` point here */
    size_t room, bytes;
} copy;

/* One guarded launch at a time, because the signal handler belongs to the process. */
static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    volatile sig_atomic_t is_armed;
    sigjmp_buf out;
    char *volatile at;
    struct sigaction before[2];
} guard = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const int signals[2] = { SIGSEGV, SIGBUS };

/* A fault outside of our pages is not ours: without this handler it happens again. */
static void on_fault(int number, siginfo_t *info, QN_UNUSED void *context)
{
    if (!guard.is_armed || !pthread_equal(pthread_self(), guard.thread)) {
        sigaction(number, &guard.before[number == SIGBUS], NULL);
        return;
    }
    guard.at = info->si_addr;
    siglongjmp(guard.out, 1);
}

static void arm(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

    guard.thread = pthread_self();
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], &action, &guard.before[i]);
    guard.is_armed = 1;
}

static void disarm(void)
{
    guard.is_armed = 0;
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], &guard.before[i], NULL);
}

/* Returns 1 if the kernel ran to its end. */
static int run(qn_cpu_kernel fn, const qn_span *span, void *const *args)
{
    if (sigsetjmp(guard.out, 1)) {
        disarm();
        return 0;
    }
    arm();
    fn(span, args);
    disarm();
    return 1;
}

static void drop(copy *c)
{
    if (c->map)
        munmap(c->map, c->room + 2 * guard_bytes);
}

static qn_status make(copy *c, const char *kernel, const char *name, size_t bytes, qn_err *err)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map;

    c->bytes = bytes;
    c->room = (bytes + page - 1) / page * page;
    map = mmap(NULL, c->room + 2 * guard_bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return qn_fail(err, QN_ERR_NOMEM,
                       "kernel %s: no address space for %zu bytes of %s and two GiB around them "
                       "(QUERN_CHECK_RANGES=1)",
                       kernel, bytes, name);
    c->map = map;
    if (mprotect(c->map + guard_bytes, c->room, PROT_READ | PROT_WRITE))
        return qn_fail(err, QN_ERR_NOMEM, "kernel %s: no memory for %zu bytes of %s", kernel, bytes,
                       name);
    return QN_OK;
}

/* Elements stay aligned, so if the size is odd, a gap of less than one element is left at the
 * end. */
static void place(copy *c, size_t size, int at_end, const void *content)
{
    const size_t element = size ? size : sizeof(double);
    const size_t align = element & -element;

    c->data = c->map + guard_bytes + (at_end ? (c->room - c->bytes) / align * align : 0);
    memcpy(c->data, content, c->bytes);
}

static qn_status found(const qn_launch *call, const copy *copies, qn_err *err)
{
    const qn_kernel_info *kernel = call->kernel;

    for (int i = 0; i < kernel->n_args; i++) {
        const copy *c = &copies[i];

        if (c->map && guard.at >= c->map && guard.at < c->map + c->room + 2 * guard_bytes)
            return qn_fail(err, QN_ERR_USAGE,
                           "kernel %s touches byte %lld of argument %d (%s), which has %zu "
                           "(QUERN_CHECK_RANGES=1)",
                           kernel->name, (long long)(guard.at - c->data), i, kernel->args[i].name,
                           c->bytes);
    }
    return qn_fail(err, QN_ERR_USAGE,
                   "kernel %s touches memory far from its arguments "
                   "(QUERN_CHECK_RANGES=1)",
                   kernel->name);
}

/* Copies back only changed bytes: several arguments may be parts of one buffer, and the copy of
 * each reaches from its start to the end of the buffer. */
static void write_back(const qn_kernel_info *kernel, const copy *copies, void *const *args)
{
    for (int is_second = 0; is_second < 2; is_second++)
        for (int i = 0; i < kernel->n_args; i++) {
            char *own = copies[i].data, *to = *(char **)args[i];

            if (!copies[i].map || kernel->args[i].mode == QN_ARG_IN)
                continue;
            for (size_t b = 0; b < copies[i].bytes; b++)
                if (is_second)
                    to[b] ^= own[b];
                else
                    own[b] ^= to[b]; /* the difference */
        }
}

qn_status qn_cpu_run_guarded(const qn_launch *call, qn_cpu_kernel fn, void *const *args,
                             qn_err *err)
{
    const qn_kernel_info *kernel = call->kernel;
    copy copies[QN_MAX_ARGS] = { { .map = NULL } };
    void *own[QN_MAX_ARGS];
    qn_status st = QN_OK;

    pthread_mutex_lock(&guard.lock);
    for (int i = 0; i < kernel->n_args; i++) {
        const int is_known = kernel->args[i].mode != QN_ARG_VAL && call->args[i].bytes;

        own[i] = is_known ? (void *)&copies[i].data : args[i];
        if (is_known)
            QN_TRY(make(&copies[i], kernel->name, kernel->args[i].name, call->args[i].bytes, err));
    }
    for (int at_end = 0; at_end < 2; at_end++) {
        for (int i = 0; i < kernel->n_args; i++)
            if (copies[i].map)
                place(&copies[i], kernel->args[i].size, at_end, *(void *const *)args[i]);
        if (!run(fn, &call->span, own))
            QN_TRY(found(call, copies, err));
    }
    write_back(kernel, copies, args);
out:
    for (int i = 0; i < kernel->n_args; i++)
        drop(&copies[i]);
    pthread_mutex_unlock(&guard.lock);
    return st;
}
