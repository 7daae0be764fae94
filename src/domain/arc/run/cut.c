/* cut.c - runs, batches, launches, pieces and chunks. */
#include "domain/arc/run/cut.h"

#include "domain/arc/run/session_impl.h"

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))

/* Runs. */

enum { MOST_RUN = 1 << 16, MOST_RUN_WITH_OUTPUT = 1 << 14 };

uint32_t qn_arc_cut_series(uint64_t n, uint32_t want)
{
    return (uint32_t)MIN_OF(n, (uint64_t)(want ? MOST_RUN_WITH_OUTPUT : MOST_RUN));
}

/* Batches. */

enum { MOST_BATCH = 1 << 17 };

uint32_t qn_arc_cut_batch(uint32_t n)
{
    return MIN_OF(n, (uint32_t)MOST_BATCH);
}

/* Launches. */

/* Jobs per launch: FIRST_LAUNCH while nothing is known about times; at least LEAST_LAUNCH on a
 * device, where they run at the same time; at most FIRST_TIMED while the deadline's budgets are
 * small. */
enum { FIRST_LAUNCH = 1 << 12, LEAST_LAUNCH = 256, FIRST_TIMED = 512 };

uint32_t qn_arc_jobs_at_once(const qn_arc_batch *b)
{
    const qn_arc_session *s = b->s;

    if (b->rung == QN_ARC_RUNG_CPU)
        return (uint32_t)qn_arc_executor_room(b->home->executor, QN_ARC_RUNG_CPU).n_teams;
    return s->device == QN_CPU_SLOT && !s->split ? (uint32_t)s->threads : (uint32_t)LEAST_LAUNCH;
}

static uint32_t most_before_deadline(const qn_arc_batch *b)
{
    const uint32_t steps = b->budgets[b->rung].steps;

    if (!steps)
        return UINT32_MAX;
    return b->rung == QN_ARC_RUNG_MANY && steps == QN_ARC_FIRST_STEPS ? (uint32_t)FIRST_TIMED
                                                                      : qn_arc_jobs_at_once(b);
}

/* How many of the first n_most jobs fill the longest launch, by estimate. */
static uint32_t most_in_time(const qn_arc_batch *b, uint32_t n_most)
{
    const qn_arc_session *s = b->s;
    const qn_arc_queue *q = &b->waiting[b->rung];
    const double most = s->us_per_unit > 0 ? s->launch_us / s->us_per_unit : 0;
    const uint32_t least =
        s->device == QN_CPU_SLOT ? qn_device_get(s->ctx, QN_CPU_SLOT)->units : LEAST_LAUNCH;
    double units = 0;
    uint32_t n = 0;

    if (!(s->launch_us > 0))
        return n_most;
    if (!(most > 0))
        return MIN_OF(n_most, (uint32_t)FIRST_LAUNCH);
    while (n < n_most && (n < least || units < most))
        units += b->costs[q->jobs[n++]];
    return n;
}

/* A launch of the first rung goes entirely to the device, or entirely to the CPU beside it. */
uint32_t qn_arc_cut_launch(const qn_arc_batch *b)
{
    const qn_arc_queue *q = &b->waiting[b->rung];
    uint32_t most = MIN_OF(q->n, most_before_deadline(b)), n = 1;
    int is_cpu;

    if (b->is_alone)
        return 1;
    if (b->rung != QN_ARC_RUNG_MANY)
        return most;
    most = most_in_time(b, most);
    is_cpu = qn_arc_batch_is_for_cpu(b, q->jobs[0]);
    while (n < most && qn_arc_batch_is_for_cpu(b, q->jobs[n]) == is_cpu)
        n++;
    return n;
}

/* Pieces. */

/* Enough pieces that the last ones are small, each large enough to fill a device. */
enum { PIECES_PER_DEVICE = 8, LEAST_PIECE = 256 };

int qn_arc_most_pieces(uint32_t n, int n_devices)
{
    const uint32_t large = n / LEAST_PIECE, most = (uint32_t)(n_devices * PIECES_PER_DEVICE);

    return large > most ? (int)most : large > (uint32_t)n_devices ? (int)large : n_devices;
}

int qn_arc_cut_pieces(const float *costs, uint32_t n, int n_devices, qn_arc_piece *pieces)
{
    const int most = qn_arc_most_pieces(n, n_devices);
    double total = 0, sum = 0;
    uint32_t first = 0;
    int n_pieces = 0;

    for (uint32_t k = 0; k < n; k++)
        total += costs[k];
    for (uint32_t k = 0; k < n; k++) {
        sum += costs[k];
        if (k + 1 < n && (sum < total * (n_pieces + 1) / most || n_pieces + 1 == most))
            continue;
        pieces[n_pieces++] = (qn_arc_piece){ .first = first, .n = k + 1 - first };
        first = k + 1;
    }
    return n_pieces;
}

/* Chunks. */

/* A list begins with the longest jobs. One in SINGLY of them is not dealt in chunks: a chunk of
 * such jobs could outlast all others. */
enum { CHUNKS_PER_QUEUE = 8, MOST_CHUNK = 32, SINGLY = 4 };

/* Chunks are large enough that the teams of a unit run the same program, and small enough that
 * units end together. */
qn_arc_dealing qn_arc_cut_chunks(uint32_t n, uint32_t units)
{
    qn_arc_dealing d = { .n_queues = MIN_OF(units, (uint32_t)ARC_MOST_QUEUES) };
    uint32_t chunk;

    d.singles = n / d.n_queues / SINGLY;
    chunk = (n - d.singles * d.n_queues) / (d.n_queues * CHUNKS_PER_QUEUE);
    d.chunk = chunk < 1 ? 1 : MIN_OF(chunk, (uint32_t)MOST_CHUNK);
    return d;
}

/* Groups. */

uint32_t qn_arc_pad_groups(const arc_instance *list, uint32_t n, uint32_t teams, arc_instance *to)
{
    uint32_t at = 0;

    for (uint32_t k = 0; k < n; k++, at++) {
        const int is_last = k + 1 == n || list[k + 1].program != list[k].program;

        if (to)
            to[at] = list[k];
        for (; is_last && (at + 1) % teams; at++)
            if (to)
                to[at + 1] = (arc_instance){ .program = list[k].program, .number = ARC_NOBODY };
    }
    return at;
}

int qn_arc_pad_groups_pays(uint32_t n, uint32_t n_padded)
{
    return n_padded - n <= n / 4;
}
