/* check_cases.c - golden cases through parser, compiler and VM. */
#include "lab/arc/check_cases.h"

#include "domain/arc/value/op_names.h"
#include "domain/arc/value/text.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_NAMES = 16, MOST_LINES = 20, LINE_CHARS = 400 };

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
    /* The primitive itself is to run, and nothing that the compiler puts in its place. */
    static const qn_arc_compile_options as_written = { .off = QN_ARC_OFF_ALL };
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
        QN_TRY(qn_arc_compile(&file->programs[0], &as_written, out, err));
out:
    qn_arc_file_free(file);
    qn_str_free(&text);
    return st;
}

/* *program is -1 when the case cannot be compiled. */
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
    qn_str line = { 0 };

    if (report->n - report->passed > MOST_LINES)
        return;
    qn_str_addf(&line, "case %zu %s(", number, c->op);
    for (int a = 0; a < c->n_args; a++) {
        qn_str_add(&line, a ? ", " : "");
        qn_arc_print(&line, &c->args[a]);
    }
    qn_str_add(&line, "): wanted ");
    if (c->failure)
        qn_str_add(&line, c->failure);
    else
        qn_arc_print(&line, &c->out);
    qn_str_addf(&line, ", got %s", got);
    if (value)
        qn_arc_print(&line, value);
    qn_str_add_n(&report->failures, qn_str_get(&line),
                 line.len < LINE_CHARS ? line.len : LINE_CHARS);
    qn_str_add(&report->failures, "\n");
    qn_str_free(&line);
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

static uint64_t count_fallbacks(qn_arc_session *session)
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
    const uint64_t before = count_fallbacks(session);
    qn_arc_cases cases = { 0 };
    qn_arc_job *jobs = NULL;
    size_t *numbers = NULL;
    uint32_t n = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_cases_read(path, &cases, err));
    jobs = malloc((cases.n + 1) * sizeof *jobs);
    numbers = malloc((cases.n + 1) * sizeof *numbers);
    if (!jobs || !numbers) {
        st = qn_fail(err, QN_ERR_NOMEM, "%s: out of host memory", path);
        goto out;
    }
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
    report->on_cpu += count_fallbacks(session) - before;
out:
    free(jobs);
    free(numbers);
    qn_arc_cases_free(&cases);
    return st;
}

void qn_arc_check_free(qn_arc_check *report)
{
    qn_str_free(&report->failures);
}
