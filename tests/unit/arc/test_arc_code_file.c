/* test_arc_code_file.c - compiled programs in files, whole and damaged. */
#include "arc_program_fixture.h"

#include "util/hash.h"
#include "util/temp_dir.h"

enum { ROUNDS = 4000, HEAD_BYTES = 32 };

static const char text[] =
    "def solve_a(I):\n    x = objects(I, T, F, T)\n    y = fill(I, 3, ((1, 2), (3, (4, 5, 6))))\n"
    "    f = compose(size, first)\n    z = apply(f, x)\n    O = astuple(z, y)\n    return O\n"
    "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n"
    "    t1 = env.do_pile(1, [p_g, I], True)\n    t2 = env.do_pile(2, (first, t1.t), t1.ok)\n"
    "    t3 = env.do_pile(3, (height, I), t2.ok)\n    t4 = env.do_pile(4, (height, I), False)\n"
    "    try:\n        t5 = size(t2)\n    except E:\n        t5 = _get_safe_default(size)\n"
    "    t6 = first((t1, t2, 9, 9, 8, ((1, 2, 3), (4, 5, 6)), (T, None)))\n"
    "    o.append((1, True, 'task', t3))\n    s.append((2, 'task', 'name', t4))\n"
    "    o.append((3, False, 'task', t5))\n    o.append((4, True, 'task', t6))\n"
    "    return o, s\n";

static void compile_all(qn_arc_code codes[2])
{
    qn_arc_file *file = parse_good(text);

    for (int i = 0; i < 2; i++)
        codes[i] = compile_with(&file->programs[i], 0);
    qn_arc_file_free(file);
}

static void free_all(qn_arc_code codes[2])
{
    qn_arc_code_free(&codes[0]);
    qn_arc_code_free(&codes[1]);
}

/* Round trip. */

static void programs_come_back_from_a_file_as_they_were(void **state)
{
    qn_temp_dir dir = { .path = "" };
    char path[1100], *packed = NULL;
    size_t bytes = 0;
    qn_arc_code codes[2], *back = NULL;
    qn_err err = { .text = "" };
    int n = 0;

    (void)state;
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    snprintf(path, sizeof path, "%s/programs", dir.path);
    compile_all(codes);
    assert_int_equal(qn_arc_codes_write(path, codes, 2, &err), QN_OK);
    if (qn_file_read_most(path, QN_MOST_PROGRAM, &packed, &bytes, &err) != QN_OK ||
        qn_arc_codes_unpack(packed, bytes, &back, &n, &err) != QN_OK)
        fail_msg("%s", err.text);
    free(packed);
    qn_temp_dir_remove(&dir);
    assert_int_equal(n, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(back[i].n, codes[i].n);
        assert_memory_equal(back[i].bytes, codes[i].bytes, codes[i].n);
        assert_string_equal(back[i].id, codes[i].id);
        assert_string_equal(back[i].name, codes[i].name);
        assert_int_equal(back[i].line, codes[i].line);
        assert_int_equal(back[i].n_outputs, codes[i].n_outputs);
    }
    assert_int_equal(back[1].n_outputs, 4);
    assert_int_equal(back[1].outputs[1].list, 's');
    assert_int_equal(back[1].outputs[1].number, 2);
    assert_string_equal(back[1].outputs[1].name, "name");
    assert_int_equal(back[1].outputs[0].flag, 1);
    assert_int_equal(back[1].outputs[2].flag, 0);
    assert_int_equal(back[1].outputs[2].line, codes[1].outputs[2].line);
    qn_arc_codes_free(back, n);
    free_all(codes);
}

static void no_programs_make_a_file_too(void **state)
{
    qn_str packed = { 0 };
    qn_arc_code *back = NULL;
    qn_err err = { .text = "" };
    int n = -1;

    (void)state;
    assert_int_equal(qn_arc_codes_pack(NULL, 0, &packed, &err), QN_OK);
    assert_int_equal(qn_arc_codes_unpack(packed.data, packed.len, &back, &n, &err), QN_OK);
    assert_int_equal(n, 0);
    qn_arc_codes_free(back, n);
    qn_str_free(&packed);
}

static void every_cut_file_is_refused(void **state)
{
    qn_arc_code codes[2], *back = NULL;
    qn_str packed = { 0 };
    qn_err err;
    int n = 0;

    (void)state;
    compile_all(codes);
    assert_int_equal(qn_arc_codes_pack(codes, 2, &packed, &err), QN_OK);
    for (size_t len = 0; len < packed.len; len++) {
        /* An exact copy, so that reading past the end is noticed. */
        char *cut = malloc(len + 1);

        memcpy(cut, packed.data, len);
        err = (qn_err){ .text = "" };
        assert_int_equal(qn_arc_codes_unpack(cut, len, &back, &n, &err), QN_ERR_INPUT);
        assert_true(strlen(err.text) > 0);
        free(cut);
    }
    qn_str_free(&packed);
    free_all(codes);
}

static void every_flipped_bit_is_found(void **state)
{
    qn_arc_code codes[2], *back = NULL;
    qn_str packed = { 0 };
    qn_err err;
    int n = 0;

    (void)state;
    compile_all(codes);
    assert_int_equal(qn_arc_codes_pack(codes, 2, &packed, &err), QN_OK);
    for (size_t at = 0; at < packed.len; at++) {
        const int is_padding = at >= 12 && at < 16; /* of the header */

        packed.data[at] ^= 1;
        err = (qn_err){ .text = "" };
        if (!is_padding)
            assert_int_equal(qn_arc_codes_unpack(packed.data, packed.len, &back, &n, &err),
                             QN_ERR_INPUT);
        packed.data[at] ^= 1;
    }
    qn_str_free(&packed);
    free_all(codes);
}

/* Damaged programs. */

/* A program is either refused, or could have been compiled, so that it can be printed too. */
static int survives(const unsigned char *bytes, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1);
    qn_arc_code code = { .bytes = copy, .n = n };
    qn_str out = { 0 };
    qn_err err = { .text = "" };
    int is_good;

    memcpy(copy, bytes, n);
    is_good = qn_arc_code_check(copy, n, &err) == QN_OK;
    if (is_good)
        assert_int_equal(qn_arc_disassemble(&code, &out, &err), QN_OK);
    else
        assert_true(strlen(err.text) > 0 && !strchr(err.text, '\n'));
    qn_str_free(&out);
    free(copy);
    return is_good;
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    return qn_random_u64(99, (*seed)++) % below;
}

static void mutated_programs_are_refused_or_harmless(void **state)
{
    qn_arc_code codes[2];
    int n_good = 0;

    (void)state;
    compile_all(codes);
    for (int round = 0; round < ROUNDS; round++) {
        const qn_arc_code *code = &codes[round % 2];
        unsigned char *bytes = malloc(code->n);
        uint64_t seed = (uint64_t)round << 16;

        memcpy(bytes, code->bytes, code->n);
        for (uint64_t k = draw(&seed, 3) + 1; k-- > 0;) {
            const size_t at = draw(&seed, code->n);

            switch (draw(&seed, 3)) {
            case 0:
                bytes[at] = (unsigned char)draw(&seed, 256);
                break;
            case 1:
                bytes[at] = (unsigned char)(bytes[at] + 1);
                break;
            default:
                bytes[at] ^= (unsigned char)(1u << draw(&seed, 8));
            }
        }
        n_good += survives(bytes, code->n);
        free(bytes);
    }
    /* Changes to lines, costs and small constants are valid, so not everything is refused. */
    assert_true(n_good > 0 && n_good < ROUNDS / 2);
    free_all(codes);
}

static void assert_refused(const arc_program *head, const arc_ins *ins, const uint64_t *consts,
                           size_t tail, const char *why)
{
    unsigned char bytes[512] = { 0 };
    size_t n = sizeof *head;
    arc_program fixed = *head;
    qn_err err = { .text = "" };

    memcpy(bytes + n, ins, head->n_ins * sizeof *ins);
    n += head->n_ins * sizeof *ins;
    memcpy(bytes + n, consts, head->n_const * sizeof *consts);
    n += head->n_const * sizeof *consts;
    n = (n + tail + 15) / 16 * 16;
    fixed.bytes = (uint32_t)n;
    memcpy(bytes, &fixed, sizeof fixed);
    assert_int_equal(qn_arc_code_check(bytes, n, &err), QN_ERR_INPUT);
    if (!strstr(err.text, why))
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

#define HEAD(...)                                                                                  \
    (arc_program)                                                                                  \
    {                                                                                              \
        .magic = ARC_MAGIC, .version = ARC_VERSION, .n_slot = 4, __VA_ARGS__                       \
    }

static void each_fault_of_a_program_is_named(void **state)
{
    const uint64_t none[1] = { 0 };
    const uint64_t loop[1] = { ARC_SLOT(ARC_TUPLE, 1, 64) };
    const uint64_t huge[1] = { ARC_SLOT(ARC_TUPLE, 0xffffff, 72) };
    const uint64_t bad[1] = { ARC_SLOT(ARC_BAD, 0, 0) };
    const arc_ins ret = { .op = ARC_OP_RET, .n_args = 1 };
    const arc_ins ret_const = { .op = ARC_OP_RET, .n_args = 1, .a = { ARC_CONST } };
    arc_program head;

    (void)state;
    head = HEAD(.n_ins = 1);
    assert_refused(&(arc_program){ .version = 1, .n_ins = 1 }, &ret, none, 0, "not a program");
    assert_refused(&(arc_program){ .magic = ARC_MAGIC, .version = 9 }, &ret, none, 0, "version 9");
    assert_refused(&HEAD(.n_ins = 1, .flags = 4), &ret, none, 0, "unknown flags");
    assert_refused(&HEAD(.n_ins = 0), &ret, none, 0, "0 instructions");
    assert_refused(&HEAD(.n_ins = 1, .flags = ARC_FLAG_EXTRA(9)), &ret, none, 0, "10 parameters");
    assert_refused(&HEAD(.n_ins = 1, .n_records = 1), &ret, none, 0, "1 records");
    assert_refused(&HEAD(.n_ins = 1), &ret, none, 64, "of them used");
    assert_refused(&head, &(arc_ins){ .op = ARC_OP_RET, .n_args = 1, .a = { 1 } }, none, 0,
                   "nothing has written");
    assert_refused(&head, &(arc_ins){ .op = ARC_OP_RET, .n_args = 1, .a = { 4 } }, none, 0,
                   "does not exist");
    assert_refused(&head, &ret_const, none, 0, "does not exist");
    assert_refused(&head, &(arc_ins){ .op = ARC_OP_size, .n_args = 1, .dst = 1 }, none, 0,
                   "only RET");
    assert_refused(&head, &(arc_ins){ .op = ARC_OP_size, .n_args = 2 }, none, 0, "takes 1 to 1");
    assert_refused(&head, &(arc_ins){ .op = ARC_OP_LOOP }, none, 0, "is unknown");
    assert_refused(&head, &(arc_ins){ .op = ARC_N_OPS }, none, 0, "is unknown");
    assert_refused(&head, &(arc_ins){ .op = ARC_OP_FAIL }, none, 0, "is unknown");
    assert_refused(&HEAD(.n_ins = 2),
                   (arc_ins[]){ { .op = ARC_OP_size, .n_args = 1, .dst = 0 }, ret }, none, 0,
                   "writes a slot that it reads");
    assert_refused(&HEAD(.n_ins = 2),
                   (arc_ins[]){ { .op = ARC_OP_size, .n_args = 1, .dst = 4 }, ret }, none, 0,
                   "its slot does not exist");
    assert_refused(&HEAD(.n_ins = 2),
                   (arc_ins[]){ { .op = ARC_OP_size, .n_args = 1, .dst = 1, .flags = 1 }, ret },
                   none, 0, "meaningless flags");
    assert_refused(&HEAD(.n_ins = 1, .n_const = 1), &ret_const, loop, 8, "does not lie");
    assert_refused(&HEAD(.n_ins = 1, .n_const = 1), &ret_const, huge, 8, "does not lie");
    assert_refused(&HEAD(.n_ins = 1, .n_const = 1), &ret_const, bad, 0, "not a value");
}

static void each_fault_of_a_batt_program_is_named(void **state)
{
    const uint64_t none[1] = { 0 };
    const uint32_t batt = ARC_FLAG_BATT | ARC_FLAG_THREE;
    const arc_ins ret = { .op = ARC_OP_RET };
    const arc_ins record = { .op = ARC_OP_RECORD, .n_args = 1 };
    const arc_ins need = { .op = ARC_OP_NEED, .n_args = 1 };

    (void)state;
    assert_refused(&HEAD(.n_ins = 1, .flags = ARC_FLAG_BATT), &ret, none, 0, "without samples");
    assert_refused(&HEAD(.n_ins = 1, .flags = batt, .n_records = 1), &ret, none, 0,
                   "0 of 1 records");
    assert_refused(&HEAD(.n_ins = 3, .flags = batt, .n_records = 1),
                   (arc_ins[]){ record, record, ret }, none, 0, "made twice");
    assert_refused(&HEAD(.n_ins = 2, .flags = batt), (arc_ins[]){ record, ret }, none, 0,
                   "its record does not exist");
    assert_refused(&HEAD(.n_ins = 2, .flags = batt), (arc_ins[]){ need, ret }, none, 0,
                   "nothing waits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_come_back_from_a_file_as_they_were),
        cmocka_unit_test(no_programs_make_a_file_too),
        cmocka_unit_test(every_cut_file_is_refused),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(mutated_programs_are_refused_or_harmless),
        cmocka_unit_test(each_fault_of_a_program_is_named),
        cmocka_unit_test(each_fault_of_a_batt_program_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
