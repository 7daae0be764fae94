/* prefixes.c - computes once what several programs of a run compute from the same grid.
 *
 * The run takes three passes. First, prefixes (compile/compile.h) run on the grids where at least
 * QN_ARC_LEAST_SHARERS jobs need them, and their values become resident. Then all jobs run; those
 * that have such a value run only the rest of their program. Last, some jobs run again in full,
 * because the end of the rest does not tell what the program does: it ended at a limit, or failed
 * among the steps that were left out. All this is done only if it is estimated to save a quarter of
 * the run's cost, since values go through the host and a launch is added. Results, steps and the
 * lines of failures are those of the whole programs.
 */
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/value.h"
#include "util/list.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

/* The fraction of a run's cost that must be saved to make another launch worthwhile. */
#define LEAST_SAVED 0.25

/* A prefix on a grid. */
typedef struct {
    int prefix, grid;
    uint32_t n_users;
    int value;      /* of the session; NONE: it did not run, or its value cannot be shared */
    uint32_t steps; /* taken by it */
} entry;

typedef struct {
    qn_arc_session *s;
    const qn_arc_job *jobs;
    uint32_t n, want;
    entry *entries;
    uint32_t n_entries, n_shared; /* n_shared: those with enough users */
    uint32_t *table;              /* 1 + the number of an entry, by hash */
    size_t table_size;
    uint32_t *entry_of;          /* per job: 1 + its entry; 0: none */
    qn_arc_job *jobs_of_pass;    /* in the third pass they follow those of the second */
    uint32_t *again;             /* jobs that run again */
    size_t n_programs, n_values; /* of the session, before prefixes and their values were added */
} sharing;

/* The plan. */

void qn_arc_prefixes_forget(qn_arc_common *common)
{
    qn_arc_prefixes_free(&common->plan);
    free(common->programs);
    common->programs = NULL;
    common->n_planned = 0;
}

static qn_status plan(qn_arc_session *s, qn_err *err)
{
    qn_arc_common *common = &s->common;
    const size_t n = s->programs.n;
    qn_arc_bytes *list = NULL;
    qn_status st = QN_OK;

    if (common->n_planned == n)
        return QN_OK;
    qn_arc_prefixes_forget(common);
    QN_TRY(QN_NEW(list, n, "programs", err));
    for (size_t i = 0; i < n; i++)
        list[i] =
            (qn_arc_bytes){ .bytes = s->programs.items[i].bytes, .n = s->programs.items[i].n };
    QN_TRY(qn_arc_prefixes_find(list, (int)n, &common->plan, err));
    QN_TRY(QN_NEW(common->programs, (size_t)common->plan.n + n + 1, "programs", err));
    for (int i = 0; i < common->plan.n; i++) {
        const qn_arc_program_entry *source = &s->programs.items[common->plan.sources[i]];

        common->programs[i] = (qn_arc_program_entry){ .id = source->id,
                                                      .bytes = common->plan.items[i].bytes,
                                                      .n = common->plan.items[i].n };
        common->programs[i].key =
            qn_arc_costs_key(common->programs[i].bytes, common->programs[i].n);
    }
    for (size_t i = 0; i < n; i++)
        common->programs[(size_t)common->plan.n + i] =
            (qn_arc_program_entry){ .id = s->programs.items[i].id,
                                    .bytes = common->plan.rests[i].bytes,
                                    .n = common->plan.rests[i].n,
                                    .key = s->programs.items[i].key };
    common->n_planned = n;
out:
    free(list);
    return st;
}

/* Entries. */

static const qn_arc_rest *rest_of(const sharing *h, const qn_arc_job *job)
{
    return &h->s->common.plan.rests[job->program];
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
    qn_status st = QN_OK;

    h->table_size = 64;
    while (h->table_size < 2 * (size_t)h->n)
        h->table_size *= 2;
    QN_TRY(QN_NEW(h->entries, h->n, "jobs", err));
    QN_TRY(QN_NEW(h->entry_of, h->n, "jobs", err));
    QN_TRY(QN_NEW(h->table, h->table_size, "jobs", err));
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
out:
    return st;
}

static double cost_of(const void *program)
{
    return ((const arc_program *)program)->cost;
}

/* Whether sharing saves enough of the run's cost, judged by the instructions of its programs.
 * Measured steps would not be comparable with prefixes that have not run. */
static int is_worth(const sharing *h)
{
    const qn_arc_session *s = h->s;
    double cost = 0, saved = 0;

    for (uint32_t k = 0; k < h->n; k++)
        cost += cost_of(s->programs.items[h->jobs[k].program].bytes);
    for (uint32_t e = 0; e < h->n_entries; e++) {
        const entry *at = &h->entries[e];

        if (at->n_users >= QN_ARC_LEAST_SHARERS)
            saved += (at->n_users - 1.0) * cost_of(s->common.plan.items[at->prefix].bytes);
    }
    return saved >= cost * LEAST_SAVED;
}

/* Prefixes and rests follow the session's programs during the run. */
static qn_status add_programs(sharing *h, qn_err *err)
{
    qn_arc_programs_added *list = &h->s->programs;
    const size_t more = (size_t)h->s->common.plan.n + list->n;
    const qn_status st = QN_ROOM(list->items, list->n + more, &list->room, "programs", err);

    if (st != QN_OK)
        return st;
    memcpy(list->items + list->n, h->s->common.programs, more * sizeof *list->items);
    for (size_t i = 0; i < list->n; i++) /* a rest runs where its program does */
        list->items[list->n + (size_t)h->s->common.plan.n + i].place = list->items[i].place;
    list->n += more;
    return QN_OK;
}

/* Removes prefixes and rests from the session, but remembers their positions in the pool. */
static void end(sharing *h)
{
    qn_arc_session *s = h->s;

    if (s->programs.n > h->n_programs)
        memcpy(s->common.programs, s->programs.items + h->n_programs,
               (s->programs.n - h->n_programs) * sizeof *s->common.programs);
    s->programs.n = h->n_programs;
    s->values.n = h->n_values;
    qn_arena_clear(&s->common.values);
    free(h->entries);
    free(h->entry_of);
    free(h->table);
    free(h->jobs_of_pass);
    free(h->again);
}

/* Values. */

/* The output of a prefix as a value for other runs. */
typedef struct {
    uint64_t slot; /* its payload is an offset into the output, later into bytes */
    unsigned char *bytes;
    size_t n;
} shared_value;

/* Content starts at multiples of 8. */
static size_t padded(size_t n)
{
    return n == SIZE_MAX ? n : (n + 7) / 8 * 8;
}

/* Bytes of a value whose parts point to nothing; SIZE_MAX for other values and for functions. */
static size_t flat_bytes(uint64_t slot, const unsigned char *out, size_t n_out)
{
    const size_t at = ARC_PAYLOAD(slot), n = (size_t)ARC_AUX(slot);
    uint16_t size[2];

    switch (ARC_TAG(slot)) {
    case ARC_NONE:
    case ARC_BOOL:
    case ARC_PAIR:
    case ARC_CELL:
        return 0;
    case ARC_INT:
        return n ? SIZE_MAX : 0; /* with content it is a wide one */
    case ARC_IDX:
    case ARC_OBJ:
        return 4 * n;
    case ARC_ROW:
        return n;
    case ARC_GRID:
        if (at + ARC_GRID_HEAD > n_out)
            return SIZE_MAX;
        memcpy(size, out + at, sizeof size);
        return ARC_GRID_HEAD + (size_t)size[0] * size[1];
    default:
        return SIZE_MAX;
    }
}

/* Bytes of a value and all its parts, which a device has written one after the other; SIZE_MAX if
 * the value cannot be shared. */
static size_t shared_bytes(uint64_t slot, const unsigned char *out, size_t n_out)
{
    const size_t at = ARC_PAYLOAD(slot), n = (size_t)ARC_AUX(slot);
    size_t total = 8 * n;

    if (ARC_TAG(slot) != ARC_SET && ARC_TAG(slot) != ARC_TUPLE)
        return padded(flat_bytes(slot, out, n_out));
    if (at + total > n_out)
        return SIZE_MAX;
    for (size_t k = 0; k < n; k++) {
        uint64_t part;
        size_t bytes;

        memcpy(&part, out + at + 8 * k, sizeof part);
        if ((bytes = padded(flat_bytes(part, out, n_out))) == SIZE_MAX)
            return SIZE_MAX;
        total += bytes;
    }
    return total;
}

/* Copies the content of the slot. bytes stays NULL if the value cannot be shared: it contains
 * functions, or containers nested three deep. */
static qn_status copy_value(shared_value *v, const unsigned char *out, size_t n_out,
                            qn_arena *arena, qn_err *err)
{
    const size_t at = qn_arc_has_content(v->slot) ? ARC_PAYLOAD(v->slot) : 0;
    const size_t n = shared_bytes(v->slot, out, n_out);

    if (n == SIZE_MAX || (n && at + n > n_out))
        return QN_OK;
    if (!(v->bytes = qn_arena_take(arena, n + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "arc: out of host memory for %zu bytes", n);
    v->n = n;
    if (n)
        memcpy(v->bytes, out + at, n);
    if (qn_arc_move(&v->slot, v->bytes, n, (uint32_t)at, -(uint32_t)at, NULL) != QN_OK)
        v->bytes = NULL; /* its parts lie elsewhere */
    return QN_OK;
}

/* The first pass. */

/* Adds the result of job k of the first pass to the session's values. */
static qn_status add_value(sharing *h, uint32_t k, entry *e, qn_err *err)
{
    qn_arc_session *s = h->s;
    const qn_arc_outcome *o = &s->outcomes[k];
    shared_value made = { .slot = o->result.value };
    qn_status st = QN_OK;

    if (o->result.code != ARC_OK)
        return QN_OK;
    QN_TRY(copy_value(&made, qn_arc_out_of(s, o), o->out_bytes, &s->common.values, err));
    if (!made.bytes)
        return QN_OK;
    s->values.items[s->values.n] = (qn_arc_value_entry){ .id = "shared",
                                                         .bytes = made.bytes,
                                                         .n = (uint32_t)made.n,
                                                         .slot = made.slot,
                                                         .pooled = made.slot };
    e->value = (int)s->values.n++;
    e->steps = o->result.steps;
    s->stats.shared_nodes++;
out:
    return st;
}

static qn_status run_prefixes(sharing *h, qn_err *err)
{
    qn_arc_session *s = h->s;
    qn_arc_values_added *values = &s->values;
    qn_arc_on_progress *const on_progress = s->on_progress;
    uint32_t n = 0, k = 0;
    qn_status st = QN_OK;

    st = QN_ROOM(values->items, values->n + h->n_shared, &values->room, "values", err);
    if (st != QN_OK)
        return st;
    for (uint32_t e = 0; e < h->n_entries; e++) {
        const entry *at = &h->entries[e];
        const int program = (int)h->n_programs + at->prefix;
        qn_arc_job job = { .program = program, .args = { at->grid, NONE, NONE }, .expected = NONE };

        if (at->n_users < QN_ARC_LEAST_SHARERS)
            continue;
        if (qn_arc_takes_three(s, program))
            job = (qn_arc_job){ program, { NONE, at->grid, NONE }, NONE };
        h->jobs_of_pass[n++] = job;
    }
    s->on_progress = NULL;
    st = qn_arc_run_all(s, h->jobs_of_pass, 0, n, ARC_WANT_OUTPUT, 0, err);
    s->on_progress = on_progress;
    for (uint32_t e = 0; st == QN_OK && e < h->n_entries; e++)
        if (h->entries[e].n_users >= QN_ARC_LEAST_SHARERS)
            st = add_value(h, k++, &h->entries[e], err);
    return st;
}

/* The second and the third pass. */

static int has_value(const sharing *h, uint32_t k)
{
    return h->entry_of[k] && h->entries[h->entry_of[k] - 1].value != NONE;
}

static qn_status run_rests(sharing *h, qn_err *err)
{
    qn_arc_session *s = h->s;

    for (uint32_t k = 0; k < h->n; k++) {
        qn_arc_job *job = &h->jobs_of_pass[k];

        *job = h->jobs[k];
        if (!has_value(h, k))
            continue;
        job->args[rest_of(h, job)->slot] = h->entries[h->entry_of[k] - 1].value;
        job->program += (int)h->n_programs + s->common.plan.n;
        s->stats.shared_hits++;
    }
    return qn_arc_run_all(s, h->jobs_of_pass, 0, h->n, h->want, 0, err);
}

/* Whether the code says that the run exceeded a limit. The rest has used less than the program
 * would. */
static int is_used_up(int code)
{
    return code == ARC_E_ARENA || code == ARC_E_FRAMES || code == ARC_E_STEPS ||
           code == ARC_E_DEPTH || code == ARC_E_COMPARED || code == ARC_E_SLOTS ||
           code == ARC_E_RESULT;
}

/* Adds the steps that were left out, to get the steps of the whole program; returns 0 if it is
 * unknown how many of them the program would have taken. */
static int add_steps(const sharing *h, uint32_t k, arc_result *r)
{
    const qn_arc_rest *rest = rest_of(h, &h->jobs[k]);
    const uint32_t left_out = h->entries[h->entry_of[k] - 1].steps - rest->n_again;
    const uint32_t most = qn_arc_executor_max_steps(h->s->usual.executor);

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
    qn_arc_on_progress *const on_progress = s->on_progress;
    uint32_t n = 0;
    qn_status st = QN_OK;

    for (uint32_t k = 0; k < h->n; k++)
        if (has_value(h, k) && !add_steps(h, k, &s->outcomes[k].result)) {
            h->jobs_of_pass[h->n + n] = h->jobs[k];
            h->again[n++] = k;
        }
    if (!n)
        return QN_OK;
    s->on_progress = NULL;
    st = qn_arc_run_all(s, h->jobs_of_pass, h->n, h->n + n, h->want, 0, err);
    s->on_progress = on_progress;
    for (uint32_t i = 0; st == QN_OK && i < n; i++)
        s->outcomes[h->again[i]] = s->outcomes[h->n + i];
    return st;
}

qn_status qn_arc_prefixes_run(qn_arc_session *s, const qn_arc_job *jobs, uint32_t n, uint32_t want,
                              int *is_done, qn_err *err)
{
    sharing h = { .s = s,
                  .jobs = jobs,
                  .n = n,
                  .want = want,
                  .n_programs = s->programs.n,
                  .n_values = s->values.n };
    qn_status st = QN_OK;

    if (s->common.mode == QN_ARC_PREFIXES_OFF || n < QN_ARC_LEAST_SHARERS ||
        (want & ARC_WANT_TRACE))
        return QN_OK;
    QN_TRY(plan(s, err));
    if (!s->common.plan.n)
        return QN_OK;
    QN_TRY(find_entries(&h, err));
    if (!h.n_shared || (s->common.mode == QN_ARC_PREFIXES_WORTH && !is_worth(&h)))
        goto out;
    QN_TRY(QN_NEW(h.jobs_of_pass, 2 * ((size_t)n + 1), "jobs", err));
    QN_TRY(QN_NEW(h.again, (size_t)n + 1, "jobs", err));
    QN_TRY(add_programs(&h, err));
    QN_TRY(run_prefixes(&h, err));
    QN_TRY(run_rests(&h, err));
    QN_TRY(run_again(&h, err));
    *is_done = 1;
out:
    end(&h);
    return st;
}
