/* known.h - the words every program knows: constants, primitives and their typed variants. */
#ifndef QN_ARC_KNOWN_H
#define QN_ARC_KNOWN_H

#include <stddef.h>

#include "domain/arc/value/value.h"

/* One row of kernel/arc/arc_ops.h. */
typedef struct qn_arc_op {
    const char *name;
    size_t len; /* of the name */
    int number;
    int arity;
    char class_; /* S L Q H K */
    int guard;   /* ARC_GUARD_*: what a guarded step gives when the primitive fails */
    int priority;
} qn_arc_op;

/* The primitives by number, 0 .. ARC_N_OPS - 1. */
const qn_arc_op *qn_arc_op_at(int number);

/* Also of numbers that are no primitives: these have none. */
int qn_arc_op_has_class(int number, char class_);

/* The opcode that `name` stands for (a primitive, or a variant such as size_t), or -1. Primitives
 * that only the compiler makes have names for people, which are not found. */
int qn_arc_op_named(const char *name, size_t len);

/* The constant of that name, or NULL. */
const qn_arc_value *qn_arc_constant_named(const char *name, size_t len);

/* All of them, ended by NULL. */
const char *const *qn_arc_known_names(void);

#endif
