/* test_arc_patch_odd.c - unusual patches: tuples with duplicates, grids, positions at the edge of
 * what keys can hold; distances and falls compared with plain searches. */
#define OPS_HEADER "arc_patch_ops.h"
#include "arc_op_fixture.h"

typedef struct row {
    const char *op, *args; /* JSON, an array */
    const char *out;       /* JSON, or the name of an error */
} row;

static qn_arc_value value_of(op_fixture *fixture, const json_t *json)
{
    qn_arc_value value = v_none();
    qn_err err = { .text = "" };

    if (qn_arc_from_json(json, "test", fixture->heap, &value, &err) != QN_OK)
        fail_msg("%s", err.text);
    return value;
}

static void check_row(op_fixture *fixture, const row *r)
{
    json_t *args = json_loads(r->args, 0, NULL);
    json_t *out = json_loads(r->out, JSON_DECODE_ANY, NULL);
    qn_arc_value values[4];
    uint32_t mark;
    slot v;

    assert_non_null(args);
    for (size_t k = 0; k < json_array_size(args); k++)
        values[k] = value_of(fixture, json_array_get(args, k));
    v = fixture_run(fixture, r->op, values, (int)json_array_size(args), ARENA_BYTES, &mark);
    if (!out) {
        if (strcmp(qn_arc_code_name(fixture->vm.error), r->out) != 0)
            fail_msg("%s %s: %s, not %s", r->op, r->args, qn_arc_code_name(fixture->vm.error),
                     r->out);
    } else {
        const qn_arc_value expected = value_of(fixture, out);

        if (fixture->vm.error)
            fail_msg("%s %s: %s", r->op, r->args, qn_arc_code_name(fixture->vm.error));
        if (!fixture_is(fixture, v, &expected)) {
            qn_str got = fixture_text(fixture, v);

            fail_msg("%s %s: %s, not %s", r->op, r->args, qn_str_get(&got), r->out);
        }
    }
    json_decref(args);
    json_decref(out);
}

static void check_rows(const row *rows, size_t n)
{
    op_fixture fixture = fixture_open();

    for (size_t k = 0; k < n; k++)
        check_row(&fixture, &rows[k]);
    fixture_close(&fixture);
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof *(rows))

/* (1, (0, 0)), (2, (0, 0)), (1, (2, 2)) as a tuple */
#define CELLS                                                                                      \
    "{\"t\":[{\"t\":[1,{\"t\":[0,0]}]},{\"t\":[2,{\"t\":[0,0]}]},{\"t\":[1,{\"t\":[2,2]}]}]}"

static void tuples_of_pairs_are_patches_with_doubles(void **state)
{
    static const row rows[] = {
        { "shift", "[{\"g\":[\"12\",\"00\",\"12\"]},{\"t\":[1,1]}]", "{\"x\":[[1,1],[2,3]]}" },
        { "normalize", "[{\"g\":[\"12\",\"34\",\"12\"]}]", "{\"x\":[[0,0],[2,2]]}" },
        { "recolor", "[3,{\"g\":[\"12\",\"12\"]}]", "{\"o\":[[3,1,2]]}" },
        { "toindices", "[{\"g\":[\"12\",\"12\"]}]", "{\"g\":[\"12\",\"12\"]}" },
        { "ulcorner", "[{\"g\":[\"14\",\"32\"]}]", "{\"t\":[1,2]}" },
        { "lrcorner", "[{\"g\":[\"14\",\"32\"]}]", "{\"t\":[3,4]}" },
        { "corners", "[{\"g\":[\"14\",\"32\"]}]", "{\"x\":[[1,2],[1,4],[3,2],[3,4]]}" },
        { "uppermost", "[{\"g\":[\"52\",\"33\"]}]", "3" },
        { "centerofmass", "[{\"g\":[\"00\",\"00\",\"00\",\"44\"]}]", "{\"t\":[1,1]}" },
        { "backdrop", "[{\"g\":[\"00\",\"11\"]}]", "{\"x\":[[0,0],[0,1],[1,0],[1,1]]}" },
        { "box", "[{\"g\":[\"00\",\"02\"]}]", "{\"x\":[[0,0],[0,1],[0,2]]}" },
        { "manhattan", "[{\"g\":[\"00\",\"00\"]},{\"x\":[[3,4]]}]", "7" },
        { "hmatching", "[{\"g\":[\"52\",\"33\"]},{\"x\":[[3,9]]}]", "true" },
        { "delta", "[{\"g\":[\"00\",\"11\"]}]", "TYPE" },
    };

    (void)state;
    CHECK(rows);
}

static void tuples_of_cells_are_objects_with_doubles(void **state)
{
    static const row rows[] = {
        { "toindices", "[" CELLS "]", "{\"x\":[[0,0],[2,2]]}" },
        { "shift", "[" CELLS ",{\"t\":[0,1]}]", "{\"o\":[[1,0,1],[1,2,3],[2,0,1]]}" },
        { "delta", "[" CELLS "]", "{\"x\":[[0,1],[0,2],[1,0],[1,1],[1,2],[2,0],[2,1]]}" },
        { "recolor", "[7," CELLS "]", "{\"o\":[[7,0,0],[7,2,2]]}" },
        { "centerofmass", "[" CELLS "]", "{\"t\":[0,0]}" },
        { "color", "[" CELLS "]", "1" },
        { "hperiod", "[" CELLS "]", "3" },
        { "p_o", "[" CELLS "]", "{\"t\":[1,2]}" },
        { "p_f", "[" CELLS "]", "{\"s\":[1,2]}" },
    };

    (void)state;
    CHECK(rows);
}

static void tuple_counts_as_grid_where_a_piece_is_asked(void **state)
{
    static const row rows[] = {
        { "height", "[{\"t\":[5,5]}]", "2" },
        { "width", "[{\"t\":[5,5]}]", "TYPE" },
        { "shape", "[{\"t\":[{\"t\":[1,2,3]},{\"t\":[1]}]}]", "{\"t\":[2,3]}" },
        { "center", "[{\"g\":[\"00\",\"00\",\"00\",\"00\"]}]", "{\"t\":[2,1]}" },
        { "position", "[" CELLS ",{\"x\":[[1,5]]}]", "{\"t\":[0,1]}" },
        { "vline", "[{\"g\":[\"1\",\"2\",\"3\"]}]", "true" },
        { "hline", "[{\"g\":[\"4\"]}]", "true" },
        { "square", "[{\"t\":[{\"t\":[1,2]},3]}]", "true" },
    };

    (void)state;
    CHECK(rows);
}

static void wide_grid_has_a_corner_component_per_column(void **state)
{
    static const row rows[] = {
        { "ulcorner", "[{\"g\":[\"315\",\"242\"]}]", "{\"t\":[2,1,2]}" },
        { "lrcorner", "[{\"g\":[\"315\",\"242\"]}]", "{\"t\":[3,4,5]}" },
        { "centerofmass", "[{\"g\":[\"315\",\"242\"]}]", "{\"t\":[2,2,3]}" },
        { "urcorner", "[{\"g\":[\"315\",\"242\"]}]", "TYPE" },
        { "uppermost", "[{\"g\":[\"315\",\"242\"]}]", "TYPE" },
        { "ulcorner", "[{\"g\":[\"3\",\"2\"]}]", "INDEX" },
    };

    (void)state;
    CHECK(rows);
}

static void what_is_no_patch_fails(void **state)
{
    static const row rows[] = {
        { "height", "[7]", "TYPE" },
        { "shift", "[{\"s\":[1,2]},{\"t\":[0,0]}]", "TYPE" },
        { "shift", "[{\"x\":[[1,2]]},{\"t\":[1,2,3]}]", "VALUE" },
        { "shift", "[{\"x\":[[1,2]]},4]", "TYPE" },
        { "uppermost", "[{\"s\":[{\"t\":[1]}]}]", "INDEX" },
        { "leftmost", "[{\"s\":[{\"t\":[0,2]},{\"t\":[1,{\"t\":[0,0]}]}]}]", "TYPE" },
        { "lowermost", "[null]", "TYPE" },
        { "colorfilter", "[{\"s\":[3]},3]", "TYPE" },
        { "sizefilter", "[{\"t\":[3]},1]", "TYPE" },
        { "neighbors", "[{\"t\":[1]}]", "INDEX" },
        { "connect", "[{\"t\":[1,2]},{\"t\":[1,2,3]}]", "VALUE" },
        { "hperiod", "[{\"x\":[[0,0],[0,1]]}]", "TYPE" },
        { "hmirror", "[{\"s\":[1]}]", "TYPE" },
        { "col_row", "[{\"x\":[[0,0]]},4]", "VALUE" },
        { "toij", "[{\"t\":[1,2,3]}]", "VALUE" },
        { "celltuple", "[4,{\"t\":[]}]", "TYPE" },
    };

    (void)state;
    CHECK(rows);
}

static void what_keys_cannot_hold_is_out_of_range(void **state)
{
    static const row rows[] = {
        { "shift", "[{\"x\":[[2000,0]]},{\"t\":[47,0]}]", "{\"x\":[[2047,0]]}" },
        { "shift", "[{\"x\":[[2000,0]]},{\"t\":[48,0]}]", "RANGE" },
        { "shift", "[{\"o\":[[1,0,-2048]]},{\"t\":[0,-1]}]", "RANGE" },
        { "shift", "[{\"x\":[[0,0]]},{\"t\":[100000,0]}]", "RANGE" },
        { "shift", "[{\"x\":[[-2048,-2048]]},{\"t\":[4095,4095]}]", "{\"x\":[[2047,2047]]}" },
        { "normalize", "[{\"x\":[[-2048,0],[2047,0]]}]", "RANGE" },
        { "outbox", "[{\"x\":[[2047,0]]}]", "RANGE" },
        { "neighbors", "[{\"t\":[0,-2048]}]", "RANGE" },
        { "dmirror", "[{\"x\":[[2040,0],[2040,30]]}]", "RANGE" },
        { "connect", "[{\"t\":[0,2000]},{\"t\":[0,3000]}]", "RANGE" },
        { "connect", "[{\"t\":[0,0]},{\"t\":[30000,7]}]", "{\"s\":[]}" },
        { "shoot", "[{\"t\":[0,0]},{\"t\":[0,200]}]", "RANGE" },
        { "uppermost", "[{\"s\":[{\"t\":[5000,1]}]}]", "RANGE" },
        { "recolor", "[300,{\"x\":[[1,2]]}]", "{\"s\":[{\"t\":[300,{\"t\":[1,2]}]}]}" },
        { "backdrop", "[{\"x\":[[-2048,-2048],[2047,2047]]}]", "RANGE" },
    };

    (void)state;
    CHECK(rows);
}

static void cells_are_put_together_and_taken_apart(void **state)
{
    static const row rows[] = {
        { "ascell", "[{\"t\":[1,2]},5]", "{\"t\":[5,{\"t\":[1,2]}]}" },
        { "toij", "[{\"t\":[5,{\"t\":[1,2]}]}]", "{\"t\":[1,2]}" },
        { "astriple", "[1,2,3]", "{\"t\":[1,2,3]}" },
        { "astriple", "[1,{\"s\":[]},3]", "{\"t\":[1,{\"s\":[]},3]}" },
        { "celltuple", "[{\"g\":[\"12\",\"34\"]},{\"t\":[5,6,7]}]",
          "{\"t\":[{\"t\":[5,{\"t\":[1,2]}]},{\"t\":[6,{\"t\":[3,4]}]}]}" },
        { "celltuple", "[{\"t\":[]},{\"t\":[5]}]", "{\"t\":[]}" },
        { "mir_rot_f", "[{\"x\":[[0,0],[0,1],[1,0]]},3]", "{\"x\":[[0,1],[1,0],[1,1]]}" },
        { "mir_rot_f", "[{\"x\":[[0,0]]},4]", "{\"x\":[[0,0]]}" },
        { "corner", "[{\"x\":[[0,0],[3,5]]},9]", "{\"t\":[0,0]}" },
    };

    (void)state;
    CHECK(rows);
}

/* Against plain searches. */

#define MOST 200

typedef struct points {
    int n, i[MOST], j[MOST];
} points;

/* n positions in a square; if n is large, few positions are free. */
static points random_points(arc_random *random, int n, int side, int far)
{
    points p = { .n = n };
    const int di = next_below(random, far), dj = next_below(random, far);

    for (int k = 0; k < n; k++) {
        p.i[k] = di + next_below(random, side);
        p.j[k] = dj + next_below(random, side);
    }
    return p;
}

static qn_arc_value indices_of(op_fixture *fixture, const points *p)
{
    qn_arc_value items[MOST];

    for (int k = 0; k < p->n; k++)
        items[k] = v_pair(fixture->heap, p->i[k], p->j[k]);
    return v_set(fixture->heap, p->n, items);
}

/* The distance between p moved by (di, dj) and q. */
static int distance(const points *p, const points *q, int di, int dj)
{
    int least = I32_MAX;

    for (int a = 0; a < p->n; a++)
        for (int b = 0; b < q->n; b++) {
            const int far = abs(p->i[a] + di - q->i[b]) + abs(p->j[a] + dj - q->j[b]);

            least = far < least ? far : least;
        }
    return least;
}

static void distance_is_that_of_the_nearest_pair(void **state)
{
    arc_random random = { .seed = 11 };
    op_fixture fixture = fixture_open();

    (void)state;
    for (int round = 0; round < 200; round++) {
        const points p = random_points(&random, 1 + next_below(&random, MOST), 12, 20);
        const points q = random_points(&random, 1 + next_below(&random, MOST), 12, 20);
        const qn_arc_value args[2] = { indices_of(&fixture, &p), indices_of(&fixture, &q) };
        uint32_t mark;
        const slot v = fixture_run(&fixture, "manhattan", args, 2, ARENA_BYTES, &mark);

        assert_int_equal(fixture.vm.error, ARC_OK);
        assert_int_equal(ARC_PAYLOAD(v), distance(&p, &q, 0, 0));
    }
    fixture_close(&fixture);
}

static void patch_falls_until_it_touches(void **state)
{
    arc_random random = { .seed = 12 };
    op_fixture fixture = fixture_open();

    (void)state;
    for (int round = 0; round < 300; round++) {
        const points p = random_points(&random, 1 + next_below(&random, 9), 4, 45);
        const points q = random_points(&random, 1 + next_below(&random, 9), 4, 12);
        const qn_arc_value args[2] = { indices_of(&fixture, &p), indices_of(&fixture, &q) };
        uint32_t mark;
        const slot v = fixture_run(&fixture, "gravitate", args, 2, ARENA_BYTES, &mark);
        const int di = ARC_PAIR_I(v), dj = ARC_PAIR_J(v);
        const int steps = abs(di) + abs(dj);

        assert_int_equal(fixture.vm.error, ARC_OK);
        assert_true(di == 0 || dj == 0);
        assert_true(steps <= 42);
        if (steps < 42)
            assert_int_equal(distance(&p, &q, di, dj), 1);
        for (int s = 0; s < steps; s++)
            assert_int_not_equal(distance(&p, &q, di / steps * s, dj / steps * s), 1);
    }
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tuples_of_pairs_are_patches_with_doubles),
        cmocka_unit_test(tuples_of_cells_are_objects_with_doubles),
        cmocka_unit_test(tuple_counts_as_grid_where_a_piece_is_asked),
        cmocka_unit_test(wide_grid_has_a_corner_component_per_column),
        cmocka_unit_test(what_is_no_patch_fails),
        cmocka_unit_test(what_keys_cannot_hold_is_out_of_range),
        cmocka_unit_test(cells_are_put_together_and_taken_apart),
        cmocka_unit_test(distance_is_that_of_the_nearest_pair),
        cmocka_unit_test(patch_falls_until_it_touches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
