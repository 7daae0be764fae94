/* test_arc_slots.c - instructions compute what the nodes say, whichever slots they share.
 *
 * Two tiny interpreters over symbols: a value is a number made from the operation and the values of
 * its operands. One interprets the nodes of the parser, the other the instructions. Overwriting a
 * slot whose value is still needed changes the number.
 */
#include "arc_program_fixture.h"

#include "domain/arc/value/value.h"
#include "util/hash.h"

enum { ROUNDS = 400, MOST_STEPS = 120 };

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    return qn_random_u64(4711, (*seed)++) % below;
}

/* The two interpreters. */

static uint64_t mix(int op, int guard, const uint64_t *args, int n)
{
    uint64_t hash = qn_fnv1a64_add(QN_FNV1A64_START, &op, sizeof op);

    hash = qn_fnv1a64_add(hash, &guard, sizeof guard);
    return qn_fnv1a64_add(hash, args, (size_t)n * sizeof *args);
}

static uint64_t symbol_of_param(int number)
{
    return qn_random_u64(1, (uint64_t)number);
}

/* Constants of these programs lie in one slot, which is their symbol. */
static uint64_t symbol_of_value(const qn_arc_value *v)
{
    if (v->kind == QN_ARC_PRIM)
        return ARC_SLOT(ARC_PRIM, qn_arc_op_at((int)v->number)->arity, v->number);
    if (v->kind == QN_ARC_TUPLE)
        return ARC_SLOT_PAIR(v->items[0].number, v->items[1].number);
    return v->kind == QN_ARC_BOOL ? ARC_SLOT_BOOL(v->number) : ARC_SLOT_INT(v->number);
}

/* Values of all nodes; those of records and the output are compared. */
static void run_nodes(const qn_arc_dag *dag, uint64_t *values)
{
    for (int i = 0; i < dag->n; i++) {
        const qn_arc_node *node = &dag->nodes[i];
        uint64_t args[4];

        if (node->op == QN_ARC_NODE_PARAM) {
            values[i] = symbol_of_param(node->number);
            continue;
        }
        if (node->op == QN_ARC_NODE_CONST) {
            values[i] = symbol_of_value(node->value);
            continue;
        }
        for (int k = 0; k < node->n_args; k++)
            args[k] = values[node->a[k]];
        values[i] = mix(node->op, node->guard, args, node->n_args);
        for (int k = 0; k < node->n_needs; k++)
            values[i] += 3 * values[dag->needs[node->needs + k]];
    }
}

typedef struct {
    uint64_t slots[256];
    uint64_t output;
    uint64_t records[256];
} machine;

static uint64_t operand(const qn_arc_code *code, const machine *m, int a)
{
    const arc_program head = head_of(code);
    uint64_t slot;

    if (a < ARC_CONST)
        return m->slots[a];
    memcpy(&slot,
           code->bytes + sizeof head + head.n_ins * sizeof(arc_ins) +
               (size_t)(a - ARC_CONST) * sizeof slot,
           sizeof slot);
    return slot;
}

/* There are at most four needs, so they are operands of one NEED. */
static void run_code(const qn_arc_code *code, machine *m)
{
    const arc_program head = head_of(code);
    uint64_t needed = 0;

    assert_true(head.n_slot <= 256 && head.n_records <= 256);
    for (int i = 0; i < 256; i++)
        m->slots[i] = i < 3 ? symbol_of_param(i) : 0;
    for (int i = 0; i < head.n_ins; i++) {
        const arc_ins ins = ins_of(code, i);
        uint64_t args[4] = { 0 };

        for (int k = 0; k < ins.n_args; k++)
            args[k] = operand(code, m, ins.a[k]);
        if (ins.op == ARC_OP_RET) {
            m->output = args[0];
        } else if (ins.op == ARC_OP_RECORD) {
            m->records[ins.a[1]] = args[0];
        } else if (ins.op == ARC_OP_NEED) {
            needed = args[0] + args[1] + args[2] + args[3];
        } else {
            m->slots[ins.dst] = mix(ins.op, ins.flags, args, ins.n_args) + 3 * needed;
            needed = 0;
        }
    }
}

/* Random programs. */

static const char *const constants[] = { "ONE", "T", "UP", "7", "size" };

/* A name to use: mostly a recent one, sometimes an old one, a parameter or a constant. */
static void add_name(qn_str *text, int n_before, int is_batt, uint64_t *seed)
{
    const uint64_t kind = draw(seed, 10);

    if (n_before == 0 || kind == 0)
        qn_str_add(text, is_batt && draw(seed, 2) ? "S" : "I");
    else if (kind == 1)
        qn_str_add(text, constants[draw(seed, 5)]);
    else if (kind == 2)
        qn_str_addf(text, "t%d", (int)draw(seed, (uint64_t)n_before) + 1);
    else
        qn_str_addf(text, "t%d",
                    n_before - (int)draw(seed, (uint64_t)(n_before < 6 ? n_before : 6)));
}

static void add_step(qn_str *text, int n_before, int is_batt, uint64_t *seed)
{
    static const char *const ops[4][4] = { { "first", "size", "rot90", "hmirror" },
                                           { "combine", "ofcolor", "shift", "equality" },
                                           { "fill", "replace", "branch", "crop" },
                                           { "objects", "objects_t", "objects", "objects" } };
    const int arity = (int)draw(seed, 4);
    const int number = n_before + 1;
    const uint64_t form = is_batt && n_before > 0 ? draw(seed, 3) : 0;
    const char *op = ops[arity][draw(seed, 4)];

    if (form == 1)
        qn_str_addf(text, "    t%d = env.do_pile(%d, [%s, ", number, number, op);
    else if (form == 2)
        qn_str_addf(text, "    try:\n        t%d = %s(", number, op);
    else
        qn_str_addf(text, "    t%d = %s(", number, op);
    for (int k = 0; k <= arity; k++) {
        add_name(text, n_before, is_batt, seed);
        qn_str_add(text, k < arity ? ", " : "");
    }
    if (form == 1)
        qn_str_addf(text, "], t%d.ok and t%d.ok)\n", (int)draw(seed, (uint64_t)n_before) + 1,
                    (int)draw(seed, (uint64_t)n_before) + 1);
    else if (form == 2)
        qn_str_addf(text, ")\n    except E:\n        t%d = _get_safe_default(%s)\n", number, op);
    else
        qn_str_add(text, ")\n");
}

static void make_program(qn_str *text, int is_batt, uint64_t seed)
{
    const int n = (int)draw(&seed, MOST_STEPS) + 1;

    qn_str_add(text, is_batt ? "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n"
                             : "def solve_a(I):\n");
    for (int i = 0; i < n; i++) {
        add_step(text, i, is_batt, &seed);
        if (is_batt && draw(&seed, 5) == 0)
            qn_str_addf(text, "    o.append((%d, True, 'x', t%d))\n", i,
                        (int)draw(&seed, (uint64_t)(i + 1)) + 1);
    }
    if (is_batt)
        qn_str_addf(text, "    s.append((0, 'x', 'y', t%d))\n    return o, s\n", n);
    else
        qn_str_addf(text, "    return t%d\n", n);
}

/* Tests. */

static void assert_same_results(const qn_arc_source *program, unsigned off)
{
    static machine m;
    qn_arc_code code = compile_with(program, off);
    uint64_t *values = calloc((size_t)program->dag.n, sizeof *values);

    assert_non_null(values);
    run_nodes(&program->dag, values);
    run_code(&code, &m);
    if (program->dag.flags & ARC_FLAG_BATT) {
        for (int i = 0; i < program->dag.n_records; i++)
            assert_int_equal(m.records[i], values[program->dag.records[i].node]);
    } else {
        assert_int_equal(m.output, values[program->dag.output]);
    }
    free(values);
    qn_arc_code_free(&code);
}

static void check_random_programs(int is_batt)
{
    static const unsigned passes[] = { QN_ARC_OFF_ALL, QN_ARC_OFF_FUSION,
                                       QN_ARC_OFF_FUSION | QN_ARC_OFF_DEAD,
                                       QN_ARC_OFF_FUSION | QN_ARC_OFF_MERGE };

    for (int round = 0; round < ROUNDS; round++) {
        qn_str text = { 0 };
        qn_arc_file *file;

        make_program(&text, is_batt, (uint64_t)round << 20);
        file = parse_good(text.data);
        for (int i = 0; i < 4; i++)
            assert_same_results(&file->programs[0], passes[i]);
        qn_arc_file_free(file);
        qn_str_free(&text);
    }
}

static void no_slot_of_a_solve_program_is_overwritten_while_it_lives(void **state)
{
    (void)state;
    check_random_programs(0);
}

static void no_slot_of_a_batt_program_is_overwritten_while_it_lives(void **state)
{
    (void)state;
    check_random_programs(1);
}

static void original_solvers_compute_what_their_nodes_say(void **state)
{
    qn_arc_file *file = parse_solvers();

    (void)state;
    for (int i = 0; i < file->n_programs; i++)
        assert_same_results(&file->programs[i], QN_ARC_OFF_FUSION);
    qn_arc_file_free(file);
}

static void long_chain_needs_few_slots(void **state)
{
    qn_str text = { 0 };
    qn_arc_file *file;
    qn_arc_code code;

    (void)state;
    qn_str_add(&text, "def solve_a(I):\n    x = rot90(I)\n");
    for (int i = 0; i < 1000; i++)
        qn_str_add(&text, "    x = rot90(x)\n");
    qn_str_add(&text, "    return x\n");
    file = parse_good(text.data);
    code = compile_with(&file->programs[0], 0);
    assert_int_equal(head_of(&code).n_ins, 1002);
    assert_int_equal(head_of(&code).n_slot, 2);
    qn_arc_code_free(&code);
    qn_arc_file_free(file);
    qn_str_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_slot_of_a_solve_program_is_overwritten_while_it_lives),
        cmocka_unit_test(no_slot_of_a_batt_program_is_overwritten_while_it_lives),
        cmocka_unit_test(original_solvers_compute_what_their_nodes_say),
        cmocka_unit_test(long_chain_needs_few_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
