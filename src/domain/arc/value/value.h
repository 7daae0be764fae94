/* value.h - values of grid programs on the host: trees that can be built, read, compared, printed.
 *
 * Devices see values as slots and bytes (kernel/arc/arc_value.h); qn_arc_encode and qn_arc_decode
 * go between the two. A tree lives in a heap and is freed with it.
 */
#ifndef QN_ARC_VALUE_H
#define QN_ARC_VALUE_H

#include "util/json.h"
#include "util/str.h"

#include <quern/quern.h>

#include <stddef.h>

typedef enum qn_arc_kind {
    QN_ARC_NONE,
    QN_ARC_BOOL,
    QN_ARC_INT,
    QN_ARC_TUPLE,
    QN_ARC_SET, /* items in canonical order, without duplicates */
    QN_ARC_PRIM,
    QN_ARC_CLOS,
    QN_ARC_BAD
} qn_arc_kind;

typedef struct qn_arc_value {
    qn_arc_kind kind;
    int n;          /* items of TUPLE and SET; captured values of CLOS */
    int64_t number; /* of BOOL and INT; opcode of PRIM; form of CLOS; error code of BAD */
    int step;       /* BAD: the instruction that failed, from 0. CLOS: its arity */
    uint32_t
        which; /* CLOS: determines the order of closures; equal only if this is. BAD: ARC_FAILURE */
    const struct qn_arc_value *items;
} qn_arc_value;

typedef struct qn_arc_heap qn_arc_heap;

qn_status qn_arc_heap_new(qn_arc_heap **out, qn_err *err);
void qn_arc_heap_free(qn_arc_heap *heap);

/* Allocates n zeroed values; NULL when out of memory. */
qn_arc_value *qn_arc_values(qn_arc_heap *heap, int n);

/* A number for a closure made on the host, different from all earlier ones in the heap and from all
 * that programs make. */
uint32_t qn_arc_closure_number(qn_arc_heap *heap);

/* Sorts `items` into canonical order, drops duplicates (the first of equal ones stays) and makes
 * the set of them. The items are the heap's. */
qn_arc_value qn_arc_set_of(qn_arc_value *items, int n);

/* A grid of digits as a tuple of tuples. */
qn_status qn_arc_grid_of(qn_arc_heap *heap, const unsigned char *cells, int rows, int cols,
                         qn_arc_value *out, qn_err *err);

/* The canonical order: negative, 0 or positive, 0 for equal values. */
int qn_arc_compare(const qn_arc_value *a, const qn_arc_value *b);

/* Shapes of values. Their numbers are those that `is_number` accepts, which may include BOOL. A
 * pair is a tuple of two, a cell a number and a pair, a row one number or more, a grid rows of one
 * length. */
typedef int qn_arc_is(const qn_arc_value *value);

int qn_arc_is_pair(const qn_arc_value *value, qn_arc_is *is_number);
int qn_arc_is_cell(const qn_arc_value *value, qn_arc_is *is_number);
int qn_arc_is_row(const qn_arc_value *value, qn_arc_is *is_number);
int qn_arc_is_grid(const qn_arc_value *value, qn_arc_is *is_number);
int qn_arc_all_are(const qn_arc_value *value, qn_arc_is *is_item); /* the items */

/* The words known to every program: constants, primitives and their typed variants. */

/* One row of kernel/arc/arc_ops.h. */
typedef struct qn_arc_op {
    const char *name;
    size_t len; /* of the name */
    int number;
    int arity;
    char class_; /* S L Q H K */
    int guard;   /* ARC_GUARD_*: the value of a guarded step when the primitive fails */
    int priority;
} qn_arc_op;

/* The primitives by number, 0 .. ARC_N_OPS - 1. */
const qn_arc_op *qn_arc_op_at(int number);

/* Also accepts numbers that are not primitives; these have no class. */
int qn_arc_op_has_class(int number, char class_);

/* The opcode that `name` stands for (a primitive, or a variant such as size_t), or -1. Primitives
 * that only the compiler makes have names for messages, which are not found. */
int qn_arc_op_named(const char *name, size_t len);

/* The constant of that name, or NULL. */
const qn_arc_value *qn_arc_constant_named(const char *name, size_t len);

/* All of them, ended by NULL. */
extern const char *const qn_arc_known_names[];

/* Numbers in values as names: primitives, forms of closures, error codes. */

/* The name of an opcode below ARC_N_OPS, otherwise "?"; its number of arguments, otherwise -1. */
const char *qn_arc_op_name(int op);
int qn_arc_op_arity(int op);

/* "EMPTY" for ARC_E_EMPTY; "?" for a number that is not a code. */
const char *qn_arc_code_name(int code);

/* Whether the code means that more memory, or the CPU, may help. */
int qn_arc_code_is_limit(int code);

/* "compose" for ARC_FORM_COMPOSE, which is also the primitive that makes such closures. */
const char *qn_arc_form_name(int form);

/* Conversion between trees of values and the form that devices read. */

/* Bytes that slots point into. A payload is base + offset: pass ARC_POOLED + place for bytes that
 * will lie at `place` in the pool. Content starts at multiples of 8. */
typedef struct qn_arc_blob {
    unsigned char *bytes;
    size_t n, room;
    uint32_t base;
} qn_arc_blob;

void qn_arc_blob_free(qn_arc_blob *blob);

/* Appends the content of `value`, in its canonical representation, and returns its slot. Refuses
 * integers beyond int32 and containers beyond ARC_MOST_AUX. */
qn_status qn_arc_encode(const qn_arc_value *value, qn_arc_blob *blob, uint64_t *slot, qn_err *err);

/* The tree of a slot whose payloads are offsets from `base` (ARC_POOLED included) into `bytes`.
 * Every offset and length is checked against n. */
qn_status qn_arc_decode(uint64_t slot, const unsigned char *bytes, size_t n, uint32_t base,
                        qn_arc_heap *heap, qn_arc_value *out, qn_err *err);

/* Whether the payload of the slot is an offset to content; whether that contains slots. */
int qn_arc_has_content(uint64_t slot);
int qn_arc_has_slots(uint64_t slot);

/* Moves the content of a slot: adds `by` to its payload and to every payload inside. */
qn_status qn_arc_move(uint64_t *slot, unsigned char *bytes, size_t n, uint32_t base, uint32_t by,
                      qn_err *err);

/* Values as people and files write them. */

/* Appends the value as the language writes it: ((1, 2), frozenset({3}), True, None). */
void qn_arc_print(qn_str *out, const qn_arc_value *value);
void qn_arc_print_number(qn_str *out, int64_t number);

/* Likewise for a grid, without building a value. */
void qn_arc_print_grid(qn_str *out, const int8_t *cells, int rows, int cols);

/* As JSON: numbers, true, false, null; {"t": [...]} a tuple; {"g": ["012", ...]} a grid of digits;
 * {"s": [...]} a set, {"x": [[i, j], ...]} one of pairs, {"o": [[colour, i, j], ...]} one of cells;
 * {"f": "name"} a primitive, {"f": ["name", value, ...]} a closure and the primitive that makes it;
 * {"bad": ["code", step]} a failed step. NULL when out of memory. */
json_t *qn_arc_to_json(const qn_arc_value *value);

/* The value of such JSON. `where` begins the error, followed by the path in the JSON. */
qn_status qn_arc_from_json(const json_t *json, const char *where, qn_arc_heap *heap,
                           qn_arc_value *out, qn_err *err);

#endif
