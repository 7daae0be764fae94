/* parity_scatter.c - shared accumulation: the same bits in every run, on every device, for any
 * number of items in a cell.
 */
#include "parity.h"

#include "engine/engine.h"

#include <math.h>

enum { MILLION = 1000000, RUNS = 10, N_CELLS = 6 };

/* Cells with no item, one, as many as a single lane takes, one more, a chunk, and a bit more. */
static const int degrees[N_CELLS] = { 0, 1, 32, 33, 4096, 4097 };

typedef struct problem {
    int32_t *target;
    qn_i64 n_items, n_cells;
} problem;

/* All items into one cell. */
static problem one_cell(qn_i64 n)
{
    return (problem){ calloc((size_t)n, sizeof(int32_t)), n, 1 };
}

/* Mixes the items of all cells: always takes one from the cell with the largest remaining
 * fraction. */
static problem mixed_cells(void)
{
    problem p = { NULL, 0, N_CELLS };
    int left[N_CELLS];

    for (int c = 0; c < N_CELLS; c++) {
        left[c] = degrees[c];
        p.n_items += degrees[c];
    }
    p.target = malloc((size_t)p.n_items * sizeof *p.target);
    for (qn_i64 i = 0; i < p.n_items; i++) {
        int pick = (int)(qn_random_u64(6, (uint64_t)i) % N_CELLS);

        while (left[pick] == 0)
            pick = (pick + 1) % N_CELLS;
        left[pick]--;
        p.target[i] = pick;
    }
    return p;
}

/* `runs` runs of the same graph; the bits must not change between them. */
static outcome accumulate(const place *at, const problem *p, int runs)
{
    qn_ctx *ctx = open_place(at);
    qn_buf *value = random_floats(ctx, "value", (size_t)p->n_items, 7);
    guarded cell = guarded_new(ctx, (size_t)p->n_cells * sizeof(float));
    float first[N_CELLS], again[N_CELLS];
    qn_segments *segments = NULL;
    qn_graph *g = NULL;
    outcome got;

    must(qn_segments_new(ctx, "index", p->target, p->n_items, p->n_cells, &segments, &failure));
    must(qn_graph_new(ctx, "scatter", &g, &failure));
    must(qn_segments_sum(segments, g, "sum", value, cell.middle, &failure));
    for (int run = 0; run < runs; run++) {
        must(qn_graph_run(g, &failure));
        must(qn_graph_wait(g, &failure));
        must(qn_buf_read(cell.middle, 0, run ? again : first, (size_t)p->n_cells * sizeof(float),
                         &failure));
        if (run)
            assert_memory_equal(first, again, (size_t)p->n_cells * sizeof(float));
    }
    qn_graph_free(g);
    got = guarded_take(&cell, "float");
    qn_segments_free(segments);
    qn_buf_free(value);
    qn_ctx_close(ctx);
    return got;
}

static void check_everywhere(const problem *p, int runs)
{
    outcome want = accumulate(&cpu_place, p, runs);
    const float *cell = (const float *)want.data;

    for (qn_i64 c = 0; c < p->n_cells; c++) {
        double sum = 0;
        qn_i64 n = 0;

        for (qn_i64 i = 0; i < p->n_items; i++)
            if (p->target[i] == c) {
                sum += (double)qn_random_float(7, (uint64_t)i);
                n++;
            }
        assert_true(fabs((double)cell[c] - sum) <= 1e-6 * (double)n);
    }
    for (int i = 0; i < N_PLACES; i++) {
        outcome got;

        if (!is_here(&device_places[i]))
            continue;
        got = accumulate(&device_places[i], p, runs);
        assert_memory_equal(want.data, got.data, want.bytes);
        free(got.data);
    }
    free(want.data);
}

static void million_items_in_one_cell_give_the_same_bits_ten_times(void **state)
{
    problem p = one_cell(MILLION);

    (void)state;
    check_everywhere(&p, RUNS);
    free(p.target);
}

static void lists_of_every_length_are_summed(void **state)
{
    problem p = mixed_cells();

    (void)state;
    check_everywhere(&p, 2);
    free(p.target);
}

static void item_outside_the_cells_is_refused(void **state)
{
    const int32_t target[] = { 0, 2, 3 };
    qn_ctx *ctx = open_place(&cpu_place);
    qn_segments *segments = NULL;

    (void)state;
    assert_int_equal(qn_segments_new(ctx, "index", target, 3, 3, &segments, &failure),
                     QN_ERR_INPUT);
    assert_string_equal(failure.text, "segments index: item 2 goes to cell 3 of 3");
    assert_null(segments);
    qn_ctx_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(million_items_in_one_cell_give_the_same_bits_ten_times),
        cmocka_unit_test(lists_of_every_length_are_summed),
        cmocka_unit_test(item_outside_the_cells_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
