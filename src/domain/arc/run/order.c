/* order.c - jobs by cost and program, in two passes of a counting sort.
 *
 * The most costly jobs come first, in steps of a factor of two, so that none is left for the end.
 * Among equals, jobs of one program are adjacent, since neighbours then run the same code.
 */
#include "domain/arc/run/session_impl.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>

/* The size of grid, in bytes, for which a program's cost is meant. */
enum { USUAL_BYTES = 100 + ARC_GRID_HEAD, N_BUCKETS = 64 };

double qn_arc_program_cost(const qn_arc_session *s, const qn_arc_program_entry *program)
{
    const arc_program *head = (const arc_program *)(const void *)program->bytes;
    const double estimate = head->cost ? head->cost : 1;
    const double steps = qn_arc_costs_steps(s->costs, program->key);

    /* Assumes that the steps are the same mixture of primitives as the instructions. */
    return steps > 0 ? steps * estimate / (head->n_ins ? head->n_ins : 1) : estimate;
}

static double job_cost(const qn_arc_session *s, const qn_arc_job *job)
{
    const int grid = qn_arc_job_grid(s, job);
    const double bytes = grid < 0 ? USUAL_BYTES : (double)s->values.items[grid].n;

    return s->programs.items[job->program].cost * (bytes + USUAL_BYTES) / (2 * USUAL_BYTES);
}

/* 0 for the most costly. */
static unsigned char bucket_of(double cost)
{
    const int bits = cost < 1 ? 0 : ilogb(cost) + 1;

    return (unsigned char)(bits < N_BUCKETS ? N_BUCKETS - 1 - bits : 0);
}

/* Turns counts into the position of the first job of each. */
static void add_up(uint32_t *counts, size_t n)
{
    uint32_t at = 0;

    for (size_t i = 0; i < n; i++) {
        const uint32_t count = counts[i];

        counts[i] = at;
        at += count;
    }
}

qn_status qn_arc_order(const qn_arc_batch *b, uint32_t *order, float *costs, qn_err *err)
{
    const qn_arc_session *s = b->s;
    const uint32_t n = b->n;
    const qn_arc_job *jobs = b->jobs + b->first;
    uint32_t *by_program = malloc(((size_t)n + 1) * sizeof *by_program);
    uint32_t *programs = calloc(s->programs.n + 1, sizeof *programs);
    unsigned char *buckets = malloc((size_t)n + 1);
    uint32_t counts[N_BUCKETS] = { 0 };
    const int has_room = by_program && programs && buckets;

#pragma omp parallel for schedule(static) if (n > QN_ARC_MANY) num_threads(s->threads)
    for (uint32_t k = 0; k < n; k++) {
        if (!has_room)
            continue;
        costs[k] = (float)job_cost(s, &jobs[k]);
        buckets[k] = bucket_of(costs[k]);
    }
    for (uint32_t k = 0; has_room && k < n; k++) {
        counts[buckets[k]]++;
        programs[jobs[k].program]++;
    }
    if (has_room) {
        add_up(programs, s->programs.n);
        add_up(counts, N_BUCKETS);
        for (uint32_t k = 0; k < n; k++)
            by_program[programs[jobs[k].program]++] = k;
        for (uint32_t k = 0; k < n; k++)
            order[counts[buckets[by_program[k]]]++] = by_program[k];
    }
    free(by_program);
    free(programs);
    free(buckets);
    return has_room ? QN_OK : qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", n);
}
