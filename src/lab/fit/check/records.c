/* records.c - reads golden files and makes one tape of all their operations. */
#include "lab/fit/check/records.h"

#include "util/json.h"

#include <quern/fit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions. */

enum { MAX_ARGS = 64 };

static const struct shape {
    const char *op, *function;
    int dims[6];
} shapes[] = {
    { "dot2", "dot", { 2, 2 } },
    { "dot3", "dot", { 3, 3 } },
    { "dot4", "dot", { 4, 4 } },
    { "cross2", "cross2", { 2, 2 } },
    { "cross3", "cross3", { 3, 3 } },
    { "length2", "length", { 2 } },
    { "length3", "length", { 3 } },
    { "length4", "length", { 4 } },
    { "distance3", "distance", { 3, 3 } },
    { "normalize2", "normalize", { 2 } },
    { "normalize3", "normalize", { 3 } },
    { "normalize4", "normalize", { 4 } },
    { "angle2", "angle", { 2, 2 } },
    { "angle3", "angle", { 3, 3 } },
    { "project3", "project", { 3, 3 } },
    { "reject3", "reject", { 3, 3 } },
    { "dist_line2", "dist_line2", { 2, 2, 2 } },
    { "tri_area", "tri_area", { 3, 3, 3 } },
    { "tri_normal", "tri_normal", { 3, 3, 3 } },
    { "corner_angle", "corner_angle", { 3, 3, 3 } },
    { "dihedral", "dihedral", { 3, 3, 3, 3 } },
    { "rotate_aa", "rotate_aa", { 3, 3 } },
    { "rotate_quat", "rotate_quat", { 4, 3 } },
    { "det3", "det3", { 9 } },
};

static qn_fit_vec vec_of(const qn_fit_v *at, int n)
{
    qn_fit_vec v = { .n = n };

    memcpy(v.at, at, (size_t)n * sizeof *at);
    return v;
}

static qn_fit_vec call2(qn_fit_graph *g, const char *name, qn_fit_vec a, qn_fit_vec b)
{
    qn_fit_vec out = { 0 };

    qn_fit_call(g, name, (const qn_fit_vec[]){ a, b }, 2, &out);
    return out;
}

/* f (1 + k1 |q|^2 + k2 |q|^4) q - (u, v), q = -P.xy / P.z, P = R X + t. */
static qn_fit_vec reprojection(qn_fit_graph *g, const qn_fit_v *c, const qn_fit_v *x,
                               const qn_fit_v *uv)
{
    const qn_fit_vec turned = call2(g, "rotate_aa", vec_of(c, 3), vec_of(x, 3));
    const qn_fit_vec p = call2(g, "add", turned, vec_of(c + 3, 3));
    const qn_fit_v minus[] = { qn_fit_neg(g, p.at[0]), qn_fit_neg(g, p.at[1]) };
    const qn_fit_vec q = call2(g, "div", vec_of(minus, 2), vec_of(p.at + 2, 1));
    const qn_fit_vec r2 = call2(g, "dot", q, q);
    const qn_fit_v bend = qn_fit_add(g, c[7], qn_fit_mul(g, c[8], r2.at[0]));
    const qn_fit_v k = qn_fit_add(g, qn_fit_lit(g, 1), qn_fit_mul(g, r2.at[0], bend));
    const qn_fit_v scale = qn_fit_mul(g, c[6], k);

    return call2(g, "sub", call2(g, "mul", vec_of(&scale, 1), q), vec_of(uv, 2));
}

qn_fit_vec qn_fit_record_call(qn_fit_graph *g, const char *op, const qn_fit_v *in, int n)
{
    qn_fit_vec args[MAX_ARGS], out = { 0 };
    int n_args = 0, at = 0;

    if (!strcmp(op, "bal_reproj"))
        return reprojection(g, in, in + 9, in + 12);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        if (strcmp(shapes[s].op, op))
            continue;
        for (; n_args < 6 && shapes[s].dims[n_args]; n_args++) {
            args[n_args] = vec_of(in + at, shapes[s].dims[n_args]);
            at += shapes[s].dims[n_args];
        }
        qn_fit_call(g, shapes[s].function, args, n_args, &out);
        return out;
    }
    for (int i = 0; i < n; i++)
        args[i] = vec_of(in + i, 1);
    qn_fit_call(g, op, args, n, &out);
    return out;
}

/* Reading. */

static double number_of(const json_t *j)
{
    return json_is_string(j) ? strtod(json_string_value(j), NULL) : json_number_value(j);
}

static int grow(double **list, size_t n)
{
    double *more = realloc(*list, (n + 1) * sizeof *more);

    if (more)
        *list = more;
    return more != NULL;
}

static qn_status add_record(qn_fit_golden *all, const json_t *r, const char *path, qn_err *err)
{
    const char *op = json_string_value(json_object_get(r, "op"));
    const json_t *args = json_object_get(r, "args"), *value = json_object_get(r, "value");
    const json_t *jac = json_object_get(r, "jac"), *d = json_object_get(r, "d");
    const size_t a = json_array_size(args), k = json_is_array(value) ? json_array_size(value) : 1;
    qn_fit_records *f = all->n ? &all->list[all->n - 1] : NULL;

    if (!op || a == 0 || a > MAX_ARGS || k == 0 || k > MAX_ARGS)
        return qn_fail(err, QN_ERR_INPUT, "%s: a record without op, args or value", path);
    if (!f || strcmp(f->op, op)) {
        if (all->n == QN_FIT_MAX_RECORD_OPS)
            return qn_fail(err, QN_ERR_LIMIT, "%s: more than %d operations", path,
                           QN_FIT_MAX_RECORD_OPS);
        f = &all->list[all->n++];
        *f = (qn_fit_records){ .n_args = (int)a, .n_rows = (int)k };
        snprintf(f->op, sizeof f->op, "%s", op);
    }
    if ((int)a != f->n_args || (int)k != f->n_rows)
        return qn_fail(err, QN_ERR_INPUT, "%s: records of %s differ in size", path, op);
    const size_t n = (size_t)f->n;

    if (!grow(&f->args, (n + 1) * a) || !grow(&f->value, (n + 1) * k) ||
        !grow(&f->jac, (n + 1) * a * k))
        return qn_fail(err, QN_ERR_NOMEM, "%s: %zu records of %s", path, n, op);
    for (size_t i = 0; i < a; i++)
        f->args[n * a + i] = number_of(json_array_get(args, i));
    for (size_t row = 0; row < k; row++) {
        const json_t *partials = d ? d : json_array_get(jac, row);

        f->value[n * k + row] =
            number_of(json_is_array(value) ? json_array_get(value, row) : value);
        for (size_t i = 0; i < a; i++)
            f->jac[(n * k + row) * a + i] = number_of(json_array_get(partials, i));
    }
    f->n++;
    return QN_OK;
}

/* The tape. */

static qn_status build(qn_fit_golden *all, qn_fit_graph *g, qn_err *err)
{
    qn_status st = QN_OK;
    int rows = 0;

    for (int k = 0; k < all->n; k++) {
        qn_fit_v in[MAX_ARGS];
        qn_fit_vec out;

        qn_fit_params(g, k, all->list[k].n_args, in);
        out = qn_fit_record_call(g, all->list[k].op, in, all->list[k].n_args);
        all->list[k].first_row = rows;
        rows += out.n;
        for (int row = 0; row < out.n; row++)
            qn_fit_output(g, out.at[row]);
        if (out.n != all->list[k].n_rows)
            QN_FAIL(err, QN_ERR_INPUT, "%s gives %d values, its records have %d: %s",
                    all->list[k].op, out.n, all->list[k].n_rows, qn_fit_graph_error(g));
    }
    QN_TRY(qn_fit_graph_finish(g, err));
    QN_TRY(qn_fit_tape_new(g, QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JAC), (qn_fit_loss){ 0 },
                           QN_FIT_SWEEP_REVERSE, &all->tape, err));
out:
    return st;
}

static qn_status bind(qn_fit_golden *all, const qn_fit_graph *g, qn_err *err)
{
    const int n_slots = qn_fit_graph_n_slots(g);
    size_t at = 0;
    qn_status st = QN_OK;

    for (int k = 0; k < all->n; k++) {
        all->n_instances = all->list[k].n > all->n_instances ? all->list[k].n : all->n_instances;
        all->n_numbers += (size_t)(all->list[k].n * all->list[k].n_args);
    }
    const size_t n = (size_t)all->n_instances;

    QN_TRY(qn_owned_memory(&all->owned, (size_t)all->n * sizeof *all->slot, &all->slot, err));
    QN_TRY(qn_owned_memory(&all->owned, (size_t)n_slots * n * sizeof *all->idx, &all->idx, err));
    QN_TRY(qn_owned_memory(&all->owned, all->n_numbers * sizeof *all->x, &all->x, err));
    QN_TRY(qn_owned_memory(&all->owned, (size_t)all->tape->n_outputs * n * sizeof *all->out,
                           &all->out, err));
    for (int k = 0; k < all->n; k++) {
        const qn_fit_records *f = &all->list[k];

        memcpy(all->x + at, f->args, (size_t)(f->n * f->n_args) * sizeof *all->x);
        all->slot[k] = -1;
        for (int slot = 0; slot < n_slots; slot++) {
            if (qn_fit_graph_slot(g, slot) != k)
                continue;
            all->slot[k] = slot;
            for (int i = 0; i < all->n_instances; i++)
                all->idx[slot * all->n_instances + i] =
                    (uint32_t)at + (uint32_t)(i % f->n * f->n_args);
        }
        at += (size_t)(f->n * f->n_args);
    }
out:
    return st;
}

qn_status qn_fit_golden_load(const char *path, qn_fit_golden *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_fit_graph *g = NULL;
    json_t *root = NULL, *records;

    QN_TRY(qn_json_read(path, &root, err));
    QN_TRY(qn_json_get_array(root, "records", path, &records, err));
    for (size_t i = 0; i < json_array_size(records); i++)
        QN_TRY(add_record(out, json_array_get(records, i), path, err));
    if (out->n == 0)
        QN_FAIL(err, QN_ERR_INPUT, "%s: no records", path);
    if (qn_fit_graph_new("golden", QN_FIT_TEMPLATE, &g, err) != QN_OK)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: a graph", path);
    QN_TRY(build(out, g, err));
    QN_TRY(bind(out, g, err));
out:
    qn_fit_graph_free(g);
    json_decref(root);
    return st;
}

void qn_fit_golden_free(qn_fit_golden *golden)
{
    for (int k = 0; k < golden->n; k++) {
        free(golden->list[k].args);
        free(golden->list[k].value);
        free(golden->list[k].jac);
    }
    qn_fit_tape_free(golden->tape);
    qn_owned_free(&golden->owned, 0);
    *golden = (qn_fit_golden){ 0 };
}

/* Results. */

double qn_fit_golden_value(const qn_fit_golden *golden, int op, int record, int row)
{
    const int out = golden->list[op].first_row + row;

    return golden->out[(size_t)out * (size_t)golden->n_instances + (size_t)record];
}

double qn_fit_golden_partial(const qn_fit_golden *golden, int op, int record, int row, int arg)
{
    const qn_fit_tape *p = golden->tape;
    const qn_fit_section *s = &p->sections[QN_FIT_JAC];

    for (int v = 0; v < p->n_variables; v++) {
        if ((int)p->variables[v].slot != golden->slot[op] || (int)p->variables[v].comp != arg)
            continue;
        const qn_fit_entry e = s->entries[(golden->list[op].first_row + row) * p->n_variables + v];

        if (e.stored < 0)
            return e.factor;
        return e.factor * golden->out[(size_t)(s->first + e.stored) * (size_t)golden->n_instances +
                                      (size_t)record];
    }
    return 0; /* the expression does not depend on this argument */
}
