/* plan.c - assigns registers to a tape, by linear scan.
 *
 * Columns and seeds are read in place, and outputs are written in place and read from there by
 * later operations, so only gathered parameters and inner values need registers.
 */
#include "domain/fit/eval/plan.h"

#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_BYTES = 24 * 1024, MIN_WIDTH = 64, MAX_WIDTH = 256 };

/* Where a value is while registers are being counted; the upper bits hold the kind. */
enum {
    AT_REG = 0u << 29,
    AT_COLUMN = 1u << 29,
    AT_SEED = 2u << 29,
    AT_OUT = 3u << 29,
    AT_KIND = 3u << 29
};

typedef struct {
    const qn_fit_tape *p;
    qn_fit_value *values; /* of the tape, with products merged into sums */
    qn_fit_plan *plan;
    uint32_t (*where)[4]; /* value -> its location, and those of an eigenvector */
    uint32_t *last;       /* value -> the last one that uses it */
    uint32_t *free_regs;
    int n_free;
} planner;

/* Products.
 *
 * A product is merged with the sum that is its only user into one pass over a block. The
 * interpreter is bound by loads and stores of its registers; this saves one of each for every pair,
 * and changes no bit: the product is rounded before it is added.
 */

static void count_uses(const qn_fit_tape *p, uint32_t *uses)
{
    for (int k = 0; k < p->n_values; k++)
        for (int i = 0; i < p->values[k].n_args; i++)
            uses[p->values[k].arg[i]]++;
    for (int k = 0; k < p->n_outputs; k++)
        uses[p->outputs[k]] += 2; /* an output is never merged */
}

static int is_product(const qn_fit_value *v)
{
    return v->op == QN_FIT_OP_mul || v->op == QN_FIT_OP_square;
}

static void fuse_into(qn_fit_value *sum, qn_fit_value *product, int position)
{
    const uint32_t other = sum->arg[1 - position];

    if (sum->op == QN_FIT_OP_add)
        sum->op = QN_FIT_OP_mul_add;
    else
        sum->op = position == 0 ? QN_FIT_OP_mul_sub : QN_FIT_OP_sub_mul;
    sum->n_args = 3;
    sum->arg[0] = product->arg[0];
    sum->arg[1] = product->arg[product->op == QN_FIT_OP_square ? 0 : 1];
    sum->arg[2] = other;
    product->op = QN_FIT_OP_gone;
    product->n_args = 0;
}

/* A copy of the tape's values; NULL when out of memory. */
static qn_fit_value *fuse(const qn_fit_tape *tape, qn_arena *scratch)
{
    const size_t n = (size_t)tape->n_values;
    qn_fit_value *values = qn_arena_zeros(scratch, n, sizeof *values);
    uint32_t *uses = qn_arena_zeros(scratch, n, sizeof *uses);

    if (scratch->failed)
        return NULL;
    memcpy(values, tape->values, n * sizeof *values);
    count_uses(tape, uses);
    for (size_t k = 0; k < n; k++) {
        if (values[k].op != QN_FIT_OP_add && values[k].op != QN_FIT_OP_sub)
            continue;
        for (int i = 0; i < 2; i++) {
            qn_fit_value *product = &values[values[k].arg[i]];

            if (is_product(product) && uses[values[k].arg[i]] == 1) {
                fuse_into(&values[k], product, i);
                break;
            }
        }
    }
    return values;
}

/* Registers. */

static int is_part(const qn_fit_value *v)
{
    return v->op < QN_FIT_OP_COUNT && qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_PART);
}

static int is_eigenvalue(const qn_fit_value *v)
{
    return v->op < QN_FIT_OP_COUNT && qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_EIG);
}

/* A part lives in its eigenvalue, which lives as long as its parts. */
static void find_last_uses(planner *s)
{
    for (int k = 0; k < s->p->n_values; k++)
        s->last[k] = (uint32_t)k;
    for (int k = 0; k < s->p->n_values; k++)
        for (int i = 0; i < s->values[k].n_args; i++)
            s->last[s->values[k].arg[i]] = (uint32_t)k;
    for (int k = 0; k < s->p->n_values; k++)
        if (is_part(&s->values[k]) && s->last[s->values[k].arg[0]] < s->last[k])
            s->last[s->values[k].arg[0]] = s->last[k];
}

static uint32_t acquire(planner *s)
{
    if (s->n_free)
        return s->free_regs[--s->n_free];
    return AT_REG | (uint32_t)s->plan->n_regs++;
}

static void release(planner *s, uint32_t place)
{
    if ((place & AT_KIND) == AT_REG && place >= (uint32_t)s->plan->n_consts)
        s->free_regs[s->n_free++] = place;
}

static uint32_t holder(const planner *s, uint32_t value)
{
    return is_part(&s->values[value]) ? s->values[value].arg[0] : value;
}

static void release_operands(planner *s, uint32_t k)
{
    const qn_fit_value *v = &s->values[k];

    for (int i = 0; i < v->n_args; i++) {
        const uint32_t a = holder(s, v->arg[i]);
        int is_repeated = 0;

        for (int j = 0; j < i; j++)
            is_repeated |= holder(s, v->arg[j]) == a;
        if (is_repeated || s->last[a] != k)
            continue;
        release(s, s->where[a][0]);
        for (int j = 1; is_eigenvalue(&s->values[a]) && j < 4; j++)
            release(s, s->where[a][j]);
    }
}

static int output_of(const qn_fit_tape *p, int value)
{
    for (int k = 0; k < p->n_outputs; k++)
        if (p->outputs[k] == (uint32_t)value)
            return k;
    return -1;
}

static qn_fit_instr *add_instr(planner *s, const qn_fit_value *v)
{
    qn_fit_instr *in = &s->plan->instrs[s->plan->n_instrs++];

    *in = (qn_fit_instr){ .op = v->op, .n_args = v->n_args, .slot = v->slot, .comp = v->comp };
    for (int i = 0; i < v->n_args; i++)
        in->arg[i] = s->where[v->arg[i]][0];
    return in;
}

static void place_operation(planner *s, int k, int out)
{
    const qn_fit_value *v = &s->values[k];
    const int n_dst = is_eigenvalue(v) ? 4 : 1;
    qn_fit_instr *in = add_instr(s, v);

    release_operands(s, (uint32_t)k);
    for (int j = 0; j < n_dst; j++) {
        s->where[k][j] = j == 0 && out >= 0 ? AT_OUT | (uint32_t)out : acquire(s);
        in->dst[j] = s->where[k][j];
    }
    /* Not used later: an output, or an eigenvalue that is needed only for its vector. */
    if (s->last[k] == (uint32_t)k)
        for (int j = 0; j < n_dst; j++)
            release(s, s->where[k][j]);
}

static void place_value(planner *s, int k)
{
    const qn_fit_value *v = &s->values[k];
    const int out = output_of(s->p, k);

    switch (v->op) {
    case QN_FIT_OP_lit:
        break; /* already placed */
    case QN_FIT_OP_gone:
        return;
    case QN_FIT_OP_data:
        s->where[k][0] = AT_COLUMN | v->slot;
        break;
    case QN_FIT_OP_seed:
        s->where[k][0] = AT_SEED | v->slot;
        break;
    case QN_FIT_OP_eig_x:
    case QN_FIT_OP_eig_y:
    case QN_FIT_OP_eig_z:
        s->where[k][0] = s->where[v->arg[0]][1 + v->op - QN_FIT_OP_eig_x];
        break;
    default:
        place_operation(s, k, out);
        return;
    }
    if (out >= 0)
        for (int o = out; o < s->p->n_outputs; o++)
            if (s->p->outputs[o] == (uint32_t)k) {
                qn_fit_instr *in = &s->plan->instrs[s->plan->n_instrs++];

                *in = (qn_fit_instr){ .op = QN_FIT_OP_copy,
                                      .n_args = 1,
                                      .arg = { s->where[k][0] },
                                      .dst = { AT_OUT | (uint32_t)o } };
            }
}

static void place_constants(planner *s)
{
    for (int k = 0; k < s->p->n_values; k++)
        if (s->values[k].op == QN_FIT_OP_lit) {
            s->plan->consts[s->plan->n_consts] = s->values[k].literal;
            s->where[k][0] = AT_REG | (uint32_t)s->plan->n_consts++;
        }
    s->plan->n_regs = s->plan->n_consts;
}

/* An operation that serves as several outputs is computed into the first and copied. */
static void copy_repeated_outputs(planner *s)
{
    for (int o = 0; o < s->p->n_outputs; o++) {
        const int first = output_of(s->p, (int)s->p->outputs[o]);
        const qn_fit_value *v = &s->values[s->p->outputs[o]];
        const int is_operation =
            v->op >= QN_FIT_OP_COUNT || v->op == QN_FIT_OP_param || v->op == QN_FIT_OP_tangent ||
            !qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_LEAF | QN_FIT_IS_PART);

        if (is_operation && first < o)
            s->plan->instrs[s->plan->n_instrs++] =
                (qn_fit_instr){ .op = QN_FIT_OP_copy,
                                .n_args = 1,
                                .arg = { AT_OUT | (uint32_t)first },
                                .dst = { AT_OUT | (uint32_t)o } };
    }
}

static void place_outputs(qn_fit_plan *plan, const qn_fit_tape *p)
{
    for (int k = 0; k < QN_FIT_N_SECTIONS; k++)
        for (int row = 0; row < p->sections[k].count; row++) {
            plan->outs[p->sections[k].first + row].section = k;
            plan->outs[p->sections[k].first + row].row = row;
        }
}

/* The number of an operand, once all registers are known. */
static uint32_t numbered(const qn_fit_plan *plan, uint32_t at)
{
    const uint32_t k = at & ~(uint32_t)AT_KIND;
    const uint32_t columns = (uint32_t)plan->n_regs, seeds = columns + (uint32_t)plan->n_columns;

    switch (at & AT_KIND) {
    case AT_COLUMN:
        return columns + k;
    case AT_SEED:
        return seeds + k;
    case AT_OUT:
        return seeds + (uint32_t)plan->n_seeds + k;
    default:
        return k;
    }
}

static void number_places(qn_fit_plan *plan)
{
    for (int k = 0; k < plan->n_instrs; k++) {
        for (int j = 0; j < 4; j++)
            plan->instrs[k].dst[j] = numbered(plan, plan->instrs[k].dst[j]);
        for (int j = 0; j < plan->instrs[k].n_args; j++)
            plan->instrs[k].arg[j] = numbered(plan, plan->instrs[k].arg[j]);
        for (int j = plan->instrs[k].n_args; j < QN_FIT_MAX_ARGS; j++)
            plan->instrs[k].arg[j] = plan->instrs[k].dst[0]; /* read by no operation */
    }
}

static int best_width(const qn_fit_plan *plan)
{
    const size_t size = plan->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);
    const size_t fit =
        CACHE_BYTES / (size * (size_t)(plan->n_regs ? plan->n_regs : 1)) & ~(size_t)7;

    return fit < MIN_WIDTH ? MIN_WIDTH : fit > MAX_WIDTH ? MAX_WIDTH : (int)fit;
}

qn_status qn_fit_plan_new(const qn_fit_tape *tape, qn_fit_precision precision, int width,
                          qn_fit_plan **out, qn_err *err)
{
    const size_t n = (size_t)tape->n_values + 1;
    planner s = { .p = tape };
    qn_arena scratch = { 0 };
    qn_status st = QN_OK;

    if (width < 0 || width % 8)
        return qn_fail(err, QN_ERR_USAGE, "%s: a block of %d instances is not a multiple of 8",
                       tape->name, width);
    s.where = qn_arena_zeros(&scratch, n, sizeof *s.where);
    s.last = qn_arena_zeros(&scratch, n, sizeof *s.last);
    s.free_regs = qn_arena_zeros(&scratch, 4 * n, sizeof *s.free_regs);
    s.values = fuse(tape, &scratch);
    if ((s.plan = calloc(1, sizeof *s.plan))) {
        qn_arena *const memory = &s.plan->memory;

        s.plan->instrs =
            qn_arena_zeros(memory, n + (size_t)tape->n_outputs, sizeof *s.plan->instrs);
        s.plan->consts = qn_arena_zeros(memory, n, sizeof *s.plan->consts);
        s.plan->outs = qn_arena_zeros(memory, (size_t)tape->n_outputs, sizeof *s.plan->outs);
    }
    if (scratch.failed || !s.plan || s.plan->memory.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: registers of %zu values", tape->name, n);
    s.plan->precision = precision;
    s.plan->n_outputs = tape->n_outputs;
    s.plan->n_columns = tape->n_columns;
    s.plan->n_seeds = tape->uses_seed ? tape->n_rows : 0;
    place_outputs(s.plan, tape);
    find_last_uses(&s);
    place_constants(&s);
    for (int k = 0; k < tape->n_values; k++)
        place_value(&s, k);
    copy_repeated_outputs(&s);
    number_places(s.plan);
    s.plan->width = width ? width : best_width(s.plan);
    *out = s.plan;
    s.plan = NULL;
out:
    qn_fit_plan_free(s.plan);
    qn_arena_clear(&scratch);
    return st;
}

void qn_fit_plan_free(qn_fit_plan *plan)
{
    if (!plan)
        return;
    qn_arena_clear(&plan->memory);
    free(plan);
}

size_t qn_fit_plan_bytes(const qn_fit_plan *plan)
{
    const size_t size = plan->precision == QN_FIT_F64 ? sizeof(double) : sizeof(float);

    return (size_t)qn_fit_plan_places(plan) * sizeof(void *) + 64 +
           (size_t)plan->n_regs * (size_t)plan->width * size;
}
