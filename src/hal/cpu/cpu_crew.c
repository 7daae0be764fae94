/* cpu_crew.c - threads that help when they can.
 *
 * One word holds the whole state of a run: its number, whether helpers may still enter, and the
 * number of helpers inside. A helper enters by adding one to it; when the caller's own call has
 * returned, the caller closes the run and waits for the helpers inside. Afterwards helpers spin for
 * a while, yielding to other threads, and then sleep. The caller wakes one of them, and each helper
 * that wakes up wakes another.
 */
#include "hal/cpu/cpu_crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/clock.h"

#define AWAKE_US 1000.0 /* time without work after which helpers sleep */

enum {
    OPEN = 1 << 16, /* bits below: helpers inside; bits above: number of the run */
    NEXT_RUN = OPEN << 1,
    INSIDE = OPEN - 1,
    SPINS = 256 /* attempts before yielding */
};

typedef struct helper {
    struct qn_crew *crew;
    pthread_t thread;
    int me;
} helper;

struct qn_crew {
    _Alignas(64) _Atomic uint64_t state;
    void (*work)(void *user, int me);
    void *user;
    _Alignas(64) atomic_int n_asleep;
    atomic_int is_over;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int n, n_helpers; /* threads wanted, including the caller; helpers started */
    helper *helpers;
};

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void wait_a_little(unsigned *n)
{
    if (++*n < SPINS)
        pause_core();
    else
        sched_yield();
}

int qn_crew_cores(void)
{
    const char *wanted = getenv("OMP_NUM_THREADS");
    const int n = wanted ? atoi(wanted) : 0;
    cpu_set_t set;

    if (n > 0)
        return n;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
}

/* Helpers. */

static void wake_one(qn_crew *crew)
{
    if (atomic_load(&crew->n_asleep) == 0)
        return;
    pthread_mutex_lock(&crew->lock);
    pthread_cond_signal(&crew->wake);
    pthread_mutex_unlock(&crew->lock);
}

/* Whether this run is new to the helper. */
static int is_news(uint64_t state, uint64_t seen)
{
    return (state & OPEN) && state / NEXT_RUN != seen;
}

/* Enters a run that is open and new; returns 0 if there is none. */
static int enter(qn_crew *crew, uint64_t *seen)
{
    uint64_t state = atomic_load(&crew->state);

    while (is_news(state, *seen))
        if (atomic_compare_exchange_weak(&crew->state, &state, state + 1)) {
            *seen = state / NEXT_RUN;
            return 1;
        }
    return 0;
}

static void sleep_until_news(qn_crew *crew, uint64_t seen)
{
    pthread_mutex_lock(&crew->lock);
    atomic_fetch_add(&crew->n_asleep, 1);
    while (!atomic_load(&crew->is_over) && !is_news(atomic_load(&crew->state), seen))
        pthread_cond_wait(&crew->wake, &crew->lock);
    atomic_fetch_sub(&crew->n_asleep, 1);
    pthread_mutex_unlock(&crew->lock);
    wake_one(crew);
}

static void *help(void *argument)
{
    helper *h = argument;
    qn_crew *crew = h->crew;
    uint64_t seen = 0;
    double since_us = qn_now_us();
    unsigned n_looks = 0;

    while (!atomic_load(&crew->is_over)) {
        if (enter(crew, &seen)) {
            crew->work(crew->user, h->me);
            atomic_fetch_sub(&crew->state, 1);
            since_us = qn_now_us();
            n_looks = 0;
        } else if (n_looks < SPINS || qn_now_us() - since_us < AWAKE_US) {
            wait_a_little(&n_looks);
        } else {
            sleep_until_news(crew, seen);
            since_us = qn_now_us();
            n_looks = 0;
        }
    }
    return NULL;
}

/* The crew. */

qn_crew *qn_crew_new(int n)
{
    qn_crew *crew;

    if (posix_memalign((void **)&crew, 64, sizeof *crew) != 0)
        return NULL;
    *crew = (qn_crew){ .n = n };
    if (!(crew->helpers = calloc((size_t)n, sizeof *crew->helpers))) {
        free(crew);
        return NULL;
    }
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->wake, NULL);
    return crew;
}

static void start_helpers(qn_crew *crew)
{
    while (crew->n_helpers < crew->n - 1) {
        helper *h = &crew->helpers[crew->n_helpers];

        *h = (helper){ .crew = crew, .me = crew->n_helpers + 1 };
        if (pthread_create(&h->thread, NULL, help, h) != 0)
            break;
        crew->n_helpers++;
    }
    crew->n = crew->n_helpers + 1;
}

void qn_crew_free(qn_crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    atomic_store(&crew->is_over, 1);
    pthread_cond_broadcast(&crew->wake);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 0; i < crew->n_helpers; i++)
        pthread_join(crew->helpers[i].thread, NULL);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->wake);
    free(crew->helpers);
    free(crew);
}

void qn_crew_run(qn_crew *crew, void (*work)(void *user, int me), void *user)
{
    const uint64_t run = (atomic_load(&crew->state) / NEXT_RUN + 1) * NEXT_RUN;
    unsigned n_looks = 0;

    if (crew->n_helpers < crew->n - 1)
        start_helpers(crew);
    crew->work = work;
    crew->user = user;
    atomic_store(&crew->state, run | OPEN);
    wake_one(crew);
    work(user, 0);
    atomic_fetch_and(&crew->state, ~(uint64_t)OPEN);
    while (atomic_load(&crew->state) & INSIDE)
        wait_a_little(&n_looks);
}
