/* desk_run.c - runs that a desk is asked for, and their scores. */
#include "domain/arc/batch/result.h"
#include "domain/arc/serve/desk_impl.h"

#include "util/clock.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, OTHER_SHAPE = 65535, MOST_RUNS = 1 << 28 };

typedef enum want { WANT_SCORES, WANT_RESULTS, WANT_OUTPUTS } want;

typedef struct order {
    qn_arc_pairs pairs;
    int match_all;
    want want;
    double timeout_s; /* 0: as long as it takes */
    char *is_chosen;  /* by question */
} order;

/* One run: what its answer needs. */
typedef struct ordered {
    qn_arc_desk_program *program;
    const qn_arc_question *question;
} ordered;

typedef struct totals {
    uint64_t runs, solved, errors;
    int has_batt;
} totals;

/* What is asked for. */

static qn_status read_choice(const json_t *request, const char *key, const char *const *names,
                             const char *list, int *out, qn_err *err)
{
    const json_t *value = json_object_get(request, key);
    const char *text = json_string_value(value);

    if (!value)
        return QN_OK;
    for (int i = 0; text && names[i]; i++)
        if (!strcmp(text, names[i])) {
            *out = i;
            return QN_OK;
        }
    return qn_fail(err, QN_ERR_INPUT, "'%s' is not one of %s", key, list);
}

static qn_status check_keys(const json_t *request, qn_err *err)
{
    static const char *const known[] = { "programs", "tasks", "pairs", "match", "want", "timeout" };
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)request, key, value)
    {
        size_t k = 0;

        while (k < sizeof known / sizeof *known && strcmp(known[k], key))
            k++;
        if (k == sizeof known / sizeof *known)
            return qn_fail(err, QN_ERR_INPUT,
                           "unknown member '%.60s' of 'run'; there are programs, tasks, pairs, "
                           "match, want and timeout",
                           key);
    }
    return QN_OK;
}

/* Of the run, or of the desk where the run says nothing. */
static qn_status read_timeout(const qn_arc_desk *desk, const json_t *request, double *out,
                              qn_err *err)
{
    const json_t *value = json_object_get(request, "timeout");

    *out = value ? json_number_value(value) : desk->timeout_s;
    if (value && (!json_is_number(value) || !(*out > 0 && *out <= QN_ARC_MOST_TIMEOUT_S)))
        return qn_fail(err, QN_ERR_INPUT, "'timeout' is not a number of seconds up to %d",
                       QN_ARC_MOST_TIMEOUT_S);
    return QN_OK;
}

/* Marks programs by ids; without a list, all. */
static qn_status choose_programs(qn_arc_desk *desk, const json_t *ids, qn_err *err)
{
    const qn_map_entry *entry;
    size_t at = 0;

    if (ids && !json_is_array(ids))
        return qn_fail(err, QN_ERR_INPUT, "'programs' is not a list of ids");
    while ((entry = qn_map_next(&desk->programs, &at))) {
        qn_arc_desk_program *p = entry->value;

        *p = (qn_arc_desk_program){ .parsed = p->parsed, .number = p->number, .is_chosen = !ids };
    }
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        qn_arc_desk_program *p = id ? qn_map_get(&desk->programs, id) : NULL;

        if (!p)
            return qn_fail(err, QN_ERR_INPUT, "there is no program '%.60s'", id ? id : "?");
        p->is_chosen = 1;
    }
    return QN_OK;
}

static qn_status choose_questions(qn_arc_desk *desk, const json_t *ids, order *o, qn_err *err)
{
    const qn_arc_questions *all = &desk->questions;

    if (ids && !json_is_array(ids))
        return qn_fail(err, QN_ERR_INPUT, "'tasks' is not a list of ids");
    if (!(o->is_chosen = calloc((size_t)all->n + 1, 1)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a list of grids");
    for (int q = 0; q < all->n; q++)
        o->is_chosen[q] = !ids && qn_arc_pairs_have(o->pairs, &all->items[q]);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        const qn_arc_task *task = id ? qn_map_get(&desk->tasks, id) : NULL;

        if (!task)
            return qn_fail(err, QN_ERR_INPUT, "there is no task '%.60s'", id ? id : "?");
        for (int q = 0; q < all->n; q++)
            if (all->items[q].task == task)
                o->is_chosen[q] = (char)qn_arc_pairs_have(o->pairs, &all->items[q]);
    }
    return QN_OK;
}

static qn_status read_order(qn_arc_desk *desk, const json_t *request, order *o, qn_err *err)
{
    static const char *const pairs[] = { "train", "test", "all", "first", NULL };
    static const char *const matches[] = { "id", "all", NULL };
    static const char *const wants[] = { "scores", "results", "outputs", NULL };
    int chosen_pairs = QN_ARC_PAIRS_ALL, chosen_want = WANT_SCORES;
    qn_status st = QN_OK;

    if (!json_is_object(request))
        return qn_fail(err, QN_ERR_INPUT, "'run' is not an object");
    QN_TRY(check_keys(request, err));
    QN_TRY(read_choice(request, "pairs", pairs, "train, test, all, first", &chosen_pairs, err));
    QN_TRY(read_choice(request, "match", matches, "id, all", &o->match_all, err));
    QN_TRY(read_choice(request, "want", wants, "scores, results, outputs", &chosen_want, err));
    QN_TRY(read_timeout(desk, request, &o->timeout_s, err));
    o->pairs = (qn_arc_pairs)chosen_pairs;
    o->want = (want)chosen_want;
    QN_TRY(choose_programs(desk, json_object_get(request, "programs"), err));
    QN_TRY(choose_questions(desk, json_object_get(request, "tasks"), o, err));
out:
    return st;
}

/* The runs. */

/* Takes one run into the list; with `to` NULL counts it. */
static void take_run(qn_arc_desk_program *p, const qn_arc_question *question, ordered *to,
                     uint64_t *n)
{
    if (!p || !p->is_chosen)
        return;
    if (to)
        to[*n] = (ordered){ .program = p, .question = question };
    ++*n;
}

static int is_batt(const qn_arc_desk_program *p)
{
    return (qn_arc_code_head(&p->parsed.codes[0]).flags & ARC_FLAG_BATT) != 0;
}

/* By id, the program of the task's id and all batt programs answer. */
static uint64_t list_runs(const qn_arc_desk *desk, const order *o, ordered *to, totals *t)
{
    const qn_map_entry *entry;
    uint64_t n = 0;
    size_t at = 0;

    t->has_batt = 0;
    while ((entry = qn_map_next(&desk->programs, &at)))
        t->has_batt |= ((qn_arc_desk_program *)entry->value)->is_chosen && is_batt(entry->value);
    for (int q = 0; q < desk->questions.n; q++) {
        const qn_arc_question *question = &desk->questions.items[q];
        qn_arc_desk_program *own = qn_map_get(&desk->programs, question->task->id);

        if (!o->is_chosen[q])
            continue;
        if (!o->match_all && own && !is_batt(own))
            take_run(own, question, to, &n);
        at = 0;
        while ((o->match_all || t->has_batt) && (entry = qn_map_next(&desk->programs, &at)))
            if (o->match_all || is_batt(entry->value))
                take_run(entry->value, question, to, &n);
    }
    return n;
}

static qn_status judge(qn_arc_desk *desk, const order *o, const ordered *run, uint32_t job,
                       totals *t, qn_str *results, qn_err *err)
{
    const arc_result *r = qn_arc_session_result(desk->session, job);
    const qn_arc_code *code = &run->program->parsed.codes[0];
    const int has_records = is_batt(run->program);
    const qn_arc_written written = { .session = desk->session,
                                     .job = job,
                                     .code = code,
                                     .file = qn_arc_programs_file(&run->program->parsed, 0),
                                     .question = run->question };
    int is_solved = r->code == ARC_OK && r->equal;
    const size_t start = results->len;
    qn_status st = QN_OK;

    if (o->want != WANT_SCORES || has_records) {
        QN_TRY(qn_arc_result_print(&written, o->want == WANT_OUTPUTS || has_records, results,
                                   &is_solved, err));
        results->data[results->len - 1] = ','; /* for the newline */
        if (o->want == WANT_SCORES)
            results->len = start;
    }
    run->program->runs++;
    run->program->steps += r->steps;
    run->program->errors += r->code != ARC_OK;
    run->program->solved += (uint64_t)is_solved;
    if (r->code == ARC_OK && run->question->expected >= 0) {
        run->program->other_shape += r->differing == OTHER_SHAPE;
        run->program->differing += r->differing == OTHER_SHAPE ? 0 : r->differing;
    }
    t->solved += (uint64_t)is_solved;
    t->errors += r->code != ARC_OK;
out:
    return st;
}

static qn_status run_all(qn_arc_desk *desk, const order *o, const ordered *runs, uint64_t n,
                         totals *t, qn_str *results, qn_err *err)
{
    const uint32_t wanted = o->want == WANT_OUTPUTS || t->has_batt ? ARC_WANT_OUTPUT : 0;
    qn_arc_job *jobs = malloc(CHUNK * sizeof *jobs);
    qn_status st = QN_OK;

    if (!jobs)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a list of runs");
    qn_arc_session_until(desk->session, o->timeout_s > 0 ? qn_now_us() + 1e6 * o->timeout_s : 0);
    for (uint64_t first = 0; first < n; first += CHUNK) {
        const uint32_t part = n - first < CHUNK ? (uint32_t)(n - first) : CHUNK;

        for (uint32_t k = 0; k < part; k++)
            jobs[k] = qn_arc_job_of(&runs[first + k].program->parsed.codes[0],
                                    runs[first + k].program->number, runs[first + k].question);
        QN_TRY(qn_arc_session_run(desk->session, jobs, part, wanted, 0, err));
        for (uint32_t k = 0; k < part; k++)
            QN_TRY(judge(desk, o, &runs[first + k], k, t, results, err));
    }
out:
    free(jobs);
    return st;
}

/* The answer. */

static qn_status answer_scores(const qn_arc_desk *desk, const totals *t, json_t *answer,
                               qn_err *err)
{
    const qn_map_entry *entry;
    json_t *scores = json_object();
    int failed = !scores;
    size_t at = 0;

    while (!failed && (entry = qn_map_next(&desk->programs, &at))) {
        const qn_arc_desk_program *p = entry->value;

        if (p->runs)
            failed = json_object_set_new(
                scores, entry->key,
                json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "runs", (json_int_t)p->runs, "solved",
                          (json_int_t)p->solved, "errors", (json_int_t)p->errors, "differing",
                          (json_int_t)p->differing, "other_shape", (json_int_t)p->other_shape,
                          "steps", (json_int_t)p->steps));
    }
    failed = failed || json_object_set_new(answer, "runs", json_integer((json_int_t)t->runs)) ||
             json_object_set_new(answer, "solved", json_integer((json_int_t)t->solved)) ||
             json_object_set_new(answer, "errors", json_integer((json_int_t)t->errors)) ||
             json_object_set(answer, "scores", scores);
    json_decref(scores);
    return failed ? qn_fail(err, QN_ERR_NOMEM, "no memory for an answer") : QN_OK;
}

qn_status qn_arc_desk_run(qn_arc_desk *desk, const json_t *request, json_t *answer, qn_str *results,
                          qn_err *err)
{
    order o = { 0 };
    totals t = { 0 };
    ordered *runs = NULL;
    qn_status st = QN_OK;

    QN_TRY(read_order(desk, request, &o, err));
    t.runs = list_runs(desk, &o, NULL, &t);
    if (t.runs > MOST_RUNS) {
        st = qn_fail(err, QN_ERR_LIMIT, "%llu runs are more than %d", (unsigned long long)t.runs,
                     MOST_RUNS);
        goto out;
    }
    if (!(runs = malloc(((size_t)t.runs + 1) * sizeof *runs))) {
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %llu runs", (unsigned long long)t.runs);
        goto out;
    }
    list_runs(desk, &o, runs, &t);
    QN_TRY(run_all(desk, &o, runs, t.runs, &t, results, err));
    QN_TRY(answer_scores(desk, &t, answer, err));
    if (results->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %llu results", (unsigned long long)t.runs);
out:
    free(o.is_chosen);
    free(runs);
    return st;
}
