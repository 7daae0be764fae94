/* les_impl.h - shared by the files of a flow that a program steps. */
#ifndef QN_LES_IMPL_H
#define QN_LES_IMPL_H

#include "domain/les/flow/sim_impl.h"
#include "domain/les/flow/safe.h"
#include "util/pace.h"

struct qn_les {
    qn_ctx *ctx;
    qn_les_options config;
    qn_les_sim *sim;
    qn_graph *many, *one, *row_graph, *check_graph;
    qn_graph *get[QN_LES_QUANTITIES], *put[QN_LES_QUANTITIES]; /* fields from and to the flow */
    qn_buf *fields[QN_LES_QUANTITIES];
    double *force;         /* of forcing static; config.forcing_field is the same */
    int is_force_in_field; /* its array has it, too */
    int is_force_stale;    /* only the array has it, since nothing has to be repeated */

    qn_les_safe safe;
    qn_pace pace; /* of states on the host */
    void *state;  /* the last one on the host; NULL: none */
    qn_i64 since; /* steps made from there */
};

/* Does `work` with the flow, guarded by les->safe. It may be done twice. */
qn_status qn_les_guarded(qn_les *les, qn_status (*work)(qn_les *, void *, qn_err *),
                         void *arguments, qn_err *err);

/* Copies the state to the host; that of before holds until it is there. */
qn_status qn_les_keep(qn_les *les, qn_err *err);

/* Recreates the flow, with the present options, at the last state and the steps since then. */
qn_status qn_les_remake(qn_les *les, qn_err *err);

/* les_fields.c */

size_t qn_les_cells(const qn_les *les, qn_les_quantity what);
qn_status qn_les_need_field(qn_les *les, qn_les_quantity what, qn_err *err); /* makes its array */

/* What is set: `values`, or with NULL what the array of the field has. */
typedef struct qn_les_setting {
    qn_les_quantity what;
    const double *values;
    size_t n;
} qn_les_setting;

qn_status qn_les_set_force(qn_les *les, const qn_les_setting *setting, qn_err *err);

/* Makes les->force the present one. */
qn_status qn_les_fetch_force(qn_les *les, qn_err *err);

#endif
