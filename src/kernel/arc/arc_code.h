/* arc_code.h - programs, instances and results, as exchanged between host and device. */
#ifndef ARC_CODE_H
#define ARC_CODE_H

#include "kernel/types.h"

#include "arc_value.h"

#define ARC_MAGIC   0x43524151u /* "QARC" */
#define ARC_VERSION 1

/* Instructions follow the header, then the constants (slots), then what these point to. In a file a
 * constant's payload is a byte offset from the header; in the pool on a device it is an offset into
 * the pool, with ARC_POOLED. */
typedef struct arc_program {
    u32 magic;
    u16 version, n_ins;
    u16 n_const, n_slot;
    u32 flags;  /* ARC_FLAG_* */
    u32 source; /* number of the program in its file */
    u32 cost;   /* estimate, in units of a scalar primitive */
    u32 bytes;  /* of the whole program, with its constants and their content */
    u32 n_records;
} arc_program;
QN_PAR_SIZE(arc_program, 32);

#define ARC_FLAG_BATT  1u /* a failed step gives BAD and the program continues */
#define ARC_FLAG_THREE 2u /* parameters S, I, C in slots 0, 1, 2; otherwise only I in slot 0 */

/* Bits 8 to 15 of the flags: the number of further values, in the slots after these. */
#define ARC_FLAG_EXTRA(n)   ((u32)(n) << 8)
#define ARC_EXTRA_OF(flags) ((flags) >> 8 & 255)
#define ARC_MOST_EXTRA      255

typedef struct arc_ins {
    u16 op;
    u8 n_args, flags;
    u16 dst;
    u16 a[4]; /* below ARC_CONST a slot, otherwise constant a - ARC_CONST */
    u16 line;
} arc_ins;
QN_PAR_SIZE(arc_ins, 16);

#define ARC_CONST 0x8000

/* flags of an instruction: the value of a guarded step that fails. */
#define ARC_GUARD       7
#define ARC_GUARD_NO    0
#define ARC_GUARD_SET   1 /* the empty set */
#define ARC_GUARD_TUPLE 2 /* the empty tuple */
#define ARC_GUARD_INT   3 /* 0 */
#define ARC_GUARD_BOOL  4 /* false */
#define ARC_GUARD_FN    5 /* a function that gives the empty tuple */

/* Instructions beyond the primitives (0..159) and the extras (160..255). */
#define ARC_OP_CALL    256 /* a0 function, a1.. arguments */
#define ARC_OP_MOVE    257
#define ARC_OP_RET     258 /* a0; batt programs return nothing: n_args is 0 */
#define ARC_OP_RECORD  259 /* a0 value; a[1] is the number of the record: n_args is 1 */
#define ARC_OP_LOOP    260
#define ARC_OP_EMIT    261
#define ARC_OP_ENDLOOP 262
#define ARC_OP_FAIL    263 /* dst becomes BAD: a step whose OK expression is the constant False */
#define ARC_OP_TUPLE   264 /* a tuple of the arguments */
#define ARC_OP_NEED    265 /* if an argument is BAD, the next instruction gives BAD */

/* One run: a program and its values. */
typedef struct arc_instance {
    u32 program;  /* byte offset in the pool, in units of 16 */
    u32 number;   /* of the instance in the caller's list: where the result goes */
    u64 args[3];  /* I; or S, I, C. Payloads are pooled */
    u64 expected; /* a pooled value to compare the output with, or NONE */
} arc_instance;
QN_PAR_SIZE(arc_instance, 40);

/* The result of an instance. */
typedef struct arc_result {
    u64 value;     /* slot; its payload is an offset into the output buffer. Of a batt program: the
                    * TUPLE of its records, any of which may be BAD. Of a failed run: BAD */
    u32 steps;     /* primitive executions */
    u32 not_ok;    /* steps of a batt program that ended BAD */
    u16 line, op;  /* where it failed; for batt programs, op of the first failed step */
    u8 code;       /* ARC_OK or ARC_E_* */
    u8 equal;      /* the output equals `expected` */
    u16 differing; /* cells in which two grids of one shape differ; 65535: another shape or kind */
    u32 arena;     /* most bytes used */
    u32 frames;    /* deepest nesting */
} arc_result;
QN_PAR_SIZE(arc_result, 32);

typedef struct arc_par {
    u32 n_instances;
    u32 arena_bytes; /* per team */
    u32 n_frames, n_slots;
    u32 max_steps;
    u32 max_loops;    /* like max_steps, but parallel steps of lanes count once; 0: no limit */
    u32 output_bytes; /* of the output buffer */
    u32 flags;        /* ARC_WANT_* */
    u32 trace_stride; /* hashes per instance in the trace buffer */
    u32 off[8];       /* one bit per op: the primitive is switched off */
    u32 n_queues;     /* 1 .. ARC_MOST_QUEUES: see there */
    u32 chunk;
    u32 in_step; /* teams of a group take instances of one program together; 0: each takes its
                  * own */
    u32 singles; /* of each queue: see arc_queued */
    u32 zero;
    u64 until_us; /* runs on a CPU end then, by its clock; 0: no limit on time */
} arc_par;
QN_PAR_SIZE(arc_par, 96);

#define ARC_NOBODY 0xffffffffu /* number of an instance that is only padding of a group */

/* Instances (groups of them with in_step) are handed out in queues: the first ones singly, then in
 * chunks, where queue q gets chunks q, q + n_queues, ... Teams on one unit of a device share a
 * queue, so that they run the same program at the same time and its code is fetched once; a team
 * whose queue is empty helps the next. */
#define ARC_MOST_QUEUES 496

/* The first results hold counters: units of 8 bytes of the output in use, then one per queue. */
#define ARC_HEAD_RESULTS 64
#define ARC_COUNTER_OUT  0
#define ARC_COUNTER_NEXT 16

#define ARC_WANT_OUTPUT 1u /* copy the output value; else only compare it */
#define ARC_WANT_TRACE  2u /* write the hash of every step's value */

#endif
