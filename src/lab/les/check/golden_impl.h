/* golden_impl.h - shared by the files about reference cases. */
#ifndef QN_LAB_LES_CHECK_GOLDEN_IMPL_H
#define QN_LAB_LES_CHECK_GOLDEN_IMPL_H

#include "check_impl.h"
#include "domain/les/codec/codec.h"
#include "golden.h"
#include "domain/les/proxy/proxy.h"
#include "util/npy.h"

typedef struct golden {
    qn_ctx *ctx;
    const char *dir, *prefix;
    json_t *json;
    int is_f64, is_origin;
    qn_findings *findings;
    qn_les_options config;
    qn_option_store texts; /* of config */
    qn_les_sim *sim;
    qn_les_codec *codec;
    qn_les_proxy *proxy;
    qn_buf *z, *field, *other, *shells;
    int d;
} golden;

typedef enum { REL, ABS, SHARE } measure; /* relative L2, largest difference, share of cells */

/* 0 when the case has no such array. One that cannot be read is a finding. */
int qn_les_golden_load(const golden *g, const char *what, qn_npy *out);

/* `n` reals of `buf` from element `at` on, as doubles; free() them. */
qn_status qn_les_golden_read_reals(const golden *g, qn_buf *buf, size_t at, size_t n, double **out,
                                   qn_err *err);

/* Compares `n` numbers with the array `what`, where there is one. */
qn_status qn_les_golden_compare(const golden *g, const char *what, const double *got, qn_i64 n,
                                measure by, double limit);

/* Compares `n` reals of `buf` from element `at` on, or a buffer of int8. */
qn_status qn_les_golden_compare_buf(const golden *g, const char *what, qn_buf *buf, size_t at,
                                    size_t n, measure by, double limit, qn_err *err);
qn_status qn_les_golden_compare_bytes(const golden *g, const char *what, qn_buf *buf, double limit,
                                      qn_err *err);

/* Runs a graph once and frees it; `st` is the status of building it. */
qn_status qn_les_golden_finish(qn_graph *graph, qn_status st, qn_err *err);
size_t qn_les_golden_cells(const golden *g);

/* Whether the case has the array <format>_t<t>. */
int qn_les_golden_has(const golden *g, const char *format, int t);

/* golden_proxy.c: learns an operator from `n_train` vectors, rolls it out, and compares. */
qn_status qn_les_golden_learn(golden *g, int n_train, qn_buf **zhat, qn_err *err);
qn_status qn_les_golden_compare_operator(const golden *g, int is_tiny, qn_err *err);
qn_status qn_les_golden_compare_proxy(golden *g, qn_err *err);
qn_status qn_les_golden_compare_decoded(const golden *g, qn_err *err);

/* The limit of the precision. */
double qn_les_golden_pick(const golden *g, double f64, double f32);

#endif
