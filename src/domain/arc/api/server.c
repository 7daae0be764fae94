/* server.c - requests in JSON and their answers. */
#include "domain/arc/api/server.h"

#include "domain/arc/api/arc_impl.h"
#include "util/json.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

void qn_arc_server_set_timeout(qn_arc *arc, double seconds)
{
    arc->timeout_s = seconds;
}

/* Programs and tasks. */

/* A bad program does not stop the others from being added. */
static qn_status add_programs(qn_arc *arc, const json_t *request, json_t **answer, qn_err *err)
{
    json_t *refused, *text;
    const char *id;
    int added = 0;

    if (!json_is_object(request))
        return qn_fail(err, QN_ERR_INPUT, "'programs' is not an object of texts by id");
    refused = json_object();
    json_object_foreach((json_t *)request, id, text)
    {
        qn_str notes = { 0 };
        qn_err why = { 0 };
        qn_status st;

        if (json_is_string(text))
            st = qn_arc_add_program(arc, id, json_string_value(text), &notes, &why);
        else
            st = qn_fail(&why, QN_ERR_INPUT, "the text of program '%.60s' is not a string", id);
        if (st == QN_OK)
            added++;
        else
            qn_json_put(&refused, id, qn_json_text(notes.len ? qn_str_get(&notes) : why.text));
        qn_str_free(&notes);
    }
    qn_json_merge(answer, json_pack("{s:i, s:I}", "added", added, "programs",
                                    (json_int_t)arc->programs.count));
    if (!refused || json_object_size(refused))
        qn_json_put(answer, "refused", refused);
    else
        json_decref(refused);
    return QN_OK;
}

static qn_status add_task(qn_arc *arc, const char *id, const json_t *json, qn_err *err)
{
    qn_arc_task task = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_arc_task_from_json(json, id, id, &task, err));
    QN_TRY(qn_arc_take_task(arc, &task, err));
out:
    qn_arc_task_free(&task);
    return st;
}

/* Tasks before a bad one are still added; the error names the bad one. */
static qn_status add_tasks(qn_arc *arc, const json_t *request, json_t **answer, qn_err *err)
{
    qn_status st = QN_OK;
    json_t *task;
    const char *id;
    int added = 0;

    if (!json_is_object(request))
        return qn_fail(err, QN_ERR_INPUT, "'tasks' is not an object of tasks by id");
    json_object_foreach((json_t *)request, id, task)
    {
        QN_TRY(add_task(arc, id, task, err));
        added++;
    }
    qn_json_merge(answer, json_pack("{s:i, s:I, s:i}", "added", added, "tasks",
                                    (json_int_t)arc->tasks.count, "pairs", arc->questions.n));
out:
    return st;
}

static qn_status clear(qn_arc *arc, const json_t *request, json_t **answer, qn_err *err)
{
    const char *what = json_string_value(request);
    qn_status st = QN_OK;

    if (!what || (strcmp(what, "programs") && strcmp(what, "all")))
        return qn_fail(err, QN_ERR_INPUT, "'clear' is neither \"programs\" nor \"all\"");
    QN_TRY(qn_arc_clear(arc, strcmp(what, "all") ? QN_ARC_CLEAR_PROGRAMS : QN_ARC_CLEAR_ALL, err));
    qn_json_merge(answer,
                  json_pack("{s:i, s:I}", "programs", 0, "tasks", (json_int_t)arc->tasks.count));
out:
    return st;
}

/* A run. */

typedef enum want { WANT_SCORES, WANT_RESULTS, WANT_OUTPUTS } want;

/* The current run: its sums, and results as "{...},{...},". */
typedef struct answered {
    want want;
    uint64_t runs, solved, errors;
    qn_str *results;
} answered;

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

/* The timeout of the request, otherwise that of the server. */
static qn_status read_timeout(const qn_arc *arc, const json_t *request, double *out, qn_err *err)
{
    const json_t *value = json_object_get(request, "timeout");

    *out = value ? json_number_value(value) : arc->timeout_s;
    if (value && (!json_is_number(value) || !(*out > 0 && *out <= QN_ARC_MOST_TIMEOUT_S)))
        return qn_fail(err, QN_ERR_INPUT, "'timeout' is not a number of seconds up to %d",
                       QN_ARC_MOST_TIMEOUT_S);
    return QN_OK;
}

/* Chooses only the programs in a list. */
static qn_status choose_programs(qn_arc *arc, const json_t *ids, qn_err *err)
{
    const qn_map_entry *entry;
    size_t at = 0;

    if (!ids)
        return QN_OK;
    if (!json_is_array(ids))
        return qn_fail(err, QN_ERR_INPUT, "'programs' is not a list of ids");
    while ((entry = qn_map_next(&arc->programs, &at)))
        ((qn_arc_program_added *)entry->value)->is_chosen = 0;
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        qn_arc_program_added *p = id ? qn_map_get(&arc->programs, id) : NULL;

        if (!p)
            return qn_fail(err, QN_ERR_INPUT, "there is no program '%.60s'", id ? id : "?");
        p->is_chosen = 1;
    }
    return QN_OK;
}

/* Chooses only the tasks in a list. */
static qn_status choose_questions(const qn_arc *arc, const json_t *ids, qn_arc_order *o,
                                  qn_err *err)
{
    const qn_arc_questions *all = &arc->questions;

    if (!ids)
        return QN_OK;
    if (!json_is_array(ids))
        return qn_fail(err, QN_ERR_INPUT, "'tasks' is not a list of ids");
    memset(o->is_chosen, 0, (size_t)all->n);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        const qn_arc_task *task = id ? qn_map_get(&arc->tasks, id) : NULL;

        if (!task)
            return qn_fail(err, QN_ERR_INPUT, "there is no task '%.60s'", id ? id : "?");
        for (int q = 0; q < all->n; q++)
            if (all->items[q].task == task)
                o->is_chosen[q] = (char)qn_arc_pairs_have(o->pairs, &all->items[q]);
    }
    return QN_OK;
}

static qn_status read_order(qn_arc *arc, const json_t *request, qn_arc_order *o, want *wanted,
                            qn_err *err)
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
    QN_TRY(read_timeout(arc, request, &o->timeout_s, err));
    o->pairs = (qn_arc_pairs)chosen_pairs;
    o->with_outputs = chosen_want == WANT_OUTPUTS;
    *wanted = (want)chosen_want;
    QN_TRY(qn_arc_order_all(arc, o, err));
    QN_TRY(choose_programs(arc, json_object_get(request, "programs"), err));
    QN_TRY(choose_questions(arc, json_object_get(request, "tasks"), o, err));
out:
    return st;
}

static qn_status add_run(void *user, qn_arc_program_added *program, const qn_arc_written *run,
                         qn_err *err)
{
    answered *a = user;
    const arc_result *r = qn_arc_session_result(run->session, run->job);
    const int has_records = qn_arc_is_batt(run->code);
    int is_solved = r->code == ARC_OK && r->equal;
    const size_t start = a->results->len;
    qn_status st = QN_OK;

    if (a->want != WANT_SCORES || has_records) {
        QN_TRY(qn_arc_result_print(run, a->want == WANT_OUTPUTS || has_records, a->results,
                                   &is_solved, err));
        a->results->data[a->results->len - 1] = ','; /* for the newline */
        if (a->want == WANT_SCORES)
            a->results->len = start;
    }
    qn_arc_count_run(program, run, is_solved);
    a->solved += (uint64_t)is_solved;
    a->errors += r->code != ARC_OK;
out:
    return st;
}

static void put_scores(const qn_arc *arc, const answered *a, json_t **answer)
{
    const qn_map_entry *entry;
    json_t *scores = json_object();
    size_t at = 0;

    while ((entry = qn_map_next(&arc->programs, &at))) {
        const qn_arc_program_added *p = entry->value;

        if (p->runs)
            qn_json_put(&scores, entry->key,
                        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "runs", (json_int_t)p->runs,
                                  "solved", (json_int_t)p->solved, "errors", (json_int_t)p->errors,
                                  "differing", (json_int_t)p->differing, "other_shape",
                                  (json_int_t)p->other_shape, "steps", (json_int_t)p->steps));
    }
    qn_json_merge(answer, json_pack("{s:I, s:I, s:I, s:o}", "runs", (json_int_t)a->runs, "solved",
                                    (json_int_t)a->solved, "errors", (json_int_t)a->errors,
                                    "scores", scores));
}

static qn_status run(qn_arc *arc, const json_t *request, json_t **answer, qn_str *results,
                     qn_err *err)
{
    qn_arc_order order = { 0 };
    answered a = { .results = results };
    qn_status st = QN_OK;

    QN_TRY(read_order(arc, request, &order, &a.want, err));
    QN_TRY(qn_arc_order_run(arc, &order, add_run, &a, &a.runs, err));
    put_scores(arc, &a, answer);
    if (results->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "no memory for %llu results", (unsigned long long)a.runs);
out:
    free(order.is_chosen);
    return st;
}

/* Requests. */

/* A line holds one request, and optionally an "id". */
static qn_status dispatch(qn_arc *arc, const json_t *line, json_t **answer, qn_str *results,
                          int *is_open, qn_err *err)
{
    static const char *const names[] = { "programs", "tasks", "run", "stats", "clear", "end" };
    enum { PROGRAMS, TASKS, RUN, STATS, CLEAR, END, N_NAMES };
    const json_t *request = NULL;
    int which = -1;
    const char *key;
    json_t *value;

    if (!json_is_object(line))
        return qn_fail(err, QN_ERR_INPUT, "the line is not a JSON object");
    json_object_foreach((json_t *)line, key, value)
    {
        int k = 0;

        if (!strcmp(key, "id"))
            continue;
        while (k < N_NAMES && strcmp(names[k], key))
            k++;
        if (k == N_NAMES)
            return qn_fail(err, QN_ERR_INPUT,
                           "unknown request '%.60s'; there are programs, tasks, run, stats, clear "
                           "and end",
                           key);
        if (which >= 0)
            return qn_fail(err, QN_ERR_INPUT, "'%s' and '%s' in one line", names[which], key);
        which = k;
        request = value;
    }
    switch (which) {
    case PROGRAMS:
        return add_programs(arc, request, answer, err);
    case TASKS:
        return add_tasks(arc, request, answer, err);
    case RUN:
        return run(arc, request, answer, results, err);
    case STATS:
        qn_json_put(answer, "device", json_string(qn_arc_session_device(arc->session)));
        qn_json_put(answer, "stats", qn_arc_stats_json(qn_arc_session_stats(arc->session)));
        return QN_OK;
    case CLEAR:
        return clear(arc, request, answer, err);
    case END:
        *is_open = 0;
        return QN_OK;
    default:
        return qn_fail(err, QN_ERR_INPUT, "the line has no request");
    }
}

/* Results are text already; they become the last member. */
static void print_answer(const json_t *answer, const qn_str *results, qn_str *out)
{
    char *text = json_dumps(answer, JSON_COMPACT);
    size_t n = text ? strlen(text) : 0;

    if (!n) {
        qn_str_add(out, "{\"ok\":false,\"error\":\"no memory for an answer\"}\n");
    } else if (!results->len) {
        qn_str_add_n(out, text, n);
        qn_str_add(out, "\n");
    } else {
        qn_str_add_n(out, text, n - 1);
        qn_str_add(out, ",\"results\":[");
        qn_str_add_n(out, qn_str_get(results), results->len - 1); /* the last comma */
        qn_str_add(out, "]}\n");
    }
    free(text);
}

static json_t *refusal(const qn_err *err)
{
    return json_pack("{s:b, s:o, s:s}", "ok", 0, "error", qn_json_text(err->text), "status",
                     qn_status_name(err->status));
}

void qn_arc_server_refuse(const qn_err *err, qn_str *out)
{
    static const qn_str none;
    json_t *answer = refusal(err);

    print_answer(answer, &none, out);
    json_decref(answer);
}

int qn_arc_server_answer(qn_arc *arc, const char *line, size_t bytes, qn_str *out)
{
    json_error_t where;
    json_t *request = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &where);
    json_t *answer = json_pack("{s:b}", "ok", 1);
    qn_str results = { 0 };
    qn_err err = { 0 };
    int is_open = 1;
    qn_status st;

    if (request)
        st = dispatch(arc, request, &answer, &results, &is_open, &err);
    else
        st = qn_fail(&err, qn_json_status(&where), "column %d: %s", where.column,
                     where.text[0] ? where.text : "no memory to read it");
    if (st == QN_OK && (!answer || results.failed))
        st = qn_fail(&err, QN_ERR_NOMEM, "no memory for an answer");
    if (st != QN_OK) {
        results.len = 0;
        json_decref(answer);
        answer = refusal(&err);
    }
    if (json_is_object(request) && json_object_get(request, "id"))
        qn_json_put(&answer, "id", json_incref(json_object_get(request, "id")));
    print_answer(answer, &results, out);
    qn_str_free(&results);
    json_decref(answer);
    json_decref(request);
    return is_open;
}

const char *qn_arc_ask(qn_arc *arc, const char *line)
{
    arc->answer.len = 0;
    qn_arc_server_answer(arc, line, strlen(line), &arc->answer);
    return arc->answer.failed ? NULL : qn_str_get(&arc->answer);
}
