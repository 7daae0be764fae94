/* desk.c - which request a line holds, and the shape of answers. */
#include "domain/arc/serve/desk_impl.h"

#include "util/status.h"

#include <stdlib.h>
#include <string.h>

qn_status qn_arc_desk_new(qn_ctx *ctx, const qn_arc_session_options *options, qn_arc_desk **out,
                          qn_err *err)
{
    qn_arc_desk *desk = calloc(1, sizeof *desk);
    qn_status st = QN_OK;

    if (!desk)
        return qn_fail(err, QN_ERR_NOMEM, "arc: no memory to serve");
    QN_TRY(qn_arc_session_new(ctx, options, &desk->session, err));
    *out = desk;
    desk = NULL;
out:
    qn_arc_desk_free(desk);
    return st;
}

void qn_arc_desk_set_timeout(qn_arc_desk *desk, double seconds)
{
    desk->timeout_s = seconds;
}

void qn_arc_desk_free(qn_arc_desk *desk)
{
    if (!desk)
        return;
    qn_arc_desk_drop_programs(desk);
    qn_arc_desk_drop_tasks(desk);
    qn_arc_session_free(desk->session);
    free(desk);
}

static qn_status answer_stats(qn_arc_desk *desk, json_t *answer, qn_err *err)
{
    if (json_object_set_new(answer, "device", json_string(qn_arc_session_device(desk->session))) ||
        json_object_set_new(answer, "stats",
                            qn_arc_stats_json(qn_arc_session_stats(desk->session))))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for an answer");
    return QN_OK;
}

/* Exactly one request a line; "id" may stand beside it. */
static qn_status dispatch(qn_arc_desk *desk, const json_t *line, json_t *answer, qn_str *results,
                          int *goes_on, qn_err *err)
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
        return qn_arc_desk_programs(desk, request, answer, err);
    case TASKS:
        return qn_arc_desk_tasks(desk, request, answer, err);
    case RUN:
        return qn_arc_desk_run(desk, request, answer, results, err);
    case STATS:
        return answer_stats(desk, answer, err);
    case CLEAR:
        return qn_arc_desk_clear(desk, request, answer, err);
    case END:
        *goes_on = 0;
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

static void set_error(json_t *answer, qn_status st, const char *text)
{
    json_object_clear(answer);
    json_object_set_new(answer, "ok", json_false());
    json_object_set_new(answer, "error", qn_json_text(text));
    json_object_set_new(answer, "status", json_string(qn_status_name(st)));
}

void qn_arc_desk_refuse(const qn_err *err, qn_str *out)
{
    static const qn_str none;
    json_t *answer = json_object();

    set_error(answer, err->status, err->text);
    print_answer(answer, &none, out);
    json_decref(answer);
}

int qn_arc_desk_answer(qn_arc_desk *desk, const char *line, size_t bytes, qn_str *out)
{
    json_error_t where;
    json_t *request = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &where);
    json_t *answer = json_object();
    qn_str results = { 0 };
    qn_err err = { 0 };
    int goes_on = 1;
    qn_status st;

    json_object_set_new(answer, "ok", json_true());
    if (request)
        st = dispatch(desk, request, answer, &results, &goes_on, &err);
    else
        st = qn_fail(&err, QN_ERR_INPUT, "column %d: %s", where.column, where.text);
    if (st != QN_OK) {
        results.len = 0;
        set_error(answer, st, err.text);
    }
    if (json_is_object(request) && json_object_get(request, "id"))
        json_object_set(answer, "id", json_object_get(request, "id"));
    print_answer(answer, &results, out);
    qn_str_free(&results);
    json_decref(answer);
    json_decref(request);
    return goes_on;
}
