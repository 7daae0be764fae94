/* prefix.h - computations that several programs share, as programs of their own.
 *
 * A batch of a search has many programs for the same grids, and many begin alike. An instruction
 * that depends on the grid I and on constants alone gives the same value in all of them. Where
 * three programs or more have such an instruction, of class Q or H or with one on the way to it, a
 * prefix gives its value, and each of these programs has a rest: the same program, instruction by
 * instruction, which gets the value as an argument. A rest keeps the positions of
 * instructions, which name a failed step; an instruction that is not needed any more has become a
 * MOVE, which counts as no step.
 *
 * This is done to bytecode after all passes, so that a rest and its prefix together do exactly what
 * the program does.
 */
#ifndef QN_ARC_PREFIX_H
#define QN_ARC_PREFIX_H

#include <quern/quern.h>

#include <stddef.h>
#include <stdint.h>

enum { QN_ARC_LEAST_SHARERS = 3 };

typedef struct qn_arc_bytes {
    const unsigned char *bytes; /* a checked program */
    size_t n;
} qn_arc_bytes;

typedef struct qn_arc_rest {
    int prefix; /* -1: the program has none */
    unsigned char *bytes;
    size_t n;
    int slot;                  /* the argument that is the value: 0, 1 or 2 */
    uint32_t n_again;          /* steps that the prefix does and the rest does too */
    int first_line, last_line; /* of the steps that the rest does not do */
} qn_arc_rest;

typedef struct qn_arc_prefixes {
    qn_arc_bytes *items; /* prefixes, which take what their program takes */
    int *sources;        /* of each: a program that has it */
    int n;
    qn_arc_rest *rests; /* by program */
    int n_rests;
} qn_arc_prefixes;

qn_status qn_arc_prefixes_find(const qn_arc_bytes *programs, int n, qn_arc_prefixes *out,
                               qn_err *err);
void qn_arc_prefixes_free(qn_arc_prefixes *prefixes); /* zeroed is fine */

#endif
