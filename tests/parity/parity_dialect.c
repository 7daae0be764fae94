/* parity_dialect.c - every form and word of the dialect, run on every device present.
 *
 * The texts are those of tests/data/dialect; they go through the expander and the run-time path of
 * each backend (on the CPU, the system's C compiler). The expected results are computed here in
 * plain C. Every buffer starts at an odd element of its block and has guards around it.
 */
/* test: cost 18 */
#include "test.h"

#include "hal/backend.h"
#include "hal/geometry.h"
#include "kernel/expand.h"

static const qn_backend *const backends[] = { &qn_backend_cpu, &qn_backend_opencl,
                                              &qn_backend_cuda };

enum { GUARD = 40, MAX_KERNELS = 8, MAX_OPEN = 128 };

/* A device with one text compiled for it. */
typedef struct fixture {
    const qn_backend *backend;
    qn_dev *dev;
    qn_device_info info;
    qn_heads heads;
    qn_arg_info args[MAX_KERNELS][QN_MAX_ARGS];
    qn_kernel_info kernels[MAX_KERNELS];
    const qn_kernel_info *list[MAX_KERNELS];
    qn_kernel_module table;
    qn_module *module;
    int team_lanes;
} fixture;

/* An argument of run(): a value, or host data that is copied to the device and back. */
typedef struct item {
    const void *value;
    void *data;
    size_t bytes;
} item;

#define VALUE(v)      ((item){ &(v), NULL, 0 })
#define BUFFER(array) ((item){ NULL, array, sizeof array })

static const qn_hal_config config = { 0 };

static void read_text(const char *name, char *out, size_t size)
{
    const char *const root = getenv("QUERN_SOURCE_DIR");
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/data/dialect/%s", root ? root : ".", name);
    file = fopen(path, "rb");
    assert_non_null(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void check(qn_status status, const qn_err *err)
{
    if (status != QN_OK)
        fail_msg("%s", err->text);
}

static void fill_tables(fixture *r, const char *defines)
{
    assert_true(r->heads.n <= MAX_KERNELS);
    for (int k = 0; k < r->heads.n; k++) {
        const qn_head *head = &r->heads.list[k];

        for (int i = 0; i < head->n_args; i++)
            r->args[k][i] = (qn_arg_info){ head->args[i].name, head->args[i].type,
                                           (uint16_t)qn_type_size(head->args[i].type, defines),
                                           (uint8_t)head->args[i].mode };
        r->kernels[k] = (qn_kernel_info){
            .name = head->name,
            .form = (uint8_t)head->form,
            .n_args = (uint8_t)head->n_args,
            .folds = (uint8_t)head->folds,
            .unroll = (uint8_t)head->unroll,
            .lanes = head->form == QN_FORM_GROUP ? qn_heads_lanes(&r->heads, defines) : 0,
            .args = r->args[k],
            .module = &r->table,
        };
        /* A struct of this file's texts; the host gives its size with the value. */
        if (!strcmp(head->args[0].type, "blur_par"))
            r->args[k][0].size = 16;
        r->list[k] = &r->kernels[k];
    }
    r->table = (qn_kernel_module){ .name = "test", .kernels = r->list, .n_kernels = r->heads.n };
}

static void open_fixture(fixture *r, const qn_backend *backend, int index, const char *file,
                         const char *defines)
{
    static const qn_expand_for targets[] = { [QN_LANG_C] = QN_EXPAND_C,
                                             [QN_LANG_OPENCL] = QN_EXPAND_OPENCL,
                                             [QN_LANG_CUDA] = QN_EXPAND_CUDA };
    char text[1 << 14];
    char log[4096] = "";
    qn_str unit = { 0 };
    qn_source source = { .module = &r->table, .log = log, .log_size = sizeof log };
    qn_err err = { QN_OK, "" };
    qn_status st;

    memset(r, 0, sizeof *r);
    r->backend = backend;
    read_text(file, text, sizeof text);
    check(qn_heads_parse(file, text, &r->heads, &err), &err);
    fill_tables(r, defines);
    r->team_lanes = r->heads.has_team ? qn_heads_lanes(&r->heads, defines) : 0;
    check(qn_expand_unit(file, text, defines, targets[backend->language], &unit, &err), &err);
    check(backend->open(&config, index, &r->dev, &err), &err);
    backend->info(r->dev, &r->info);
    source.text = unit.data;
    source.team_lanes = r->team_lanes;
    st = backend->build(r->dev, &source, &r->module, &err);
    if (st != QN_OK)
        fail_msg("%s: %s\n%s", backend->name, err.text, log);
    qn_str_free(&unit);
}

static void close_fixture(fixture *r)
{
    r->backend->unload(r->dev, r->module);
    r->backend->close(r->dev);
    qn_heads_free(&r->heads);
}

/* Element-aligned but otherwise odd, so that views and offsets are really used. */
static size_t place_in_block(const qn_kernel_info *kernel, int arg)
{
    return GUARD + 3 * (size_t)kernel->args[arg].size;
}

static void check_guards(const unsigned char *block, size_t at, size_t bytes)
{
    for (size_t i = 0; i < at; i++)
        assert_int_equal(block[i], 0xA5);
    for (size_t i = at + bytes; i < at + bytes + GUARD; i++)
        assert_int_equal(block[i], 0xA5);
}

/* Runs a kernel over `range`; data of its buffers is replaced by the device's results. */
static void run(fixture *r, const char *name, qn_range range, const item *items)
{
    const qn_backend *b = r->backend;
    const int team_lanes = b->language == QN_LANG_C ? 1 : r->team_lanes;
    qn_launch_arg args[QN_MAX_ARGS] = { { 0 } };
    unsigned char *blocks[QN_MAX_ARGS] = { NULL };
    qn_launch call = { .module = r->module, .args = args, .stream = QN_COMPUTE };
    qn_err err = { QN_OK, "" };

    while (strcmp(r->list[call.kernel_i]->name, name) != 0)
        assert_true(++call.kernel_i < r->heads.n);
    call.kernel = r->list[call.kernel_i];
    for (int i = 0; i < call.kernel->n_args; i++) {
        const size_t at = place_in_block(call.kernel, i);
        const size_t bytes = items[i].bytes + at + GUARD;

        args[i].value = items[i].value;
        if (items[i].value)
            continue;
        blocks[i] = malloc(bytes);
        assert_non_null(blocks[i]);
        memset(blocks[i], 0xA5, bytes);
        memcpy(blocks[i] + at, items[i].data, items[i].bytes);
        args[i].at = at;
        check(b->alloc(r->dev, bytes,
                       QN_USE_READ | QN_USE_WRITE | QN_USE_COPY_SRC | QN_USE_COPY_DST, &args[i].mem,
                       &err),
              &err);
        check(b->upload(r->dev, args[i].mem, 0, blocks[i], bytes, QN_COMPUTE, &err), &err);
    }
    check(qn_launch_range(b, r->dev, &r->info, &call, &range, team_lanes, NULL, &err), &err);
    for (int i = 0; i < call.kernel->n_args; i++) {
        if (!blocks[i])
            continue;
        check(b->download(r->dev, args[i].mem, 0, blocks[i], items[i].bytes + args[i].at + GUARD,
                          QN_COMPUTE, &err),
              &err);
        check(b->sync(r->dev, &err), &err);
        check_guards(blocks[i], args[i].at, items[i].bytes);
        memcpy(items[i].data, blocks[i] + args[i].at, items[i].bytes);
        b->release(r->dev, args[i].mem);
        free(blocks[i]);
    }
}

/* Compiling takes most of the time, so opened fixtures are reused until the end. */
static struct {
    const char *file, *defines;
    const qn_backend *backend;
    int index;
    fixture *fixture;
} opened[MAX_OPEN];
static int n_opened;

static fixture *get_fixture(const qn_backend *backend, int index, const char *file,
                            const char *defines)
{
    for (int i = 0; i < n_opened; i++) {
        if (opened[i].backend == backend && opened[i].index == index &&
            !strcmp(opened[i].file, file) && !strcmp(opened[i].defines, defines))
            return opened[i].fixture;
    }
    assert_true(n_opened < MAX_OPEN);
    opened[n_opened].backend = backend;
    opened[n_opened].index = index;
    opened[n_opened].file = file;
    opened[n_opened].defines = defines;
    opened[n_opened].fixture = malloc(sizeof(fixture));
    assert_non_null(opened[n_opened].fixture);
    open_fixture(opened[n_opened].fixture, backend, index, file, defines);
    return opened[n_opened++].fixture;
}

static int close_rigs(void **state)
{
    (void)state;
    while (n_opened > 0) {
        close_fixture(opened[--n_opened].fixture);
        free(opened[n_opened].fixture);
    }
    return 0;
}

/* Calls `test` with the text compiled on each device of each backend. */
static void on_every_device(const char *file, const char *defines, void (*test)(fixture *))
{
    char reason[256];

    for (size_t k = 0; k < sizeof backends / sizeof *backends; k++) {
        const int n = backends[k]->count(&config, reason, sizeof reason);

        for (int i = 0; i < n; i++) {
            qn_device_info info;
            fixture *r = get_fixture(backends[k], i, file, "");

            backends[k]->info(r->dev, &info);
            if (info.has_f64 || !strstr(defines, "double"))
                test(get_fixture(backends[k], i, file, defines));
        }
    }
}

static float noise(int i)
{
    return (float)((i * 7919 + 13) % 2003) * 0.01f - 10.0f;
}

/* MAP. */

static void check_saxpy(fixture *r, const char *name, int x0, int x1)
{
    float x[5000], y[5000];
    const float a = 0.3f;

    for (int i = 0; i < 5000; i++) {
        x[i] = noise(i);
        y[i] = noise(i + 77);
    }
    run(r, name, (qn_range){ x0, x1, 0, 1, 0, 1 }, (item[]){ VALUE(a), BUFFER(x), BUFFER(y) });
    for (int i = 0; i < 5000; i++) {
        const float product = a * noise(i);

        assert_true(y[i] == (i >= x0 && i < x1 ? product + noise(i + 77) : noise(i + 77)));
    }
}

static void run_saxpy(fixture *r)
{
    static const int ranges[][2] = { { 0, 1 },     { 0, 255 },     { 0, 256 },     { 0, 1023 },
                                     { 0, 1024 },  { 0, 1025 },    { 0, 5000 },    { 1, 4097 },
                                     { 300, 301 }, { 1000, 3500 }, { 4999, 5000 }, { 10, 10 } };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        check_saxpy(r, "saxpy", ranges[i][0], ranges[i][1]);
        check_saxpy(r, "saxpy4", ranges[i][0], ranges[i][1]);
    }
}

static void a_map_covers_its_range_exactly_unrolled_or_not(void **state)
{
    (void)state;
    on_every_device("group.c", "", run_saxpy);
}

typedef struct {
    float keep, spread;
    int32_t cols, rows;
} blur_par;

static float at_edge(const float *g, const blur_par *p, int x, int y)
{
    x = x < 0 ? 0 : x < p->cols ? x : p->cols - 1;
    y = y < 0 ? 0 : y < p->rows ? y : p->rows - 1;
    return g[y * p->cols + x];
}

static void run_blur(fixture *r)
{
    const blur_par p = { 0.6f, 0.1f, 67, 41 };
    float g[67 * 41], out[67 * 41];

    for (int i = 0; i < 67 * 41; i++)
        g[i] = noise(i);
    run(r, "blur", qn_range_2d(67, 41), (item[]){ VALUE(p), BUFFER(g), BUFFER(out) });
    assert_true(out[0] == -1.0f);
    for (int i = 1; i < 67 * 41; i++) {
        const int x = i % 67, y = i / 67;
        const float left_right = at_edge(g, &p, x - 1, y) + at_edge(g, &p, x + 1, y);
        const float cross = left_right + at_edge(g, &p, x, y - 1) + at_edge(g, &p, x, y + 1);
        const float kept = p.keep * g[i];
        const float spread = p.spread * cross;

        assert_true(out[i] == kept + spread);
    }
}

static void a_2d_map_with_a_struct_gives_the_same_bits(void **state)
{
    (void)state;
    on_every_device("group.c", "", run_blur);
}

/* GROUP. */

static float tree_sum(const float *x, int n, int lanes, int group)
{
    float tile[1024];

    for (int i = 0; i < lanes; i++)
        tile[i] = group * lanes + i < n ? x[group * lanes + i] : 0.0f;
    for (int w = lanes / 2; w > 0; w /= 2) {
        for (int i = 0; i < w; i++)
            tile[i] += tile[i + w];
    }
    return tile[0];
}

static void check_group(fixture *r, int lanes)
{
    enum { N = 3000 };
    const int64_t n = N;
    const int32_t n32 = N;
    const int groups = (N + lanes - 1) / lanes;
    float x[N], part[N] = { 0 };
    int32_t steps[N];

    for (int i = 0; i < N; i++)
        x[i] = noise(i) + 9.0f;
    run(r, "sum", qn_range_1d(groups), (item[]){ VALUE(n), BUFFER(x), BUFFER(part) });
    for (int i = 0; i < groups; i++)
        assert_true(part[i] == tree_sum(x, N, lanes, i));
    memset(part, 0, sizeof part);
    run(r, "sum_below", qn_range_1d(groups), (item[]){ VALUE(n), BUFFER(x), BUFFER(part) });
    for (int i = 0; i < groups; i++)
        assert_true(part[i] == tree_sum(x, N, lanes, i));
    run(r, "halvings", qn_range_1d(groups), (item[]){ VALUE(n32), BUFFER(x), BUFFER(steps) });
    for (int i = 0; i < N; i++) {
        int count = 0;

        for (float v = x[i]; v >= 1.0f; v *= 0.5f)
            count++;
        assert_int_equal(steps[i], count);
    }
}

static void run_group_256(fixture *r)
{
    check_group(r, 256);
}

static void run_group_64(fixture *r)
{
    check_group(r, 64);
}

static void a_group_reduces_by_its_tree_and_leaves_loops_together(void **state)
{
    (void)state;
    on_every_device("group.c", "", run_group_256);
    on_every_device("group.c", "LANES=64", run_group_64);
}

/* TEAM. */

enum { N_GRIDS = 37, N_CELLS = 2000 };

static void expect_facts(const int8_t *cell, const int32_t *start, int t, int colour,
                         int64_t facts[10])
{
    const int from = start[t], to = start[t + 1];
    int first = to, most = -128, all = 1, rank = 0, last = -7;
    int64_t squares = 0;

    for (int k = from; k < to; k++) {
        const int hit = cell[k] == colour;

        first = hit && first == to ? k : first;
        most = cell[k] > most ? cell[k] : most;
        all &= cell[k] != -1;
        squares += (int64_t)cell[k] * cell[k] * 1000000000;
        last = hit ? rank : cell[k] + 1;
        rank += hit;
    }
    facts[0] = first;
    facts[1] = most;
    facts[2] = rank > 0;
    facts[3] = all;
    facts[4] = squares;
    facts[5] = rank;
    facts[6] = 2 * (int64_t)from;
    facts[7] = (int64_t)from << 33;
    facts[8] = from;
    facts[9] = last;
}

static void run_team(fixture *r)
{
    const int32_t colour = 3;
    int32_t start[N_GRIDS + 1], count[N_GRIDS], scratch[N_CELLS];
    int8_t cell[N_CELLS];
    int64_t facts[10 * N_GRIDS], expected[10];

    memset(scratch, 0, sizeof scratch);
    for (int i = 0; i < N_CELLS; i++)
        cell[i] = (int8_t)((i * 31 + i / 7) % 9 - 2 + (i % 100 > 40));
    for (int i = 0; i <= N_GRIDS; i++)
        start[i] = i == N_GRIDS ? N_CELLS : i * i + (i > 5) * i; /* one of them empty */
    run(r, "count_colour", qn_range_1d(N_GRIDS),
        (item[]){ VALUE(colour), BUFFER(start), BUFFER(cell), BUFFER(count) });
    run(r, "survey", qn_range_1d(N_GRIDS),
        (item[]){ VALUE(colour), BUFFER(start), BUFFER(cell), BUFFER(scratch), BUFFER(facts) });
    for (int t = 0; t < N_GRIDS; t++) {
        expect_facts(cell, start, t, colour, expected);
        assert_int_equal(count[t], expected[5]);
        assert_memory_equal(facts + 10 * t, expected, sizeof expected);
    }
    run(r, "negate", qn_range_1d(N_GRIDS), (item[]){ BUFFER(start), BUFFER(count) });
    for (int t = 0; t < N_GRIDS; t++)
        assert_int_equal(count[t], -start[t]);
}

static void a_team_gives_the_same_results_for_every_number_of_lanes(void **state)
{
    (void)state;
    on_every_device("team.c", "", run_team);
    on_every_device("team.c", "LANES=16", run_team);
    on_every_device("team.c", "LANES=8", run_team);
}

/* Words. */

enum { N_WORDS = 200 };

/* Bit for bit; any NaN equals any other. */
#define ASSERT_SAME(a, b) assert_true((a) == (b) || ((a) != (a) && (b) != (b)))
#define ASSERT_CLOSE(a, b, tolerance)                                                              \
    assert_true(((a) != (a) && (b) != (b)) || (double)fabs((double)(a) - (double)(b)) <=           \
                                                  (tolerance) * (1.0 + fabs((double)(b))))

#define DEFINE_WORDS(T, s, suffix, TINY, LOOSE)                                                    \
    static void run_words_##s(fixture *r)                                                          \
    {                                                                                              \
        T x[N_WORDS], y[12 * N_WORDS], z[12 * N_WORDS];                                            \
        for (int i = 0; i < N_WORDS; i++)                                                          \
            x[i] = (T)noise(i) * (T)0.37;                                                          \
        run(r, "exact_words", qn_range_1d(N_WORDS), (item[]){ BUFFER(x), BUFFER(y) });             \
        run(r, "close_words", qn_range_1d(N_WORDS), (item[]){ BUFFER(x), BUFFER(z) });             \
        for (int i = 0; i < N_WORDS; i++) {                                                        \
            const T v = x[i], u = fabs##suffix(v) / (1 + fabs##suffix(v)), square = v * v;         \
            const T root = sqrt##suffix(fabs##suffix(v)) / 3;                                      \
            const T half = v * (T)0.5, twice = v * 2;                                              \
            const T exact[12] = { root,                                                            \
                                  floor##suffix(v) + ceil##suffix(half),                           \
                                  trunc##suffix(v) - rint##suffix(twice),                          \
                                  round##suffix(v),                                                \
                                  fma##suffix(v, v, (T)0.1),                                       \
                                  square + (T)0.1,                                                 \
                                  (v < (T)0.25 ? v : (T)0.25) + (v > (T)-0.25 ? v : (T)-0.25),     \
                                  v < 0 ? -2 : 2,                                                  \
                                  fmod##suffix(v, (T)0.75),                                        \
                                  4,                                                               \
                                  v + v,                                                           \
                                  1 };                                                             \
            const T close[12] = { exp##suffix(v) + exp2##suffix(v),                                \
                                  log##suffix(u + 1) + log2##suffix(u + 1) + log10##suffix(u + 2), \
                                  log1p##suffix(u) + expm1##suffix(v),                             \
                                  sin##suffix(v) + cos##suffix(v),                                 \
                                  tan##suffix(u) + tanh##suffix(v),                                \
                                  asin##suffix(u) + acos##suffix(u),                               \
                                  atan##suffix(v) + atan2##suffix(v, (T)0.5),                      \
                                  sinh##suffix(u) + cosh##suffix(u),                               \
                                  pow##suffix(u + 1, (T)1.5) + hypot##suffix(u, 1),                \
                                  cbrt##suffix(v),                                                 \
                                  erf##suffix(v),                                                  \
                                  erfc##suffix(v) };                                               \
            if (r->info.has_exact_f32 || sizeof(T) == 8)                                           \
                ASSERT_SAME(y[12 * i], exact[0]);                                                  \
            ASSERT_CLOSE(y[12 * i], exact[0], TINY);                                               \
            for (int k = 1; k < 12; k++)                                                           \
                ASSERT_SAME(y[12 * i + k], exact[k]);                                              \
            for (int k = 0; k < 12; k++)                                                           \
                ASSERT_CLOSE(z[12 * i + k], close[k], LOOSE);                                      \
        }                                                                                          \
    }
DEFINE_WORDS(float, f32, f, 1e-6, 4e-6)
DEFINE_WORDS(double, f64, , 1e-15, 1e-13)

static void maths_names_work_in_both_precisions(void **state)
{
    (void)state;
    on_every_device("words.c", "", run_words_f32);
    on_every_device("words.c", "REAL=double", run_words_f64);
}

static uint32_t expect_hash(uint32_t h, int i)
{
    static const uint32_t primes[] = { 2, 3, 5, 7, 11, 13, 17, 19 };

    h ^= h >> 16;
    h *= 0x85ebca6bu;
    return (h ^ (h >> 13 | h << 19)) + primes[i & 7];
}

static void run_bits(fixture *r)
{
    const int32_t n = N_WORDS;
    uint32_t x[N_WORDS], y[4 * N_WORDS], marks[7] = { 0, 0, 0, 0, UINT32_MAX, 0, 0 };
    int32_t hits[7] = { 0, 0, 0, 0, INT32_MAX, INT32_MIN, 0 };
    uint32_t low = UINT32_MAX, high = 0, bits = 0, short_bits = 0;
    int32_t counts[4] = { 0 };

    for (int i = 0; i < N_WORDS; i++)
        x[i] = (uint32_t)i * 2654435761u;
    run(r, "bit_words", qn_range_1d(N_WORDS),
        (item[]){ VALUE(n), BUFFER(x), BUFFER(hits), BUFFER(marks), BUFFER(y) });
    for (int i = 0; i < N_WORDS; i++) {
        const uint32_t h = expect_hash(x[i], i);
        const uint32_t rest = h >> (i & 31);
        const int lead = rest ? __builtin_clz(rest) : 32;

        assert_int_equal(y[4 * i], h);
        assert_int_equal(y[4 * i + 1], __builtin_popcount(h) + 64 * lead + abs(i - 3));
        assert_int_equal(y[4 * i + 2], ((h & 0x007fffffu) | 0x3f800000u) + 0x00800000u);
        assert_int_equal(y[4 * i + 3],
                         ((((uint64_t)h << 20) | 0x3ff0000000000000u) >> 32) + 0x00100000u);
        counts[h & 3]++;
        low = h < low ? h : low;
        high = h > high ? h : high;
        bits |= 1u << (h & 31);
        short_bits |= 1u << (h & 15);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(hits[i], counts[i]);
        assert_int_equal(marks[i], counts[i]);
    }
    assert_int_equal(hits[4], -5);
    assert_int_equal(hits[5], N_WORDS - 1);
    assert_int_equal(hits[6], short_bits);
    assert_int_equal(marks[4], low);
    assert_int_equal(marks[5], high);
    assert_int_equal(marks[6], bits);
}

static void bits_tables_and_atomics_agree(void **state)
{
    (void)state;
    on_every_device("words.c", "", run_bits);
}

static void run_lanes(fixture *r)
{
    const float scale = 0.25f;
    float y[5 * 64];

    for (int i = 0; i < 5 * 64; i++)
        y[i] = -1.0f;
    run(r, "lane_count", (qn_range){ 1, 4, 2, 3, 0, 1 }, (item[]){ VALUE(scale), BUFFER(y) });
    for (int i = 0; i < 5 * 64; i++)
        assert_true(y[i] == (i >= 64 && i < 256 ? 0.25f * (float)(i % 64) + 2.0f : -1.0f));
}

static void lanes_of_the_text_and_part_of_a_group_range_hold(void **state)
{
    (void)state;
    on_every_device("words.c", "", run_lanes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_covers_its_range_exactly_unrolled_or_not),
        cmocka_unit_test(a_2d_map_with_a_struct_gives_the_same_bits),
        cmocka_unit_test(a_group_reduces_by_its_tree_and_leaves_loops_together),
        cmocka_unit_test(a_team_gives_the_same_results_for_every_number_of_lanes),
        cmocka_unit_test(maths_names_work_in_both_precisions),
        cmocka_unit_test(bits_tables_and_atomics_agree),
        cmocka_unit_test(lanes_of_the_text_and_part_of_a_group_range_hold),
    };
    return cmocka_run_group_tests(tests, NULL, close_rigs);
}
