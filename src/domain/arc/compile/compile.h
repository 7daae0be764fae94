/* compile.h - from the nodes of a program to the bytes that devices run (kernel/arc/arc_code.h). */
#ifndef QN_ARC_COMPILE_H
#define QN_ARC_COMPILE_H

#include "domain/arc/program/program.h"
#include "kernel/arc/arc_code.h"
#include "util/arena.h"

#include <quern/quern.h>

/* Passes that can be left out. */
#define QN_ARC_OFF_MERGE      1u   /* equal operations become one */
#define QN_ARC_OFF_DEAD       2u   /* nodes without effect are removed */
#define QN_ARC_OFF_ARGMIN     4u   /* first(order(x, f)) is argmin(x, f) */
#define QN_ARC_OFF_COLORCOUNT 8u   /* size(ofcolor(g, c)) is colorcount(g, c) */
#define QN_ARC_OFF_REPLACE    16u  /* fill(g, c, ofcolor(g, d)) is replace(g, d, c) */
#define QN_ARC_OFF_FILL       32u  /* paint(g, recolor(c, p)) is fill(g, c, p) */
#define QN_ARC_OFF_OF_SIZE    64u  /* first(sizefilter(x, n)) is first_of_size(x, n) */
#define QN_ARC_OFF_BY_SIZE    128u /* argmax(x, size) is argmax_size(x); so is argmin */
#define QN_ARC_OFF_LARGEST    256u /* argmax_size(objects(g, ...)) is largest_object(g, ...) */
#define QN_ARC_OFF_FUSION                                                                          \
    (QN_ARC_OFF_ARGMIN | QN_ARC_OFF_COLORCOUNT | QN_ARC_OFF_REPLACE | QN_ARC_OFF_FILL |            \
     QN_ARC_OFF_OF_SIZE | QN_ARC_OFF_BY_SIZE | QN_ARC_OFF_LARGEST)
#define QN_ARC_OFF_INLINE 512u /* calls of functions with known parts are expanded */
#define QN_ARC_OFF_ALL    (QN_ARC_OFF_MERGE | QN_ARC_OFF_DEAD | QN_ARC_OFF_FUSION | QN_ARC_OFF_INLINE)

/* The pass of that name ("merge", "dead", "inline", "argmin", "colorcount", "replace", "fill",
 * "first_of_size", "argmax_size", "largest_object"; "fusion" and "all" are several), or 0. */
unsigned qn_arc_pass_named(const char *name, size_t len);

/* The records of a program's RECORD instructions, by their number. */
typedef struct qn_arc_output {
    char list; /* 'o' or 's' */
    int flag;  /* of o: its truth value */
    int64_t number;
    char *task, *name; /* name: "" of o */
    int line;
} qn_arc_output;

typedef struct qn_arc_code {
    char *id, *name;
    int line;             /* line of the def in its file */
    unsigned char *bytes; /* an arc_program with everything that belongs to it; a multiple of 16 */
    size_t n;
    qn_arc_output *outputs; /* of a batt program */
    int n_outputs;
} qn_arc_code;

/* `off` is QN_ARC_OFF_* of the passes to leave out. Refuses programs with errors, and programs
 * that exceed what instructions can number: 65535 instructions, 32767 constants or values alive
 * at once. */
qn_status qn_arc_compile(const qn_arc_source *source, unsigned off, qn_arc_code *out, qn_err *err);
void qn_arc_code_free(qn_arc_code *code);

/* Whether bytes are a program that can be run. */

/* Refuses bytes that the compiler could not have written: unknown operations, wrong numbers of
 * operands, slots that are read before they are written or lie outside, constants that are not in
 * their canonical form, sizes that do not add up. Payloads of constants are offsets from the
 * header, as in a file; any bytes may be passed. */
qn_status qn_arc_code_check(const void *bytes, size_t n, qn_err *err);

/* The part of the check that covers constants. `head` agrees with the size of `bytes`. */
qn_status qn_arc_check_constants(const unsigned char *bytes, const arc_program *head, qn_err *err);

/* Compiled programs in a file.
 *
 *     header      u32 magic "QARF", u32 version, u32 programs, u32 0, u64 bytes after the header,
 *                 u64 FNV-1a of these
 *     program     u32 bytes of code, u32 bytes of description, u32 outputs, u32 line; code;
 *                 description, padded to a multiple of 16: id, name, then for each output
 *                 u8 list, u8 flag, i64 number, i32 line, task, name; texts end with a NUL
 *
 * Numbers are little-endian.
 */

qn_status qn_arc_codes_pack(const qn_arc_code *codes, int n, qn_str *out, qn_err *err);

/* Accepts any bytes; returns the programs, each checked, or an error. */
qn_status qn_arc_codes_unpack(const void *bytes, size_t size, qn_arc_code **codes, int *n,
                              qn_err *err);
void qn_arc_codes_free(qn_arc_code *codes, int n);

qn_status qn_arc_codes_write(const char *path, const qn_arc_code *codes, int n, qn_err *err);

/* Bytecode as text, one line for each instruction. */

/* Appends the program; refuses what qn_arc_code_check refuses. */
qn_status qn_arc_disassemble(const qn_arc_code *code, qn_str *out, qn_err *err);

/* Turns computations that several programs share into separate programs.
 *
 * A batch of a search has many programs for the same grids, and many of them begin alike. An
 * instruction that depends only on the grid I and on constants gives the same value in all of them.
 * If three or more programs share such an instruction, and it or one it depends on is of class Q or
 * H, a prefix computes its value, and each of these programs gets a rest: the same program,
 * instruction by instruction, which takes the value as an argument. A rest keeps the positions of
 * instructions, since they name a failed step; an instruction that is no longer needed becomes a
 * MOVE, which does not count as a step.
 *
 * This is done to bytecode after all passes, so a rest and its prefix together do exactly what the
 * program does.
 */

enum { QN_ARC_LEAST_SHARERS = 3 };

typedef struct qn_arc_bytes {
    const unsigned char *bytes; /* a checked program */
    size_t n;
} qn_arc_bytes;

typedef struct qn_arc_rest {
    int prefix; /* -1: the program has no prefix */
    unsigned char *bytes;
    size_t n;
    int slot;                  /* the argument that holds the value: 0, 1 or 2 */
    uint32_t n_again;          /* steps done by both the prefix and the rest */
    int first_line, last_line; /* of the steps that the rest leaves out */
} qn_arc_rest;

typedef struct qn_arc_prefixes {
    qn_arena memory;
    qn_arc_bytes *items; /* prefixes, which take the same arguments as their program */
    int *sources;        /* per prefix: a program that has it */
    int n;
    qn_arc_rest *rests; /* by program */
    int n_rests;
} qn_arc_prefixes;

qn_status qn_arc_prefixes_find(const qn_arc_bytes *programs, int n, qn_arc_prefixes *out,
                               qn_err *err);
void qn_arc_prefixes_free(qn_arc_prefixes *prefixes); /* may be zeroed */

#endif
