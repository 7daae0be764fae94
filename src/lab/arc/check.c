/* check.c - reads golden cases, and runs each through parser, compiler and VM. */
#include "lab/arc/check.h"

#include "domain/arc/value/value.h"
#include "util/json.h"
#include "util/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reading. */

#define FORMAT "quern-arc-cases-1"

typedef struct reader {
    const char *path;
    size_t case_i;
    qn_arc_heap *heap;
    qn_err *err;
} reader;

/* Writes "FILE: cases/12/args/0" to `out`. */
static const char *place(const reader *r, const char *key, size_t i, char *out, size_t size)
{
    snprintf(out, size, "%s: cases/%zu/%s/%zu", r->path, r->case_i, key, i);
    return out;
}

static qn_status read_values(reader *r, const json_t *object, const char *key,
                             const qn_arc_value **out, int *n)
{
    const json_t *const list = json_object_get(object, key);
    const size_t count = json_array_size(list);
    qn_arc_value *values;
    char where[400];
    qn_status st = QN_OK;

    if (!json_is_array(list) || count > 8)
        return qn_fail(r->err, QN_ERR_INPUT, "%s: cases/%zu/%s is not a list of at most 8 values",
                       r->path, r->case_i, key);
    if (!(values = qn_arc_values(r->heap, (int)count)))
        return qn_fail(r->err, QN_ERR_NOMEM, "%s: no memory for its values", r->path);
    for (size_t i = 0; i < count; i++)
        QN_TRY(qn_arc_from_json(json_array_get(list, i), place(r, key, i, where, sizeof where),
                                r->heap, &values[i], r->err));
    *out = values;
    *n = (int)count;
out:
    return st;
}

static qn_status read_case(reader *r, const json_t *json, qn_arc_case *out)
{
    const json_t *const result = json_object_get(json, "out");
    qn_status st = QN_OK;
    char where[400];

    out->op = json_string_value(json_object_get(json, "op"));
    out->failure = json_string_value(json_object_get(json, "err"));
    out->is_order = json_object_get(json, "order") != NULL;
    if (!out->op)
        return qn_fail(r->err, QN_ERR_INPUT, "%s: cases/%zu has no \"op\"", r->path, r->case_i);
    if (!result == !out->failure)
        return qn_fail(r->err, QN_ERR_INPUT,
                       "%s: cases/%zu needs exactly one of \"out\" and \"err\"", r->path,
                       r->case_i);
    QN_TRY(read_values(r, json, "args", &out->args, &out->n_args));
    if (json_object_get(json, "call"))
        QN_TRY(read_values(r, json, "call", &out->call, &out->n_call));
    if (result) {
        snprintf(where, sizeof where, "%s: cases/%zu/out", r->path, r->case_i);
        QN_TRY(qn_arc_from_json(result, where, r->heap, &out->out, r->err));
    }
out:
    return st;
}

qn_status qn_arc_cases_read(const char *path, qn_arc_cases *out, qn_err *err)
{
    qn_arc_cases made = { 0 };
    json_t *root = NULL;
    json_t *list = NULL;
    const char *format = NULL;
    reader r = { .path = path, .err = err };
    qn_status st = QN_OK;

    QN_TRY(qn_json_read(path, &root, err));
    made.file = root;
    QN_TRY(qn_json_get_text(root, "format", path, &format, err));
    if (strcmp(format, FORMAT) != 0)
        QN_FAIL(err, QN_ERR_INPUT, "%s: format \"%.60s\", not \"%s\"", path, format, FORMAT);
    QN_TRY(qn_json_get_array(root, "cases", path, &list, err));
    QN_TRY(qn_arc_heap_new(&made.heap, err));
    made.n = json_array_size(list);
    if (!(made.items = calloc(made.n ? made.n : 1, sizeof *made.items)))
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for %zu cases", path, made.n);
    r.heap = made.heap;
    for (r.case_i = 0; r.case_i < made.n; r.case_i++)
        QN_TRY(read_case(&r, json_array_get(list, r.case_i), &made.items[r.case_i]));
    *out = made;
    made = (qn_arc_cases){ 0 };
out:
    qn_arc_cases_free(&made);
    return st;
}

void qn_arc_cases_free(qn_arc_cases *cases)
{
    free(cases->items);
    qn_arc_heap_free(cases->heap);
    json_decref(cases->file);
    *cases = (qn_arc_cases){ 0 };
}

/* Running. */

enum { MOST_NAMES = 16, MOST_FAILURES = 20 };

static void add_call(qn_str *text, const char *name, char letter, int n)
{
    qn_str_addf(text, "%s(", name);
    for (int a = 0; a < n; a++)
        qn_str_addf(text, "%s%carg%d", a ? ", " : "", letter, a);
    qn_str_add(text, ")\n");
}

/* The program of a case. Its arguments are names bound to values. */
static void case_text(const qn_arc_case *c, qn_str *text)
{
    qn_str_add(text, "def solve_case(I):\n    x = ");
    add_call(text, c->op, 'x', c->n_args);
    if (c->call) {
        qn_str_add(text, "    y = ");
        add_call(text, "x", 'y', c->n_call);
    }
    qn_str_addf(text, "    return %s\n", c->call ? "y" : "x");
}

qn_status qn_arc_case_compile(const qn_arc_case *c, size_t number, qn_arc_code *out, qn_err *err)
{
    char names[MOST_NAMES][16];
    qn_arc_binding bound[MOST_NAMES];
    qn_arc_file *file = NULL;
    qn_str text = { 0 };
    qn_status st = QN_OK;
    int n = 0;

    *out = (qn_arc_code){ 0 };
    if (c->n_args + c->n_call > MOST_NAMES)
        return qn_fail(err, QN_ERR_INPUT, "case %zu: more than %d arguments", number, MOST_NAMES);
    for (int a = 0; a < c->n_args + c->n_call; a++, n++) {
        const int is_call = a >= c->n_args;

        snprintf(names[n], sizeof names[n], "%carg%d", is_call ? 'y' : 'x',
                 is_call ? a - c->n_args : a);
        bound[n] = (qn_arc_binding){ names[n], is_call ? &c->call[a - c->n_args] : &c->args[a] };
    }
    case_text(c, &text);
    QN_TRY(qn_arc_parse("case", qn_str_get(&text), text.len, bound, n, &file, err));
    if (!file->notes.n_errors && file->n_programs == 1)
        QN_TRY(qn_arc_compile(&file->programs[0], QN_ARC_OFF_ALL, out, err));
out:
    qn_arc_file_free(file);
    qn_str_free(&text);
    return st;
}

/* *program is -1 if the case cannot be compiled. */
static qn_status add_case(qn_arc_session *session, const qn_arc_case *c, size_t number,
                          int *program, qn_err *err)
{
    qn_arc_code code = { 0 };
    qn_status st = QN_OK;
    char id[32];

    *program = -1;
    QN_TRY(qn_arc_case_compile(c, number, &code, err));
    if (!code.bytes)
        goto out;
    snprintf(id, sizeof id, "case %zu", number);
    QN_TRY(qn_arc_session_program(session, id, code.bytes, code.n, program, err));
out:
    qn_arc_code_free(&code);
    return st;
}

static void note_failure(qn_arc_check *report, const qn_arc_case *c, size_t number, const char *got,
                         const qn_arc_value *value)
{
    qn_finding f = { .part = "cases", .n = 1, .verdict = QN_FINDING_OUT };
    qn_str text = { 0 };

    if (report->failures.n >= MOST_FAILURES)
        return;
    for (int a = 0; a < c->n_args; a++) {
        qn_str_add(&text, a ? ", " : "(");
        qn_arc_print(&text, &c->args[a]);
    }
    qn_str_add(&text, c->n_args ? "): wanted " : "(): wanted ");
    if (c->failure)
        qn_str_add(&text, c->failure);
    else
        qn_arc_print(&text, &c->out);
    qn_str_addf(&text, ", got %s", got);
    if (value)
        qn_arc_print(&text, value);
    snprintf(f.name, sizeof f.name, "case %zu %s", number, c->op);
    snprintf(f.note, sizeof f.note, "%s", qn_str_get(&text));
    qn_findings_add(&report->failures, &f);
    qn_str_free(&text);
}

static qn_status judge(qn_arc_session *session, const qn_arc_case *c, size_t number, uint32_t job,
                       qn_arc_check *report, qn_err *err)
{
    const arc_result *r = qn_arc_session_result(session, job);
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_status st = QN_OK;

    if (r->code != ARC_OK) {
        if (c->failure && !qn_arc_code_is_limit(r->code))
            report->passed++;
        else
            note_failure(report, c, number, qn_arc_code_name(r->code), NULL);
        return QN_OK;
    }
    QN_TRY(qn_arc_heap_new(&heap, err));
    QN_TRY(qn_arc_session_output(session, job, heap, &value, err));
    if (!c->failure && qn_arc_compare(&value, &c->out) == 0)
        report->passed++;
    else
        note_failure(report, c, number, "", &value);
out:
    qn_arc_heap_free(heap);
    return st;
}

uint64_t qn_arc_fallbacks(qn_arc_session *session)
{
    const qn_arc_stats *s = qn_arc_session_stats(session);
    uint64_t n = 0;

    for (int c = 0; c < ARC_N_CODES; c++)
        n += s->fallbacks[c];
    return n;
}

qn_status qn_arc_check_cases(qn_arc_session *session, const char *path, qn_arc_check *report,
                             qn_err *err)
{
    const uint64_t before = qn_arc_fallbacks(session);
    qn_arc_cases cases = { 0 };
    qn_arc_job *jobs = NULL;
    size_t *numbers = NULL;
    uint32_t n = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_cases_read(path, &cases, err));
    jobs = malloc((cases.n + 1) * sizeof *jobs);
    numbers = malloc((cases.n + 1) * sizeof *numbers);
    if (!jobs || !numbers)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: out of host memory", path);
    for (size_t i = 0; i < cases.n; i++) {
        int program;

        QN_TRY(add_case(session, &cases.items[i], i, &program, err));
        if (program >= 0) {
            numbers[n] = i;
            jobs[n++] = (qn_arc_job){ .program = program, .args = { -1, -1, -1 }, .expected = -1 };
            continue;
        }
        report->n++;
        if (cases.items[i].failure)
            report->passed++;
        else
            note_failure(report, &cases.items[i], i, "an error of the compiler", NULL);
    }
    QN_TRY(qn_arc_session_run(session, jobs, n, ARC_WANT_OUTPUT, 0, err));
    for (uint32_t k = 0; k < n; k++) {
        report->n++;
        QN_TRY(judge(session, &cases.items[numbers[k]], numbers[k], k, report, err));
    }
    report->on_cpu += qn_arc_fallbacks(session) - before;
out:
    free(jobs);
    free(numbers);
    qn_arc_cases_free(&cases);
    return st;
}

void qn_arc_check_free(qn_arc_check *report)
{
    qn_findings_free(&report->failures);
}
