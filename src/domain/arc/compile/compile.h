/* compile.h - from the nodes of a program to the bytes devices run (kernel/arc/arc_code.h). */
#ifndef QN_ARC_COMPILE_H
#define QN_ARC_COMPILE_H

#include "domain/arc/program/program.h"

/* Passes that can be left out. */
#define QN_ARC_OFF_MERGE      1u   /* equal operations become one */
#define QN_ARC_OFF_DEAD       2u   /* what has no effect is removed */
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
#define QN_ARC_OFF_INLINE 512u /* calls of functions whose parts are known are written out */
#define QN_ARC_OFF_ALL    (QN_ARC_OFF_MERGE | QN_ARC_OFF_DEAD | QN_ARC_OFF_FUSION | QN_ARC_OFF_INLINE)

/* Zeroed: all passes, the program as it is. */
typedef struct qn_arc_compile_options {
    unsigned off; /* QN_ARC_OFF_* */
} qn_arc_compile_options;

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
    int line;             /* of the def in its file */
    unsigned char *bytes; /* an arc_program with all that belongs to it; a multiple of 16 */
    size_t n;
    qn_arc_output *outputs; /* of a batt program */
    int n_outputs;
} qn_arc_code;

/* `options` may be NULL. Refuses programs with errors, and those beyond what instructions can
 * number: 65535 of them, 32767 constants or values alive at once. */
qn_status qn_arc_compile(const qn_arc_source *source, const qn_arc_compile_options *options,
                         qn_arc_code *out, qn_err *err);
void qn_arc_code_free(qn_arc_code *code);

#endif
