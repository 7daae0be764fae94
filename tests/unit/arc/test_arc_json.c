/* test_arc_json.c - values as JSON and as text of the language; files of golden cases. */
#include "arc_values.h"
#include "golden.h"

#include "domain/arc/value/value.h"
#include "lab/arc/check.h"
#include "kernel/arc/arc_ops.h"
#include "util/file.h"
#include "util/temp_dir.h"

static qn_arc_heap *heap;

static int make_heap(void **state)
{
    (void)state;
    heap = open_heap();
    return 0;
}

static int drop_heap(void **state)
{
    (void)state;
    qn_arc_heap_free(heap);
    heap = NULL;
    return 0;
}

static int find_op(const char *name)
{
    return qn_arc_op_named(name, strlen(name));
}

static qn_status parse(const char *text, qn_arc_value *out, qn_err *err)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    qn_status st;

    assert_non_null(json);
    st = qn_arc_from_json(json, "here", heap, out, err);
    json_decref(json);
    return st;
}

static qn_arc_value value_of(const char *text)
{
    qn_arc_value value = v_none();
    qn_err err = { .text = "" };

    if (parse(text, &value, &err) != QN_OK)
        fail_msg("%s: %s", text, err.text);
    return value;
}

static void values_are_printed_as_the_language_writes_them(void **state)
{
    static const char *const rows[][2] = {
        { "null", "None" },
        { "true", "True" },
        { "-12", "-12" },
        { "{\"t\":[]}", "()" },
        { "{\"t\":[1]}", "(1,)" },
        { "{\"t\":[1,{\"t\":[2,false]}]}", "(1, (2, False))" },
        { "{\"g\":[\"12\",\"34\"]}", "((1, 2), (3, 4))" },
        { "{\"s\":[]}", "frozenset()" },
        { "{\"s\":[3,1,2,1]}", "frozenset({1, 2, 3})" },
        { "{\"x\":[[0,1]]}", "frozenset({(0, 1)})" },
        { "{\"o\":[[2,0,1],[1,5,5]]}", "frozenset({(1, (5, 5)), (2, (0, 1))})" },
        { "{\"f\":\"objects\"}", "objects" },
        { "{\"f\":\"size_f\"}", "size" }, /* a variant */
        { "{\"f\":[\"compose\",{\"f\":\"first\"},{\"f\":\"last\"}]}", "compose(first, last)" },
        { "{\"f\":[\"power\",{\"f\":\"trim\"},1]}", "trim" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const qn_arc_value value = value_of(rows[i][0]);
        qn_str text = { 0 };

        qn_arc_print(&text, &value);
        assert_string_equal(qn_str_get(&text), rows[i][1]);
        qn_str_free(&text);
    }
}

static void failed_step_is_printed_with_its_reason(void **state)
{
    const qn_arc_value bad = { .kind = QN_ARC_BAD, .number = 2, .step = 17 };
    json_t *json = qn_arc_to_json(&bad);
    qn_str text = { 0 };

    (void)state;
    qn_arc_print(&text, &bad);
    assert_string_equal(qn_str_get(&text), "not ok (step 17: EMPTY)");
    assert_string_equal(json_string_value(json_array_get(json_object_get(json, "bad"), 0)),
                        "EMPTY");
    json_decref(json);
    qn_str_free(&text);
}

/* Closures differ by identity, so their parts are compared. */
static int is_same(const qn_arc_value *a, const qn_arc_value *b)
{
    if (a->kind != b->kind || a->n != b->n || a->number != b->number)
        return 0;
    for (int i = 0; i < a->n; i++) {
        if (!is_same(&a->items[i], &b->items[i]))
            return 0;
    }
    return 1;
}

static void random_values_survive_json(void **state)
{
    arc_random random = { .seed = 4 };

    (void)state;
    for (int round = 0; round < 5000; round++) {
        const qn_arc_value value = random_value(heap, &random, 4);
        json_t *json = qn_arc_to_json(&value);
        qn_arc_value back = v_none();
        qn_err err = { .text = "" };

        if (qn_arc_from_json(json, "random", heap, &back, &err) != QN_OK &&
            !strstr(err.text, "not a function"))
            fail_msg("%s", err.text);
        else if (!err.text[0])
            assert_true(is_same(&value, &back));
        json_decref(json);
    }
}

static void binding_leaves_one_argument_less(void **state)
{
    (void)state;
    assert_int_equal(value_of("{\"f\":[\"lbind\",{\"f\":\"add\"},1]}").step, 1);
    assert_int_equal(value_of("{\"f\":[\"rbind\",{\"f\":\"fill\"},1]}").step, 2);
    assert_int_equal(value_of("{\"f\":[\"rbind\",{\"f\":\"objects\"},1]}").step, 3);
    assert_int_equal(value_of("{\"f\":[\"rbind\",{\"f\":\"trim\"},1]}").step, 3);
}

static void bad_json_is_refused_with_its_path(void **state)
{
    static const char *const rows[][2] = {
        { "1.5", "here: not a value" },
        { "[1]", "here: not a value" },
        { "{}", "here: not an object with one of the keys" },
        { "{\"t\":[1],\"s\":[]}", "here: not an object with one of the keys" },
        { "{\"q\":[]}", "here: not an object with one of the keys" },
        { "{\"t\":7}", "here: \"t\" is not a list" },
        { "{\"t\":[0,{\"s\":[1,\"x\"]}]}", "here/t/1/s/1: not a value" },
        { "{\"g\":[]}", "here: a grid without rows" },
        { "{\"g\":[\"12\",\"3\"]}", "row 1 of the grid has 1 columns" },
        { "{\"g\":[\"1a\"]}", "here/g/0: column 2 of the row" },
        { "{\"g\":[\"\"]}", "here/g/0: not a row" },
        { "{\"g\":[5]}", "here/g/0: not a row" },
        { "{\"x\":[[1]]}", "here/x/0: not [i, j]" },
        { "{\"x\":[[1,2.5]]}", "here/x/0: not a list of whole numbers" },
        { "{\"o\":[[1,2]]}", "here/o/0: not [colour, i, j]" },
        { "{\"f\":\"nothing\"}", "no primitive is called \"nothing\"" },
        { "{\"f\":[\"add\",1,2]}", "does not start with a maker" },
        { "{\"f\":[\"compose\",{\"f\":\"first\"}]}", "compose takes 2 values, not 1" },
        { "{\"f\":[\"compose\",1,2]}", "first value of compose is not a function" },
        { "{\"f\":[\"power\",{\"f\":\"trim\"},0]}", "second value of power" },
        { "{\"f\":3}", "does not start with a maker" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_arc_value value;
        qn_err err = { .text = "" };

        assert_int_equal(parse(rows[i][0], &value, &err), QN_ERR_INPUT);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", rows[i][0], err.text, rows[i][1]);
    }
}

static void deep_json_is_refused(void **state)
{
    qn_str text = { 0 };
    qn_arc_value value;
    qn_err err = { .text = "" };

    (void)state;
    for (int i = 0; i < 400; i++)
        qn_str_add(&text, "{\"t\":[");
    for (int i = 0; i < 400; i++)
        qn_str_add(&text, "]}");
    assert_int_equal(parse(qn_str_get(&text), &value, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "nested deeper than 256"));
    qn_str_free(&text);
}

static void every_primitive_has_a_name_that_finds_it(void **state)
{
    (void)state;
    for (int op = 0; op < ARC_N_NAMED; op++)
        assert_int_equal(find_op(qn_arc_op_name(op)), op);
    for (int op = ARC_N_NAMED; op < ARC_N_OPS; op++) /* primitives made only by the compiler */
        assert_int_equal(find_op(qn_arc_op_name(op)), -1);
    assert_int_equal(qn_arc_op_arity(ARC_OP_objects), 4);
    assert_int_equal(find_op("nothing"), -1);
    assert_int_equal(qn_arc_op_arity(ARC_N_OPS), -1);
    assert_string_equal(qn_arc_op_name(-1), "?");
}

/* Files of cases. */

static void check_cases(const char *name, size_t n, size_t n_failures, size_t n_calls)
{
    qn_arc_cases cases = { 0 };
    qn_err err = { .text = "" };
    json_t *list;
    size_t failures = 0;
    size_t calls = 0;

    need_golden(name);
    if (qn_arc_cases_read(golden_path(name), &cases, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(cases.n, n);
    list = json_object_get(cases.file, "cases");
    for (size_t i = 0; i < cases.n; i++) {
        const qn_arc_case *const one = &cases.items[i];
        const json_t *const json = json_array_get(list, i);

        failures += one->failure != NULL;
        calls += one->call != NULL;
        for (int k = 0; k < one->n_args; k++) {
            json_t *again = qn_arc_to_json(&one->args[k]);

            assert_true(
                json_equal(again, json_array_get(json_object_get(json, "args"), (size_t)k)));
            json_decref(again);
        }
        if (!one->failure) {
            json_t *again = qn_arc_to_json(&one->out);

            assert_true(json_equal(again, json_object_get(json, "out")));
            json_decref(again);
        }
    }
    assert_int_equal(failures, n_failures);
    assert_int_equal(calls, n_calls);
    qn_arc_cases_free(&cases);
}

static void cases_of_the_primitives_are_read_and_written_alike(void **state)
{
    (void)state;
    check_cases("arc/dsl_cases.json", 4136, 79, 168);
}

static void cases_of_the_extras_are_read_and_written_alike(void **state)
{
    (void)state;
    check_cases("arc/batt_cases.json", 560, 39, 0);
}

static void golden_values_survive_packing(void **state)
{
    qn_arc_cases cases = { 0 };
    qn_arc_blob blob = { .base = 0x80000000u };
    qn_err err = { .text = "" };

    (void)state;
    need_golden("arc/dsl_cases.json");
    assert_int_equal(qn_arc_cases_read(golden_path("arc/dsl_cases.json"), &cases, &err), QN_OK);
    for (size_t i = 0; i < cases.n; i++) {
        uint64_t slot = 0;
        qn_arc_value back;

        blob.n = 0;
        if (qn_arc_encode(&cases.items[i].out, &blob, &slot, &err) != QN_OK ||
            qn_arc_decode(slot, blob.bytes, blob.n, blob.base, heap, &back, &err) != QN_OK)
            fail_msg("%s", err.text);
        assert_int_equal(qn_arc_compare(&cases.items[i].out, &back), 0);
    }
    qn_arc_blob_free(&blob);
    qn_arc_cases_free(&cases);
}

static void bad_case_files_are_refused(void **state)
{
    static const char *const rows[][2] = {
        { "{", "1:" },
        { "{\"format\":\"other\",\"cases\":[]}", "format \"other\"" },
        { "{\"format\":\"quern-arc-cases-1\"}", "\"cases\" is not an array" },
        { "{\"format\":\"quern-arc-cases-1\",\"cases\":[3]}", "cases/0 has no \"op\"" },
        { "{\"format\":\"quern-arc-cases-1\",\"cases\":[{\"op\":\"add\",\"args\":[]}]}",
          "exactly one of \"out\" and \"err\"" },
        { "{\"format\":\"quern-arc-cases-1\",\"cases\":[{\"op\":\"add\",\"args\":4,\"out\":1}]}",
          "cases/0/args is not a list" },
        { "{\"format\":\"quern-arc-cases-1\",\"cases\":[{\"op\":\"add\",\"args\":[1,{\"t\":[[]]}],"
          "\"out\":1}]}",
          "cases/0/args/1/t/0: not a value" },
        { "{\"format\":\"quern-arc-cases-1\",\"cases\":[{\"op\":\"add\",\"args\":[],\"out\":0.5}]}",
          "cases/0/out: not a value" },
    };
    qn_temp_dir dir = { .path = "" };
    char path[1100];
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    snprintf(path, sizeof path, "%s/cases.json", dir.path);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_arc_cases cases = { 0 };

        assert_int_equal(qn_file_write(path, rows[i][0], strlen(rows[i][0]), &err), QN_OK);
        assert_int_equal(qn_arc_cases_read(path, &cases, &err), QN_ERR_INPUT);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i][1]);
        assert_null(cases.items);
    }
    qn_temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_printed_as_the_language_writes_them),
        cmocka_unit_test(failed_step_is_printed_with_its_reason),
        cmocka_unit_test(random_values_survive_json),
        cmocka_unit_test(binding_leaves_one_argument_less),
        cmocka_unit_test(bad_json_is_refused_with_its_path),
        cmocka_unit_test(deep_json_is_refused),
        cmocka_unit_test(every_primitive_has_a_name_that_finds_it),
        cmocka_unit_test(cases_of_the_primitives_are_read_and_written_alike),
        cmocka_unit_test(cases_of_the_extras_are_read_and_written_alike),
        cmocka_unit_test(golden_values_survive_packing),
        cmocka_unit_test(bad_case_files_are_refused),
    };

    return cmocka_run_group_tests(tests, make_heap, drop_heap);
}
