/* prefix.c - finds equal instructions in different programs, and cuts programs there. */
#include "domain/arc/compile/compile.h"

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_code.h"
#include "kernel/arc/arc_ops.h"
#include "util/hash.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* ALONE: the value depends on more than the grid. THE_GRID: it is the grid. */
enum { ALONE = -1, THE_GRID = 0 };
enum { NOBODY = -1, MOST_PREFIX = 64 };

/* The cost of primitives of a class on a usual grid, in the units of a program's cost. */
enum { WEIGHT_S = 1, WEIGHT_L = 3, WEIGHT_H = 20, WEIGHT_Q = 25, LEAST_WEIGHT = WEIGHT_H };

/* One distinct value. */
typedef struct {
    int op, n_args; /* op ALONE: a constant, which is `leaf` */
    int a[4];
    uint64_t leaf;
    int n_programs, last_program;
} value;

typedef struct {
    value *values;
    int n;
    int *table; /* 1 + the number of a value, by hash */
    size_t table_size;
} numbering;

/* A program being read. */
typedef struct {
    arc_program head;
    const arc_ins *code;
    const uint64_t *constants;
    int *numbers;       /* per instruction: its value, or ALONE */
    int (*operands)[4]; /* per instruction: where its operands come from; NOBODY: a leaf */
} reading;

/* A cut of a program: the instructions that lead to `at`, and those of them that nothing else
 * needs. */
typedef struct {
    int at, n_prefix, n_removed, weight;
    int prefix[MOST_PREFIX]; /* descending, `at` first */
    char is_removed[MOST_PREFIX];
    double saved;
} cut;

/* Numbers. */

static int number_of(numbering *all, const value *v)
{
    uint64_t hash = qn_fnv1a64_add(QN_FNV1A64_START, v, offsetof(value, n_programs));
    size_t at = hash & (all->table_size - 1);

    for (; all->table[at]; at = (at + 1) & (all->table_size - 1))
        if (!memcmp(&all->values[all->table[at] - 1], v, offsetof(value, n_programs)))
            return all->table[at] - 1;
    all->values[all->n] = *v;
    all->table[at] = ++all->n;
    return all->n - 1;
}

/* Constants that fit into their slot. */
static int number_constant(numbering *all, uint64_t slot)
{
    value v;
    const int tag = ARC_TAG(slot);

    memset(&v, 0, sizeof v);
    v.op = ALONE;
    v.leaf = slot;
    v.last_program = NOBODY;
    if (tag == ARC_NONE || tag == ARC_BOOL || tag == ARC_PAIR || tag == ARC_CELL ||
        tag == ARC_PRIM || (tag == ARC_INT && !ARC_AUX(slot)))
        return number_of(all, &v);
    return ALONE;
}

static void number_program(numbering *all, reading *p, int program, int *slots, int *makers)
{
    const int grid = p->head.flags & ARC_FLAG_THREE ? 1 : 0;
    int is_needed = 0;

    for (int s = 0; s < p->head.n_slot; s++) {
        slots[s] = s == grid ? THE_GRID : ALONE;
        makers[s] = NOBODY;
    }
    for (int i = 0; i < p->head.n_ins; i++) {
        const arc_ins *ins = &p->code[i];
        int is_alone = ins->op >= ARC_N_OPS || ins->flags || is_needed;
        value v;

        memset(&v, 0, sizeof v);
        v.op = ins->op;
        v.n_args = ins->n_args;
        v.last_program = NOBODY;
        for (int k = 0; k < ins->n_args; k++) {
            const int is_slot = ins->a[k] < ARC_CONST;

            p->operands[i][k] = is_slot ? makers[ins->a[k]] : NOBODY;
            v.a[k] = is_slot ? slots[ins->a[k]]
                             : number_constant(all, p->constants[ins->a[k] - ARC_CONST]);
            is_alone |= v.a[k] == ALONE;
        }
        is_needed = ins->op == ARC_OP_NEED;
        p->numbers[i] = is_alone ? ALONE : number_of(all, &v);
        if (!is_alone && all->values[p->numbers[i]].last_program != program) {
            all->values[p->numbers[i]].last_program = program;
            all->values[p->numbers[i]].n_programs++;
        }
        if (ins->op != ARC_OP_RET && !is_needed && ins->op != ARC_OP_RECORD) {
            slots[ins->dst] = p->numbers[i];
            makers[ins->dst] = i;
        }
    }
}

/* Cuts. */

static int weight_of(int op)
{
    if (qn_arc_op_has_class(op, 'Q'))
        return WEIGHT_Q;
    if (qn_arc_op_has_class(op, 'H'))
        return WEIGHT_H;
    return qn_arc_op_has_class(op, 'L') ? WEIGHT_L : WEIGHT_S;
}

/* Lists instruction `at` and all it is made from. Returns 0 if that is too much or too little, or
 * contains duplicates, which another program may do only once. `marks` is zeroed, and is again at
 * the end.
 */
static int list_prefix(const reading *p, int at, cut *c, char *marks)
{
    int is_twice = 0;

    *c = (cut){ .at = at };
    marks[at] = 1;
    for (int i = at; i >= 0; i--) {
        if (!marks[i])
            continue;
        marks[i] = 0;
        for (int k = 0; k < c->n_prefix && k < MOST_PREFIX; k++)
            is_twice |= p->numbers[c->prefix[k]] == p->numbers[i];
        if (c->n_prefix < MOST_PREFIX)
            c->prefix[c->n_prefix] = i;
        c->n_prefix++;
        c->weight += weight_of(p->code[i].op);
        for (int k = 0; k < p->code[i].n_args; k++)
            if (p->operands[i][k] != NOBODY)
                marks[p->operands[i][k]] = 1;
    }
    return c->n_prefix <= MOST_PREFIX && !is_twice && c->weight >= LEAST_WEIGHT;
}

/* Finds the instructions of the prefix that nothing else needs. Returns 0 if one of the others
 * calls functions: the number of its steps would be unknown. */
static int find_removed(const reading *p, cut *c, char *is_needed)
{
    int next = 0, is_good = 1;

    memset(is_needed, 0, p->head.n_ins);
    for (int i = p->head.n_ins - 1; i >= 0; i--) {
        const int is_prefix = next < c->n_prefix && c->prefix[next] == i;
        const int is_removed = is_prefix && (i == c->at || !is_needed[i]);

        if (is_prefix) {
            c->is_removed[next++] = (char)is_removed;
            c->n_removed += is_removed;
            is_good &= is_removed || !qn_arc_op_has_class(p->code[i].op, 'H');
        }
        for (int k = 0; !is_removed && k < p->code[i].n_args; k++)
            if (p->operands[i][k] != NOBODY)
                is_needed[p->operands[i][k]] = 1;
    }
    return is_good;
}

/* The line of a failure tells how many steps came before it, so lines must ascend. */
static int lines_ascend(const reading *p)
{
    for (int i = 1; i < p->head.n_ins - 1; i++)
        if (p->code[i].line < p->code[i - 1].line)
            return 0;
    return 1;
}

/* An argument that the program does not read, to pass the value in; -1: none. */
static int free_argument(const reading *p)
{
    char is_read[3] = { 0 }, is_written[3] = { 0 };

    if (!(p->head.flags & ARC_FLAG_THREE))
        return 1;
    for (int i = 0; i < p->head.n_ins; i++) {
        const arc_ins *ins = &p->code[i];

        for (int k = 0; k < ins->n_args; k++)
            if (ins->a[k] < 3 && !is_written[ins->a[k]])
                is_read[ins->a[k]] = 1;
        if (ins->op != ARC_OP_RET && ins->op != ARC_OP_NEED && ins->op != ARC_OP_RECORD &&
            ins->dst < 3)
            is_written[ins->dst] = 1;
    }
    return !is_read[0] ? 0 : !is_read[2] ? 2 : -1;
}

static void choose_cut(const numbering *all, const reading *p, cut *best, char *marks)
{
    *best = (cut){ .at = NOBODY };
    if (ARC_EXTRA_OF(p->head.flags) || free_argument(p) < 0 ||
        (!(p->head.flags & ARC_FLAG_BATT) && !lines_ascend(p)))
        return;
    for (int i = 0; i < p->head.n_ins; i++) {
        const int n = p->numbers[i] == ALONE ? 0 : all->values[p->numbers[i]].n_programs;
        cut c;

        if (n < QN_ARC_LEAST_SHARERS || qn_arc_op_has_class(p->code[i].op, 'K'))
            continue;
        if (!list_prefix(p, i, &c, marks))
            continue;
        c.saved = c.weight * (1 - 1.0 / n);
        if (c.saved > best->saved && find_removed(p, &c, marks + p->head.n_ins))
            *best = c;
    }
}

/* Programs. */

static arc_ins *code_of(unsigned char *bytes)
{
    return (arc_ins *)(void *)(bytes + sizeof(arc_program));
}

/* The program up to the cut, reduced to what leads to it. */
static unsigned char *make_prefix(const qn_arc_bytes *program, const cut *c, qn_arena *memory)
{
    unsigned char *bytes = qn_arena_take(memory, program->n);
    arc_program head;
    arc_ins *code;
    int next = c->n_prefix - 1, at = 0;

    if (!bytes)
        return NULL;
    memcpy(bytes, program->bytes, program->n);
    memcpy(&head, bytes, sizeof head);
    head.flags &= ~ARC_FLAG_BATT;
    head.n_records = 0;
    head.cost = (uint32_t)c->weight;
    memcpy(bytes, &head, sizeof head);
    code = code_of(bytes);
    for (; next >= 0; next--)
        code[at++] = code[c->prefix[next]];
    code[at] = (arc_ins){ .op = ARC_OP_RET, .n_args = 1, .a = { code[at - 1].dst } };
    return bytes;
}

/* Renames slot `from` to `to` in all instructions. */
static void rename_slot(arc_ins *code, int n, int from, int to)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < code[i].n_args; k++)
            if (code[i].a[k] == from)
                code[i].a[k] = (uint16_t)to;
        if (code[i].dst == from)
            code[i].dst = (uint16_t)to;
    }
}

/* The value is in a slot that is never written. Two slots are new: one for what was there before,
 * and one where MOVEs without effect are dropped. */
static int make_rest(const qn_arc_bytes *program, const reading *p, const cut *c, qn_arena *memory,
                     qn_arc_rest *out)
{
    arc_program head = p->head;
    arc_ins *code;
    int first = c->at;

    if (!(out->bytes = qn_arena_take(memory, program->n)))
        return 0;
    out->n = program->n;
    out->slot = free_argument(p);
    memcpy(out->bytes, program->bytes, program->n);
    code = code_of(out->bytes);
    head.n_slot = (uint16_t)((head.n_slot < 3 ? 3 : head.n_slot) + 2);
    if (!(head.flags & ARC_FLAG_THREE))
        head.flags |= ARC_FLAG_EXTRA(1);
    memcpy(out->bytes, &head, sizeof head);
    rename_slot(code, head.n_ins, out->slot, head.n_slot - 2);
    for (int k = 0; k < c->n_prefix; k++) {
        arc_ins *ins = &code[c->prefix[k]];

        if (!c->is_removed[k])
            continue;
        first = c->prefix[k];
        *ins = (arc_ins){ .op = ARC_OP_MOVE,
                          .n_args = 1,
                          .dst = k ? (uint16_t)(head.n_slot - 1) : ins->dst,
                          .a = { (uint16_t)out->slot },
                          .line = ins->line };
    }
    out->n_again = (uint32_t)(c->n_prefix - c->n_removed);
    out->first_line = code[first].line;
    out->last_line = code[c->at].line;
    return 1;
}

/* All. */

typedef struct {
    const qn_arc_bytes *programs;
    int n;
    qn_arena memory;
    numbering all;
    reading *readings;
    cut *cuts;
    int *numbers, (*operands)[4]; /* of all programs */
    int *slots, *makers;
    char *marks;
} search;

static int start(search *s)
{
    size_t n_ins = 1, n_slot = 1, most = 1, at = 0;

    if (!(s->readings = qn_arena_zeros(&s->memory, (size_t)s->n, sizeof *s->readings)))
        return 0;
    for (int i = 0; i < s->n; i++) {
        reading *p = &s->readings[i];

        memcpy(&p->head, s->programs[i].bytes, sizeof p->head);
        p->code = (const arc_ins *)(const void *)(s->programs[i].bytes + sizeof p->head);
        p->constants = (const uint64_t *)(const void *)(p->code + p->head.n_ins);
        n_ins += p->head.n_ins;
        n_slot = p->head.n_slot > n_slot ? p->head.n_slot : n_slot;
        most = p->head.n_ins > most ? p->head.n_ins : most;
    }
    /* Each instruction has at most four operands, each of which may be a constant. */
    s->all.table_size = 16;
    while (s->all.table_size < 10 * n_ins)
        s->all.table_size *= 2;
    s->all.values = qn_arena_zeros(&s->memory, 5 * n_ins + 1, sizeof *s->all.values);
    s->all.table = qn_arena_zeros(&s->memory, s->all.table_size, sizeof *s->all.table);
    s->all.n = THE_GRID + 1;
    s->cuts = qn_arena_zeros(&s->memory, (size_t)s->n, sizeof *s->cuts);
    s->numbers = qn_arena_zeros(&s->memory, n_ins, sizeof *s->numbers);
    s->operands = qn_arena_zeros(&s->memory, n_ins, sizeof *s->operands);
    s->slots = qn_arena_zeros(&s->memory, n_slot, sizeof *s->slots);
    s->makers = qn_arena_zeros(&s->memory, n_slot, sizeof *s->makers);
    s->marks = qn_arena_zeros(&s->memory, 2 * most, 1);
    for (int i = 0; !s->memory.failed && i < s->n; i++) {
        s->readings[i].numbers = s->numbers + at;
        s->readings[i].operands = s->operands + at;
        at += s->readings[i].head.n_ins;
    }
    return !s->memory.failed;
}

static int number_at_cut(const search *s, int program)
{
    return s->cuts[program].at == NOBODY ? ALONE
                                         : s->readings[program].numbers[s->cuts[program].at];
}

/* Makes the prefix of each value at which enough programs were cut, and their rests. */
static int make_all(search *s, qn_arc_prefixes *out)
{
    value *values = s->all.values;

    for (int v = 0; v < s->all.n; v++) {
        values[v].n_programs = 0;
        values[v].last_program = NOBODY; /* from here on the value's prefix */
    }
    for (int i = 0; i < s->n; i++)
        if (number_at_cut(s, i) != ALONE)
            values[number_at_cut(s, i)].n_programs++;
    for (int i = 0; i < s->n; i++) {
        const int v = number_at_cut(s, i);

        out->rests[i].prefix = NOBODY;
        if (v == ALONE || values[v].n_programs < QN_ARC_LEAST_SHARERS)
            continue;
        if (values[v].last_program == NOBODY) {
            unsigned char *bytes = make_prefix(&s->programs[i], &s->cuts[i], &out->memory);

            if (!bytes)
                return 0;
            values[v].last_program = out->n;
            out->sources[out->n] = i;
            out->items[out->n++] = (qn_arc_bytes){ .bytes = bytes, .n = s->programs[i].n };
        }
        if (!make_rest(&s->programs[i], &s->readings[i], &s->cuts[i], &out->memory, &out->rests[i]))
            return 0;
        out->rests[i].prefix = values[v].last_program;
    }
    return 1;
}

qn_status qn_arc_prefixes_find(const qn_arc_bytes *programs, int n, qn_arc_prefixes *out,
                               qn_err *err)
{
    search s = { .programs = programs, .n = n };
    qn_arc_prefixes made = { .n_rests = n };
    int is_good = start(&s);

    made.items = qn_arena_zeros(&made.memory, (size_t)n, sizeof *made.items);
    made.sources = qn_arena_zeros(&made.memory, (size_t)n, sizeof *made.sources);
    made.rests = qn_arena_zeros(&made.memory, (size_t)n, sizeof *made.rests);
    is_good = is_good && !made.memory.failed;
    for (int i = 0; is_good && i < n; i++)
        number_program(&s.all, &s.readings[i], i, s.slots, s.makers);
    for (int i = 0; is_good && i < n; i++)
        choose_cut(&s.all, &s.readings[i], &s.cuts[i], s.marks);
    is_good = is_good && make_all(&s, &made);
    qn_arena_clear(&s.memory);
    if (!is_good) {
        qn_arc_prefixes_free(&made);
        return qn_fail(err, QN_ERR_NOMEM, "no memory to compare %d programs", n);
    }
    *out = made;
    return QN_OK;
}

void qn_arc_prefixes_free(qn_arc_prefixes *p)
{
    qn_arena_clear(&p->memory);
    *p = (qn_arc_prefixes){ 0 };
}
