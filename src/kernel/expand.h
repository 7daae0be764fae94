/* expand.h - expands kernel heads for three languages.
 *
 * Reads the heads MAP(...), GROUP(...), TEAM(...) of dialect text and prints what each compiler
 * needs: the signature with the hidden span, the argument tables, the CPU wrapper, the typed
 * launchers. Everything else in a kernel file is copied unchanged, line by line. Used by
 * tools/embed.c at build time and by engine/compile.c at run time.
 */
#ifndef QN_KERNEL_EXPAND_H
#define QN_KERNEL_EXPAND_H

#include <quern/kernel.h>

#include "util/str.h"

enum { QN_MAX_NAME = 64 };

typedef struct qn_head_arg {
    char type[QN_MAX_NAME], name[QN_MAX_NAME];
    qn_arg_mode mode;
    size_t size; /* of basic types; 0 for structs, whose size only a compiler knows */
} qn_head_arg;

typedef struct qn_head {
    char name[QN_MAX_NAME];
    qn_form form;
    int n_args, unroll, folds;
    uint32_t points;   /* as in qn_kernel_info */
    int line;          /* of the head, from 1 */
    size_t begin, end; /* the head in the text; the '{' of the body is at `brace` */
    size_t brace;
    size_t name_at;
    qn_head_arg args[QN_MAX_ARGS];
} qn_head;

/* A piece of text hidden from compilers: a line that the expander handles itself. */
typedef struct qn_cut {
    size_t begin, end;
} qn_cut;

typedef struct qn_heads {
    qn_head *list;
    int n;
    int lanes;          /* of a line `#define LANES 64` in the text; 0: none */
    int has_team;       /* the kernels are TEAMs; a file holds GROUP or TEAM kernels, not both */
    int has_precisions; /* a line PRECISIONS: the file is built with REAL=float and REAL=double */
    qn_cut *cuts;       /* in text order, outside the heads */
    int n_cuts;
} qn_heads;

/* Finds and checks every head. `file` names the text in errors ("file:line: ..."). */
qn_status qn_heads_parse(const char *file, const char *text, qn_heads *out, qn_err *err);
void qn_heads_free(qn_heads *heads);

/* LANES on a device: from `defines` (may be NULL), else from the text, else 256, or 32 for TEAM
 * kernels. */
int qn_heads_lanes(const qn_heads *heads, const char *defines);

/* Bytes of a basic type, where `real` is REAL in `defines`; 0 for any other name. */
size_t qn_type_size(const char *type, const char *defines);

/* The text with `suffix` appended to every kernel name and the PRECISIONS line blank. */
qn_status qn_heads_suffix(const qn_heads *heads, const char *text, const char *suffix, qn_str *out,
                          qn_err *err);

/* The text with its heads replaced for a language, without the dialect prelude. */
typedef enum { QN_EXPAND_C, QN_EXPAND_OPENCL, QN_EXPAND_CUDA } qn_expand_for;
qn_status qn_expand(const qn_heads *heads, const char *text, qn_expand_for target, qn_str *out,
                    qn_err *err);

/* The dialect prelude (src/kernel/dialect.h) as text; embedded at build time. */
extern const char qn_dialect_text[];

/* A complete translation unit: defines ("LANES=32 FAST=1", may be NULL), prelude, expanded text
 * with a #line so that errors name the original line. */
qn_status qn_expand_unit(const char *file, const char *text, const char *defines,
                         qn_expand_for target, qn_str *out, qn_err *err);

/* qn_expand_unit with a given prelude, for tools/embed.c, which makes qn_dialect_text. */
qn_status qn_expand_unit_with(const char *dialect, const char *file, const char *text,
                              const char *defines, qn_expand_for target, qn_str *out, qn_err *err);

#endif
