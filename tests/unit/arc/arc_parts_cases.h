/* arc_parts_cases.h - objects and occurrences in random grids: compares the algorithms with each
 * other, and with the plainest one on the host. There is one program for each order in which blocks
 * run. */
#define OPS_HEADER "arc_grid_ops.h"
#include "arc_op_fixture.h"

#define MOST_SIDE 80

typedef struct board {
    int rows, cols;
    signed char cells[MOST_SIDE * MOST_SIDE];
} board;

static board random_board(arc_random *random, int most_side, int colours)
{
    board b = { .rows = 1 + next_below(random, most_side),
                .cols = 1 + next_below(random, most_side) };

    /* In half of the boards, areas of one colour rather than noise. */
    const int calm = next_below(random, 2) ? 3 : 1;

    for (int k = 0; k < b.rows * b.cols; k++)
        b.cells[k] = (signed char)(k > b.cols && next_below(random, calm)
                                       ? b.cells[k - (next_below(random, 2) ? 1 : b.cols)]
                                       : next_below(random, colours));
    return b;
}

static slot put_board(op_fixture *fixture, const board *b)
{
    const slot v = arc_new_grid(&fixture->vm, b->rows, b->cols);

    assert_int_equal(fixture->vm.error, ARC_OK);
    memcpy(arc_new_cells(&fixture->vm, v), b->cells, (size_t)(b->rows * b->cols));
    return v;
}

/* Connected parts. */

static int do_join(const board *b, int k, int i, int j, arc_joining how)
{
    return i >= 0 && i < b->rows && j >= 0 && j < b->cols && b->cells[i * b->cols + j] != how.bg &&
           (!how.univalued || b->cells[i * b->cols + j] == b->cells[k]);
}

/* The part of cell `first`, in search order; `seen` marks its cells. */
static qn_arc_value search_part(qn_arc_heap *heap, const board *b, int first, arc_joining how,
                                char *seen)
{
    static int queue[MOST_SIDE * MOST_SIDE];
    static qn_arc_value cells[MOST_SIDE * MOST_SIDE];
    int n = 0;

    queue[n++] = first;
    seen[first] = 1;
    for (int at = 0; at < n; at++) {
        const int i = queue[at] / b->cols, j = queue[at] % b->cols;

        cells[at] = v_cell(heap, b->cells[queue[at]], i, j);
        for (int d = 0; d < 9; d++) {
            const int di = d / 3 - 1, dj = d % 3 - 1;
            const int next = (i + di) * b->cols + j + dj;

            if ((!how.diagonal && di && dj) || !do_join(b, queue[at], i + di, j + dj, how) ||
                seen[next])
                continue;
            seen[next] = 1;
            queue[n++] = next;
        }
    }
    return v_set(heap, n, cells);
}

static qn_arc_value search_parts(qn_arc_heap *heap, const board *b, arc_joining how)
{
    static char seen[MOST_SIDE * MOST_SIDE];
    static qn_arc_value parts[MOST_SIDE * MOST_SIDE];
    int n = 0;

    memset(seen, 0, sizeof seen);
    for (int k = 0; k < b->rows * b->cols; k++)
        if (!seen[k] && b->cells[k] != how.bg)
            parts[n++] = search_part(heap, b, k, how, seen);
    return v_set(heap, n, parts);
}

static void runs_and_masks_find_the_same_parts_as_a_search(void **state)
{
    arc_random random = { .seed = 11 };
    const i32 qn_team = 0;

    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        op_fixture fixture = fixture_open();
        arc_vm *vm = &fixture.vm;
        const board b = random_board(&random, 32, 2 + next_below(&random, 9));
        const arc_joining how = { .univalued = trial & 1,
                                  .diagonal = trial >> 1 & 1,
                                  .bg = trial >> 2 & 1 ? b.cells[0] : ARC_NO_BG };
        const qn_arc_value expected = search_parts(fixture.heap, &b, how);
        slot grid, by_runs, by_masks;

        fixture_clear(&fixture, ARENA_BYTES);
        grid = put_board(&fixture, &b);
        by_runs = arc_parts_by_runs(VM, arc_grid_of(vm, grid), how);
        by_masks = arc_parts_by_masks(VM, arc_grid_of(vm, grid), how);
        assert_int_equal(vm->error, ARC_OK);
        assert_int_equal(vm->limit, ARENA_BYTES);
        assert_true(fixture_is(&fixture, by_runs, &expected));
        assert_true(fixture_is(&fixture, by_masks, &expected));
        fixture_close(&fixture);
    }
}

/* The first of the largest parts; if there are none, the empty set. */
static qn_arc_value largest_of(const qn_arc_value *parts)
{
    qn_arc_value best = { .kind = QN_ARC_SET };

    for (int i = 0; i < parts->n; i++)
        best = parts->items[i].n > best.n ? parts->items[i] : best;
    return best;
}

static void runs_and_masks_find_the_first_of_the_largest_parts(void **state)
{
    arc_random random = { .seed = 13 };
    const i32 qn_team = 0;

    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        op_fixture fixture = fixture_open();
        arc_vm *vm = &fixture.vm;
        const board b = random_board(&random, trial % 3 ? 6 : 32, 2 + next_below(&random, 9));
        const arc_joining how = { .univalued = trial & 1,
                                  .diagonal = trial >> 1 & 1,
                                  .only_largest = 1,
                                  .bg = trial >> 2 & 1 ? b.cells[0] : ARC_NO_BG };
        const qn_arc_value parts = search_parts(fixture.heap, &b, how), best = largest_of(&parts);
        slot grid, by_runs, by_masks;

        fixture_clear(&fixture, ARENA_BYTES);
        grid = put_board(&fixture, &b);
        by_runs = arc_parts_by_runs(VM, arc_grid_of(vm, grid), how);
        by_masks = arc_parts_by_masks(VM, arc_grid_of(vm, grid), how);
        assert_int_equal(vm->error, ARC_OK);
        assert_int_equal(vm->limit, ARENA_BYTES);
        assert_int_equal(arc_len(vm, by_runs), parts.n > 0);
        assert_int_equal(arc_len(vm, by_masks), parts.n > 0);
        if (parts.n > 0) {
            assert_true(fixture_is(&fixture, arc_elem(vm, by_runs, 0), &best));
            assert_true(fixture_is(&fixture, arc_elem(vm, by_masks, 0), &best));
        }
        fixture_close(&fixture);
    }
}

static void large_grids_and_any_colours_have_parts_too(void **state)
{
    arc_random random = { .seed = 12 };
    const i32 qn_team = 0;

    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        op_fixture fixture = fixture_open();
        arc_vm *vm = &fixture.vm;
        board b = random_board(&random, trial < 16 ? MOST_SIDE : 20, 4);
        arc_joining how = { .univalued = trial & 1, .diagonal = trial >> 1 & 1 };
        qn_arc_value expected;
        slot grid, parts;

        for (int k = 0; k < b.rows * b.cols; k++)
            b.cells[k] = (signed char)(b.cells[k] * 60 - 90);
        fixture_clear(&fixture, ARENA_BYTES);
        grid = put_board(&fixture, &b);
        parts = arc_op_objects(VM, grid, ARC_SLOT_BOOL(how.univalued), ARC_SLOT_BOOL(how.diagonal),
                               ARC_SLOT_BOOL(1));
        assert_int_equal(vm->error, ARC_OK);
        how.bg = (i32)arc_number(vm, arc_op_mostcolor(VM, grid));
        expected = search_parts(fixture.heap, &b, how);
        assert_true(fixture_is(&fixture, parts, &expected));
        fixture_close(&fixture);
    }
}

/* Occurrences. */

/* A piece of the board, with some cells left out, moved anywhere. */
static int random_piece(arc_random *random, const board *b, u32 *keys)
{
    const int rows = 1 + next_below(random, MIN(b->rows, 4));
    const int cols = 1 + next_below(random, MIN(b->cols, 4));
    const int i0 = next_below(random, b->rows - rows + 1),
              j0 = next_below(random, b->cols - cols + 1);
    const int by = next_below(random, 9) - 4;
    int n = 0;

    for (int k = 0; k < rows * cols; k++) {
        const int i = i0 + k / cols, j = j0 + k % cols;

        if (n == 0 || next_below(random, 4))
            keys[n++] = ARC_KEY(b->cells[i * b->cols + j], i + by, j - by);
    }
    return n;
}

static int occurs(const board *b, const arc_search *s, int i, int j)
{
    for (int k = 0; k < s->n_keys; k++) {
        const int row = i + ARC_KEY_I(s->keys[k]) - s->box.i0;
        const int col = j + ARC_KEY_J(s->keys[k]) - s->box.j0;

        if (b->cells[row * b->cols + col] != ARC_KEY_COLOUR(s->keys[k]))
            return 0;
    }
    return 1;
}

static void words_and_cells_find_the_same_occurrences_as_a_search(void **state)
{
    arc_random random = { .seed = 13 };
    const i32 qn_team = 0;

    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        op_fixture fixture = fixture_open();
        arc_vm *vm = &fixture.vm;
        const board b = random_board(&random, trial % 4 ? 30 : 64, 1 + next_below(&random, 3));
        u32 at, found_at, n_words, n_cells, n = 0;
        slot object, found;
        arc_search s;

        fixture_clear(&fixture, ARENA_BYTES);
        s.g = arc_grid_of(vm, put_board(&fixture, &b));
        at = arc_alloc(vm, 16 * 4);
        object = arc_set_of_keys(VM, 1, at, random_piece(&random, &b, arc_keys_at(vm, at)));
        s.keys = arc_keys(vm, object);
        s.n_keys = ARC_AUX(object);
        s.box = arc_box_of(TEAM_PASS, arc_patch_of(VM, object));
        s.rows = b.rows - arc_box_rows(s.box) + 1;
        s.cols = b.cols - arc_box_cols(s.box) + 1;
        found_at = arc_alloc(vm, 2 * 64 * 64 * 4);
        n_words = (u32)arc_search_words(VM, s, arc_keys_at(vm, found_at));
        n_cells = (u32)arc_search_cells(VM, s, arc_keys_at(vm, found_at) + 64 * 64);
        assert_int_equal(vm->error, ARC_OK);
        vm->limit = ARENA_BYTES;
        for (int i = 0; i < s.rows; i++)
            for (int j = 0; j < s.cols; j++)
                if (occurs(&b, &s, i, j)) {
                    assert_int_equal(arc_keys_at(vm, found_at)[n], ARC_KEY(0, i, j));
                    assert_int_equal(arc_keys_at(vm, found_at)[64 * 64 + n++], ARC_KEY(0, i, j));
                }
        assert_int_equal(n_words, n);
        assert_int_equal(n_cells, n);
        found = arc_op_occurrences(VM, s.g.v, object);
        assert_int_equal(ARC_AUX(found), n);
        fixture_close(&fixture);
    }
}

static void occurrences_in_wide_grids_are_found(void **state)
{
    op_fixture fixture = fixture_open();
    arc_vm *vm = &fixture.vm;
    const i32 qn_team = 0;
    slot grid, object, found;

    (void)state;
    fixture_clear(&fixture, ARENA_BYTES);
    grid = arc_op_canvas(VM, ARC_SLOT_INT(3), ARC_SLOT_PAIR(2, 147));
    object = arc_op_asobject(VM, arc_op_canvas(VM, ARC_SLOT_INT(3), ARC_SLOT_PAIR(2, 140)));
    found = arc_op_occurrences(VM, grid, object);
    assert_int_equal(vm->error, ARC_OK);
    assert_int_equal(ARC_AUX(found), 8);
    assert_int_equal(arc_keys(vm, found)[7], ARC_KEY(0, 0, 7));
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_masks_find_the_same_parts_as_a_search),
        cmocka_unit_test(runs_and_masks_find_the_first_of_the_largest_parts),
        cmocka_unit_test(large_grids_and_any_colours_have_parts_too),
        cmocka_unit_test(words_and_cells_find_the_same_occurrences_as_a_search),
        cmocka_unit_test(occurrences_in_wide_grids_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
