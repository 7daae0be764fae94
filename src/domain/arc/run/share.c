/* share.c - the three passes of a batch whose programs share values. */
#include "domain/arc/run/share.h"

#include "domain/arc/run/session_impl.h"
#include "domain/arc/run/share_value.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

/* Share of a batch's cost that makes another launch worth while. */
#define LEAST_SAVED 0.25

/* A prefix on a grid. */
typedef struct {
    int prefix, grid;
    uint32_t n_users;
    int value;      /* of the session; NONE: it was not run, or gave nothing that can be shared */
    uint32_t steps; /* that it took */
} entry;

typedef struct {
    qn_arc_session *s;
    const qn_arc_job *jobs;
    uint32_t n, want;
    entry *entries;
    uint32_t n_entries, n_shared; /* those that are worth it */
    uint32_t *table;              /* 1 + number of an entry, by hash */
    size_t table_size;
    uint32_t *entry_of; /* of each job: 1 + its entry; 0: none */
    qn_arc_job *passed; /* jobs of a pass; those of the second, then those that run again */
    uint32_t *again;    /* jobs that run again */
    size_t n_programs, n_values; /* of the session, without what is shared */
} sharing;

/* The plan. */

void qn_arc_share_forget(qn_arc_share *share)
{
    qn_arc_prefixes_free(&share->plan);
    free(share->programs);
    share->programs = NULL;
    share->n_planned = 0;
}

static qn_status plan(qn_arc_session *s, qn_err *err)
{
    qn_arc_share *share = &s->share;
    const size_t n = s->programs.n;
    qn_arc_bytes *list = NULL;
    qn_status st = QN_OK;

    if (share->n_planned == n)
        return QN_OK;
    qn_arc_share_forget(share);
    if (!(list = malloc((n + 1) * sizeof *list)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu programs", n);
    for (size_t i = 0; i < n; i++)
        list[i] =
            (qn_arc_bytes){ .bytes = s->programs.items[i].bytes, .n = s->programs.items[i].n };
    QN_TRY(qn_arc_prefixes_find(list, (int)n, &share->plan, err));
    share->programs = calloc((size_t)share->plan.n + n + 1, sizeof *share->programs);
    if (!share->programs) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu programs", n);
        goto out;
    }
    for (int i = 0; i < share->plan.n; i++) {
        const qn_arc_kept_program *source = &s->programs.items[share->plan.sources[i]];

        share->programs[i] = (qn_arc_kept_program){ .id = source->id,
                                                    .bytes = share->plan.items[i].bytes,
                                                    .n = share->plan.items[i].n };
        share->programs[i].key = qn_arc_costs_key(share->programs[i].bytes, share->programs[i].n);
    }
    for (size_t i = 0; i < n; i++)
        share->programs[(size_t)share->plan.n + i] =
            (qn_arc_kept_program){ .id = s->programs.items[i].id,
                                   .bytes = share->plan.rests[i].bytes,
                                   .n = share->plan.rests[i].n,
                                   .key = s->programs.items[i].key };
    share->n_planned = n;
out:
    free(list);
    return st;
}

/* Who shares what. */

static const qn_arc_rest *rest_of(const sharing *h, const qn_arc_job *job)
{
    return &h->s->share.plan.rests[job->program];
}

static uint32_t entry_of(sharing *h, int prefix, int grid)
{
    const uint64_t key = (uint64_t)(uint32_t)prefix << 32 | (uint32_t)grid;
    size_t at = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (h->table_size - 1);

    for (; h->table[at]; at = (at + 1) & (h->table_size - 1)) {
        const entry *e = &h->entries[h->table[at] - 1];

        if (e->prefix == prefix && e->grid == grid)
            return h->table[at];
    }
    h->entries[h->n_entries] = (entry){ .prefix = prefix, .grid = grid, .value = NONE };
    h->table[at] = ++h->n_entries;
    return h->n_entries;
}

static qn_status find_entries(sharing *h, qn_err *err)
{
    h->table_size = 64;
    while (h->table_size < 2 * (size_t)h->n)
        h->table_size *= 2;
    h->entries = malloc(((size_t)h->n + 1) * sizeof *h->entries);
    h->entry_of = calloc((size_t)h->n + 1, sizeof *h->entry_of);
    h->table = calloc(h->table_size, sizeof *h->table);
    if (!h->entries || !h->entry_of || !h->table)
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", h->n);
    for (uint32_t k = 0; k < h->n; k++) {
        const int grid = qn_arc_job_grid(h->s, &h->jobs[k]);
        const int prefix = rest_of(h, &h->jobs[k])->prefix;

        if (prefix == NONE || grid < 0)
            continue;
        h->entry_of[k] = entry_of(h, prefix, grid);
        h->entries[h->entry_of[k] - 1].n_users++;
    }
    for (uint32_t e = 0; e < h->n_entries; e++)
        h->n_shared += h->entries[e].n_users >= QN_ARC_LEAST_SHARERS;
    return QN_OK;
}

static double cost_of(const void *program)
{
    return ((const arc_program *)program)->cost;
}

/* What the batch costs, and what of it sharing saves, by the instructions of its programs. Steps
 * that were measured would be another measure than that of prefixes which have not run. */
static int is_worth(const sharing *h)
{
    const qn_arc_session *s = h->s;
    double cost = 0, saved = 0;

    for (uint32_t k = 0; k < h->n; k++)
        cost += cost_of(s->programs.items[h->jobs[k].program].bytes);
    for (uint32_t e = 0; e < h->n_entries; e++) {
        const entry *at = &h->entries[e];

        if (at->n_users >= QN_ARC_LEAST_SHARERS)
            saved += (at->n_users - 1.0) * cost_of(s->share.plan.items[at->prefix].bytes);
    }
    return saved >= cost * LEAST_SAVED;
}

/* Prefixes and rests stand behind the session's programs while the batch runs. */
static qn_status add_programs(sharing *h, qn_err *err)
{
    qn_arc_kept_programs *list = &h->s->programs;
    const size_t more = (size_t)h->s->share.plan.n + list->n;

    if (list->n + more > list->room) {
        qn_arc_kept_program *grown = realloc(list->items, (list->n + more) * sizeof *grown);

        if (!grown)
            return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu programs", more);
        list->items = grown;
        list->room = list->n + more;
    }
    memcpy(list->items + list->n, h->s->share.programs, more * sizeof *list->items);
    for (size_t i = 0; i < list->n; i++) /* a rest runs where its program does */
        list->items[list->n + (size_t)h->s->share.plan.n + i].place = list->items[i].place;
    list->n += more;
    return QN_OK;
}

/* Leaves the session as it was, but keeps where in the pool the programs are. */
static void end(sharing *h)
{
    qn_arc_session *s = h->s;

    if (s->programs.n > h->n_programs)
        memcpy(s->share.programs, s->programs.items + h->n_programs,
               (s->programs.n - h->n_programs) * sizeof *s->share.programs);
    s->programs.n = h->n_programs;
    s->values.n = h->n_values;
    qn_arc_attic_drop(&s->share.values);
    free(h->entries);
    free(h->entry_of);
    free(h->table);
    free(h->passed);
    free(h->again);
}

/* The first pass. */

/* Makes the result of job k of the first pass a value of the session. */
static qn_status keep_value(sharing *h, uint32_t k, entry *e, qn_err *err)
{
    qn_arc_session *s = h->s;
    const qn_arc_outcome *o = &s->outcomes[k];
    qn_arc_shared_value made = { .slot = o->result.value };
    qn_status st = QN_OK;

    if (o->result.code != ARC_OK)
        return QN_OK;
    QN_TRY(qn_arc_shared_copy(&made, qn_arc_out_of(s, o), o->out_bytes, &s->share.values, err));
    if (!made.bytes)
        return QN_OK;
    s->values.items[s->values.n] = (qn_arc_kept_value){ .id = "shared",
                                                        .bytes = made.bytes,
                                                        .n = (uint32_t)made.n,
                                                        .slot = made.slot,
                                                        .placed = made.slot };
    e->value = (int)s->values.n++;
    e->steps = o->result.steps;
    s->stats.shared_nodes++;
out:
    return st;
}

static qn_status run_prefixes(sharing *h, qn_err *err)
{
    qn_arc_session *s = h->s;
    qn_arc_kept_values *values = &s->values;
    const qn_arc_told told = s->told;
    uint32_t n = 0, k = 0;
    qn_status st = QN_OK;

    if (values->n + h->n_shared > values->room) {
        qn_arc_kept_value *grown =
            realloc(values->items, (values->n + h->n_shared) * sizeof *grown);

        if (!grown)
            return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u values", h->n_shared);
        values->items = grown;
        values->room = values->n + h->n_shared;
    }
    for (uint32_t e = 0; e < h->n_entries; e++) {
        const entry *at = &h->entries[e];
        const int program = (int)h->n_programs + at->prefix;
        qn_arc_job job = { .program = program, .args = { at->grid, NONE, NONE }, .expected = NONE };

        if (at->n_users < QN_ARC_LEAST_SHARERS)
            continue;
        if (qn_arc_takes_three(s, program))
            job = (qn_arc_job){ program, { NONE, at->grid, NONE }, NONE };
        h->passed[n++] = job;
    }
    s->told = NULL;
    st = qn_arc_run_all(s, h->passed, 0, n, ARC_WANT_OUTPUT, 0, err);
    s->told = told;
    for (uint32_t e = 0; st == QN_OK && e < h->n_entries; e++)
        if (h->entries[e].n_users >= QN_ARC_LEAST_SHARERS)
            st = keep_value(h, k++, &h->entries[e], err);
    return st;
}

/* The second and the third. */

static int has_value(const sharing *h, uint32_t k)
{
    return h->entry_of[k] && h->entries[h->entry_of[k] - 1].value != NONE;
}

static qn_status run_rests(sharing *h, qn_err *err)
{
    qn_arc_session *s = h->s;

    for (uint32_t k = 0; k < h->n; k++) {
        qn_arc_job *job = &h->passed[k];

        *job = h->jobs[k];
        if (!has_value(h, k))
            continue;
        job->args[rest_of(h, job)->slot] = h->entries[h->entry_of[k] - 1].value;
        job->program += (int)h->n_programs + s->share.plan.n;
        s->stats.shared_hits++;
    }
    return qn_arc_run_all(s, h->passed, 0, h->n, h->want, 0, err);
}

/* Whether a program that ends so does it by what it has used so far, of which its rest has used
 * less. */
static int is_used_up(int code)
{
    return code == ARC_E_ARENA || code == ARC_E_FRAMES || code == ARC_E_STEPS ||
           code == ARC_E_DEPTH || code == ARC_E_SLOTS || code == ARC_E_RESULT;
}

/* Adds the steps that the program would have done up to its end; 0 when they cannot be told. */
static int add_steps(const sharing *h, uint32_t k, arc_result *r)
{
    const qn_arc_rest *rest = rest_of(h, &h->jobs[k]);
    const uint32_t left_out = h->entries[h->entry_of[k] - 1].steps - rest->n_again;
    const uint32_t most = qn_arc_station_steps(h->s->usual.station);

    if (is_used_up(r->code) || r->steps + left_out > most)
        return 0;
    if (r->code == ARC_OK || r->line > rest->last_line)
        r->steps += left_out;
    else if (r->line >= rest->first_line)
        return 0;
    return 1;
}

static qn_status run_again(sharing *h, qn_err *err)
{
    qn_arc_session *s = h->s;
    const qn_arc_told told = s->told;
    uint32_t n = 0;
    qn_status st = QN_OK;

    for (uint32_t k = 0; k < h->n; k++)
        if (has_value(h, k) && !add_steps(h, k, &s->outcomes[k].result)) {
            h->passed[h->n + n] = h->jobs[k];
            h->again[n++] = k;
        }
    if (!n)
        return QN_OK;
    s->told = NULL;
    st = qn_arc_run_all(s, h->passed, h->n, h->n + n, h->want, 0, err);
    s->told = told;
    for (uint32_t i = 0; st == QN_OK && i < n; i++)
        s->outcomes[h->again[i]] = s->outcomes[h->n + i];
    return st;
}

qn_status qn_arc_share_run(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n, uint32_t want,
                           int *is_done, qn_err *err)
{
    sharing h = { .s = s,
                  .jobs = jobs,
                  .n = n,
                  .want = want,
                  .n_programs = s->programs.n,
                  .n_values = s->values.n };
    qn_status st = QN_OK;

    if (s->share.mode == QN_ARC_SHARE_NONE || n < QN_ARC_LEAST_SHARERS || (want & ARC_WANT_TRACE))
        return QN_OK;
    QN_TRY(plan(s, err));
    if (!s->share.plan.n)
        return QN_OK;
    QN_TRY(find_entries(&h, err));
    if (!h.n_shared || (s->share.mode == QN_ARC_SHARE_WORTH && !is_worth(&h)))
        goto out;
    h.passed = malloc(2 * ((size_t)n + 1) * sizeof *h.passed);
    h.again = malloc(((size_t)n + 1) * sizeof *h.again);
    if (!h.passed || !h.again) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %u jobs", n);
        goto out;
    }
    QN_TRY(add_programs(&h, err));
    QN_TRY(run_prefixes(&h, err));
    QN_TRY(run_rests(&h, err));
    QN_TRY(run_again(&h, err));
    *is_done = 1;
out:
    end(&h);
    return st;
}
