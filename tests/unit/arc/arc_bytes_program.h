/* arc_bytes_program.h - makes a program of arbitrary bytes.
 *
 * Random bytes are hardly ever a program that passes the check. Here every byte chooses among the
 * alternatives allowed at its position: the program is always well formed, and its operands are of
 * any kind.
 *
 *     byte 0      1: batt form
 *     byte 1      the grid it runs on
 *     then six bytes per instruction: operation, guard, four operands
 */
#ifndef QN_TESTS_ARC_BYTES_PROGRAM_H
#define QN_TESTS_ARC_BYTES_PROGRAM_H

#include <stdlib.h>
#include <string.h>

#include "lab/made/make.h"
#include "domain/arc/value/value.h"
#include "kernel/arc/arc_code.h"
#include "kernel/arc/arc_ops.h"

enum { BYTES_HEAD = 2, BYTES_PER_INS = 6, MOST_BYTES_INS = 40, N_PLAIN_CONSTANTS = 24 };
enum { N_BYTES_CONSTANTS = N_PLAIN_CONSTANTS + ARC_N_OPS };

/* Numbers at the limits, pairs, truth values, empty containers, then every primitive. */
static inline qn_arc_value bytes_constant(int k, qn_arc_value parts[2])
{
    static const int64_t numbers[] = {
        0, 1, 2, 3, 5, 10, -1, -2, 43, 127, -128, 40000, 100000, 2000000, INT32_MAX, INT32_MIN
    };
    static const int64_t pairs[][2] = { { 0, 0 }, { 1, 1 }, { 0, 1 }, { -1, 2 }, { 2047, -2048 } };

    if (k < 16)
        return (qn_arc_value){ .kind = QN_ARC_INT, .number = numbers[k] };
    if (k < 21) {
        parts[0] = (qn_arc_value){ .kind = QN_ARC_INT, .number = pairs[k - 16][0] };
        parts[1] = (qn_arc_value){ .kind = QN_ARC_INT, .number = pairs[k - 16][1] };
        return (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = 2, .items = parts };
    }
    if (k < 23)
        return (qn_arc_value){ .kind = QN_ARC_BOOL, .number = k - 21 };
    if (k < N_PLAIN_CONSTANTS)
        return (qn_arc_value){ .kind = QN_ARC_TUPLE };
    return (qn_arc_value){ .kind = QN_ARC_PRIM, .number = k - N_PLAIN_CONSTANTS };
}

static inline uint16_t bytes_operand(uint8_t choice, uint8_t more, int n_written)
{
    if (choice < 150)
        return (uint16_t)(n_written - 1 - choice % n_written); /* recent ones more often */
    if (choice < 200)
        return (uint16_t)(ARC_CONST + more % N_PLAIN_CONSTANTS);
    return (uint16_t)(ARC_CONST + N_PLAIN_CONSTANTS + (choice * 256 + more) % ARC_N_OPS);
}

static inline arc_ins bytes_instruction(const uint8_t *b, int i, int n_written, int is_batt)
{
    arc_ins ins = { .op = (uint16_t)(b[0] % (ARC_N_OPS + 8)), .line = (uint16_t)(i + 2) };

    if (ins.op >= ARC_N_OPS)
        ins.op = ins.op % 4 == 0 ? ARC_OP_TUPLE : ARC_OP_CALL;
    ins.n_args = (uint8_t)(ins.op < ARC_N_OPS       ? qn_arc_op_at(ins.op)->arity
                           : ins.op == ARC_OP_TUPLE ? 1 + b[1] / 64
                                                    : 2 + b[1] / 86);
    if (is_batt && ins.op != ARC_OP_TUPLE)
        ins.flags = (uint8_t)(b[1] % 8 > ARC_GUARD_FN ? 0 : b[1] % 8);
    for (int k = 0; k < ins.n_args; k++)
        ins.a[k] = bytes_operand(b[2 + k], (uint8_t)(b[1] + 31 * b[2 + (k + 1) % 4]), n_written);
    ins.dst = (uint16_t)n_written;
    return ins;
}

/* The program made of n bytes, in a block that the caller frees; NULL if there are too few. */
static inline unsigned char *bytes_program(const uint8_t *bytes, size_t n, size_t *n_code)
{
    const int is_batt = n > 0 && bytes[0] % 2, n_params = is_batt ? 3 : 1;
    const int n_given = n < BYTES_HEAD ? 0 : (int)((n - BYTES_HEAD) / BYTES_PER_INS);
    const int n_steps = n_given < MOST_BYTES_INS ? n_given : MOST_BYTES_INS;
    const int n_ins = n_steps + is_batt * n_steps + 1;
    const size_t slots_at = sizeof(arc_program) + (size_t)n_ins * sizeof(arc_ins);
    const size_t content = slots_at + (size_t)N_BYTES_CONSTANTS * 8;
    qn_arc_blob blob = { .base = (uint32_t)content };
    uint64_t slots[N_BYTES_CONSTANTS];
    unsigned char *code;
    arc_program head;
    qn_err err;
    int at = 0;

    if (n_steps == 0)
        return NULL;
    for (int k = 0; k < N_BYTES_CONSTANTS; k++) {
        qn_arc_value parts[2];
        const qn_arc_value value = bytes_constant(k, parts);

        if (qn_arc_encode(&value, &blob, &slots[k], &err) != QN_OK)
            abort();
    }
    *n_code = (content + blob.n + 15) / 16 * 16;
    if (!(code = calloc(1, *n_code)))
        abort();
    head = (arc_program){ .magic = ARC_MAGIC,
                          .version = ARC_VERSION,
                          .n_ins = (uint16_t)n_ins,
                          .n_const = N_BYTES_CONSTANTS,
                          .n_slot = (uint16_t)(n_params + n_steps),
                          .flags = is_batt ? ARC_FLAG_BATT | ARC_FLAG_THREE : 0,
                          .bytes = (uint32_t)*n_code,
                          .n_records = is_batt ? (uint32_t)n_steps : 0 };
    memcpy(code, &head, sizeof head);
    for (int i = 0; i <= n_steps; i++) {
        const uint16_t last = (uint16_t)(n_params + n_steps - 1);
        arc_ins ins = { .op = ARC_OP_RET, .n_args = (uint8_t)!is_batt, .a = { last } };

        if (i < n_steps)
            ins =
                bytes_instruction(bytes + BYTES_HEAD + i * BYTES_PER_INS, i, n_params + i, is_batt);
        memcpy(code + sizeof head + (size_t)at++ * sizeof ins, &ins, sizeof ins);
        if (is_batt && i < n_steps) {
            ins = (arc_ins){ .op = ARC_OP_RECORD, .n_args = 1, .a = { ins.dst, (uint16_t)i } };
            memcpy(code + sizeof head + (size_t)at++ * sizeof ins, &ins, sizeof ins);
        }
    }
    memcpy(code + slots_at, slots, sizeof slots);
    if (blob.n)
        memcpy(code + content, blob.bytes, blob.n);
    qn_arc_blob_free(&blob);
    return code;
}

#endif
