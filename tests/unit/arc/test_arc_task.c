/* test_arc_task.c - tasks from JSON files. */
#include "arc_values.h"
#include "golden.h"

#include "domain/arc/task/task.h"
#include "util/file.h"

static char path[1200];

static const char *put(const char *name, const char *text)
{
    snprintf(path, sizeof path, "%s/%s", test_folder.path, name);
    if (qn_make_parent(path, NULL) != QN_OK || qn_file_write(path, text, strlen(text), NULL))
        fail_msg("cannot write %s", path);
    return path;
}

static qn_arc_tasks read_tasks(const char *from)
{
    qn_arc_tasks tasks = { 0 };
    qn_err err = { .text = "" };

    if (qn_arc_tasks_read(from, &tasks, &err) != QN_OK)
        fail_msg("%s", err.text);
    return tasks;
}

#define SMALL                                                                                      \
    "{\"train\":[{\"input\":[[1,2,3]],\"output\":[[4],[5]]}],\"test\":[{\"input\":[[9]]}]}"

static void file_gives_one_task_named_after_it(void **state)
{
    qn_arc_tasks tasks = read_tasks(put("one/abc123.json", SMALL));
    const qn_arc_task *const task = tasks.items;

    (void)state;
    assert_int_equal(tasks.n, 1);
    assert_string_equal(task->id, "abc123");
    assert_int_equal(task->n_train, 1);
    assert_int_equal(task->n_test, 1);
    assert_int_equal(task->pairs[0].input.rows, 1);
    assert_int_equal(task->pairs[0].input.cols, 3);
    assert_int_equal(task->pairs[0].input.cells[2], 3);
    assert_int_equal(task->pairs[0].output.rows, 2);
    assert_int_equal(task->pairs[0].output.cells[1], 5);
    assert_null(task->pairs[1].output.cells);
    qn_arc_tasks_free(&tasks);
}

static void folder_gives_its_tasks_by_id(void **state)
{
    qn_arc_tasks tasks;

    (void)state;
    put("many/b.json", SMALL);
    put("many/a.json", SMALL);
    put("many/a-b.json", SMALL); /* '-' sorts before '.', but "a" before "a-b" */
    put("many/notes.txt", "not a task");
    snprintf(path, sizeof path, "%s/many", test_folder.path);
    tasks = read_tasks(path);
    assert_int_equal(tasks.n, 3);
    assert_string_equal(tasks.items[0].id, "a");
    assert_string_equal(tasks.items[1].id, "a-b");
    assert_string_equal(tasks.items[2].id, "b");
    assert_ptr_equal(qn_arc_tasks_find(&tasks, "a-b"), &tasks.items[1]);
    assert_null(qn_arc_tasks_find(&tasks, "c"));
    qn_arc_tasks_free(&tasks);
}

static void unknown_keys_are_ignored(void **state)
{
    qn_arc_tasks tasks = read_tasks(put("named.json", "{\"name\":\"x\",\"train\":[],\"test\":[{"
                                                      "\"input\":[[0]],\"why\":[1]}]}"));

    (void)state;
    assert_int_equal(tasks.items[0].n_train, 0);
    assert_int_equal(tasks.items[0].n_test, 1);
    qn_arc_tasks_free(&tasks);
}

static void bad_tasks_are_refused_with_their_path(void **state)
{
    static const char *const rows[][2] = {
        { "[]", "bad.json:1: the root is not an object" },
        { "{\"train\":[]", "bad.json:1:" },
        { "{\"test\":[]}", "bad.json: train is not a list of pairs" },
        { "{\"train\":[]}", "bad.json: test is not a list of pairs" },
        { "{\"train\":[7],\"test\":[]}", "bad.json: train/0 is not an object" },
        { "{\"train\":[{\"input\":[[1]]}],\"test\":[]}",
          "bad.json: train/0/output is not a list of rows" },
        { "{\"train\":[],\"test\":[{\"output\":[[1]]}]}",
          "bad.json: test/0/input is not a list of rows" },
        { "{\"train\":[],\"test\":[{\"input\":[[1]]},{\"input\":[]}]}",
          "bad.json: test/1/input: 0 rows are outside 1 .. 30" },
        { "{\"train\":[],\"test\":[{\"input\":[[]]}]}",
          "bad.json: test/0/input/0: 0 columns are outside 1 .. 30" },
        { "{\"train\":[],\"test\":[{\"input\":[[1,2],[3]]}]}",
          "bad.json: test/0/input/1: 1 columns, but 2 in the first row" },
        { "{\"train\":[],\"test\":[{\"input\":[[1],5]}]}",
          "bad.json: test/0/input/1 is not a list of colours" },
        { "{\"train\":[],\"test\":[{\"input\":[[1,10]]}]}",
          "bad.json: test/0/input/0/1 is not a colour 0 .. 9" },
        { "{\"train\":[],\"test\":[{\"input\":[[1,-1]]}]}",
          "bad.json: test/0/input/0/1 is not a colour 0 .. 9" },
        { "{\"train\":[],\"test\":[{\"input\":[[1.0]]}]}",
          "bad.json: test/0/input/0/0 is not a colour 0 .. 9" },
        { "{\"train\":[],\"test\":[{\"input\":[[1]],\"output\":null}]}",
          "bad.json: test/0/output is not a list of rows" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_arc_tasks tasks = { 0 };
        qn_err err = { .text = "" };

        assert_int_equal(qn_arc_tasks_read(put("bad.json", rows[i][0]), &tasks, &err),
                         QN_ERR_INPUT);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i][1]);
        assert_null(tasks.items);
    }
}

static void grid_of_31_rows_is_refused(void **state)
{
    qn_str text = { 0 };
    qn_arc_tasks tasks = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    qn_str_add(&text, "{\"train\":[],\"test\":[{\"input\":[[0]");
    for (int i = 0; i < 30; i++)
        qn_str_add(&text, ",[0]");
    qn_str_add(&text, "]}]}");
    assert_int_equal(qn_arc_tasks_read(put("tall.json", qn_str_get(&text)), &tasks, &err),
                     QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "31 rows are outside 1 .. 30"));
    qn_str_free(&text);
}

static void missing_and_empty_places_are_errors(void **state)
{
    qn_arc_tasks tasks = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_arc_tasks_read("/nowhere/at/all", &tasks, &err), QN_ERR_IO);
    put("empty/readme.txt", "");
    snprintf(path, sizeof path, "%s/empty", test_folder.path);
    assert_int_equal(qn_arc_tasks_read(path, &tasks, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "no *.json file"));
}

static void one_bad_file_of_a_folder_is_named(void **state)
{
    qn_arc_tasks tasks = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    put("mixed/a.json", SMALL);
    put("mixed/b.json", "{}");
    snprintf(path, sizeof path, "%s/mixed", test_folder.path);
    assert_int_equal(qn_arc_tasks_read(path, &tasks, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "mixed/b.json: train"));
}

static void samples_are_pairs_of_grids(void **state)
{
    qn_arc_tasks tasks = read_tasks(put("sample.json", SMALL));
    qn_arc_heap *heap = open_heap();
    qn_arc_value samples, absent, expected;
    qn_arc_value row = V_TUPLE(heap, v_int(1), v_int(2), v_int(3));

    (void)state;
    expected =
        V_TUPLE(heap, V_TUPLE(heap, V_TUPLE(heap, row),
                              V_TUPLE(heap, V_TUPLE(heap, v_int(4)), V_TUPLE(heap, v_int(5)))));
    assert_int_equal(qn_arc_samples(&tasks.items[0], heap, &samples, NULL), QN_OK);
    assert_int_equal(qn_arc_compare(&samples, &expected), 0);
    assert_int_equal(qn_arc_grid_value(&tasks.items[0].pairs[1].output, heap, &absent, NULL),
                     QN_OK);
    assert_int_equal(absent.kind, QN_ARC_NONE);
    qn_arc_heap_free(heap);
    qn_arc_tasks_free(&tasks);
}

static void grid_goes_to_a_value_and_back(void **state)
{
    qn_arc_heap *heap = open_heap();
    unsigned char cells[] = { 0, 9, 3, 4, 5, 6 };
    const qn_arc_grid grid = { .rows = 2, .cols = 3, .cells = cells };
    qn_arc_grid back = { 0 };
    qn_arc_value value;
    qn_arc_value ragged = V_TUPLE(heap, v_pair(heap, 1, 2), V_TUPLE(heap, v_int(1)));
    qn_arc_value ten = V_TUPLE(heap, v_pair(heap, 1, 10));

    (void)state;
    assert_int_equal(qn_arc_grid_value(&grid, heap, &value, NULL), QN_OK);
    assert_true(qn_arc_grid_of_value(&value, 30, &back));
    assert_int_equal(back.cols, 3);
    assert_memory_equal(back.cells, cells, sizeof cells);
    qn_arc_cells_free(back.cells);
    assert_false(qn_arc_grid_of_value(&value, 2, &back));
    assert_false(qn_arc_grid_of_value(&ragged, 30, &back));
    assert_false(qn_arc_grid_of_value(&ten, 30, &back));
    assert_false(qn_arc_grid_of_value(&ten.items[0], 30, &back));
    qn_arc_heap_free(heap);
}

static void corpus_is_read(void **state)
{
    qn_arc_tasks tasks;
    size_t pairs = 0;

    (void)state;
    need_golden("arc/training");
    tasks = read_tasks(golden_path("arc/training"));
    assert_int_equal(tasks.n, 400);
    for (size_t i = 0; i < tasks.n; i++)
        pairs += (size_t)(tasks.items[i].n_train + tasks.items[i].n_test);
    assert_int_equal(pairs, 1718);
    assert_non_null(qn_arc_tasks_find(&tasks, "9edfc990"));
    qn_arc_tasks_free(&tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_gives_one_task_named_after_it),
        cmocka_unit_test(folder_gives_its_tasks_by_id),
        cmocka_unit_test(unknown_keys_are_ignored),
        cmocka_unit_test(bad_tasks_are_refused_with_their_path),
        cmocka_unit_test(grid_of_31_rows_is_refused),
        cmocka_unit_test(missing_and_empty_places_are_errors),
        cmocka_unit_test(one_bad_file_of_a_folder_is_named),
        cmocka_unit_test(samples_are_pairs_of_grids),
        cmocka_unit_test(grid_goes_to_a_value_and_back),
        cmocka_unit_test(corpus_is_read),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
