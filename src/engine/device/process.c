/* process.c - protects drivers from threads that open contexts at once, and from forks.
 *
 * A driver belongs to one process. It initialises itself at the first call, shuts down after its
 * last context, and has threads that a forked child does not inherit. PoCL crashes when two threads
 * initialise it at once, and a child would wait forever for the missing threads.
 */
#include "engine/device/context.h"

#include <pthread.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pid_t found_by[QN_MAX_BACKENDS]; /* the process that found devices; 0: none */
} drivers = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t watch = PTHREAD_ONCE_INIT;
static int n_forks; /* from the process of the first context to this one */

/* Runs in the child, where only the forking thread exists; another thread may have held the
 * lock. */
static void begin_child(void)
{
    n_forks++;
    pthread_mutex_init(&drivers.lock, NULL);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, begin_child);
}

void qn_process_enter(qn_ctx *ctx)
{
    pthread_once(&watch, watch_forks);
    ctx->n_forks = n_forks;
    ctx->pid = getpid();
}

void qn_drivers_lock(void)
{
    pthread_mutex_lock(&drivers.lock);
}

void qn_drivers_unlock(void)
{
    pthread_mutex_unlock(&drivers.lock);
}

qn_status qn_drivers_count(int b, const qn_hal_config *config, qn_backend_state *state, qn_err *err)
{
    const qn_backend *backend = qn_backends[b];
    const pid_t me = getpid(), by = drivers.found_by[b];

    if (by && by != me)
        return qn_fail(err, QN_ERR_INIT,
                       "%s was used by process %d before it forked process %d, and a driver does "
                       "not survive a fork: open contexts in children only, or start them as new "
                       "programs (in Python, the start method \"spawn\" of multiprocessing)",
                       backend->name, (int)by, (int)me);
    state->n_devices = backend->count(config, state->reason, sizeof state->reason);
    if (backend->has_driver && state->n_devices > 0)
        drivers.found_by[b] = me;
    return QN_OK;
}

int qn_ctx_is_inherited(const qn_ctx *ctx)
{
    return ctx->n_devices > 1 && ctx->n_forks != n_forks;
}

qn_status qn_check_call(const char *call, const qn_ctx *ctx, const char *names,
                        const void *const *given, size_t n, qn_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (!given[i])
            return qn_fail(err, QN_ERR_USAGE, "%s: NULL among its arguments (%s)", call, names);
    if (ctx && qn_ctx_is_inherited(ctx))
        return qn_fail(err, QN_ERR_USAGE,
                       "%s: process %d opened the context and then forked process %d, and devices "
                       "do not survive a fork: open the context in the child (in Python, with the "
                       "start method \"spawn\" of multiprocessing)",
                       call, (int)ctx->pid, (int)getpid());
    return QN_OK;
}
