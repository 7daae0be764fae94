/* test_fit_print.c - the text of programs: the kernel dialect, functions, literals. */
#include "fit_golden.h"

#include "engine_fixture.h"

#include "domain/fit/code/print.h"

static qn_fit_tape *compiled(qn_fit_graph *g, unsigned wants)
{
    qn_fit_tape *p = NULL;
    qn_err err = { .text = "" };

    must_ok(qn_fit_graph_finish(g, &err), &err);
    must_ok(qn_fit_tape_new(g, wants, (qn_fit_loss){ 0 }, QN_FIT_SWEEP_AUTO, &p, &err), &err);
    qn_fit_graph_free(g);
    return p;
}

/* a * 2 + b over two data columns */
static qn_fit_tape *small_program(const char *name, double factor)
{
    qn_fit_graph *g = NULL;

    assert_int_equal(qn_fit_graph_new(name, QN_FIT_TEMPLATE, &g, &failure), QN_OK);
    qn_fit_output(g, qn_fit_add(g, qn_fit_mul(g, qn_fit_data(g, 0), qn_fit_lit(g, factor)),
                                qn_fit_data(g, 1)));
    return compiled(g, QN_FIT_WANT(QN_FIT_RES));
}

static void assert_has(const qn_str *text, const char *part)
{
    if (!strstr(qn_str_get(text), part))
        fail_msg("no \"%s\" in:\n%s", part, qn_str_get(text));
}

static void a_statement_is_a_line_per_node(void **state)
{
    qn_fit_tape *p = small_program("small", 2);
    qn_str map = { 0 }, wgsl = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_print_map(p, "small_res", QN_FIT_F64, &map, &err), &err);
    must_ok(qn_fit_print_wgsl(p, "small_res", &wgsl, &err), &err);
    assert_has(&map, "MAP(small_res, VAL(i64, ld), IN(real, data), OUT(real, res))\n{\n");
    assert_has(&map, " = 2.0 * in");
    assert_has(&map, "    const real v");
    assert_has(&wgsl, "@compute @workgroup_size(64)\nfn small_res(");
    assert_has(&wgsl, "    let v");
    assert_has(&wgsl, " = 2.0 * in");
    qn_str_free(&map);
    qn_str_free(&wgsl);
    qn_fit_tape_free(p);
}

static void literals_read_back_as_themselves(void **state)
{
    static const double values[] = { 0.1,    -0.1, 1e-300,  123456789012345678.0,
                                     2,      -0.0, 1.0 / 3, 6.02e23,
                                     5e-324, 1e22 };

    (void)state;
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        for (int precision = 0; precision < 2; precision++) {
            qn_str text = { 0 };
            qn_err err = { .text = "" };
            const qn_fit_style style = { .precision = (qn_fit_precision)precision };
            const char *number;

            must_ok(qn_fit_print_literal(values[k], style, &text, &err), &err);
            number = qn_str_get(&text) + (qn_str_get(&text)[0] == '(');
            if (precision == QN_FIT_F64)
                assert_true(strtod(number, NULL) == values[k]);
            else
                assert_true(strtof(number, NULL) == (float)values[k]);
            assert_true(strpbrk(number, ".e") != NULL);
            assert_int_equal(strchr(number, 'f') != NULL, precision == QN_FIT_F32);
            assert_int_equal(qn_str_get(&text)[0] == '(', signbit(values[k]) != 0);
            qn_str_free(&text);
        }
}

static void a_literal_beyond_f32_is_an_error_there(void **state)
{
    qn_fit_tape *p = small_program("big", 1e300);
    qn_str text = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_print_map(p, "big", QN_FIT_F64, &text, &err), &err);
    assert_int_equal(qn_fit_print_map(p, "big", QN_FIT_F32, &text, &err), QN_ERR_LIMIT);
    assert_int_equal(qn_fit_print_wgsl(p, "big", &text, &err), QN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "1e+300"));
    qn_str_free(&text);
    qn_fit_tape_free(p);
}

static void a_name_cannot_leave_its_comment(void **state)
{
    qn_fit_tape *p = small_program("x */ int evil; /*\n\\", 2);
    qn_str text = { 0 };
    qn_err err = { .text = "" };
    const char *begin, *end;

    (void)state;
    must_ok(qn_fit_print_map(p, "k", QN_FIT_F64, &text, &err), &err);
    begin = qn_str_get(&text);
    end = strstr(begin, "*/");
    assert_int_equal(begin[0], '/');
    assert_non_null(end);
    assert_true(strchr(begin, '\n') == end + 2);
    assert_null(strstr(begin, "\\"));
    qn_str_free(&text);
    qn_fit_tape_free(p);
}

/* The form as a function. */

/* Another kernel that calls the function: column `n` of inputs per point. */
static void functions_serve_kernels_of_another_form(void **state)
{
    qn_fit_graph *g = fit_golden_graph("eig3_mid", 6);
    qn_fit_tape *p = NULL;
    const qn_fit_tape *list;
    const double x[6] = { 2, 0.5, -0.25, 1, 0.125, 3 };
    const uint32_t idx = 0;
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cpu"));
    qn_kernel_module *text_module = NULL, *module = NULL;
    qn_graph *graph = NULL;
    qn_buf *in = NULL, *out = NULL;
    qn_str text = { 0 };
    qn_err err = { .text = "" };
    uint32_t inputs[64];
    double *want, got[8];

    (void)state;
    must_ok(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC),
                            (qn_fit_loss){ 0 }, 0, &p, &err),
            &err);
    list = p;
    qn_fit_print_support(&list, 1, &text);
    must_ok(qn_fit_print_function(p, "term", QN_FIT_F64, &text, &err), &err);
    assert_int_equal(qn_fit_function_inputs(p, inputs), 6);
    qn_str_add(&text, "MAP(use, IN(real, x), INOUT(real, y))\n{\n    const term_out r = term(");
    for (int k = 0; k < 6; k++)
        qn_str_addf(&text, "%sx[%u]", k ? ", " : "", p->values[inputs[k]].comp);
    qn_str_addf(&text, ");\n    for (i32 k = 0; k < %d; k++)\n        y[gx + k] = r.v[k];\n}\n",
                p->n_outputs);
    must(qn_kernels_new("term", qn_str_get(&text), &text_module, &err));
    must(qn_kernels_with(text_module, "REAL=double", &module, &err));
    must(qn_buf_new(ctx, "in", sizeof x, &in, &err));
    must(qn_buf_new(ctx, "out", sizeof got, &out, &err));
    must(qn_buf_write(in, 0, x, sizeof x, &err));
    must(qn_graph_new(ctx, "term", &graph, &err));
    must(qn_graph_stage(graph, "use", qn_kernels_find(module, "use"), qn_range_1d(1),
                        (const qn_arg[]){ qn_arg_buf(in), qn_arg_buf(out) }, &err));
    must(qn_graph_run(graph, &err));
    must(qn_buf_read(out, 0, got, sizeof got, &err));
    want = fit_run(p, QN_FIT_F64, 0, x, 6, &idx, 1, NULL);
    for (int k = 0; k < p->n_outputs; k++)
        assert_true(fabs(got[k] - want[k]) < 1e-14);
    free(want);
    qn_graph_free(graph);
    qn_buf_free(in);
    qn_buf_free(out);
    qn_kernels_free(module);
    qn_kernels_free(text_module);
    qn_str_free(&text);
    qn_fit_tape_free(p);
    qn_fit_graph_free(g);
    qn_ctx_close(ctx);
}

static void arguments_are_listed_as_the_head_has_them(void **state)
{
    qn_fit_graph *g = fit_golden_graph("distance3", 6);
    qn_fit_tape *p = NULL;
    qn_fit_arg args[QN_FIT_N_ARGS];
    qn_str text = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    must_ok(qn_fit_tape_new(g, 0xff, (qn_fit_loss){ 0 }, 0, &p, &err), &err);
    assert_int_equal(qn_fit_kernel_args(p, args), 13);
    must_ok(qn_fit_print_map(p, "all", QN_FIT_F64, &text, &err), &err);
    assert_has(&text, "MAP(all, VAL(i64, ld), IN(u32, idx), IN(real, x), IN(real, tangent), "
                      "IN(real, seed), OUT(real, cost), OUT(real, res), OUT(real, jvp), "
                      "OUT(real, jac), OUT(real, grad), OUT(real, vjp), OUT(real, jtjv), "
                      "OUT(real, diag))");
    qn_str_free(&text);
    qn_fit_tape_free(p);
    qn_fit_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_is_a_line_per_node),
        cmocka_unit_test(literals_read_back_as_themselves),
        cmocka_unit_test(a_literal_beyond_f32_is_an_error_there),
        cmocka_unit_test(a_name_cannot_leave_its_comment),
        cmocka_unit_test(functions_serve_kernels_of_another_form),
        cmocka_unit_test(arguments_are_listed_as_the_head_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
