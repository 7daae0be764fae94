/* les_fields.c - fields of a flow: read, replaced, and lent. Graphs are made on first use. */
#include "les_impl.h"

#include "util/list.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[QN_LES_QUANTITIES] = { "les.vorticity", "les.streamfunction",
                                                      "les.u", "les.v", "les.force" };

/* Fields. */

static size_t real_bytes(const qn_les *les)
{
    return les->config.precision == QN_LES_F64 ? sizeof(double) : sizeof(float);
}

size_t qn_les_cells(const qn_les *les, qn_les_quantity what)
{
    const size_t side = (size_t)les->config.N;

    return side * side * (what == QN_LES_FORCE ? 1 : (size_t)les->config.ensemble);
}

qn_status qn_les_need_field(qn_les *les, qn_les_quantity what, qn_err *err)
{
    if (les->fields[what])
        return QN_OK;
    return qn_buf_new(les->ctx, names[what], qn_les_cells(les, what) * real_bytes(les),
                      &les->fields[what], err);
}

/* `values`, of which there are `n`, as a field in the precision of the flow; they are repeated for every
 * member. */
static void put_reals(const qn_les *les, qn_les_quantity what, const double *values, size_t n,
                      void *to)
{
    for (size_t i = 0; i < qn_les_cells(les, what); i++)
        if (les->config.precision == QN_LES_F64)
            ((double *)to)[i] = values[i % n];
        else
            ((float *)to)[i] = (float)values[i % n];
}

static qn_status fill_field(qn_les *les, qn_les_quantity what, const double *values, size_t n,
                            qn_err *err)
{
    void *to;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_host(les->fields[what], QN_HOST_DISCARD, &to, err));
    put_reals(les, what, values, n, to);
out:
    return st;
}

/* The force as it is, without its array. */
static void put_force_reals(const qn_les *les, void *to)
{
    static const double none = 0;

    put_reals(les, QN_LES_FORCE, les->force ? les->force : &none,
              les->force ? qn_les_cells(les, QN_LES_FORCE) : 1, to);
}

static qn_status add_output(qn_les *les, qn_graph *graph, qn_les_quantity what, qn_err *err)
{
    static const qn_les_probe probes[] = { [QN_LES_STREAMFUNCTION] = QN_LES_PROBE_PSI,
                                           [QN_LES_U] = QN_LES_PROBE_U,
                                           [QN_LES_V] = QN_LES_PROBE_V };

    return what == QN_LES_VORTICITY
               ? qn_les_sim_add_field(les->sim, graph, les->fields[what], err)
               : qn_les_sim_add_output(les->sim, graph, probes[what], les->fields[what], err);
}

/* Makes the array of the field have it. */
static qn_status make_field(qn_les *les, void *user, qn_err *err)
{
    const qn_les_quantity what = *(const qn_les_quantity *)user;
    qn_status st = QN_OK;
    void *to;

    QN_TRY(qn_les_need_field(les, what, err));
    if (what == QN_LES_FORCE && !les->is_force_in_field) {
        QN_TRY(qn_buf_host(les->fields[what], QN_HOST_DISCARD, &to, err));
        put_force_reals(les, to);
        les->is_force_in_field = 1;
    }
    if (what == QN_LES_FORCE)
        return QN_OK;
    if (!les->get[what]) {
        QN_TRY(qn_graph_new(les->ctx, names[what], &les->get[what], err));
        QN_TRY(add_output(les, les->get[what], what, err));
    }
    QN_TRY(qn_graph_run(les->get[what], err));
    QN_TRY(qn_graph_wait(les->get[what], err));
out:
    return st;
}

static qn_status check_quantity(qn_les_quantity what, int is_set, qn_err *err)
{
    const int is_one = (int)what >= 0 && what < QN_LES_QUANTITIES;

    if (is_one && (!is_set || what == QN_LES_VORTICITY || what == QN_LES_FORCE))
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE, "quantity %d of a flow cannot be %s", (int)what,
                   is_set ? "set" : "read");
}

qn_status qn_les_buffer(qn_les *les, qn_les_quantity what, qn_buf **out, qn_err *err)
{
    qn_err own;
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(check_quantity(what, 0, err));
    QN_TRY(qn_les_guarded(les, make_field, &what, err));
    *out = les->fields[what];
out:
    return st;
}

typedef struct reading {
    qn_les_quantity what;
    void *out;
    size_t bytes;
} reading;

static qn_status read_field(qn_les *les, void *user, qn_err *err)
{
    reading *r = user;
    qn_status st = QN_OK;

    if (r->what == QN_LES_FORCE && !les->is_force_stale) {
        put_force_reals(les, r->out);
        return QN_OK;
    }
    QN_TRY(make_field(les, &r->what, err));
    QN_TRY(qn_buf_read(les->fields[r->what], 0, r->out, r->bytes, err));
out:
    return st;
}

qn_status qn_les_get(qn_les *les, qn_les_quantity what, void *out, size_t bytes, qn_err *err)
{
    reading r = { what, out, bytes };
    size_t wanted;
    qn_err own;
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(check_quantity(what, 0, err));
    wanted = qn_les_cells(les, what) * real_bytes(les);
    if (bytes != wanted)
        QN_FAIL(err, QN_ERR_USAGE, "a buffer of %zu bytes for a field of %zu", bytes, wanted);
    QN_TRY(qn_les_guarded(les, read_field, &r, err));
out:
    return st;
}

qn_status qn_les_vorticity(qn_les *les, void *out, size_t bytes, qn_err *err)
{
    return qn_les_get(les, QN_LES_VORTICITY, out, bytes, err);
}

/* Replacing fields. */

static qn_status put_field(qn_les *les, qn_les_quantity what, qn_err *err)
{
    qn_graph **graph = &les->put[what];
    qn_status st = QN_OK;

    if (!*graph) {
        QN_TRY(qn_graph_new(les->ctx, names[what], graph, err));
        QN_TRY(what == QN_LES_VORTICITY
                   ? qn_les_sim_add_state(les->sim, *graph, les->fields[what], err)
                   : qn_les_sim_add_force(les->sim, *graph, les->fields[what], err));
    }
    QN_TRY(qn_graph_run(*graph, err));
    QN_TRY(qn_graph_wait(*graph, err));
out:
    if (st != QN_OK) {
        qn_graph_free(*graph);
        *graph = NULL;
    }
    return st;
}

static qn_status put_vorticity(qn_les *les, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(put_field(les, QN_LES_VORTICITY, err));
    QN_TRY(qn_les_sim_forgive(les->sim, err));
    if (les->safe.keeps)
        QN_TRY(qn_les_keep(les, err));
out:
    return st;
}

/* The force of les->force; the first one recreates the flow, with the forcing `static`. */
static qn_status put_force(qn_les *les, qn_err *err)
{
    qn_status st = QN_OK;

    if (les->config.forcing == QN_LES_FORCING_STATIC)
        return put_field(les, QN_LES_FORCE, err);
    QN_TRY(qn_les_keep(les, err));
    les->config.forcing = QN_LES_FORCING_STATIC;
    les->config.forcing_field = les->force;
    les->config.n_forcing_field = qn_les_cells(les, QN_LES_FORCE);
    QN_TRY(qn_les_remake(les, err));
out:
    return st;
}

/* What is in the array of the force, for when the flow is recreated. */
static qn_status fetch_force(qn_les *les, double *to, qn_err *err)
{
    void *from;
    qn_status st = QN_OK;

    QN_TRY(qn_buf_host(les->fields[QN_LES_FORCE], QN_HOST_READ, &from, err));
    for (size_t i = 0; i < qn_les_cells(les, QN_LES_FORCE); i++)
        to[i] = les->config.precision == QN_LES_F64 ? ((const double *)from)[i]
                                                    : (double)((const float *)from)[i];
out:
    return st;
}

/* The numbers in `s`, or those in the array, as les->force. Where nothing can be repeated, a force that is
 * on the device stays there. */
static qn_status take_new_force(qn_les *les, const qn_les_setting *s, int is_new, qn_err *err)
{
    const size_t cells = qn_les_cells(les, QN_LES_FORCE);
    double *force = NULL;
    qn_status st = QN_OK;

    les->is_force_stale = !s->values && !les->safe.keeps && !is_new;
    if (les->is_force_stale)
        return QN_OK;
    QN_TRY(QN_NEW(force, cells, "the force", err));
    if (s->values)
        memcpy(force, s->values, cells * sizeof *force);
    else
        QN_TRY(fetch_force(les, force, err));
    free(les->force);
    les->force = force;
    force = NULL;
    if (!is_new)
        les->config.forcing_field = les->force;
out:
    free(force);
    return st;
}

qn_status qn_les_set_force(qn_les *les, const qn_les_setting *s, qn_err *err)
{
    const int is_new = les->config.forcing != QN_LES_FORCING_STATIC;
    qn_status st = QN_OK;

    if (les->safe.keeps && les->since)
        QN_TRY(qn_les_keep(les, err)); /* the steps before had another force */
    QN_TRY(take_new_force(les, s, is_new, err));
    if (s->values)
        QN_TRY(fill_field(les, QN_LES_FORCE, s->values, qn_les_cells(les, QN_LES_FORCE), err));
    QN_TRY(put_force(les, err));
    les->is_force_in_field = 1;
out:
    return st;
}

qn_status qn_les_fetch_force(qn_les *les, qn_err *err)
{
    qn_status st = QN_OK;

    if (les->is_force_stale)
        QN_TRY(fetch_force(les, les->force, err));
    les->is_force_stale = 0;
out:
    return st;
}

static qn_status set_field(qn_les *les, void *user, qn_err *err)
{
    const qn_les_setting *s = user;
    qn_status st = QN_OK;

    QN_TRY(qn_les_need_field(les, s->what, err));
    if (s->what == QN_LES_FORCE)
        return qn_les_set_force(les, s, err);
    if (s->values)
        QN_TRY(fill_field(les, s->what, s->values, s->n, err));
    QN_TRY(put_vorticity(les, err));
out:
    return st;
}

qn_status qn_les_set(qn_les *les, qn_les_quantity what, const double *values, size_t n, qn_err *err)
{
    qn_les_setting s = { what, values, n };
    qn_err own;
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(check_quantity(what, 1, err));
    if (!values || (n != qn_les_cells(les, QN_LES_FORCE) && n != qn_les_cells(les, what)))
        QN_FAIL(err, QN_ERR_USAGE, "an array of %zu numbers for a field of %zu", values ? n : 0,
                qn_les_cells(les, what));
    QN_TRY(qn_les_guarded(les, set_field, &s, err));
out:
    return st;
}

qn_status qn_les_apply(qn_les *les, qn_les_quantity what, qn_err *err)
{
    qn_les_setting s = { .what = what };
    qn_err own;
    qn_status st = QN_OK;

    err = qn_err_begin(err, &own);
    QN_TRY(check_quantity(what, 1, err));
    if (!les->fields[what])
        QN_FAIL(err, QN_ERR_USAGE, "%s: nothing was written to its buffer", names[what]);
    QN_TRY(qn_les_guarded(les, set_field, &s, err));
out:
    return st;
}
