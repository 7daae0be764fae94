/* test_arc_vm_batt.c - batt programs: which steps a failed step affects, and which not. */
#include "arc_session_fixture.h"

#include "domain/arc/value/value.h"

enum { N_STEPS = 10, HEAD_LINES = 3 }; /* step k is on line HEAD_LINES + k */

static const char *const backends[] = { "cpu", "sim" };
static const char head[] = "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n";

typedef struct records {
    qn_arc_heap *heap;
    qn_arc_value all;
    const arc_result *result;
    qn_arc_code code;
    fixture r;
} records;

/* Runs the text on a grid of two rows; without passes, so that every step stays separate. */
static records run_text(const char *backend, const char *text)
{
    static const unsigned char cells[] = { 1, 2, 0, 0, 2, 1 };
    qn_arc_file *file = parse_good(text);
    records out = { .heap = NULL };
    qn_err err = { .text = "" };

    out.r = fixture_open(backend, (qn_arc_session_options){ 0 });
    out.code = compile_with(&file->programs[0], QN_ARC_OFF_ALL);
    fixture_batt_job(&out.r, fixture_code(&out.r, "batt", &out.code),
                     fixture_grid(&out.r, "grid", 2, 3, cells));
    fixture_run(&out.r);
    out.result = qn_arc_session_result(out.r.s, 0);
    assert_int_equal(out.result->code, ARC_OK);
    if (qn_arc_heap_new(&out.heap, &err) != QN_OK ||
        qn_arc_session_output(out.r.s, 0, out.heap, &out.all, &err) != QN_OK)
        fail_msg("%s", err.text);
    qn_arc_file_free(file);
    return out;
}

static void close_records(records *r)
{
    qn_arc_heap_free(r->heap);
    qn_arc_code_free(&r->code);
    fixture_close(&r->r);
}

/* A value that is not ok holds the number of the instruction that failed. */
static void assert_bad(const records *r, int record, int code, int line)
{
    const qn_arc_value *v = &r->all.items[record];

    assert_int_equal(v->kind, QN_ARC_BAD);
    assert_int_equal(v->number, code);
    assert_int_equal(ins_of(&r->code, v->step).line, line);
}

static void assert_text(const qn_arc_value *v, const char *expected)
{
    qn_str text = { 0 };

    qn_arc_print(&text, v);
    assert_string_equal(qn_str_get(&text), expected);
    qn_str_free(&text);
}

/* All forms of steps. */

typedef enum { PLAIN, PILED, MIXED, N_FORMS } form;

/* Two chains, of odd and of even steps; step `bad` divides by zero. */
static void add_step(qn_str *text, form f, int k, int bad)
{
    const int is_piled = f == PILED || (f == MIXED && k % 3 == 0);

    if (k == bad && is_piled)
        qn_str_addf(text, "    t%d = env.do_pile(%d, [divide, ONE, ZERO], True)\n", k, k);
    else if (k == bad)
        qn_str_addf(text, "    t%d = divide(ONE, ZERO)\n", k);
    else if (k <= 2)
        qn_str_addf(text, "    t%d = identity(I)\n", k);
    else if (is_piled)
        qn_str_addf(text, "    t%d = env.do_pile(%d, [hmirror, t%d.t], t%d.ok)\n", k, k, k - 2,
                    k - 2);
    else
        qn_str_addf(text, "    t%d = hmirror(t%d)\n", k, k - 2);
}

static void check_matrix(const char *backend, form f, int bad)
{
    qn_str text = { 0 };
    records r;
    uint32_t n_bad = 0;

    qn_str_add(&text, head);
    for (int k = 1; k <= N_STEPS; k++)
        add_step(&text, f, k, bad);
    for (int k = 1; k <= N_STEPS; k++)
        qn_str_addf(&text, "    s.append((%d, 'task', 'name', t%d))\n", k, k);
    qn_str_add(&text, "    return o, s\n");
    r = run_text(backend, qn_str_get(&text));
    assert_int_equal(r.all.n, N_STEPS);
    for (int k = 1; k <= N_STEPS; k++) {
        const int depends = bad > 0 && k >= bad && (k - bad) % 2 == 0;

        if (depends)
            assert_bad(&r, k - 1, ARC_E_ZERO_DIV, HEAD_LINES + bad);
        else
            assert_text(&r.all.items[k - 1],
                        (k - 1) / 2 % 2 ? "((0, 2, 1), (1, 2, 0))" : "((1, 2, 0), (0, 2, 1))");
        n_bad += (uint32_t)depends;
    }
    assert_int_equal(r.result->not_ok, n_bad);
    assert_int_equal(qn_arc_session_stats(r.r.s)->not_ok_steps, n_bad);
    close_records(&r);
    qn_str_free(&text);
}

static void failed_step_spoils_what_depends_on_it_and_nothing_else(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++)
        for (form f = PLAIN; f < N_FORMS; f++)
            for (int bad = 0; bad <= N_STEPS; bad++)
                check_matrix(backends[b], f, bad);
}

/* Conditions. */

static void condition_counts_though_nothing_of_it_is_used(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++) {
        qn_str text = { 0 };
        records r;

        qn_str_add(&text, head);
        qn_str_add(&text, "    t1 = env.do_pile(1, [divide, ONE, ZERO], True)\n"
                          "    t2 = env.do_pile(2, [hmirror, I], t1.ok)\n"
                          "    t3 = env.do_pile(3, [vmirror, I], False)\n"
                          "    t4 = env.do_pile(4, [vmirror, t3.t], True)\n"
                          "    t5 = env.do_pile(5, [width, I], True)\n"
                          "    t6 = env.do_pile(6, [first, t3.t], t5.ok and t2.ok)\n");
        for (int k = 1; k <= 6; k++)
            qn_str_addf(&text, "    o.append((%d, True, 'task', t%d))\n", k, k);
        qn_str_add(&text, "    return o, s\n");
        r = run_text(backends[b], qn_str_get(&text));
        assert_bad(&r, 0, ARC_E_ZERO_DIV, HEAD_LINES + 1);
        assert_bad(&r, 1, ARC_E_ZERO_DIV, HEAD_LINES + 1);
        assert_bad(&r, 2, ARC_E_VALUE, HEAD_LINES + 3);
        assert_bad(&r, 3, ARC_E_VALUE, HEAD_LINES + 3);
        assert_text(&r.all.items[4], "3");
        assert_int_equal(r.all.items[5].kind, QN_ARC_BAD);
        assert_int_equal(r.result->not_ok, 5);
        close_records(&r);
        qn_str_free(&text);
    }
}

/* Defaults. */

static void add_call(qn_str *text, const char *indent, int step, int op)
{
    qn_str_addf(text, "%st%d = %s(", indent, step, qn_arc_op_name(op));
    for (int a = 0; a < qn_arc_op_arity(op); a++)
        qn_str_add(text, a ? ", C" : "C");
    qn_str_add(text, ")\n");
}

/* The value that replaces a failed primitive of that kind; a function is called first. */
static const char *default_of(int guard)
{
    return guard == ARC_GUARD_SET    ? "frozenset()"
           : guard == ARC_GUARD_INT  ? "0"
           : guard == ARC_GUARD_BOOL ? "False"
                                     : "()";
}

/* Every primitive on None, which most refuse, guarded and not. */
static void guarded_step_gives_the_default_of_its_primitive(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++) {
        qn_str text = { 0 };
        records r;
        int n_failed[8] = { 0 };

        qn_str_add(&text, head);
        for (int op = 0; op < ARC_N_NAMED; op++) {
            const int is_function = qn_arc_op_at(op)->guard == ARC_GUARD_FN;
            const int t = 3 * op + 1;

            add_call(&text, "    ", t, op);
            qn_str_add(&text, "    try:\n");
            add_call(&text, "        ", t + 1, op);
            qn_str_addf(&text, "    except (TypeError):\n        t%d = _get_safe_default(%s)\n",
                        t + 1, qn_arc_op_name(op));
            qn_str_addf(&text, is_function ? "    t%d = t%d(I)\n" : "    t%d = identity(t%d)\n",
                        t + 2, t + 1);
            qn_str_addf(&text, "    s.append((%d, 'a', 'b', t%d))\n", t, t);
            qn_str_addf(&text, "    s.append((%d, 'a', 'b', t%d))\n", t + 1, t + 1);
            qn_str_addf(&text, "    s.append((%d, 'a', 'b', t%d))\n", t + 2, t + 2);
        }
        qn_str_add(&text, "    return o, s\n");
        r = run_text(backends[b], qn_str_get(&text));
        assert_int_equal(r.all.n, 3 * ARC_N_NAMED);
        for (int op = 0; op < ARC_N_NAMED; op++) {
            const qn_arc_value *v = &r.all.items[3 * op];
            const int guard = qn_arc_op_at(op)->guard;

            if (v[0].kind != QN_ARC_BAD)
                continue;
            assert_int_not_equal(v[1].kind, QN_ARC_BAD);
            if (guard == ARC_GUARD_FN)
                assert_int_equal(v[1].kind, QN_ARC_CLOS);
            assert_text(&v[2], default_of(guard));
            n_failed[guard]++;
        }
        for (int guard = ARC_GUARD_SET; guard <= ARC_GUARD_FN; guard++)
            assert_true(n_failed[guard] > 0);
        close_records(&r);
        qn_str_free(&text);
    }
}

static void defaults_are_those_of_the_result_types(void **state)
{
    static const struct {
        const char *op;
        int guard;
    } table[] = {
        { "ofcolor", ARC_GUARD_SET },   { "objects", ARC_GUARD_SET },
        { "palette", ARC_GUARD_SET },   { "fill", ARC_GUARD_TUPLE },
        { "shape", ARC_GUARD_TUPLE },   { "order", ARC_GUARD_TUPLE },
        { "apply", ARC_GUARD_TUPLE },   { "first", ARC_GUARD_TUPLE },
        { "merge", ARC_GUARD_TUPLE },   { "center", ARC_GUARD_TUPLE },
        { "size", ARC_GUARD_INT },      { "add", ARC_GUARD_INT },
        { "mostcolor", ARC_GUARD_INT }, { "even", ARC_GUARD_BOOL },
        { "vline", ARC_GUARD_BOOL },    { "rbind", ARC_GUARD_FN },
        { "compose", ARC_GUARD_FN },    { "power", ARC_GUARD_FN },
        { "product", ARC_GUARD_SET },   { "o_g", ARC_GUARD_SET },
        { "p_g", ARC_GUARD_TUPLE },     { "corner", ARC_GUARD_TUPLE },
        { "col_row", ARC_GUARD_INT },   { "extract", ARC_GUARD_TUPLE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const int op = qn_arc_op_named(table[i].op, strlen(table[i].op));

        assert_true(op >= 0);
        if (qn_arc_op_at(op)->guard != table[i].guard)
            fail_msg("%s: default %d, not %d", table[i].op, qn_arc_op_at(op)->guard,
                     table[i].guard);
    }
}

/* Extras without golden cases. */

static void extras_of_batt_programs_give_what_they_say(void **state)
{
    static const struct {
        const char *call, *out;
    } table[] = {
        { "ascell((1, 2), 5)", "(5, (1, 2))" },
        { "toij((5, (1, 2)))", "(1, 2)" },
        { "astriple(1, I, (2, 3))", "(1, ((1, 2, 0), (0, 2, 1)), (2, 3))" },
        { "celltuple(((0, 1), (2, 3)), (5, 6))", "((5, (0, 1)), (6, (2, 3)))" },
        { "celltuple(((0, 1), (2, 3)), (5, 6, 7))", "((5, (0, 1)), (6, (2, 3)))" },
        { "mfilter_t(((1, 1, 1), (2, 2), (3, 3, 3), (1, 1, 1)), matcher(size, 3))",
          "frozenset({(1, 1, 1), (3, 3, 3)})" },
        { "get_nth_by_key_f(palette(I), 0, invert)", "2" },
        { "get_nth_by_key_f(palette(I), -1, invert)", "0" },
        { "c_iz_n((((1, 2), (2, 3)), ((4, 2), (5, 5))), identity, size)", "2" },
        { "c_zo_n((((1, 2), (2, 3)), ((4, 2), (5, 5))), identity, size)", "2" },
        { "c_iz_n((((1, 2), (2, 3)), ((4, 2), (5, 5))), identity, first)", "1" },
        { "c_zo_n((((1, 2), (2, 3)), ((4, 2), (5, 5))), identity, first)", "3" },
    };
    enum { N = sizeof table / sizeof *table };

    (void)state;
    for (int b = 0; b < 2; b++) {
        qn_str text = { 0 };
        records r;

        qn_str_add(&text, head);
        for (int k = 0; k < N; k++)
            qn_str_addf(&text, "    t%d = %s\n    s.append((%d, 'a', 'b', t%d))\n", k,
                        table[k].call, k, k);
        qn_str_add(&text, "    return o, s\n");
        r = run_text(backends[b], qn_str_get(&text));
        for (int k = 0; k < N; k++)
            assert_text(&r.all.items[k], table[k].out);
        close_records(&r);
        qn_str_free(&text);
    }
}

/* The default of a function is a constant function, whose calls count like any other. */
static void constant_function_called_without_end_is_stopped(void **state)
{
    (void)state;
    for (int b = 0; b < 2; b++) {
        fixture r =
            fixture_open(backends[b], (qn_arc_session_options){ .limits = { .max_steps = 5000 } });
        qn_str text = { 0 };

        qn_str_add(&text, head);
        qn_str_add(&text, "    try:\n        t1 = rbind(C, C)\n    except (TypeError):\n"
                          "        t1 = _get_safe_default(rbind)\n"
                          "    t2 = power(t1, 2000000000)\n    t3 = power(t2, 2000000000)\n"
                          "    t4 = t3(I)\n    o.append((1, True, 'a', t4))\n    return o, s\n");
        fixture_batt_job(&r, fixture_program(&r, "batt", qn_str_get(&text)),
                         fixture_made_grid(&r, 1));
        fixture_run(&r);
        assert_int_equal(qn_arc_session_result(r.s, 0)->code, ARC_E_STEPS);
        assert_int_equal(qn_arc_session_result(r.s, 0)->steps, 5000);
        qn_str_free(&text);
        fixture_close(&r);
    }
}

/* 40 grids per run need more space than programs of one output have. */
static void records_find_room_at_once(void **state)
{
    enum { RECORDS = 40, RUNS = 400 };
    fixture r = fixture_open("cpu", (qn_arc_session_options){ 0 });
    qn_str text = { 0 };
    int program;

    (void)state;
    qn_str_addf(&text, "%s    t1 = canvas(3, (12, 12))\n", head);
    for (int k = 0; k < RECORDS; k++)
        qn_str_addf(&text, "    o.append((%d, True, 'a', t1))\n", k);
    qn_str_add(&text, "    return o, s\n");
    program = fixture_program(&r, "batt", qn_str_get(&text));
    for (int k = 0; k < RUNS; k++)
        fixture_batt_job(&r, program, fixture_made_grid(&r, 1));
    fixture_run(&r);
    assert_int_equal(qn_arc_session_stats(r.s)->ok, RUNS);
    assert_int_equal(qn_arc_session_stats(r.s)->reruns, 0);
    qn_str_free(&text);
    fixture_close(&r);
}

/* A trace that is shorter than the one before it in the same place ends with zeros. */
static void trace_has_nothing_of_the_run_before(void **state)
{
    enum { STRIDE = 12 };

    (void)state;
    for (int b = 0; b < 2; b++) {
        fixture r = fixture_open(backends[b], (qn_arc_session_options){ 0 });
        qn_str text = { 0 };
        int programs[2], grid = fixture_made_grid(&r, 1);

        for (int p = 0; p < 2; p++) {
            text.len = 0;
            qn_str_add(&text, head);
            for (int k = 1; k <= (p ? 2 : 10); k++)
                qn_str_addf(&text, "    t%d = increment(%d)\n", k, k);
            qn_str_addf(&text, "    o.append((1, True, 'a', t1))\n    return o, s\n");
            programs[p] = fixture_program_with(&r, "batt", qn_str_get(&text), QN_ARC_OFF_ALL);
        }
        for (int p = 0; p < 2; p++) {
            const uint64_t *trace;

            r.n = 0;
            fixture_batt_job(&r, programs[p], grid);
            fixture_run_with(&r, ARC_WANT_TRACE, STRIDE);
            trace = qn_arc_session_trace(r.s, 0);
            for (int k = 0; k < STRIDE; k++)
                assert_int_equal(trace[k] != 0, k < (p ? 2 : 10));
        }
        qn_str_free(&text);
        fixture_close(&r);
    }
}

/* The other form. */

static void error_ends_a_solve_program_and_says_where(void **state)
{
    static const char text[] = "def solve_a(I):\n    x = palette(I)\n    y = remove(ONE, x)\n"
                               "    z = sizefilter(I, TEN)\n    f = argmax(z, height)\n"
                               "    O = astuple(y, f)\n    return O\n";

    (void)state;
    for (int b = 0; b < 2; b++) {
        fixture r = fixture_open(backends[b], (qn_arc_session_options){ 0 });
        const arc_result *result;

        fixture_job(&r, fixture_program(&r, "a", text), fixture_made_grid(&r, 4));
        fixture_run(&r);
        result = qn_arc_session_result(r.s, 0);
        assert_int_equal(result->code, ARC_E_EMPTY);
        assert_int_equal(result->line, 5);
        assert_int_equal(result->op, ARC_OP_argmax);
        assert_int_equal(result->not_ok, 0);
        assert_int_equal(qn_arc_session_stats(r.s)->errors, 1);
        fixture_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_step_spoils_what_depends_on_it_and_nothing_else),
        cmocka_unit_test(condition_counts_though_nothing_of_it_is_used),
        cmocka_unit_test(guarded_step_gives_the_default_of_its_primitive),
        cmocka_unit_test(defaults_are_those_of_the_result_types),
        cmocka_unit_test(extras_of_batt_programs_give_what_they_say),
        cmocka_unit_test(constant_function_called_without_end_is_stopped),
        cmocka_unit_test(records_find_room_at_once),
        cmocka_unit_test(trace_has_nothing_of_the_run_before),
        cmocka_unit_test(error_ends_a_solve_program_and_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
