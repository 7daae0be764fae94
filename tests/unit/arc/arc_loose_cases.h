/* arc_loose_cases.h - primitives on grids whose cells are not bytes: with large values, ragged,
 * empty, or not grids at all. There is one program for each order in which blocks run.
 *
 * Raising every value of a grid by 1000 makes it loose. A primitive that only moves values, or
 * compares them with others that are raised as well, must give the raised result.
 */
#define OPS_HEADER "arc_grid_ops.h"
#include "arc_op_fixture.h"

#define RAISED 1000

/* The value with all numbers raised. */
static qn_arc_value raise(qn_arc_heap *heap, qn_arc_value v)
{
    qn_arc_value *items;

    if (v.kind == QN_ARC_INT)
        return v_int(v.number + RAISED);
    if (v.kind != QN_ARC_TUPLE && v.kind != QN_ARC_SET)
        return v;
    items = qn_arc_values(heap, v.n);
    assert_true(items || v.n == 0);
    for (int k = 0; k < v.n; k++)
        items[k] = raise(heap, v.items[k]);
    return v.kind == QN_ARC_SET ? qn_arc_set_of(items, v.n)
                                : (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = v.n, .items = items };
}

static qn_arc_value random_grid(qn_arc_heap *heap, arc_random *random)
{
    unsigned char cells[49];
    const int rows = 1 + next_below(random, 7), cols = 1 + next_below(random, 7);
    qn_arc_value v;
    qn_err err = { .text = "" };

    for (int k = 0; k < rows * cols; k++)
        cells[k] = (unsigned char)next_below(random, 4);
    if (qn_arc_grid_of(heap, cells, rows, cols, &v, &err) != QN_OK)
        fail_msg("%s", err.text);
    return v;
}

static qn_arc_value random_patch(qn_arc_heap *heap, arc_random *random)
{
    qn_arc_value items[5];
    const int n = next_below(random, 6);

    for (int k = 0; k < n; k++)
        items[k] = v_pair(heap, next_below(random, 9) - 1, next_below(random, 9) - 1);
    return next_below(random, 2) ? v_set(heap, n, items) : v_tuple(heap, n, items);
}

/* An argument: g grid, n small number, c colour, p patch, d pair. Only grids and colours are
 * raised. */
static qn_arc_value random_argument(qn_arc_heap *heap, arc_random *random, char kind)
{
    switch (kind) {
    case 'g':
        return random_grid(heap, random);
    case 'c':
        return v_int(next_below(random, 5));
    case 'p':
        return random_patch(heap, random);
    case 'd':
        return v_pair(heap, next_below(random, 9) - 4, next_below(random, 9) - 2);
    default:
        return v_int(next_below(random, 6) - 2);
    }
}

/* Arguments, and whether the numbers of the result are values of the grid. */
static const struct {
    const char *op, *args;
    int is_raised;
} raised_ops[] = {
    { "rot90", "g", 1 },       { "rot180", "g", 1 },    { "rot270", "g", 1 },
    { "hmirror", "g", 1 },     { "vmirror", "g", 1 },   { "dmirror", "g", 1 },
    { "cmirror", "g", 1 },     { "trim", "g", 1 },      { "tophalf", "g", 1 },
    { "bottomhalf", "g", 1 },  { "lefthalf", "g", 1 },  { "righthalf", "g", 1 },
    { "hupscale", "gn", 1 },   { "vupscale", "gn", 1 }, { "upscale", "gn", 1 },
    { "downscale", "gn", 1 },  { "hsplit", "gn", 1 },   { "vsplit", "gn", 1 },
    { "hconcat", "gg", 1 },    { "vconcat", "gg", 1 },  { "crop", "gdd", 1 },
    { "subgrid", "pg", 1 },    { "replace", "gcc", 1 }, { "switch", "gcc", 1 },
    { "cellwise", "ggc", 1 },  { "fill", "gcp", 1 },    { "underfill", "gcp", 1 },
    { "cover", "gp", 1 },      { "mostcolor", "g", 1 }, { "leastcolor", "g", 1 },
    { "palette", "g", 1 },     { "p_g", "g", 1 },       { "get_color_rank_t", "gn", 1 },
    { "index", "gd", 1 },      { "canvas", "cd", 1 },   { "mir_rot_t", "gn", 1 },
    { "colorcount", "gc", 0 }, { "numcolors", "g", 0 }, { "ofcolor", "gc", 0 },
    { "asindices", "g", 0 },
};

static qn_arc_value result_of(op_fixture *fixture, const char *op, const qn_arc_value *args, int n)
{
    uint32_t mark;
    const slot v = fixture_run(fixture, op, args, n, ARENA_BYTES, &mark);
    qn_arc_value out = v_none();
    qn_err err = { .text = "" };

    if (!fixture->vm.error &&
        qn_arc_decode(v, fixture->arena, ARENA_BYTES, 0, fixture->heap, &out, &err) != QN_OK)
        fail_msg("%s", err.text);
    return out;
}

static void run_raised(op_fixture *fixture, arc_random *random, const char *op, const char *kinds,
                       int is_raised)
{
    const int n = (int)strlen(kinds);
    qn_arc_value args[4], raised[4], expected;
    uint32_t mark;
    int error;
    slot v;

    for (int k = 0; k < n; k++) {
        args[k] = random_argument(fixture->heap, random, kinds[k]);
        raised[k] = strchr("gc", kinds[k]) ? raise(fixture->heap, args[k]) : args[k];
    }
    expected = result_of(fixture, op, args, n);
    error = fixture->vm.error;
    if (is_raised)
        expected = raise(fixture->heap, expected);
    v = fixture_run(fixture, op, raised, n, ARENA_BYTES, &mark);
    if (fixture->vm.error != error)
        fail_msg("%s fails with %s, not %s", op, qn_arc_code_name(fixture->vm.error),
                 qn_arc_code_name(error));
    if (!error && !fixture_is(fixture, v, &expected)) {
        qn_str got = fixture_text(fixture, v), wanted = { 0 };

        qn_arc_print(&wanted, &expected);
        fail_msg("%s gives %.300s, not %.300s", op, qn_str_get(&got), qn_str_get(&wanted));
    }
}

static void grids_of_large_values_are_treated_as_those_of_bytes(void **state)
{
    arc_random random = { .seed = 21 };

    (void)state;
    for (size_t k = 0; k < sizeof raised_ops / sizeof *raised_ops; k++) {
        op_fixture fixture = fixture_open();

        for (int trial = 0; trial < 20; trial++)
            run_raised(&fixture, &random, raised_ops[k].op, raised_ops[k].args,
                       raised_ops[k].is_raised);
        fixture_close(&fixture);
    }
}

/* Cases in the notation of golden files. */

static qn_arc_value from_text(op_fixture *fixture, const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    qn_arc_value v = v_none();
    qn_err err = { .text = "" };

    assert_non_null(json);
    if (qn_arc_from_json(json, text, fixture->heap, &v, &err) != QN_OK)
        fail_msg("%s", err.text);
    json_decref(json);
    return v;
}

typedef struct text_case {
    const char *op, *args[4], *out; /* out NULL: it must fail */
} text_case;

#define RAGGED     "{\"t\":[{\"t\":[1,2,3]},{\"t\":[4,5]}]}"
#define NO_COLUMNS "{\"t\":[{\"t\":[]},{\"t\":[]}]}"

static const text_case ragged_cases[] = {
    { "dmirror", { RAGGED }, "{\"g\":[\"14\",\"25\"]}" },
    { "rot90", { RAGGED }, "{\"g\":[\"41\",\"52\"]}" },
    { "rot270", { RAGGED }, "{\"g\":[\"25\",\"14\"]}" },
    { "cmirror", { RAGGED }, "{\"g\":[\"53\",\"42\"]}" },
    { "rot180", { RAGGED }, "{\"t\":[{\"t\":[5,4]},{\"t\":[3,2,1]}]}" },
    { "vmirror", { RAGGED }, "{\"t\":[{\"t\":[3,2,1]},{\"t\":[5,4]}]}" },
    { "hmirror", { RAGGED }, "{\"t\":[{\"t\":[4,5]},{\"t\":[1,2,3]}]}" },
    { "lefthalf", { RAGGED }, "{\"g\":[\"1\",\"4\"]}" },
    { "righthalf", { RAGGED }, "{\"g\":[\"2\",\"5\"]}" },
    { "crop", { RAGGED, "{\"t\":[0,1]}", "{\"t\":[2,2]}" }, "{\"t\":[{\"t\":[2,3]},{\"t\":[5]}]}" },
    { "hupscale", { RAGGED, "2" }, "{\"t\":[{\"t\":[1,1,2,2,3,3]},{\"t\":[4,4,5,5]}]}" },
    { "vconcat", { "{\"g\":[\"123\"]}", "{\"g\":[\"45\"]}" }, RAGGED },
    { "hconcat", { RAGGED, "{\"t\":[{\"t\":[]},{\"t\":[6]}]}" }, "{\"g\":[\"123\",\"456\"]}" },
    { "replace", { RAGGED, "5", "9" }, "{\"t\":[{\"t\":[1,2,3]},{\"t\":[4,9]}]}" },
    { "fill", { RAGGED, "9", "{\"x\":[[0,2],[1,1]]}" }, "{\"t\":[{\"t\":[1,2,9]},{\"t\":[4,9]}]}" },
    { "fill", { RAGGED, "9", "{\"x\":[[1,2]]}" }, NULL },
    { "paint", { RAGGED, "{\"o\":[[7,1,0]]}" }, "{\"t\":[{\"t\":[1,2,3]},{\"t\":[7,5]}]}" },
    { "index", { RAGGED, "{\"t\":[1,2]}" }, NULL },
    { "index", { RAGGED, "{\"t\":[0,2]}" }, "3" },
    { "cellwise", { RAGGED, RAGGED, "0" }, NULL },
    { "downscale", { RAGGED, "2" }, NULL },
    { "colorcount", { RAGGED, "5" }, "1" },
    { "palette", { RAGGED }, "{\"s\":[1,2,3,4,5]}" },
    { "mostcolor", { "{\"t\":[{\"t\":[1,2,3]},{\"t\":[3]}]}" }, "3" },
    { "ofcolor", { RAGGED, "5" }, "{\"x\":[[1,1]]}" },
    { "asobject", { RAGGED }, "{\"o\":[[1,0,0],[2,0,1],[3,0,2],[4,1,0],[5,1,1]]}" },
    { "toobject", { "{\"x\":[[0,2],[1,1]]}", RAGGED }, "{\"o\":[[3,0,2],[5,1,1]]}" },
    { "objects", { RAGGED, "true", "false", "false" }, NULL },
    { "objects",
      { "{\"t\":[{\"t\":[1,2]},{\"t\":[1,5,6]}]}", "true", "false", "false" },
      "{\"s\":[{\"o\":[[1,0,0],[1,1,0]]},{\"o\":[[2,0,1]]},{\"o\":[[5,1,1]]}]}" },
};

static const text_case empty_cases[] = {
    { "asindices", { NO_COLUMNS }, "{\"s\":[]}" },
    { "asobject", { NO_COLUMNS }, "{\"s\":[]}" },
    { "objects", { NO_COLUMNS, "true", "true", "false" }, "{\"s\":[]}" },
    { "objects", { NO_COLUMNS, "true", "true", "true" }, NULL },
    { "partition", { NO_COLUMNS }, "{\"s\":[]}" },
    { "fgpartition", { NO_COLUMNS }, NULL },
    { "frontiers", { NO_COLUMNS }, "{\"s\":[]}" },
    { "compress", { NO_COLUMNS }, NO_COLUMNS },
    { "compress", { "{\"g\":[\"11\",\"11\"]}" }, "{\"t\":[]}" },
    { "compress", { "{\"g\":[\"12\",\"12\"]}" }, NO_COLUMNS },
    { "fill", { NO_COLUMNS, "3", "{\"x\":[[0,0]]}" }, NO_COLUMNS },
    { "dmirror", { NO_COLUMNS }, "{\"t\":[]}" },
    { "vmirror", { NO_COLUMNS }, NO_COLUMNS },
    { "occurrences", { NO_COLUMNS, "{\"s\":[]}" }, "{\"x\":[[0,0],[1,0],[2,0]]}" },
    { "occurrences", { NO_COLUMNS, "{\"o\":[[1,0,0]]}" }, "{\"s\":[]}" },
    { "hsplit", { NO_COLUMNS, "2" }, "{\"t\":[" NO_COLUMNS "," NO_COLUMNS "]}" },
    { "hupscale", { "{\"g\":[\"12\",\"34\"]}", "0" }, NO_COLUMNS },
    { "upscale", { "{\"g\":[\"12\",\"34\"]}", "-1" }, "{\"t\":[]}" },
    { "vupscale", { "{\"g\":[\"12\",\"34\"]}", "0" }, "{\"t\":[]}" },
    { "mostcolor", { NO_COLUMNS }, NULL },
};

static const text_case odd_cases[] = {
    { "hmirror", { "{\"t\":[1,2]}" }, "{\"t\":[2,1]}" },
    { "vmirror", { "{\"t\":[1,2]}" }, NULL },
    { "tophalf", { "{\"t\":[7,8,9]}" }, "{\"t\":[7]}" },
    { "vconcat", { "{\"t\":[1]}", "{\"t\":[2]}" }, "{\"t\":[1,2]}" },
    { "vconcat", { "{\"t\":[1]}", "{\"s\":[2]}" }, NULL },
    { "palette", { "{\"x\":[[3,1],[3,2],[5,0]]}" }, "{\"s\":[3,5]}" },
    { "palette", { "7" }, NULL },
    { "palette", { "{\"s\":[1,2]}" }, NULL },
    { "mostcolor", { "{\"s\":[{\"t\":[300,{\"t\":[0,0]}]},{\"t\":[300,{\"t\":[0,1]}]}]}" }, "300" },
    { "numcolors", { "{\"t\":[{\"t\":[true,1,null]}]}" }, "2" },
    { "fill", { "{\"g\":[\"12\"]}", "null", "{\"x\":[[0,0]]}" }, "{\"t\":[{\"t\":[null,2]}]}" },
    { "fill", { "{\"g\":[\"12\"]}", "300", "{\"x\":[[0,5]]}" }, "{\"g\":[\"12\"]}" },
    { "fill", { "3", "3", "{\"s\":[]}" }, NULL },
    { "rot90", { "{\"s\":[]}" }, NULL },
    { "canvas", { "null", "{\"t\":[1,3]}" }, "{\"t\":[{\"t\":[null,null,null]}]}" },
    { "crop", { "{\"g\":[\"12\"]}", "{\"t\":[]}", "{\"t\":[1,1]}" }, NULL },
    { "occurrences", { "{\"g\":[\"12\"]}", "{\"x\":[[0,0]]}" }, NULL },
    { "upscale", { "{\"x\":[[0,0]]}", "2" }, NULL },
    { "o_g", { "{\"g\":[\"12\"]}", "8" }, NULL },
    { "move",
      { "{\"g\":[\"120\"]}", "{\"t\":[{\"t\":[2,{\"t\":[0,1]}]}]}", "{\"t\":[0,1]}" },
      "{\"g\":[\"102\"]}" },
};

static void run_texts(const text_case *cases, size_t n)
{
    op_fixture fixture = fixture_open();

    for (size_t k = 0; k < n; k++) {
        qn_arc_value args[4];
        uint32_t mark;
        int n_args = 0;
        slot v;

        for (; n_args < 4 && cases[k].args[n_args]; n_args++)
            args[n_args] = from_text(&fixture, cases[k].args[n_args]);
        v = fixture_run(&fixture, cases[k].op, args, n_args, ARENA_BYTES, &mark);
        if (!fixture.vm.error != !!cases[k].out)
            fail_msg("case %zu: %s ends with %s", k, cases[k].op,
                     qn_arc_code_name(fixture.vm.error));
        if (cases[k].out) {
            const qn_arc_value expected = from_text(&fixture, cases[k].out);

            if (!fixture_is(&fixture, v, &expected)) {
                const qn_str got = fixture_text(&fixture, v);

                fail_msg("case %zu: %s gives %s", k, cases[k].op, qn_str_get(&got));
            }
        }
    }
    fixture_close(&fixture);
}

static void ragged_grids_are_cut_or_left_as_rows_go(void **state)
{
    (void)state;
    run_texts(ragged_cases, sizeof ragged_cases / sizeof *ragged_cases);
}

static void grids_without_cells_are_grids(void **state)
{
    (void)state;
    run_texts(empty_cases, sizeof empty_cases / sizeof *empty_cases);
}

static void what_is_no_grid_fails_only_where_rows_are_needed(void **state)
{
    (void)state;
    run_texts(odd_cases, sizeof odd_cases / sizeof *odd_cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_of_large_values_are_treated_as_those_of_bytes),
        cmocka_unit_test(ragged_grids_are_cut_or_left_as_rows_go),
        cmocka_unit_test(grids_without_cells_are_grids),
        cmocka_unit_test(what_is_no_grid_fails_only_where_rows_are_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
