/* test_fuse.c - chains of element-wise stages run as one, with the same results. */
#include "engine_counters.h"

#include "engine/plan/graph_impl.h"
#include "kernel/vector.h"

enum { N = 3001, N_TEMPS = 24 };

typedef struct {
    qn_ctx *ctx;
    qn_graph *graph;
    qn_buf *x, *y, *temps[N_TEMPS];
} fixture;

static fixture open_on(const char *backend, const char *fault, int fuse)
{
    fixture r;

    setenv("QUERN_FUSE", fuse ? "1" : "0", 1);
    r.ctx = open_with(QN_OPTIONS(.backend = backend, .fault = fault));
    unsetenv("QUERN_FUSE");
    must(qn_graph_new(r.ctx, "g", &r.graph, &failure));
    r.x = ramp(r.ctx, "x", N, -700, 0.37f);
    r.y = array_of(r.ctx, "y", N);
    for (int t = 0; t < N_TEMPS; t++)
        must(qn_graph_temp(r.graph, "temp", N * sizeof(float), &r.temps[t], &failure));
    return r;
}

static fixture open_fixture(void)
{
    return open_on("sim", NULL, 1);
}

static void close_fixture(fixture *r)
{
    qn_graph_free(r->graph);
    qn_buf_free(r->x);
    qn_buf_free(r->y);
    assert_nothing_is_held(r->ctx);
    qn_ctx_close(r->ctx);
}

static void add(fixture *r, const char *name, float k, qn_buf *from, qn_buf *to)
{
    must(stage_map_add(r->graph, name, qn_range_1d(N), k, from, to, &failure));
}

static void mul(fixture *r, const char *name, float k, qn_buf *from, qn_buf *to)
{
    must(stage_map_mul(r->graph, name, qn_range_1d(N), k, from, to, &failure));
}

/* y = x + 2 by stages a and b, with temps[0] between them. */
static void add_a_and_b(fixture *r)
{
    add(r, "a", 1, r->x, r->temps[0]);
    add(r, "b", 1, r->temps[0], r->y);
}

static void run(fixture *r)
{
    must(qn_graph_run(r->graph, &failure));
    must(qn_graph_wait(r->graph, &failure));
}

static void expect_fused(fixture *r, int fused, int left)
{
    must(qn_graph_compile(r->graph, &failure));
    assert_int_equal(qn_graph_get_stats(r->graph).n_fused, fused);
    assert_int_equal(r->graph->n_stages, left);
}

/* The same bits. */

static void call_map(fixture *r, int code, float k, qn_buf *from, qn_buf *to)
{
    qn_graph *const g = r->graph;
    const qn_range n = qn_range_1d(N);

    switch (code) {
    case QN_CHAIN_MUL:
        must(stage_map_mul(g, "m", n, k, from, to, &failure));
        break;
    case QN_CHAIN_ADD:
        must(stage_map_add(g, "m", n, k, from, to, &failure));
        break;
    case QN_CHAIN_SUB:
        must(stage_map_sub(g, "m", n, k, from, to, &failure));
        break;
    case QN_CHAIN_DIV:
        must(stage_map_div(g, "m", n, k, from, to, &failure));
        break;
    case QN_CHAIN_MIN:
        must(stage_map_min(g, "m", n, k, from, to, &failure));
        break;
    case QN_CHAIN_MAX:
        must(stage_map_max(g, "m", n, k, from, to, &failure));
        break;
    case QN_CHAIN_ABS:
        must(stage_map_abs(g, "m", n, from, to, &failure));
        break;
    case QN_CHAIN_NEG:
        must(stage_map_neg(g, "m", n, from, to, &failure));
        break;
    case QN_CHAIN_SQRT:
        must(stage_map_sqrt(g, "m", n, from, to, &failure));
        break;
    default:
        must(stage_map_square(g, "m", n, from, to, &failure));
        break;
    }
}

/* A random program of 2 to 20 maps; NaNs come from roots of negative numbers. */
static void results(const char *backend, unsigned seed, int fuse, float *out)
{
    fixture r = open_on(backend, NULL, fuse);
    const int n = 2 + (int)(seed % 19);
    unsigned rnd = seed;

    for (int i = 0; i < n; i++) {
        rnd = rnd * 1664525u + 1013904223u;
        call_map(&r, (int)(rnd >> 16) % QN_CHAIN_EXP, (float)(rnd >> 8 & 255) / 7 - 11,
                 i ? r.temps[i - 1] : r.x, i < n - 1 ? r.temps[i] : r.y);
    }
    for (int k = 0; k < 3; k++)
        run(&r);
    assert_int_equal(qn_graph_get_stats(r.graph).n_fused > 0, fuse);
    must(qn_buf_read(r.y, 0, out, N * sizeof(float), &failure));
    close_fixture(&r);
}

static void random_programs_give_the_same_bits(const char *backend, unsigned n_seeds)
{
    static float with[N], without[N];

    for (unsigned seed = 0; seed < n_seeds; seed++) {
        results(backend, seed, 0, without);
        results(backend, seed, 1, with);
        if (memcmp(with, without, sizeof with))
            fail_msg("%s: seed %u differs", backend, seed);
    }
}

static void programs_give_the_same_bits_on_cpu_and_sim(void **state)
{
    (void)state;
    random_programs_give_the_same_bits("cpu", 40);
    random_programs_give_the_same_bits("sim", 40);
}

static void programs_give_the_same_bits_on_opencl(void **state)
{
    (void)state;
    if (!has_backend("opencl")) {
        print_message("no OpenCL device\n");
        skip();
    }
    random_programs_give_the_same_bits("opencl", 6);
}

/* What is fused. */

static void chain_is_one_launch_without_temporaries(void **state)
{
    fixture r = open_fixture();

    (void)state;
    mul(&r, "a", 2, r.x, r.temps[0]);
    add(&r, "b", 1, r.temps[0], r.temps[1]);
    must(stage_map_neg(r.graph, "c", qn_range_1d(N), r.temps[1], r.y, &failure));
    run(&r);
    expect_fused(&r, 3, 1);
    assert_true(value_at(r.y, 100) == -(2 * (-700 + 100 * 0.37f) + 1));
    assert_true(count_of(r.ctx, "gpu_ops") == 1);
    assert_true(count_of(r.ctx, "stages_fused") == 3);
    assert_int_equal(qn_graph_get_stats(r.graph).n_stages, 3);
    assert_int_equal(qn_graph_get_stats(r.graph).temp_bytes_shared, 0);
    assert_string_equal(r.graph->stages[0].name, "a+b+c");
    for (int s = 0; s < 3; s++)
        assert_string_equal(qn_graph_stage_device(r.graph, s), "sim:0");
    close_fixture(&r);
}

static void long_chain_is_cut_where_programs_end(void **state)
{
    fixture r = open_fixture();

    (void)state;
    for (int i = 0; i < CHAIN_STEPS + 4; i++)
        add(&r, "stage", 1, i ? r.temps[i - 1] : r.x, i < CHAIN_STEPS + 3 ? r.temps[i] : r.y);
    expect_fused(&r, CHAIN_STEPS + 4, 2);
    run(&r);
    assert_true(value_at(r.y, 0) == -700 + CHAIN_STEPS + 4);
    close_fixture(&r);
}

static void array_that_others_see_ends_a_chain(void **state)
{
    qn_buf *mine;
    fixture r = open_fixture();

    (void)state;
    mine = array_of(r.ctx, "mine", N);
    add(&r, "a", 1, r.x, mine); /* not a temporary */
    add(&r, "b", 1, mine, r.temps[0]);
    add(&r, "c", 1, r.temps[0], r.temps[1]);
    add(&r, "d", 1, r.temps[1], r.temps[2]);
    must(stage_vadd(r.graph, "e", qn_range_1d(N), r.temps[1], r.temps[2], r.y, &failure));
    expect_fused(&r, 2, 4); /* b+c; temps[1] is read twice */
    run(&r);
    assert_true(value_at(r.y, 0) == 2 * -700 + 3 + 4);
    assert_true(value_at(mine, 0) == -699);
    qn_buf_free(mine);
    close_fixture(&r);
}

static void temporary_that_is_an_output_stays(void **state)
{
    fixture r = open_fixture();

    (void)state;
    add_a_and_b(&r);
    must(qn_graph_output(r.graph, r.temps[0], &failure));
    expect_fused(&r, 0, 2);
    close_fixture(&r);
}

/* The chain reads x where its last stage is, and by then x has changed. */
static void input_that_changes_in_between_stops_it(void **state)
{
    fixture r = open_fixture();

    (void)state;
    add(&r, "a", 1, r.x, r.temps[0]);
    mul(&r, "over", 0, r.y, r.x);
    add(&r, "b", 1, r.temps[0], r.y);
    expect_fused(&r, 0, 3);
    run(&r);
    assert_true(value_at(r.y, 0) == -698);
    close_fixture(&r);
}

static void chain_in_place_is_left_alone(void **state)
{
    fixture r = open_fixture();

    (void)state;
    add(&r, "a", 1, r.x, r.temps[0]);
    add(&r, "b", 1, r.temps[0], r.x);
    expect_fused(&r, 0, 2);
    run(&r);
    assert_true(value_at(r.x, 0) == -698);
    close_fixture(&r);
}

static void other_ranges_pins_and_edges_stop_it(void **state)
{
    fixture r = open_fixture();

    (void)state;
    must(stage_map_add(r.graph, "part", qn_range_1d(N / 2), 1.0f, r.x, r.temps[0], &failure));
    must(stage_map_add(r.graph, "whole", qn_range_1d(N), 1.0f, r.temps[0], r.temps[1], &failure));
    add(&r, "here", 1, r.x, r.temps[2]);
    add(&r, "there", 1, r.temps[2], r.temps[3]);
    must(qn_graph_pin(r.graph, 3, "cpu", &failure));
    add(&r, "before", 1, r.x, r.temps[4]);
    add(&r, "after", 1, r.temps[4], r.y);
    must(qn_graph_edge(r.graph, 0, 5, &failure));
    expect_fused(&r, 0, 6);
    close_fixture(&r);
}

/* Graphs that change. */

static void values_of_fused_stages_can_be_changed(void **state)
{
    fixture r = open_fixture();

    (void)state;
    add(&r, "a", 1, r.x, r.temps[0]);
    mul(&r, "b", 2, r.temps[0], r.y);
    for (int k = 0; k < 6; k++) {
        const float plus = (float)k, times = (float)(k + 1);

        must(qn_graph_set(r.graph, 0, 0, &plus, &failure));
        must(qn_graph_set(r.graph, 1, 0, &times, &failure));
        run(&r);
        assert_true(value_at(r.y, 0) == (-700 + plus) * times);
    }
    expect_fused(&r, 2, 1);
    assert_true(qn_graph_get_stats(r.graph).replays > 1);
    assert_int_equal(qn_graph_set(r.graph, 1, 1, &r, &failure), QN_ERR_USAGE);
    assert_int_equal(qn_graph_set(r.graph, 2, 0, &r, &failure), QN_ERR_USAGE);
    close_fixture(&r);
}

static void stage_added_later_may_read_what_was_fused_away(void **state)
{
    fixture r = open_fixture();

    (void)state;
    add_a_and_b(&r);
    run(&r);
    expect_fused(&r, 2, 1);
    must(stage_saxpy(r.graph, "c", qn_range_1d(N), 1.0f, r.temps[0], r.y,
                     &failure)); /* y += temps[0] */
    assert_string_equal(qn_graph_stage_device(r.graph, 1), "sim:0");
    run(&r);
    expect_fused(&r, 0, 3);
    assert_true(value_at(r.y, 0) == -698 - 699);
    must(qn_graph_pin(r.graph, 1, "cpu", &failure));
    run(&r);
    assert_string_equal(qn_graph_stage_device(r.graph, 1), "cpu:0");
    assert_true(value_at(r.y, 0) == -698 - 699);
    close_fixture(&r);
}

static void numbers_of_stages_are_those_of_the_caller(void **state)
{
    fixture r = open_fixture();

    (void)state;
    add(&r, "a", 1, r.x, r.temps[0]);
    add(&r, "b", 1, r.temps[0], r.temps[1]);
    must(stage_saxpy(r.graph, "c", qn_range_1d(N), 2.0f, r.temps[1], r.y, &failure));
    must(stage_saxpy(r.graph, "d", qn_range_1d(N), 3.0f, r.x, r.y, &failure));
    must(qn_graph_pin(r.graph, 3, "cpu", &failure));
    must(qn_graph_edge(r.graph, 2, 3, &failure));
    run(&r);
    expect_fused(&r, 2, 3);
    assert_string_equal(qn_graph_stage_device(r.graph, 2), "sim:0");
    assert_string_equal(qn_graph_stage_device(r.graph, 3), "cpu:0");
    assert_null(qn_graph_stage_device(r.graph, 4));
    must(qn_graph_set(r.graph, 3, 0, &(float){ 4 }, &failure));
    run(&r);
    assert_true(value_at(r.y, 0) == 4 * -698 + (3 + 4) * -700.0f);
    close_fixture(&r);
}

/* Failures. */

static void fallback_names_the_fused_stage(void **state)
{
    fixture r = open_on("sim", "sim.refuse_at=1", 1);
    char text[512];

    (void)state;
    add_a_and_b(&r);
    CAPTURE_STDERR(text, sizeof text, run(&r));
    assert_string_equal(text, "[GPU] a+b failed: kernel chain: launch 1 is refused. CPU "
                              "fallback.\n");
    assert_true(fallbacks(r.ctx, "a+b", "launch") == 1);
    for (int s = 0; s < 2; s++)
        assert_int_equal(qn_graph_stage_fell_back(r.graph, s), 1);
    assert_true(value_at(r.y, 0) == -698);
    close_fixture(&r);
}

static void names_too_long_are_shortened(void **state)
{
    fixture r = open_fixture();

    (void)state;
    add(&r, "a_stage_with_a_rather_long_name_that_fills_a_line", 1, r.x, r.temps[0]);
    add(&r, "another_stage_with_a_rather_long_name", 1, r.temps[0], r.y);
    expect_fused(&r, 2, 1);
    assert_string_equal(r.graph->stages[0].name,
                        "a_stage_with_a_rather_long_n+..+another_stage_with_a_rather_");
    close_fixture(&r);
}

static void faults_that_name_stages_find_them(void **state)
{
    fixture r = open_on("sim", "launch:b*1", 1);
    char text[512];

    (void)state;
    add_a_and_b(&r);
    CAPTURE_STDERR(text, sizeof text, run(&r));
    assert_int_equal(fallback_lines(text), 1);
    assert_true(fallbacks(r.ctx, "b", "injected") == 1);
    assert_true(value_at(r.y, 0) == -698);
    close_fixture(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_give_the_same_bits_on_cpu_and_sim),
        cmocka_unit_test(programs_give_the_same_bits_on_opencl),
        cmocka_unit_test(chain_is_one_launch_without_temporaries),
        cmocka_unit_test(long_chain_is_cut_where_programs_end),
        cmocka_unit_test(array_that_others_see_ends_a_chain),
        cmocka_unit_test(temporary_that_is_an_output_stays),
        cmocka_unit_test(input_that_changes_in_between_stops_it),
        cmocka_unit_test(chain_in_place_is_left_alone),
        cmocka_unit_test(other_ranges_pins_and_edges_stop_it),
        cmocka_unit_test(values_of_fused_stages_can_be_changed),
        cmocka_unit_test(stage_added_later_may_read_what_was_fused_away),
        cmocka_unit_test(numbers_of_stages_are_those_of_the_caller),
        cmocka_unit_test(fallback_names_the_fused_stage),
        cmocka_unit_test(names_too_long_are_shortened),
        cmocka_unit_test(faults_that_name_stages_find_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
