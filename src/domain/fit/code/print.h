/* print.h - tapes as text.
 *
 * One statement per value, `const real v17 = v3 * v9;`, in the kernel dialect, which is C, OpenCL C
 * and CUDA in one, or in WGSL. Names are made from numbers; the graph's own name appears in a
 * comment.
 *
 * The kernel of a tape is a MAP over instances. It takes those of the following arguments that the
 * tape needs, in this order (qn_fit_kernel_args):
 *
 * VAL(i64, ld)        rows of the tables below begin at k * ld
 * IN(u32, idx)        [slot][i]: where in x the block begins, in numbers
 * IN(real, x)         parameters
 * IN(real, tangent)   like x
 * IN(real, data)      [column][i]
 * IN(real, seed)      [row][i]
 * OUT(real, cost) OUT(real, res) OUT(real, jvp) OUT(real, jac) OUT(real, grad) OUT(real, vjp)
 * OUT(real, jtjv) OUT(real, diag)   sections as in derive.h, [output][i]
 *
 * Text for double is compiled with REAL=double (qn_kernels_with), text for float with REAL=float.
 */
#ifndef QN_FIT_CODE_PRINT_H
#define QN_FIT_CODE_PRINT_H

#include "domain/fit/code/tape.h"
#include "util/str.h"

typedef enum {
    QN_FIT_ARG_LD,
    QN_FIT_ARG_IDX,
    QN_FIT_ARG_X,
    QN_FIT_ARG_TANGENT,
    QN_FIT_ARG_DATA,
    QN_FIT_ARG_SEED,
    QN_FIT_ARG_OUT, /* + section */
    QN_FIT_N_ARGS = QN_FIT_ARG_OUT + QN_FIT_N_SECTIONS
} qn_fit_arg;

/* The arguments of the tape's kernel, in order; returns how many. */
int qn_fit_kernel_args(const qn_fit_tape *tape, qn_fit_arg *out);

/* The support functions that any of the tapes needs, to be printed once before their text. */
void qn_fit_print_support(const qn_fit_tape *const *tapes, int n, qn_str *out);

/* MAP(name, ...) { ... } */
qn_status qn_fit_print_map(const qn_fit_tape *tape, const char *name, qn_fit_precision precision,
                           qn_str *out, qn_err *err);

/* Like qn_fit_print_map, but the Jacobian it writes or reads is stored in a precision other than
 * that of the computation. */
qn_status qn_fit_print_map_stored(const qn_fit_tape *tape, const char *name,
                                  qn_fit_precision precision, qn_fit_precision storage, qn_str *out,
                                  qn_err *err);

/* For other kernels: a struct `name_out { real v[n_outputs]; }` and a function `FN name_out
 * name(const real in0, ...)` whose arguments are the leaves listed by qn_fit_function_inputs. */
qn_status qn_fit_print_function(const qn_fit_tape *tape, const char *name,
                                qn_fit_precision precision, qn_str *out, qn_err *err);

/* Lists the leaves, except literals, that are arguments of the function, in order; returns their
 * number. `out` holds up to n_values. */
int qn_fit_function_inputs(const qn_fit_tape *tape, uint32_t *out);

/* A whole WGSL module with the entry point `name`: tables as bindings 0.. of group 0 in the order
 * of qn_fit_kernel_args, where `ld` is a uniform { ld, n, width, 0 } and the instance is
 * gid.x + gid.y * width. */
qn_status qn_fit_print_wgsl(const qn_fit_tape *tape, const char *name, qn_str *out, qn_err *err);

/* Shared by the printers. */

typedef struct qn_fit_words {
    const char *from, *to;
} qn_fit_words;

typedef struct qn_fit_style {
    int is_wgsl;
    qn_fit_precision precision;
    const char *jac_type;  /* of the Jacobian's table: "real", or the type that it is stored as */
    const char *data_type; /* of the columns, which may be that table */
} qn_fit_style;

/* A number with all its digits: "0.5", "0.5f", negative ones in parentheses. */
qn_status qn_fit_print_literal(double value, qn_fit_style style, qn_str *out, qn_err *err);

/* The statement that computes value `k`, without indentation; the caller prints leaves. */
qn_status qn_fit_print_statement(const qn_fit_tape *tape, int k, qn_fit_style style, qn_str *out,
                                 qn_err *err);

/* The name of value `k` in later statements. */
qn_status qn_fit_print_operand(const qn_fit_tape *tape, uint32_t k, qn_fit_style style, qn_str *out,
                               qn_err *err);

/* All statements of a kernel over instance `i`: loads, operations and stores. */
qn_status qn_fit_print_values(const qn_fit_tape *tape, qn_fit_style style, qn_str *out,
                              qn_err *err);

/* `text` with words replaced: operands a, b, c, d by names[], others by `words` (may be NULL; ends
 * with NULL in `from`). */
void qn_fit_replace_words(const char *text, const char *const *names, const qn_fit_words *words,
                          qn_str *out);

/* Whether `text` contains the word `word`; a NULL text does not. */
int qn_fit_has_word(const char *text, const char *word);

/* Support functions in order of declaration; NULL past the last. */
typedef struct qn_fit_support {
    const char *name, *type, *params, *body; /* type NULL: a struct */
} qn_fit_support;
const qn_fit_support *qn_fit_support_at(int index);

enum { QN_FIT_MAX_SUPPORT = 64 };

/* The name of a section's table: "jac". */
extern const char *const qn_fit_section_names[QN_FIT_N_SECTIONS];

extern const qn_fit_words qn_fit_wgsl_words[];

#endif
