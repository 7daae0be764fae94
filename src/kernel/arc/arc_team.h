/* arc_team.h - a team at work: it takes instances and runs their programs.
 *
 * Each team takes instances from a common counter until none is left, runs the program of each from
 * its first instruction to RET in an arena of its own, and leaves a result. The result of an
 * instance does not depend on the team.
 */
#ifndef ARC_TEAM_H
#define ARC_TEAM_H

#include "arc_call.h"
#include "arc_export.h"

/* State that does not change while a program runs. */
typedef struct arc_job {
    GLOBAL const arc_program *program;
    GLOBAL const arc_ins *code;
    GLOBAL const slot *constants;
    GLOBAL slot *slots;
    GLOBAL u8 *out;
    GLOBAL u32 *out_used;
    GLOBAL u64 *trace; /* of this instance */
    u32 n_traced;
} arc_job;

FN slot arc_operand(const arc_job *job, u16 a)
{
    return a < ARC_CONST ? job->slots[a] : job->constants[a - ARC_CONST];
}

/* The value of a guarded step that failed. */
FN slot arc_default(arc_vm *vm, i32 guard)
{
    switch (guard) {
    case ARC_GUARD_SET:
        return ARC_SLOT_EMPTY_SET;
    case ARC_GUARD_INT:
        return ARC_SLOT_INT(0);
    case ARC_GUARD_BOOL:
        return ARC_SLOT_BOOL(0);
    case ARC_GUARD_FN:
        return arc_closure(vm, ARC_FORM_CONST, 1, 1, ARC_SLOT_EMPTY_TUPLE, 0, 0);
    default:
        return ARC_SLOT_EMPTY_TUPLE;
    }
}

FN void arc_trace(VM_PARAM, arc_job *job, const arc_par *par, slot v)
{
    if (!(par->flags & ARC_WANT_TRACE) || job->n_traced >= par->trace_stride)
        return;
    job->trace[job->n_traced] = arc_hash(VM, v);
    job->n_traced++;
}

/* The first BAD operand, or NONE. */
FN slot arc_bad_of(slot a, slot b, slot c, slot d, i32 n)
{
    if (n > 0 && ARC_TAG(a) == ARC_BAD)
        return a;
    if (n > 1 && ARC_TAG(b) == ARC_BAD)
        return b;
    if (n > 2 && ARC_TAG(c) == ARC_BAD)
        return c;
    return n > 3 && ARC_TAG(d) == ARC_BAD ? d : ARC_SLOT_NONE;
}

/* The operands of a failed instruction, which are still in their slots. */
FN u32 arc_given(const arc_job *job, const arc_ins *ins)
{
    u32 given = 0;

    for (i32 k = ARC_MOST_OPERANDS - 1; k >= 0; k--)
        given = given << 4 |
                (k < ins->n_args ? arc_given_kind(arc_operand(job, ins->a[k])) : ARC_GIVEN_NOTHING);
    return given;
}

FN slot arc_tuple_of_args(VM_PARAM, const arc_machine *m)
{
    const u32 at = arc_new_slots(vm, m->n);
    GLOBAL slot *to = arc_slots_at(vm, at);

    if (vm->error)
        return ARC_SLOT_NONE;
    for (i32 k = 0; k < m->n; k++)
        to[k] = k == 0 ? m->x0 : k == 1 ? m->x1 : k == 2 ? m->x2 : m->x3;
    return arc_tuple_of(VM, at, m->n);
}

/* One instruction that gives a value. */
FN slot arc_step(VM_PARAM, arc_machine *m, const arc_par *par, const arc_ins *ins)
{
    switch (ins->op) {
    case ARC_OP_MOVE:
        return m->x0;
    case ARC_OP_FAIL:
        return arc_fail(vm, ARC_E_VALUE);
    case ARC_OP_TUPLE:
        return arc_tuple_of_args(VM, m);
    case ARC_OP_CALL:
        m->f = m->x0;
        m->x0 = m->x1;
        m->x1 = m->x2;
        m->x2 = m->x3;
        m->n--;
        break;
    default:
        if (!arc_calls(ins->op) && !arc_is_off(par, ins->op) && m->steps < m->max_steps) {
            m->steps++;
            return arc_exec(VM, ins->op, m->x0, m->x1, m->x2, m->x3);
        }
        m->f = ARC_SLOT(ARC_PRIM, m->n, ins->op);
    }
    arc_call(VM, m, par);
    return m->r;
}

/* Runs a program, unless vm->error is set already; returns its value, and where it failed if
 * vm->error is set then. Teams in step begin every instruction together, so that its code is
 * fetched once for all of them; a team that is done waits. */
FN slot arc_execute(VM_PARAM, arc_job *job, arc_machine *m, const arc_par *par, arc_result *result)
{
    const i32 is_batt = (job->program->flags & ARC_FLAG_BATT) != 0;
    const i32 n_ins = (i32)job->program->n_ins;
    slot records = ARC_SLOT_EMPTY_TUPLE, needed = ARC_SLOT_NONE, value = ARC_SLOT_NONE;
    i32 is_over;

    if (is_batt && !vm->error) {
        const u32 at = arc_new_slots(vm, (i32)job->program->n_records);

        records = ARC_SLOT(ARC_TUPLE, job->program->n_records, at);
    }
    is_over = vm->error != ARC_OK;
    for (i32 pc = 0; pc < n_ins && (!is_over || par->in_step); pc++) {
        const arc_ins ins = job->code[pc];
        const u32 mark = vm->top;
        slot v;

        if (par->in_step)
            GROUP_MEET;
        if (is_over)
            continue;
        m->n = ins.n_args;
        m->x0 = ins.n_args > 0 ? arc_operand(job, ins.a[0]) : ARC_SLOT_NONE;
        m->x1 = ins.n_args > 1 ? arc_operand(job, ins.a[1]) : ARC_SLOT_NONE;
        m->x2 = ins.n_args > 2 ? arc_operand(job, ins.a[2]) : ARC_SLOT_NONE;
        m->x3 = ins.n_args > 3 ? arc_operand(job, ins.a[3]) : ARC_SLOT_NONE;
        MEET;
        if (ins.op == ARC_OP_RET) {
            value = is_batt ? records : m->x0;
            is_over = 1;
            continue;
        }
        if (ins.op == ARC_OP_RECORD) {
            arc_slots_at(vm, ARC_PAYLOAD(records))[ins.a[1]] = m->x0;
            continue;
        }
        if (is_batt) {
            const slot bad =
                ARC_TAG(needed) == ARC_BAD ? needed : arc_bad_of(m->x0, m->x1, m->x2, m->x3, m->n);

            needed = ARC_SLOT_NONE;
            if (ins.op == ARC_OP_NEED) {
                needed = bad;
                continue;
            }
            if (ARC_TAG(bad) == ARC_BAD) {
                result->not_ok++;
                job->slots[ins.dst] = bad;
                arc_trace(VM, job, par, bad);
                continue;
            }
        }
        v = arc_is_late(vm, ARC_WORK / 64) ? ARC_SLOT_NONE : arc_step(VM, m, par, &ins);
        if (vm->error) {
            result->line = ins.line;
            result->op = ins.op;
            v = ARC_SLOT(ARC_BAD, pc, ARC_FAILURE(vm->error, arc_given(job, &ins)));
            if (!is_batt || vm->error >= ARC_E_OVERFLOW) {
                result->value = v;
                is_over = 1;
                continue;
            }
            vm->error = ARC_OK;
            vm->top = mark;
            if (ins.flags & ARC_GUARD)
                v = arc_default(vm, ins.flags & ARC_GUARD);
            else
                result->not_ok++;
        }
        v = arc_keep(VM, mark, v);
        job->slots[ins.dst] = v;
        arc_trace(VM, job, par, v);
    }
    return value;
}

/* The number of cells in which the two differ; 65535 if they are not grids of one shape. */
FN i32 arc_differing(VM_PARAM, slot a, slot b)
{
    i32 n, count;

    if (ARC_TAG(a) != ARC_GRID || ARC_TAG(b) != ARC_GRID ||
        arc_grid_rows(vm, a) != arc_grid_rows(vm, b) ||
        arc_grid_cols(vm, a) != arc_grid_cols(vm, b))
        return 65535;
    n = arc_grid_rows(vm, a) * arc_grid_cols(vm, a);
    SUM_OVER(count, k, n, arc_grid_cells(vm, a)[k] != arc_grid_cells(vm, b)[k])
    return MIN(count, 65534);
}

/* The arrays of a launch; see arc_vm.c. */
typedef struct arc_arrays {
    GLOBAL const u8 *pool;
    GLOBAL const arc_instance *todo;
    GLOBAL u8 *arena; /* of this team */
    GLOBAL arc_result *results;
    GLOBAL u8 *out;
    GLOBAL u64 *trace;
} arc_arrays;

/* Which instance, or group of them, is number `taken` of a queue. The first ones, which take
 * longest, are dealt one by one, so that every queue has some; the others in chunks. */
FN u32 arc_queued(const arc_par *par, u32 queue, u32 taken)
{
    const u32 singles = par->singles, more = taken - singles;

    if (taken < singles)
        return taken * par->n_queues + queue;
    return singles * par->n_queues + (more / par->chunk * par->n_queues + queue) * par->chunk +
           more % par->chunk;
}

/* The next instance, or group of them, from queue `queue`, which moves on when that is empty; at
 * least n when all are empty. */
FN u32 arc_next(TEAM_PARAM, const arc_par *par, u32 n, GLOBAL u32 *counters, u32 *queue,
                u32 *n_empty)
{
    while (*n_empty < par->n_queues) {
        i32 taken = 0;
        u32 mine;

        ONE_LANE taken = (i32)ATOMIC_ADD(&counters[ARC_COUNTER_NEXT + *queue], 1u);
#if LANES > 1
        taken = TEAM_FIRST(taken);
#endif
        mine = arc_queued(par, *queue, (u32)taken);
        if (mine < n)
            return mine;
        ++*n_empty;
        *queue = *queue + 1 < par->n_queues ? *queue + 1 : 0;
    }
    return n;
}

/* The next instance for this team; n_instances when there is none. */
FN u32 arc_next_instance(TEAM_PARAM, const arc_par *par, GLOBAL u32 *counters, u32 *queue,
                         u32 *n_empty)
{
    u32 group = 0;

    if (!par->in_step)
        return arc_next(TEAM_PASS, par, par->n_instances, counters, queue, n_empty);
    if (TEAM_IN_GROUP == 0)
        group = arc_next(TEAM_PASS, par, par->n_instances / par->in_step, counters, queue, n_empty);
    return GROUP_FIRST(group) * par->in_step + (u32)TEAM_IN_GROUP;
}

FN void arc_take_all(TEAM_PARAM, const arc_par *par, const arc_arrays *in)
{
    GLOBAL u32 *counters = (GLOBAL u32 *)in->results;
    u32 queue = (u32)TEAM_UNIT % par->n_queues, n_empty = 0;

    for (;;) {
        const u32 mine = arc_next_instance(TEAM_PASS, par, counters, &queue, &n_empty);
        arc_instance inst;
        arc_vm state;
        arc_vm *vm = &state;
        arc_job job;
        arc_machine m;
        arc_result result;
        slot v = ARC_SLOT_NONE;
        u32 frames_at;

        if (mine >= par->n_instances)
            return;
        inst = in->todo[mine];
        job.program = (GLOBAL const arc_program *)(in->pool + (u64)inst.program * 16);
        job.code = (GLOBAL const arc_ins *)(job.program + 1);
        job.constants = (GLOBAL const slot *)(job.code + job.program->n_ins);
        job.out = in->out;
        job.out_used = &counters[ARC_COUNTER_OUT];
        job.trace = in->trace + (u64)inst.number * par->trace_stride;
        job.n_traced = 0;
        vm->arena = in->arena;
        vm->pool = in->pool;
        vm->limit = par->arena_bytes;
        vm->closures = 0; /* closures in the pool have numbers with the highest bit set */
        vm->error = ARC_OK;
        vm->deep = 0;
        vm->compared = 0;
#ifdef ARC_CLOCK
        vm->until_us = par->until_us;
        vm->work = 0;
#endif
        job.slots = (GLOBAL slot *)vm->arena;
        frames_at = (u32)job.program->n_slot * 8;
        vm->top = frames_at + par->n_frames * (ARC_FRAME_WORDS * 8 * LANES);
        vm->high = vm->top;
        m.frames_at = frames_at;
        m.n_frames = (i32)par->n_frames;
        m.depth = 0;
        m.most_depth = 0;
        m.steps = 0;
        m.most_steps = par->max_steps;
        m.max_steps = par->max_loops ? MIN(par->max_loops, par->max_steps) : par->max_steps;
        m.is_patient = par->max_loops == 0;
        result.value = ARC_SLOT_NONE;
        result.not_ok = 0;
        result.line = 0;
        result.op = 0;
        result.equal = 0;
        result.differing = 65535;
        if (inst.number == ARC_NOBODY) {
            arc_fail(vm, ARC_E_UNSUPPORTED);
        } else if (job.program->n_slot > par->n_slots) {
            arc_fail(vm, ARC_E_SLOTS);
        } else if (vm->top > vm->limit) {
            arc_fail(vm, ARC_E_ARENA);
        } else {
            for (i32 k = 0; k < 3; k++)
                if (k < (i32)job.program->n_slot)
                    job.slots[k] = inst.args[k];
            MEET;
        }
        v = arc_execute(VM, &job, &m, par, &result);
        if (inst.number == ARC_NOBODY)
            continue;
#if LANES > 1
        vm->deep = TEAM_MAX(vm->deep);
#endif
        if (vm->deep && !vm->error)
            arc_fail(vm, vm->deep);
        if (!vm->error && ARC_TAG(inst.expected) != ARC_NONE) {
            result.equal = (u8)arc_equal(VM, v, inst.expected);
            result.differing = (u16)arc_differing(VM, v, inst.expected);
        }
        if (!vm->error && (par->flags & ARC_WANT_OUTPUT))
            result.value = arc_export(VM, v, job.out, job.out_used, par);
        if (par->flags & ARC_WANT_TRACE) {
            const i32 untraced = (i32)(par->trace_stride - job.n_traced);

            EACH(k, untraced) job.trace[job.n_traced + (u32)k] = 0;
        }
        result.code = (u8)vm->error;
        result.steps = m.steps;
        result.arena = vm->high;
        result.frames = (u32)m.most_depth;
        MEET;
        in->results[ARC_HEAD_RESULTS + inst.number] = result;
    }
}

#endif
