/* test_arc_make_parse.c - random programs are valid: they parse, compile, and are stored in the
 * pool of resident values with their constants. */
#include "test.h"

#include "domain/arc/compile/compile.h"
#include "lab/made/make.h"
#include "domain/arc/run/executor.h"
#include "domain/arc/value/value.h"
#include "kernel/arc/arc_code.h"

/* Checks that the constants of a program in the pool equal those in its file. */
static void check_in_pool(const qn_arc_code *code, qn_content_store *pool, qn_content_hold *hold,
                          qn_arc_heap *heap)
{
    const arc_program *const head = (const arc_program *)code->bytes;
    const size_t constants = sizeof *head + head->n_ins * sizeof(arc_ins);
    qn_content_taken taken = QN_CONTENT_FULL;
    uint32_t place = 1;
    qn_err err = { .text = "" };

    if (qn_arc_pool_program(pool, hold, code->bytes, code->n, NULL, &place, &taken, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(taken, QN_CONTENT_RESIDENT);
    assert_int_equal(place % 16, 0);
    assert_memory_equal(qn_content_bytes(pool) + place, code->bytes, constants);
    for (size_t i = 0; i < head->n_const; i++) {
        const size_t at = constants + i * sizeof(uint64_t);
        uint64_t in_file, in_pool;
        qn_arc_value one, other;

        memcpy(&in_file, code->bytes + at, sizeof in_file);
        memcpy(&in_pool, qn_content_bytes(pool) + place + at, sizeof in_pool);
        assert_int_equal(qn_arc_decode(in_file, code->bytes, code->n, 0, heap, &one, &err), QN_OK);
        assert_int_equal(qn_arc_decode(in_pool, qn_content_bytes(pool), qn_content_extent(pool),
                                       ARC_POOLED, heap, &other, &err),
                         QN_OK);
        assert_int_equal(qn_arc_compare(&one, &other), 0);
    }
}

/* Parses and compiles every program in `text`, and adds it to a pool; returns their number. */
static int compile_all(const qn_str *text)
{
    qn_content_store *pool = NULL;
    qn_content_hold hold = { 0 };
    qn_arc_heap *heap = NULL;
    qn_arc_file *file = NULL;
    qn_err err = { .text = "" };
    int n;

    assert_false(text->failed);
    assert_int_equal(qn_arc_pool_open(NULL, 16 << 20, &pool, &err), QN_OK);
    assert_int_equal(qn_arc_heap_new(&heap, &err), QN_OK);
    if (qn_arc_parse("made.py", text->data, text->len, NULL, 0, &file, &err) != QN_OK)
        fail_msg("%s", err.text);
    if (file->notes.n_errors) {
        qn_str notes = { 0 };

        qn_arc_file_print_notes(file, &notes);
        fail_msg("%.2000s", qn_str_get(&notes));
    }
    for (int i = 0; i < file->n_programs; i++) {
        qn_arc_code code = { 0 };

        if (qn_arc_compile(&file->programs[i], 0, &code, &err) != QN_OK)
            fail_msg("%s", err.text);
        check_in_pool(&code, pool, &hold, heap);
        qn_arc_code_free(&code);
    }
    n = file->n_programs;
    qn_content_release(pool, &hold);
    qn_content_close(pool);
    qn_arc_heap_free(heap);
    qn_arc_file_free(file);
    return n;
}

static void made_programs_compile(void **state)
{
    qn_str text = { 0 };

    (void)state;
    for (int i = 0; i < 500; i++) {
        char name[16];

        snprintf(name, sizeof name, "%08x", (unsigned)i);
        qn_arc_make_program((uint64_t)i, name, &(qn_arc_make_options){ .wrong_pct = 20 }, &text);
    }
    assert_int_equal(compile_all(&text), 500);
    qn_str_free(&text);
}

static void made_batt_files_compile(void **state)
{
    static const int sizes[] = { 1, 79, 650, 2868 };

    (void)state;
    for (int k = 0; k < 4; k++) {
        qn_str text = { 0 };

        qn_arc_make_batt((uint64_t)k, sizes[k], &(qn_arc_make_options){ .wrong_pct = 2 }, &text);
        assert_int_equal(compile_all(&text), 1);
        qn_str_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_programs_compile),
        cmocka_unit_test(made_batt_files_compile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
