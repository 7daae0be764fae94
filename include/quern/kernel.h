/* kernel.h - kernels as the engine sees them.
 *
 * A kernel is written once, in the dialect of src/kernel/dialect.h:
 *
 *     MAP(saxpy, VAL(float, a), IN(float, x), INOUT(float, y))
 *     {
 *         y[gx] = a * x[gx] + y[gx];
 *     }
 *
 * The head says everything about the arguments: from it the expander (src/kernel/expand.c) prints
 * the three signatures, the code that unpacks arguments on the CPU, and the tables below. Built-in
 * kernels get their tables at build time, text given to qn_kernels_new at run time.
 */
#ifndef QUERN_KERNEL_H
#define QUERN_KERNEL_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { QN_ARG_VAL, QN_ARG_IN, QN_ARG_OUT, QN_ARG_INOUT } qn_arg_mode;
typedef enum { QN_FORM_MAP, QN_FORM_GROUP, QN_FORM_TEAM } qn_form;

enum { QN_MAX_ARGS = 24, QN_MAX_AXIS = 1 << 30 };
enum { QN_TEAM_ITEMS = 256 }; /* lanes of all teams in one group, where teams share a group */

typedef struct qn_arg_info {
    const char *name, *type;
    uint16_t size; /* sizeof(type), for a buffer of one element; 0: not known before compilation */
    uint8_t mode;  /* qn_arg_mode */
} qn_arg_info;

/* The half-open box of points (MAP), groups (GROUP) or teams (TEAM) that one call covers. */
typedef struct qn_span {
    int32_t x0, x1, y0, y1, z0, z1;
} qn_span;

/* A kernel compiled as C. args[i] points to the value of argument i; for a buffer that value
 * is the address of its data. */
typedef void (*qn_cpu_kernel)(const qn_span *part, void *const *args);

typedef struct qn_kernel_module qn_kernel_module;

typedef struct qn_kernel_info {
    const char *name;
    uint8_t form; /* qn_form */
    uint8_t n_args;
    uint8_t folds;  /* the body uses GI, so a long 1-D range may be folded over gy */
    uint8_t unroll; /* MAP: points per work item on a device (UNROLL in the head), else 1 */
    int lanes;      /* GROUP: items per group. TEAM: 0 (chosen per device), unless defined. MAP: 0
                */
    /* MAP: one bit per argument, set if every point touches its element gx (GI, if the body uses
     * GI); nothing is known about the others. */
    uint32_t points;
    const qn_arg_info *args;
    qn_cpu_kernel cpu; /* NULL for run-time text that the CPU backend has not compiled yet */
    const qn_kernel_module *module;
} qn_kernel_info;

/* A text embedded in the library, compressed by zlib. */
typedef struct qn_packed_text {
    const unsigned char *data; /* NULL: there is none */
    size_t bytes;
} qn_packed_text;

/* One kernel file: its text (includes resolved, dialect.h left out) and its kernels. */
struct qn_kernel_module {
    const char *name;      /* "vector" */
    const char *text;      /* dialect text with its heads unexpanded; NULL: in `packed` */
    const char *defines;   /* "LANES=32 FAST=1", may be NULL */
    qn_packed_text packed; /* the text of a built-in module */
    qn_packed_text ptx;    /* its PTX, for machines without NVRTC */
    const qn_kernel_info *const *kernels;
    int n_kernels;
};

/* Parses dialect text and copies it. Errors name the line. The module lives until qn_kernels_free;
 * free the graphs that use it first. */
QN_API qn_status qn_kernels_new(const char *name, const char *text, qn_kernel_module **out,
                                qn_err *err);
QN_API void qn_kernels_free(qn_kernel_module *module);

/* Makes a module of the same text with other constants: "N=1024 LANES=256" defines these words
 * before the text and overrides its LANES. Free it with qn_kernels_free. */
QN_API qn_status qn_kernels_with(const qn_kernel_module *module, const char *defines,
                                 qn_kernel_module **out, qn_err *err);

/* The kernel of that name in the module, or NULL. */
QN_API const qn_kernel_info *qn_kernels_find(const qn_kernel_module *module, const char *name);

QN_API const qn_kernel_info *qn_kernel_builtin(const char *name);

#ifdef __cplusplus
}
#endif
#endif
