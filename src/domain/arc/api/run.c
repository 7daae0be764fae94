/* run.c - the runs of chosen programs on chosen questions. */
#include "domain/arc/api/arc_impl.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/status.h"

#include <stdlib.h>

enum { OTHER_SHAPE = 65535, MOST_RUNS = 1 << 28 };

typedef struct run {
    qn_arc_program_added *program;
    const qn_arc_question *question;
} run;

typedef struct runs {
    qn_arc *arc;
    run *items;
    qn_arc_on_run *on_run;
    void *user;
} runs;

qn_status qn_arc_order_all(qn_arc *arc, qn_arc_order *o, qn_err *err)
{
    const qn_arc_questions *all = &arc->questions;
    const qn_map_entry *entry;
    size_t at = 0;

    while ((entry = qn_map_next(&arc->programs, &at))) {
        qn_arc_program_added *p = entry->value;

        *p = (qn_arc_program_added){ .parsed = p->parsed, .number = p->number, .is_chosen = 1 };
    }
    if (!(o->is_chosen = calloc((size_t)all->n + 1, 1)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a list of grids");
    for (int q = 0; q < all->n; q++)
        o->is_chosen[q] = (char)qn_arc_pairs_have(o->pairs, &all->items[q]);
    return QN_OK;
}

/* Lists one run; if `to` is NULL, only counts it. */
static void list_run(qn_arc_program_added *p, const qn_arc_question *question, run *to, uint64_t *n)
{
    if (!p || !p->is_chosen)
        return;
    if (to)
        to[*n] = (run){ .program = p, .question = question };
    ++*n;
}

static int is_batt(const qn_arc_program_added *p)
{
    return qn_arc_is_batt(&p->parsed.codes[0]);
}

/* By id: the program with the task's id, and all batt programs. */
static uint64_t list_runs(const qn_arc *arc, const qn_arc_order *o, run *to, int *has_batt)
{
    const qn_map_entry *entry;
    uint64_t n = 0;
    size_t at = 0;

    *has_batt = 0;
    while ((entry = qn_map_next(&arc->programs, &at)))
        *has_batt |= ((qn_arc_program_added *)entry->value)->is_chosen && is_batt(entry->value);
    for (int q = 0; q < arc->questions.n; q++) {
        const qn_arc_question *question = &arc->questions.items[q];
        qn_arc_program_added *own = qn_map_get(&arc->programs, question->task->id);

        if (!o->is_chosen[q])
            continue;
        if (!o->match_all && own && !is_batt(own))
            list_run(own, question, to, &n);
        at = 0;
        while ((o->match_all || *has_batt) && (entry = qn_map_next(&arc->programs, &at)))
            if (o->match_all || is_batt(entry->value))
                list_run(entry->value, question, to, &n);
    }
    return n;
}

void qn_arc_count_run(qn_arc_program_added *p, const qn_arc_written *r, int is_solved)
{
    const arc_result *result = qn_arc_session_result(r->session, r->job);

    p->runs++;
    p->steps += result->steps;
    p->errors += result->code != ARC_OK;
    p->solved += (uint64_t)is_solved;
    if (result->code == ARC_OK && r->question->expected >= 0) {
        p->other_shape += result->differing == OTHER_SHAPE;
        p->differing += result->differing == OTHER_SHAPE ? 0 : result->differing;
    }
}

static qn_arc_job job_of(void *user, uint64_t k)
{
    const run *r = &((runs *)user)->items[k];

    return qn_arc_job_of(&r->program->parsed.codes[0], r->program->number, r->question);
}

static qn_status take_run(void *user, uint64_t k, uint32_t job, qn_err *err)
{
    runs *all = user;
    const run *r = &all->items[k];
    const qn_arc_written written = { .session = all->arc->session,
                                     .job = job,
                                     .code = &r->program->parsed.codes[0],
                                     .file = r->program->parsed.files[0],
                                     .question = r->question };

    return all->on_run(all->user, r->program, &written, err);
}

qn_status qn_arc_order_run(qn_arc *arc, const qn_arc_order *o, qn_arc_on_run *on_run, void *user,
                           uint64_t *n_runs, qn_err *err)
{
    runs all = { .arc = arc, .on_run = on_run, .user = user };
    qn_arc_series_work work = { .user = &all, .job_of = job_of, .on_run = take_run };
    int has_batt;
    qn_status st = QN_OK;

    *n_runs = work.n = list_runs(arc, o, NULL, &has_batt);
    if (work.n > MOST_RUNS)
        return qn_fail(err, QN_ERR_LIMIT, "%llu runs are more than %d", (unsigned long long)work.n,
                       MOST_RUNS);
    QN_TRY(QN_NEW(all.items, (size_t)work.n + 1, "runs", err));
    list_runs(arc, o, all.items, &has_batt);
    work.want = o->with_outputs || has_batt ? ARC_WANT_OUTPUT : 0;
    qn_arc_session_until(arc->session, o->timeout_s > 0 ? qn_now_us() + 1e6 * o->timeout_s : 0);
    QN_TRY(qn_arc_series_do(arc->session, &work, err));
out:
    free(all.items);
    return st;
}
