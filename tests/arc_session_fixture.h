/* arc_session_fixture.h - sessions of grid programs for tests: programs from text, generated ones,
 * grids, and results as text for comparison.
 */
#ifndef QN_TESTS_ARC_SESSION_FIXTURE_H
#define QN_TESTS_ARC_SESSION_FIXTURE_H

#include "arc_program_fixture.h"
#include "engine_fixture.h"

#include "lab/made/make.h"
#include "domain/arc/run/session.h"
#include "domain/arc/value/value.h"
#include "util/hash.h"

typedef struct fixture {
    qn_ctx *ctx;
    qn_arc_session *s;
    qn_arc_job *jobs;
    uint32_t n, room;
} fixture;

static inline fixture fixture_in(qn_ctx *ctx, qn_arc_session_options options)
{
    fixture r = { .ctx = ctx };
    qn_err err = { .text = "" };

    if (qn_arc_session_new(ctx, &options, &r.s, &err) != QN_OK)
        fail_msg("%s", err.text);
    return r;
}

static inline fixture fixture_open(const char *backend, qn_arc_session_options options)
{
    return fixture_in(open_with(QN_OPTIONS(.backend = backend)), options);
}

static inline void fixture_close(fixture *r)
{
    qn_arc_session_free(r->s);
    qn_ctx_close(r->ctx);
    free(r->jobs);
}

/* Programs and values. */

static inline int fixture_code(fixture *r, const char *id, const qn_arc_code *code)
{
    qn_err err = { .text = "" };
    int program = -1;

    if (qn_arc_session_program(r->s, id, code->bytes, code->n, &program, &err) != QN_OK)
        fail_msg("%s", err.text);
    return program;
}

/* The first program of the text, compiled without some passes. */
static inline int fixture_program_with(fixture *r, const char *id, const char *text, unsigned off)
{
    qn_arc_file *file = parse_good(text);
    qn_arc_code code = compile_with(&file->programs[0], off);
    const int program = fixture_code(r, id, &code);

    qn_arc_code_free(&code);
    qn_arc_file_free(file);
    return program;
}

static inline int fixture_program(fixture *r, const char *id, const char *text)
{
    return fixture_program_with(r, id, text, 0);
}

static inline int fixture_made_program(fixture *r, uint64_t seed, int wrong_pct)
{
    const qn_arc_make_options options = { .wrong_pct = wrong_pct };
    qn_str text = { 0 };
    char id[32];
    int program;

    snprintf(id, sizeof id, "made%llu", (unsigned long long)seed);
    qn_arc_make_program(seed, id, &options, &text);
    program = fixture_program(r, id, qn_str_get(&text));
    qn_str_free(&text);
    return program;
}

static inline int fixture_value(fixture *r, const char *id, const qn_arc_value *value)
{
    qn_err err = { .text = "" };
    int index = -1;

    if (qn_arc_session_value(r->s, id, value, &index, &err) != QN_OK)
        fail_msg("%s", err.text);
    return index;
}

static inline int fixture_grid(fixture *r, const char *id, int rows, int cols,
                               const unsigned char *cells)
{
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_err err = { .text = "" };
    int index;

    if (qn_arc_heap_new(&heap, &err) != QN_OK ||
        qn_arc_grid_of(heap, cells, rows, cols, &value, &err) != QN_OK)
        fail_msg("%s", err.text);
    index = fixture_value(r, id, &value);
    qn_arc_heap_free(heap);
    return index;
}

static inline int fixture_made_grid(fixture *r, uint64_t seed)
{
    unsigned char cells[QN_ARC_MAKE_CELLS];
    const qn_arc_grid grid = qn_arc_make_grid(seed, cells);
    char id[32];

    snprintf(id, sizeof id, "grid%llu", (unsigned long long)seed);
    return fixture_grid(r, id, grid.rows, grid.cols, cells);
}

/* Jobs. */

static inline uint32_t fixture_add(fixture *r, qn_arc_job job)
{
    if (r->n == r->room) {
        r->room = r->room ? 2 * r->room : 64;
        r->jobs = realloc(r->jobs, r->room * sizeof *r->jobs);
        assert_non_null(r->jobs);
    }
    r->jobs[r->n] = job;
    return r->n++;
}

/* A program of the solve form on one value. */
static inline uint32_t fixture_job(fixture *r, int program, int grid)
{
    return fixture_add(
        r, (qn_arc_job){ .program = program, .args = { grid, -1, -1 }, .expected = -1 });
}

/* A batt program, without samples. */
static inline uint32_t fixture_batt_job(fixture *r, int program, int grid)
{
    return fixture_add(
        r, (qn_arc_job){ .program = program, .args = { -1, grid, -1 }, .expected = -1 });
}

static inline void fixture_run_with(fixture *r, uint32_t want, uint32_t stride)
{
    qn_err err = { .text = "" };

    if (qn_arc_session_run(r->s, r->jobs, r->n, want, stride, &err) != QN_OK)
        fail_msg("%s", err.text);
}

static inline void fixture_run(fixture *r)
{
    fixture_run_with(r, ARC_WANT_OUTPUT, 0);
}

/* Results. */

static inline const char *fixture_code_name(const fixture *r, uint32_t job)
{
    return qn_arc_code_name(qn_arc_session_result(r->s, job)->code);
}

/* The output as text; the caller frees it. */
static inline qn_str fixture_text(const fixture *r, uint32_t job)
{
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_str text = { 0 };
    qn_err err = { .text = "" };

    if (qn_arc_heap_new(&heap, &err) != QN_OK ||
        qn_arc_session_output(r->s, job, heap, &value, &err) != QN_OK)
        fail_msg("job %u: %s", job, err.text);
    qn_arc_print(&text, &value);
    qn_arc_heap_free(heap);
    return text;
}

static inline void assert_output(const fixture *r, uint32_t job, const char *expected)
{
    qn_str text;

    assert_string_equal(fixture_code_name(r, job), qn_arc_code_name(ARC_OK));
    text = fixture_text(r, job);
    assert_string_equal(qn_str_get(&text), expected);
    qn_str_free(&text);
}

/* Checks that two runs of the same jobs have equal status, place of failure, steps and output. */
static inline void assert_same_job(const fixture *a, const fixture *b, uint32_t job,
                                   const char *what)
{
    const arc_result *x = qn_arc_session_result(a->s, job), *y = qn_arc_session_result(b->s, job);
    qn_str tx = { 0 }, ty = { 0 };

    if (x->code != y->code || x->steps != y->steps || x->not_ok != y->not_ok ||
        x->line != y->line || x->op != y->op || x->equal != y->equal ||
        x->differing != y->differing)
        fail_msg("%s: job %u: %s, %u steps, line %d, op %d; then %s, %u steps, line %d, op %d",
                 what, job, qn_arc_code_name(x->code), x->steps, x->line, x->op,
                 qn_arc_code_name(y->code), y->steps, y->line, y->op);
    if (x->code != ARC_OK)
        return;
    tx = fixture_text(a, job);
    ty = fixture_text(b, job);
    if (strcmp(qn_str_get(&tx), qn_str_get(&ty)) != 0)
        fail_msg("%s: job %u gives %.200s, then %.200s", what, job, qn_str_get(&tx),
                 qn_str_get(&ty));
    qn_str_free(&tx);
    qn_str_free(&ty);
}

static inline void assert_same(const fixture *a, const fixture *b, const char *what)
{
    assert_int_equal(a->n, b->n);
    for (uint32_t k = 0; k < a->n; k++)
        assert_same_job(a, b, k, what);
}

static inline uint64_t fixture_fallbacks(const fixture *r)
{
    const qn_arc_stats *stats = qn_arc_session_stats(r->s);
    uint64_t n = 0;

    for (int c = 0; c < ARC_N_CODES; c++)
        n += stats->fallbacks[c];
    return n;
}

/* A workload for comparisons. */

enum { GRIDS_PER_PROGRAM = 10 };

/* n instances of generated programs, some of them wrong, each on GRIDS_PER_PROGRAM generated
 * grids. */
static inline void add_made(fixture *r, uint64_t seed, uint32_t n)
{
    int grids[64], program = -1;

    for (int g = 0; g < 64; g++)
        grids[g] = fixture_made_grid(r, seed + (uint64_t)g);
    for (uint32_t k = 0; k < n; k++) {
        if (k % GRIDS_PER_PROGRAM == 0)
            program = fixture_made_program(r, seed + k / GRIDS_PER_PROGRAM, 20);
        fixture_job(r, program, grids[qn_random_u64(seed, k) % 64]);
    }
}

#endif
