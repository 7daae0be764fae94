/* known.c - tables of constants and primitives, and looking up a word in them. */
#include "domain/arc/value/value.h"

#include <string.h>

#include "kernel/arc/arc_code.h"
#include "kernel/arc/arc_ops.h"
#include "kernel/arc/arc_value.h"

/* clang-format off */

#define INTEGERS(X) \
    X(ZERO, 0) X(ONE, 1) X(TWO, 2) X(THREE, 3) X(FOUR, 4) X(FIVE, 5) X(SIX, 6) X(SEVEN, 7) \
    X(EIGHT, 8) X(NINE, 9) X(TEN, 10) X(NEG_ONE, -1) X(NEG_TWO, -2) X(NEG_THREE, -3) \
    X(NEG_FOUR, -4) X(NEG_FIVE, -5) X(NEG_SIX, -6) X(NEG_SEVEN, -7) X(NEG_EIGHT, -8) \
    X(NEG_NINE, -9) X(NEG_TEN, -10) X(F0, 0) X(F1, 1) X(F2, 2) X(F3, 3) X(F4, 4) X(F5, 5) \
    X(F6, 6) X(F7, 7) X(F8, 8) X(F9, 9) X(L1, -1) X(L2, -2) X(L3, -3) X(L4, -4) X(L5, -5) \
    X(L6, -6) X(L7, -7) X(L8, -8) X(L9, -9) X(L10, -10) X(R0, 0) X(R1, 1) X(R2, 2) X(R3, 3) \
    X(R4, 4) X(R5, 5) X(R6, 6) X(R7, 7) X(R8, 8) X(R9, 9) X(A0, 0) X(A1, 1) X(A2, 2) X(A3, 3) \
    X(A4, 4) X(A5, 5) X(A6, 6) X(A7, 7) X(A8, 8) X(A9, 9) X(BLACK, 0) X(BLUE, 1) X(RED, 2) \
    X(GREEN, 3) X(YELLOW, 4) X(GRAY, 5) X(MAGENTA, 6) X(ORANGE, 7) X(CYAN, 8) X(BURGUNDY, 9) \
    X(HUNDRED, 100) X(THOUSAND, 1000) X(SM2, 2) X(SM3, 3) X(SD2, -2) X(SD3, -3)

#define PAIRS(X) \
    X(DOWN, 1, 0) X(RIGHT, 0, 1) X(UP, -1, 0) X(LEFT, 0, -1) X(ORIGIN, 0, 0) X(UNITY, 1, 1) \
    X(NEG_UNITY, -1, -1) X(UP_RIGHT, -1, 1) X(DOWN_LEFT, 1, -1) X(ZERO_BY_TWO, 0, 2) \
    X(TWO_BY_ZERO, 2, 0) X(TWO_BY_TWO, 2, 2) X(THREE_BY_THREE, 3, 3)

/* Variants by the type of the operand: tuple, frozenset, indices, object. The primitives inspect
 * the operand themselves, so all variants are the same. */
#define VARIANTS(X) \
    X(combine_t, combine) X(combine_f, combine) X(size_t, size) X(size_f, size) X(merge_t, merge) \
    X(merge_f, merge) X(first_t, first) X(first_f, first) X(last_t, last) X(last_f, last) \
    X(remove_t, remove) X(remove_f, remove) X(other_t, other) X(other_f, other) \
    X(sfilter_t, sfilter) X(sfilter_f, sfilter) X(apply_t, apply) X(apply_f, apply) \
    X(rapply_t, rapply) X(rapply_f, rapply) X(mapply_t, mapply) X(mapply_f, mapply) \
    X(argmax_t, argmax) X(argmax_f, argmax) X(argmin_t, argmin) X(argmin_f, argmin) \
    X(valmax_t, valmax) X(valmax_f, valmax) X(valmin_t, valmin) X(valmin_f, valmin) \
    X(mfilter_f, mfilter) X(mostcommon_t, mostcommon) X(leastcommon_t, leastcommon) \
    X(mostcolor_t, mostcolor) X(mostcolor_f, mostcolor) X(leastcolor_t, leastcolor) \
    X(leastcolor_f, leastcolor) X(palette_t, palette) X(palette_f, palette) \
    X(numcolors_t, numcolors) X(numcolors_f, numcolors) X(colorcount_t, colorcount) \
    X(colorcount_f, colorcount) X(height_t, height) X(height_f, height) X(height_i, height) \
    X(height_o, height) X(width_t, width) X(width_f, width) X(width_i, width) X(width_o, width) \
    X(shape_t, shape) X(shape_f, shape) X(portrait_t, portrait) X(portrait_f, portrait) \
    X(square_t, square) X(square_f, square) X(hmirror_t, hmirror) X(hmirror_f, hmirror) \
    X(hmirror_i, hmirror) X(hmirror_o, hmirror) X(vmirror_t, vmirror) X(vmirror_f, vmirror) \
    X(vmirror_i, vmirror) X(vmirror_o, vmirror) X(dmirror_t, dmirror) X(dmirror_f, dmirror) \
    X(dmirror_i, dmirror) X(dmirror_o, dmirror) X(cmirror_t, cmirror) X(cmirror_f, cmirror) \
    X(cmirror_i, cmirror) X(cmirror_o, cmirror) X(upscale_t, upscale) X(upscale_f, upscale) \
    X(uppermost_i, uppermost) X(uppermost_o, uppermost) X(lowermost_i, lowermost) \
    X(lowermost_o, lowermost) X(leftmost_i, leftmost) X(leftmost_o, leftmost) \
    X(rightmost_i, rightmost) X(rightmost_o, rightmost) X(ulcorner_i, ulcorner) \
    X(ulcorner_o, ulcorner) X(urcorner_i, urcorner) X(urcorner_o, urcorner) \
    X(llcorner_i, llcorner) X(llcorner_o, llcorner) X(lrcorner_i, lrcorner) \
    X(lrcorner_o, lrcorner) X(toindices_i, toindices) X(toindices_o, toindices) \
    X(recolor_i, recolor) X(recolor_o, recolor) X(normalize_i, normalize) \
    X(normalize_o, normalize) X(vline_i, vline) X(vline_o, vline) X(hline_i, hline) \
    X(hline_o, hline) X(get_arg_rank_t, get_arg_rank) X(get_arg_rank_f, get_arg_rank) \
    X(get_val_rank_t, get_val_rank) X(get_val_rank_f, get_val_rank) \
    X(get_common_rank_t, get_common_rank) X(get_common_rank_f, get_common_rank) \
    X(difference_t, difference_tuple) X(f_ofcolor, ofcolor) X(c_branch, branch)

/* clang-format on */

#define OP_ROW(number, name, arity, class_, guard, priority)                                       \
    { #name, sizeof #name - 1, number, arity, #class_[0], ARC_GUARD_##guard, priority },
static const qn_arc_op ops[ARC_N_OPS] = { ARC_OPS(OP_ROW) };

#define VARIANT_ROW(variant, primitive) { #variant, sizeof #variant - 1, ARC_OP_##primitive },
static const struct {
    const char *name;
    size_t len;
    int op;
} variants[] = { VARIANTS(VARIANT_ROW) };
enum { N_VARIANTS = sizeof variants / sizeof *variants };

#define INT(n)                                                                                     \
    {                                                                                              \
        .kind = QN_ARC_INT, .number = (n)                                                          \
    }

#define PAIR_ITEMS(name, i, j) static const qn_arc_value items_##name[2] = { INT(i), INT(j) };
PAIRS(PAIR_ITEMS)

#define INTEGER_ROW(name, n) { #name, sizeof #name - 1, INT(n) },
#define PAIR_ROW(name, i, j)                                                                       \
    { #name, sizeof #name - 1, { .kind = QN_ARC_TUPLE, .n = 2, .items = items_##name } },
static const struct {
    const char *name;
    size_t len;
    qn_arc_value value;
} constants[] = { { "T", 1, { .kind = QN_ARC_BOOL, .number = 1 } },
                  { "F", 1, { .kind = QN_ARC_BOOL } },
                  INTEGERS(INTEGER_ROW) PAIRS(PAIR_ROW) };
enum { N_CONSTANTS = sizeof constants / sizeof *constants };

/* An unnameable primitive repeats the name of the first one. */
#define OP_NAME(number, name, arity, class_, guard, priority)                                      \
    number < ARC_N_NAMED ? #name : "identity",
#define FIRST_NAME(name, ...) #name,
const char *const qn_arc_known_names[] = { ARC_OPS(OP_NAME) VARIANTS(FIRST_NAME)
                                               INTEGERS(FIRST_NAME) PAIRS(FIRST_NAME) "T",
                                           "F", NULL };

const qn_arc_op *qn_arc_op_at(int number)
{
    return &ops[number];
}

int qn_arc_op_has_class(int number, char class_)
{
    return number >= 0 && number < ARC_N_OPS && ops[number].class_ == class_;
}

int qn_arc_op_named(const char *name, size_t len)
{
    for (int i = 0; i < ARC_N_NAMED; i++)
        if (ops[i].len == len && memcmp(ops[i].name, name, len) == 0)
            return i;
    for (int i = 0; i < N_VARIANTS; i++)
        if (variants[i].len == len && memcmp(variants[i].name, name, len) == 0)
            return variants[i].op;
    return -1;
}

const qn_arc_value *qn_arc_constant_named(const char *name, size_t len)
{
    for (int i = 0; i < N_CONSTANTS; i++)
        if (constants[i].len == len && memcmp(constants[i].name, name, len) == 0)
            return &constants[i].value;
    return NULL;
}

/* Numbers as names, which may come from anywhere. */

const char *qn_arc_op_name(int op)
{
    return op >= 0 && op < ARC_N_OPS ? qn_arc_op_at(op)->name : "?";
}

int qn_arc_op_arity(int op)
{
    return op >= 0 && op < ARC_N_OPS ? qn_arc_op_at(op)->arity : -1;
}

const char *qn_arc_code_name(int code)
{
    static const char *const names[ARC_N_CODES] = {
        [ARC_OK] = "OK",
        [ARC_E_TYPE] = "TYPE",
        [ARC_E_EMPTY] = "EMPTY",
        [ARC_E_INDEX] = "INDEX",
        [ARC_E_ZERO_DIV] = "ZERO_DIV",
        [ARC_E_ARITY] = "ARITY",
        [ARC_E_VALUE] = "VALUE",
        [ARC_E_OVERFLOW] = "INT_OVERFLOW",
        [ARC_E_RANGE] = "RANGE",
        [ARC_E_ARENA] = "ARENA",
        [ARC_E_FRAMES] = "FRAMES",
        [ARC_E_UNSUPPORTED] = "UNSUPPORTED",
        [ARC_E_STEPS] = "STEPS",
        [ARC_E_DEPTH] = "DEPTH",
        [ARC_E_SLOTS] = "SLOTS",
        [ARC_E_RESULT] = "RESULT",
        [ARC_E_TIMEOUT] = "TIMEOUT",
        [ARC_E_LOOPS] = "LOOPS",
        [ARC_E_COMPARED] = "COMPARED",
    };

    return code >= 0 && code < ARC_N_CODES ? names[code] : "?";
}

int qn_arc_code_is_limit(int code)
{
    return code >= ARC_E_OVERFLOW;
}

const char *qn_arc_form_name(int form)
{
    static const char *const names[] = {
        [ARC_FORM_COMPOSE] = "compose", [ARC_FORM_CHAIN] = "chain", [ARC_FORM_MATCHER] = "matcher",
        [ARC_FORM_RBIND] = "rbind",     [ARC_FORM_LBIND] = "lbind", [ARC_FORM_POWER] = "power",
        [ARC_FORM_FORK] = "fork",       [ARC_FORM_CONST] = "const",
    };

    return form >= 0 && form < (int)(sizeof names / sizeof *names) ? names[form] : "?";
}
