/* test_fit_text.c - programs as text: the examples, their meaning, and their faults. */
#include "golden.h"

#include "domain/fit/text/text.h"
#include "util/file.h"

#include <math.h>

static char folder[2048];
static const char *folders[3];
static qn_fit_folders places = { folders, 0 };
static const qn_fit_files files = { qn_fit_folders_read, NULL, &places };
static const qn_fit_text_options options = { .files = &files };

static qn_fit_text *load_text(const char *name, const char *text)
{
    qn_fit_text *out = NULL;
    qn_str faults = { 0 };
    qn_err err = { .text = "" };

    if (qn_fit_text_load(name, text, strlen(text), &options, &out, &faults, &err) != QN_OK)
        fail_msg("%s\n%s", err.text, qn_str_get(&faults));
    qn_str_free(&faults);
    return out;
}

static qn_fit_text *load_example(const char *name)
{
    qn_fit_text *out;
    qn_err err = { .text = "" };
    char path[4096];
    char *text = NULL;
    size_t bytes;

    need_golden("fit/examples/springs.fit");
    snprintf(folder, sizeof folder, "%s", golden_path("fit/examples"));
    folders[0] = folder;
    folders[1] = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (qn_file_read(path, &text, &bytes, &err) != QN_OK)
        fail_msg("%s", err.text);
    out = load_text(name, text);
    free(text);
    return out;
}

/* The faults of a program, which must have some. */
static const char *faults_of(const char *text)
{
    static char said[4096];
    qn_fit_text *out = NULL;
    qn_str faults = { 0 };
    qn_err err = { .text = "" };

    if (qn_fit_text_load("t.fit", text, strlen(text), &options, &out, &faults, &err) == QN_OK)
        fail_msg("accepted: %s", text);
    snprintf(said, sizeof said, "%s%s", faults.len ? "" : err.text, qn_str_get(&faults));
    qn_str_free(&faults);
    return said;
}

static void assert_says(const char *text, const char *wanted)
{
    const char *said = faults_of(text);

    if (!strstr(said, wanted))
        fail_msg("wanted: %s\nsaid: %s", wanted, said);
}

/* The meaning of programs. */

static void springs_have_a_group_per_term(void **state)
{
    qn_fit_text *t = load_example("springs.fit");
    const qn_fit_problem *p = t->problem;

    (void)state;
    assert_int_equal(p->n_groups, 2);
    assert_int_equal(p->groups[0].n, 1920);
    assert_int_equal(p->groups[1].n, 642);
    assert_int_equal(p->n_scalars, 3 * 642);
    assert_int_equal(p->groups[0].n_columns, 1);
    assert_int_equal(p->groups[0].n_slots, 2);
    assert_int_equal(p->groups[1].n_columns, 3);
    assert_string_equal(t->solves[0].solver, "lm");
    assert_true(qn_fit_solve_option(&t->solves[0], "max_iterations")->number == 50);
    assert_string_equal(t->writes[0].file, "out.obj");
    qn_fit_text_free(t);
}

static void curve_has_parameters_that_all_rows_share(void **state)
{
    qn_fit_text *t = load_example("misra1a.fit");
    const qn_fit_problem *p = t->problem;

    (void)state;
    assert_int_equal(p->n_groups, 1);
    assert_int_equal(p->groups[0].n, 14);
    assert_int_equal(p->groups[0].n_slots, 2);
    assert_true(p->groups[0].is_global_slot[0] && p->groups[0].is_global_slot[1]);
    assert_true(p->x[0] == 500 && p->x[1] == 0.0001);
    assert_string_equal(qn_fit_solve_option(&t->solves[0], "linear_solver")->word, "dense_qr");
    qn_fit_text_free(t);
}

static void observations_are_sorted_by_point(void **state)
{
    qn_fit_text *t = load_example("bal.fit");
    const qn_fit_group *g = &t->problem->groups[0];
    int points = 0;

    (void)state;
    assert_int_equal(t->problem->n_groups, 1);
    assert_int_equal(g->n, 8064);
    assert_int_equal(g->n_rows, 2);
    assert_int_equal(g->loss.kind, QN_FIT_LOSS_HUBER);
    assert_true(t->problem->sets[1].is_eliminated);
    while (t->problem->sets[g->slot_set[points]].dim != 3)
        points++;
    for (qn_i64 i = 1; i < g->n; i++)
        assert_true(g->idx[points * g->ld + i - 1] <= g->idx[points * g->ld + i]);
    qn_fit_text_free(t);
}

static void sketch_fixes_the_pinned_point(void **state)
{
    qn_fit_text *t = load_example("sketch.fit");
    const qn_fit_problem *p = t->problem;

    (void)state;
    assert_int_equal(p->n_groups, 3);
    assert_int_equal(p->n_free, 6);
    assert_int_equal(p->column[0], QN_FIT_NO_COLUMN);
    assert_int_equal(p->column[2], 0);
    assert_int_equal(p->inverse.start[1], 0);
    qn_fit_text_free(t);
}

static void lists_of_two_lengths_make_two_groups(void **state)
{
    qn_fit_text *t = load_text(
        "ring.fit", "fit 1;\nmesh M = icosphere(1, 1);\nparam x[M.verts] : vec3 = M.pos;\n"
                    "data near[M.verts] = sum(c in self.ring: 1);\n"
                    "energy bend over v in M.verts where v.boundary == 0 {\n"
                    "  yield sum(c in v.ring: sqr_distance(x[v], x[c.j])) / near[v]; }\n");

    (void)state;
    assert_int_equal(t->problem->n_groups, 2);
    assert_int_equal(t->problem->groups[0].n + t->problem->groups[1].n, 42);
    assert_int_equal(t->problem->groups[0].n_slots + t->problem->groups[1].n_slots, 6 + 7);
    assert_true(t->problem->groups[0].is_energy);
    assert_true(t->problem->groups[0].data[0] == 5 || t->problem->groups[0].data[0] == 6);
    qn_fit_text_free(t);
}

static void what_has_no_parameter_is_one_column(void **state)
{
    qn_fit_text *t = load_text("col.fit", "fit 1;\nmesh M = icosphere(1, 1);\nparam s = 1;\n"
                                          "const k = 2 * pi;\nfun twice(a) = a + a;\n"
                                          "residual r over e in M.edges {\n"
                                          "  let d = M.pos[e.a] - M.pos[e.b];\n"
                                          "  yield s - k * twice(length(d)) + e.index^2; }\n");
    const qn_fit_group *g = &t->problem->groups[0];

    (void)state;
    assert_int_equal(g->n_columns, 2);
    assert_int_equal(g->n_slots, 1);
    qn_fit_text_free(t);
}

static void options_of_parameters_are_kept(void **state)
{
    const qn_fit_override other = { "b", 7 };
    const qn_fit_text_options with = { .overrides = &other, .n_overrides = 1 };
    const char *text =
        "fit 1;\nconst top = 4;\nparam a : vec2 = [1, 9] lower 2 upper [3, top + 4];\n"
        "param b = 1 fixed;\nresidual r { yield a - [b, b]; }\n";
    qn_fit_text *t = NULL;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_fit_text_load("o.fit", text, strlen(text), &with, &t, NULL, &err), QN_OK);
    assert_true(t->problem->x[0] == 2 && t->problem->x[1] == 8 && t->problem->x[2] == 7);
    assert_true(t->problem->lower[0] == 2 && t->problem->upper[1] == 8);
    assert_int_equal(t->problem->n_free, 2);
    qn_fit_text_free(t);
}

/* Faults. */

static const char HEAD[] = "fit 1;\nmesh M = icosphere(1, 1);\nparam x[M.verts] : vec3 = M.pos;\n";

static void assert_fault(const char *line, const char *wanted)
{
    char text[1024];

    snprintf(text, sizeof text, "%s%s\n", HEAD, line);
    assert_says(text, wanted);
}

static void a_fault_has_its_line_and_a_caret(void **state)
{
    (void)state;
    assert_fault("residual r over e in M.edges { yield length(x[e.a] - x[e.q]); }",
                 "t.fit:4:58: M.edges has no field q; did you mean a?\n"
                 "    residual r over e in M.edges { yield length(x[e.a] - x[e.q]); }\n"
                 "                                                             ^\n");
}

static void a_wrong_reference_is_named(void **state)
{
    (void)state;
    assert_fault("residual r over e in M.edges { yield x[e].x; }",
                 "t.fit:4:40: x is indexed by M.verts, but e refers to M.edges");
    assert_fault("data f[M.faces] = 1;\nresidual r over e in M.edges { yield f[e.a] + x[e.a].x; }",
                 "t.fit:5:40: f is indexed by M.faces, but e.a refers to M.verts");
    assert_fault("residual r over e in M.edges { yield x[3].x; }", "3 is not a reference");
}

static void a_misspelt_name_gets_a_hint(void **state)
{
    (void)state;
    assert_fault("residual r over e in M.edges { yield lenght(x[e.a]); }",
                 "t.fit:4:38: unknown function lenght; did you mean length?");
    assert_fault("const speed = 1;\nconst k = sped;",
                 "t.fit:5:11: unknown name sped; did you mean speed?");
    assert_fault("residual r over e in M.edgs { yield 1; }",
                 "t.fit:4:22: unknown domain M.edgs; did you mean M.edges?");
    assert_fault("residual r over v in M.verts loss hubr(1) { yield x[v]; }",
                 "did you mean huber?");
    assert_fault("solve lm { max_iteration = 3; }", "did you mean max_iterations?");
}

static void every_fault_is_reported_up_to_twenty(void **state)
{
    char text[8192] = "fit 1;\n";
    const char *said;
    int n = 0;

    (void)state;
    for (int k = 0; k < 30; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "const c%d = nothing%d;\n", k, k);
    said = faults_of(text);
    for (const char *at = said; (at = strstr(at, "t.fit:")); at++)
        n++;
    assert_int_equal(n, 20);
    assert_non_null(strstr(said, "t.fit:2:"));
    assert_non_null(strstr(said, "t.fit:21:"));
}

static void a_broken_declaration_brings_no_second_fault(void **state)
{
    const char *said =
        faults_of("fit 1;\nmesh M = icosphere(99);\nparam x[M.verts] : vec3 = M.pos;\n"
                  "residual r over v in M.verts { yield x[v]; }\nwrite x to \"x.csv\";\n");

    (void)state;
    assert_non_null(strstr(said, "t.fit:2:"));
    assert_null(strstr(said, "t.fit:3:"));
    assert_null(strstr(said, "t.fit:4:"));
    assert_null(strstr(said, "t.fit:5:"));
}

static void files_outside_are_refused(void **state)
{
    (void)state;
    assert_says("fit 1;\ntable T = nist(\"/etc/passwd\");\n", "t.fit:2:16: /etc/passwd: absolute");
    assert_says("fit 1;\ntable T = nist(\"../a/../b\");\n", "t.fit:2:16:");
    assert_fault("residual r over v in M.verts { yield x[v]; }\nwrite x to \"../x.obj\";",
                 "t.fit:5:12:");
}

static void deep_and_long_texts_end_in_a_fault(void **state)
{
    char *text = malloc(2 << 20);
    size_t n;

    (void)state;
    n = (size_t)sprintf(text, "fit 1;\nconst c = ");
    memset(text + n, '(', 100000);
    text[n + 100000] = 0;
    assert_says(text, "t.fit:2:211: nested deeper than 200");
    memset(text + n, '-', 100000);
    assert_says(text, "t.fit:2:21");
    n = (size_t)sprintf(text, "fit 1;\nfun f0(a) = a * 2 + a;\n");
    for (int k = 1; k < 60; k++)
        n += (size_t)sprintf(text + n, "fun f%d(a) = f%d(a) + f%d(a + 1);\n", k, k - 1, k - 1);
    sprintf(text + n, "const c = f59(1);\n");
    assert_says(text, "operations once functions and lists are expanded");
    free(text);
}

static void a_long_sum_is_no_deep_tree(void **state)
{
    char *text = malloc(4 << 20);
    size_t n = (size_t)sprintf(text, "fit 1;\nparam a = 0;\nresidual r { yield a");
    qn_fit_text *t;

    (void)state;
    for (int k = 0; k < 200000; k++)
        n += (size_t)sprintf(text + n, " + %d", k % 7);
    sprintf(text + n, "; }\n");
    t = load_text("long.fit", text);
    assert_int_equal(t->problem->n_groups, 1);
    qn_fit_text_free(t);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_have_a_group_per_term),
        cmocka_unit_test(curve_has_parameters_that_all_rows_share),
        cmocka_unit_test(observations_are_sorted_by_point),
        cmocka_unit_test(sketch_fixes_the_pinned_point),
        cmocka_unit_test(lists_of_two_lengths_make_two_groups),
        cmocka_unit_test(what_has_no_parameter_is_one_column),
        cmocka_unit_test(options_of_parameters_are_kept),
        cmocka_unit_test(a_fault_has_its_line_and_a_caret),
        cmocka_unit_test(a_wrong_reference_is_named),
        cmocka_unit_test(a_misspelt_name_gets_a_hint),
        cmocka_unit_test(every_fault_is_reported_up_to_twenty),
        cmocka_unit_test(a_broken_declaration_brings_no_second_fault),
        cmocka_unit_test(files_outside_are_refused),
        cmocka_unit_test(deep_and_long_texts_end_in_a_fault),
        cmocka_unit_test(a_long_sum_is_no_deep_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
