/* arc_value.h - values of grid programs, as devices and the host represent them.
 *
 * A value is one 64-bit slot: tag in the highest 8 bits, then 24 bits of aux, then 32 of payload.
 * Small values live in the slot. Others hold a byte offset: into the arena of the team that made
 * them, or, with ARC_POOLED set, into the read-only pool of resident values.
 *
 * A value has exactly one representation, the first of these that can hold it, so equal values have
 * equal bits (except for the tag of a truth value, which equals the integer 0 or 1):
 *
 *   tuple  of two numbers in int16                       PAIR
 *          (number in int16, PAIR)                       CELL
 *          of n >= 1 numbers in int8                     ROW
 *          of h >= 1 ROWs, or PAIRs that fit int8, of
 *          one width                                     GRID
 *          anything else, and the empty tuple            TUPLE
 *   set    empty, or of PAIRs within ARC_COORD           IDX
 *          of CELLs with a colour in int8, likewise      OBJ
 *          anything else                                 SET
 *
 * A truth value becomes a number inside PAIR, CELL, ROW and GRID.
 */
#ifndef ARC_VALUE_H
#define ARC_VALUE_H

#define ARC_NONE  0  /* absent: index outside the grid */
#define ARC_BOOL  1  /* payload 0 or 1 */
#define ARC_INT   2  /* payload int32; with aux 1 the offset of an int64 (only ARC_WIDE builds) */
#define ARC_PAIR  3  /* payload i:16, j:16 */
#define ARC_CELL  4  /* aux colour:16, payload i:16, j:16 */
#define ARC_ROW   5  /* aux length, payload -> int8 values, at any byte: a row may lie in a grid */
#define ARC_GRID  6  /* payload -> {u16 h, u16 w, u32 0} and h * w int8 values by rows; aux 0 */
#define ARC_TUPLE 7  /* aux length, payload -> slots */
#define ARC_IDX   8  /* aux count, payload -> ascending keys without colour */
#define ARC_OBJ   9  /* aux count, payload -> ascending keys */
#define ARC_SET   10 /* aux count, payload -> slots, ascending in canonical order */
#define ARC_PRIM  11 /* payload opcode, aux arity */
#define ARC_CLOS  12 /* payload -> {u8 form, u8 arity, u16 captured, u32 number}, captured slots */
#define ARC_BAD   13 /* a failed step: payload ARC_FAILURE, aux step */

/* The aux of a closure is 1 if it has captured a primitive that calls a function per element, or a
 * closure that has. */

#define ARC_POOLED 0x80000000u /* in a payload: an offset into the pool */

/* The key of a cell: ascending keys are the canonical order (colour, i, j). Keys of an index set
 * have colour 0. */
#define ARC_COORD 2048 /* i and j are in -2048 .. 2047 */
#define ARC_KEY(colour, i, j)                                                                      \
    ((u32)((colour) + 128) << 24 | (u32)((i) + ARC_COORD) << 12 | (u32)((j) + ARC_COORD))
#define ARC_KEY_COLOUR(key) ((i32)((key) >> 24) - 128)
#define ARC_KEY_I(key)      ((i32)((key) >> 12 & 0xfff) - ARC_COORD)
#define ARC_KEY_J(key)      ((i32)((key)&0xfff) - ARC_COORD)

#define ARC_SLOT(tag, aux, payload)                                                                \
    ((u64)(tag) << 56 | (u64)((u32)(aux)&0xffffff) << 32 | (u64)(u32)(payload))
#define ARC_TAG(v)     ((i32)((v) >> 56))
#define ARC_AUX(v)     ((i32)((v) >> 32 & 0xffffff))
#define ARC_PAYLOAD(v) ((u32)(v))

#define ARC_SLOT_NONE          ARC_SLOT(ARC_NONE, 0, 0)
#define ARC_SLOT_BOOL(b)       ARC_SLOT(ARC_BOOL, 0, (b) ? 1 : 0)
#define ARC_SLOT_INT(n)        ARC_SLOT(ARC_INT, 0, (i32)(n))
#define ARC_SLOT_PAIR(i, j)    ARC_SLOT(ARC_PAIR, 0, (u32)(u16)(i) << 16 | (u16)(j))
#define ARC_SLOT_CELL(c, i, j) ARC_SLOT(ARC_CELL, (u16)(c), (u32)(u16)(i) << 16 | (u16)(j))
#define ARC_SLOT_EMPTY_TUPLE   ARC_SLOT(ARC_TUPLE, 0, 0)
#define ARC_SLOT_EMPTY_SET     ARC_SLOT(ARC_IDX, 0, 0)

#define ARC_PAIR_I(v)      ((i32)(i16)(ARC_PAYLOAD(v) >> 16))
#define ARC_PAIR_J(v)      ((i32)(i16)ARC_PAYLOAD(v))
#define ARC_CELL_COLOUR(v) ((i32)(i16)ARC_AUX(v))

#define ARC_GRID_HEAD 8 /* bytes in front of a grid's values */
#define ARC_CLOS_HEAD 8
#define ARC_MOST_AUX  0xffffff /* elements of a container */

/* Forms of closures, with what they captured, in order. */
#define ARC_FORM_COMPOSE 0 /* outer, inner */
#define ARC_FORM_CHAIN   1 /* h, g, f */
#define ARC_FORM_MATCHER 2 /* fn, target */
#define ARC_FORM_RBIND   3 /* fn, value */
#define ARC_FORM_LBIND   4 /* fn, value */
#define ARC_FORM_POWER   5 /* fn, INT times */
#define ARC_FORM_FORK    6 /* outer, a, b */
#define ARC_FORM_CONST   7 /* value: the default of a guarded step whose result is a function */

/* Why a primitive failed. Codes from ARC_E_OVERFLOW on mean that this rung could not do it; the
 * instance is run again on the next one. */
#define ARC_OK            0
#define ARC_E_TYPE        1
#define ARC_E_EMPTY       2
#define ARC_E_INDEX       3
#define ARC_E_ZERO_DIV    4
#define ARC_E_ARITY       5
#define ARC_E_VALUE       6
#define ARC_E_OVERFLOW    7  /* an integer beyond int32, or beyond int64 in an ARC_WIDE build */
#define ARC_E_RANGE       8  /* a coordinate or size beyond its compact form and the limits */
#define ARC_E_ARENA       9  /* the arena is full */
#define ARC_E_FRAMES      10 /* calls nested too deeply */
#define ARC_E_UNSUPPORTED 11 /* switched off here */
#define ARC_E_STEPS       12 /* more primitive executions than allowed */
#define ARC_E_DEPTH       13 /* containers nested too deeply */
#define ARC_E_SLOTS       14 /* more values alive than slots */
#define ARC_E_RESULT      15 /* no room left for the output */
#define ARC_E_TIMEOUT     16 /* not finished in time: only hosts and CPUs know */
#define ARC_E_LOOPS       17 /* takes longer than a device is good for: see arc_par */
#define ARC_E_COMPARED    18 /* containers with too much to compare */
#define ARC_N_CODES       19

/* Why a step failed, and what its operands were: four bits each, a tag or one of the kinds
 * below. */
#define ARC_FAILURE(code, operands)  ((u32)(code) | (u32)(operands) << 8)
#define ARC_FAILURE_CODE(failure)    ((i32)((failure)&255))
#define ARC_FAILURE_KIND(failure, k) ((i32)((failure) >> (8 + 4 * (k)) & 15))
#define ARC_GIVEN_EMPTY_TUPLE        13
#define ARC_GIVEN_EMPTY_SET          14
#define ARC_GIVEN_NOTHING            15
#define ARC_MOST_OPERANDS            4

#endif
