/* cpu_launch.c - runs a kernel compiled as C on the threads of the host.
 *
 * The span is cut into tiles. Every thread owns a contiguous range of them, the same in every
 * launch, so memory stays with the thread that touched it first. A thread that is done takes tiles
 * from the others, so tiles of uneven cost still balance.
 *
 * The cost of a point is unknown: 4096 points may take half a microsecond or a second. So unless a
 * span is clearly large, its first tile is run and timed alone, and threads are woken only if they
 * save more time than they cost.
 */
#include "hal/cpu/cpu_launch.h"

#include <stdatomic.h>

#include "util/clock.h"

/* Cost of waking the threads, measured on two cores: 1 us while they spin, which they do for 1 ms
 * after work. Sleeping threads cost the caller 5 us and start 50 us later. */
#define WAKE_SPINNING_US 4.0
#define WAKE_SLEEPING_US 60.0
#define SPIN_US          1000.0

enum {
    MAX_THREADS = 1024,
    TILES_PER_THREAD = 32, /* enough to balance; the timed first tile is below 3 % of the work */
    TILE_ITEMS_MIN = 256,  /* keeps the SIMD loop long compared with its start and end */
    TILE_ITEMS_MAX = 16384,
    TILE_TEAMS_MAX = 64,
    TILE_ALIGN = 64,             /* elements; tiles begin on cache lines and whole vectors */
    SURELY_LARGE_ITEMS = 1 << 20 /* over 100 us even for the cheapest MAP: no need to time a tile */
};

typedef struct tiling {
    qn_span span;
    qn_i64 tile[3], n[3]; /* extent of a tile; tiles per axis */
    qn_i64 n_tiles, n_items;
} tiling;

/* One thread's tiles. It has its own cache line because its owner updates it all the time. */
typedef struct share {
    _Alignas(64) atomic_llong next;
    long long end;
} share;

typedef struct job {
    const tiling *tiles;
    qn_cpu_kernel fn;
    void *const *args;
    share *shares;
    int n_shares;
} job;

static qn_i64 min64(qn_i64 a, qn_i64 b)
{
    return a < b ? a : b;
}

static qn_i64 max64(qn_i64 a, qn_i64 b)
{
    return a > b ? a : b;
}

static qn_i64 ceil_div(qn_i64 a, qn_i64 b)
{
    return (a + b - 1) / b;
}

/* The product of three axes of 2^30 overflows 64 bits. */
static qn_i64 mul_saturated(qn_i64 a, qn_i64 b)
{
    qn_i64 product;

    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* Points, groups or teams of one tile. */
static qn_i64 tile_target(const qn_kernel_info *kernel, qn_i64 n_points, int n_threads)
{
    const qn_i64 even = n_points / ((qn_i64)n_threads * TILES_PER_THREAD);

    switch (kernel->form) {
    case QN_FORM_MAP:
        return min64(max64(even, TILE_ITEMS_MIN), TILE_ITEMS_MAX);
    case QN_FORM_GROUP:
        return max64(min64(even, TILE_ITEMS_MAX / max64(kernel->lanes, 1)), 1);
    default:
        return max64(min64(even, TILE_TEAMS_MAX), 1);
    }
}

/* Long rows are cut along x; short rows, and planes with few rows, are joined into one tile. */
static tiling cut(const qn_kernel_info *kernel, const qn_span *span, int n_threads)
{
    const qn_i64 size[3] = { (qn_i64)span->x1 - span->x0, (qn_i64)span->y1 - span->y0,
                             (qn_i64)span->z1 - span->z0 };
    const qn_i64 n_points = mul_saturated(mul_saturated(size[0], size[1]), size[2]);
    tiling t = { .span = *span, .tile = { 1, 1, 1 }, .n_tiles = 1 };
    qn_i64 room = tile_target(kernel, n_points, n_threads);

    for (int axis = 0; axis < 3 && room > 0; axis++) {
        t.tile[axis] = ceil_div(size[axis], ceil_div(size[axis], room));
        if (t.tile[axis] < size[axis])
            break;
        room /= size[axis];
    }
    if (kernel->form == QN_FORM_MAP && t.tile[0] < size[0])
        t.tile[0] = ceil_div(t.tile[0], TILE_ALIGN) * TILE_ALIGN;
    for (int axis = 0; axis < 3; axis++) {
        t.n[axis] = ceil_div(size[axis], t.tile[axis]);
        t.n_tiles = mul_saturated(t.n_tiles, t.n[axis]);
    }
    t.n_items =
        mul_saturated(n_points, kernel->form == QN_FORM_GROUP ? max64(kernel->lanes, 1) : 1);
    return t;
}

static qn_span tile_span(const tiling *t, qn_i64 i)
{
    const qn_span *s = &t->span;
    const qn_i64 x = s->x0 + i % t->n[0] * t->tile[0];
    const qn_i64 y = s->y0 + i / t->n[0] % t->n[1] * t->tile[1];
    const qn_i64 z = s->z0 + i / t->n[0] / t->n[1] * t->tile[2];

    return (qn_span){ (int32_t)x, (int32_t)min64(x + t->tile[0], s->x1),
                      (int32_t)y, (int32_t)min64(y + t->tile[1], s->y1),
                      (int32_t)z, (int32_t)min64(z + t->tile[2], s->z1) };
}

/* Runs all but the first tile in at most three calls: the rest of its row, of its plane, and the
 * other planes. */
static void run_rest(const job *j)
{
    const qn_span all = j->tiles->span, first = tile_span(j->tiles, 0);
    const qn_span right = { first.x1, all.x1, first.y0, first.y1, first.z0, first.z1 };
    const qn_span below = { all.x0, all.x1, first.y1, all.y1, first.z0, first.z1 };
    const qn_span after = { all.x0, all.x1, all.y0, all.y1, first.z1, all.z1 };

    if (right.x0 < right.x1)
        j->fn(&right, j->args);
    if (below.y0 < below.y1)
        j->fn(&below, j->args);
    if (after.z0 < after.z1)
        j->fn(&after, j->args);
}

static void empty_share(const job *j, share *s)
{
    /* Reading before incrementing keeps idle threads from contending for a finished range. */
    while (atomic_load_explicit(&s->next, memory_order_relaxed) < s->end) {
        const qn_i64 i = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);

        if (i < s->end) {
            const qn_span part = tile_span(j->tiles, i);

            j->fn(&part, j->args);
        }
    }
}

/* The work of one thread: its own tiles, then those left over by other threads. */
static void take_part(void *user, int me)
{
    const job *j = user;

    for (int i = 0; i < j->n_shares; i++)
        empty_share(j, &j->shares[(me + i) % j->n_shares]);
}

/* Runs the tiles from `first` on. */
static void run_parallel(qn_cpu_threads *threads, job *j, qn_i64 first)
{
    const qn_i64 n = j->tiles->n_tiles - first;
    const qn_i64 each = n / threads->n, more = n % threads->n;
    share shares[MAX_THREADS];
    qn_i64 at = first;

    for (int i = 0; i < threads->n; i++) {
        atomic_init(&shares[i].next, at);
        at += each + (i < more);
        shares[i].end = at;
    }
    j->shares = shares;
    j->n_shares = threads->n;
    if (!threads->crew && threads->n > 1)
        threads->crew = qn_crew_new(threads->n);
    if (threads->crew)
        qn_crew_run(threads->crew, take_part, j);
    else
        take_part(j, 0);
    threads->last_us = qn_now_us();
    threads->missed_us = 0.0;
}

/* Whether the threads would save more than they cost if one thread needs `rest_us`. Savings of
 * launches that are too small to wake them are added up, so a series of such launches wakes them
 * eventually. */
static int is_worth_threads(qn_cpu_threads *threads, double rest_us, double now_us)
{
    const double saved_us = rest_us * (1.0 - 1.0 / threads->n);

    if (now_us - threads->last_us < SPIN_US)
        return saved_us > WAKE_SPINNING_US;
    threads->missed_us += saved_us;
    return threads->missed_us > WAKE_SLEEPING_US;
}

qn_cpu_threads qn_cpu_threads_of(int n)
{
    qn_cpu_threads threads = { .last_us = -SPIN_US };

    threads.n = n > 0 ? n : qn_crew_cores();
    if (threads.n > MAX_THREADS)
        threads.n = MAX_THREADS;
    return threads;
}

void qn_cpu_threads_end(qn_cpu_threads *threads)
{
    qn_crew_free(threads->crew);
    threads->crew = NULL;
}

void qn_cpu_run(qn_cpu_threads *threads, const qn_kernel_info *kernel, qn_cpu_kernel fn,
                const qn_span *span, void *const *args)
{
    tiling tiles;
    job j = { .tiles = &tiles, .fn = fn, .args = args };
    const int is_program = kernel->form == QN_FORM_TEAM; /* a team may process a whole list */
    qn_i64 first = 0;

    if (span->x1 <= span->x0 || span->y1 <= span->y0 || span->z1 <= span->z0)
        return;
    if (threads->n > 1)
        tiles = cut(kernel, span, threads->n);
    if (threads->n == 1 || tiles.n_tiles == 1) {
        fn(span, args);
        return;
    }
    if (tiles.n_items < SURELY_LARGE_ITEMS && !is_program) {
        const qn_span probe = tile_span(&tiles, 0);
        const double begin_us = qn_now_us();
        double end_us;

        fn(&probe, args);
        end_us = qn_now_us();
        if (!is_worth_threads(threads, (end_us - begin_us) * (double)(tiles.n_tiles - 1), end_us)) {
            run_rest(&j);
            return;
        }
        first = 1;
    }
    run_parallel(threads, &j, first);
}
