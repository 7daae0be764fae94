/* small.c - groups of fewer than 32 instances, evaluated by one kernel.
 *
 * Terms written one by one, such as the constraints of a sketch, form many groups of few instances,
 * and a launch for each takes longer than all their work. Here 32 neighbouring items belong to one
 * group, and a condition on the group's number picks the function, so that all items of a group
 * take the same branch. The starts of a group's tables are read from a table, so that the text does
 * not depend on the number of instances.
 */
#include "domain/fit/device/device_impl.h"

#include <stdio.h>
#include <stdlib.h>

/* Numbers of a group in the table. */
enum { N, IDX_AT, DATA_AT, ROW_AT, COST_AT, JACOBIAN_AT, SLOPE_AT, SQUARE_AT, N_NUMBERS };

/* MOST_ALIVE: a group with more values alive would slow the others down by its registers. LEAST:
 * with fewer groups the saved launches are not worth a kernel that no other problem can use. */
enum { SIDE = 32, MOST_ALIVE = 64, LEAST = 3 };

static int can_join(const qn_fit_device *d, qn_fit_dev_kind kind, int k)
{
    const qn_fit_group *g = &d->problem->groups[k];
    const qn_fit_dev_run *run = &d->runs[kind];

    return g->n > 0 && g->n < SIDE && g->ld == SIDE && !run->is_reduced[k] &&
           run->tapes[k]->n_outputs > 0 && run->tapes[k]->peak_live <= MOST_ALIVE;
}

void qn_fit_dev_choose_small(const qn_fit_device *device, qn_fit_dev_kind kind)
{
    qn_fit_dev_run *run = (qn_fit_dev_run *)&device->runs[kind];
    int n = 0;

    if (qn_fit_dev_is_owner(kind) || qn_fit_dev_is_atomic(kind) || device->batch_size)
        return;
    for (int k = 0; k < device->problem->n_groups; k++)
        n += can_join(device, kind, k);
    if (n < LEAST)
        return;
    for (int k = 0; k < device->problem->n_groups; k++)
        run->is_small[k] = (uint8_t)can_join(device, kind, k);
    run->n_small = n;
}

/* Whether any of the groups has this section, or reads this leaf. */
static int writes(const qn_fit_device *d, qn_fit_dev_kind kind, unsigned sections, int energies)
{
    for (int k = 0; k < d->problem->n_groups; k++)
        for (int s = 0; d->runs[kind].is_small[k] && s < QN_FIT_N_SECTIONS; s++)
            if ((sections & QN_FIT_WANT(s)) && d->runs[kind].tapes[k]->sections[s].count &&
                (energies & (d->problem->groups[k].is_energy ? 2 : 1)))
                return 1;
    return 0;
}

/* Where results are written. Rows of energies are costs. */
typedef struct {
    const char *name;
    unsigned sections;
    int energies, at; /* 1: residuals, 2: energies, 3: both; number in the table */
} target;

static const target targets[] = {
    { "cost", QN_FIT_WANT(QN_FIT_COST), 3, COST_AT },
    { "cost", QN_FIT_WANT(QN_FIT_RES), 2, COST_AT },
    { "rows", QN_FIT_WANT(QN_FIT_RES) | QN_FIT_WANT(QN_FIT_JVP), 1, ROW_AT },
    { "jac", QN_FIT_WANT(QN_FIT_JAC), 1, JACOBIAN_AT },
    { "part", QN_FIT_WANT(QN_FIT_GRAD) | QN_FIT_WANT(QN_FIT_VJP) | QN_FIT_WANT(QN_FIT_JTJV), 3,
      SLOPE_AT },
    { "squares", QN_FIT_WANT(QN_FIT_DIAG), 1, SQUARE_AT },
};
enum { N_TARGETS = sizeof targets / sizeof *targets };

static const target *target_of(int section, int is_energy)
{
    for (int t = 0; t < N_TARGETS; t++)
        if (targets[t].sections & QN_FIT_WANT(section) && targets[t].energies & (is_energy ? 2 : 1))
            return &targets[t];
    return NULL;
}

/* Both costs are one argument. */
static int has_target(const qn_fit_device *d, qn_fit_dev_kind kind, int t)
{
    if (t == 1 && has_target(d, kind, 0))
        return 0;
    return writes(d, kind, targets[t].sections, targets[t].energies);
}

static int has_seed(qn_fit_dev_kind kind)
{
    return (qn_fit_dev_wants(kind) & QN_FIT_WANT(QN_FIT_VJP)) != 0;
}

static int has_tangent(qn_fit_dev_kind kind)
{
    return (qn_fit_dev_wants(kind) & (QN_FIT_WANT(QN_FIT_JVP) | QN_FIT_WANT(QN_FIT_JTJV))) != 0;
}

/* Text. */

static qn_status print_group(const qn_fit_device *d, qn_fit_dev_kind kind, int k, int member,
                             qn_str *out, qn_err *err)
{
    const qn_fit_group *g = &d->problem->groups[k];
    const qn_fit_tape *p = d->runs[kind].tapes[k];
    const char *const cast = d->storage == d->precision ? "" : "(float)";
    const qn_fit_dev_tables tables = { "at[k + 1] + ", "at[k + 2] + ", "at[k + 3] + ", "32",
                                       g->is_energy };
    char function[32];
    qn_status st = QN_OK;

    snprintf(function, sizeof function, "fit_s%d", k);
    qn_str_addf(out, "    if (member == %d && i < at[k]) {\n", member);
    QN_TRY(qn_fit_dev_print_call(p, function, &tables, "        ", out, err));
    for (int s = 0; s < QN_FIT_N_SECTIONS; s++)
        for (int row = 0; row < p->sections[s].count; row++) {
            const target *t = target_of(s, g->is_energy);

            qn_str_addf(out, "        %s[at[k + %d] + %d * 32 + i] = %sr.v[%d];\n", t->name, t->at,
                        row, s == QN_FIT_JAC ? cast : "", p->sections[s].first + row);
        }
    qn_str_add(out, "    }\n");
out:
    return st;
}

qn_status qn_fit_dev_print_small(const qn_fit_device *device, qn_fit_dev_kind kind, qn_str *out,
                                 qn_err *err)
{
    const qn_fit_dev_run *run = &device->runs[kind];
    const char *const stored = qn_fit_dev_stored_type(device);
    qn_status st = QN_OK;
    char name[32];
    int member = 0;

    for (int k = 0; k < device->problem->n_groups; k++) {
        snprintf(name, sizeof name, "fit_s%d", k);
        if (run->is_small[k])
            QN_TRY(qn_fit_print_function(run->tapes[k], name, device->precision, out, err));
    }
    qn_str_add(out, "MAP(fit_small, IN(i64, at), IN(u32, idx)");
    if (qn_fit_dev_reads_jacobian(kind))
        qn_str_addf(out, ", IN(%s, data)", stored);
    else
        qn_str_add(out, ", IN(real, x), IN(real, data)");
    if (has_tangent(kind))
        qn_str_add(out, ", IN(real, tangent)");
    if (has_seed(kind))
        qn_str_add(out, ", IN(real, seed)");
    for (int t = 0; t < N_TARGETS; t++)
        if (has_target(device, kind, t))
            qn_str_addf(out, ", INOUT(%s, %s)", targets[t].at == JACOBIAN_AT ? stored : "real",
                        targets[t].name);
    qn_str_addf(out,
                ")\n{\n    const i32 member = (i32)(GI / 32);\n"
                "    const i64 i = GI %% 32, k = (i64)member * %d;\n\n",
                N_NUMBERS);
    for (int k = 0; k < device->problem->n_groups; k++)
        if (run->is_small[k])
            QN_TRY(print_group(device, kind, k, member++, out, err));
    qn_str_add(out, "}\n");
    if (out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "text of %d small groups", run->n_small);
out:
    return st;
}

/* Table and stage. */

qn_status qn_fit_dev_small_table(qn_fit_device *device, qn_fit_dev_kind kind, qn_err *err)
{
    qn_fit_dev_run *run = &device->runs[kind];
    const size_t n = (size_t)run->n_small * N_NUMBERS;
    qn_i64 *at = calloc(n + 1, sizeof *at), *next = at;
    qn_status st;

    if (!at)
        return qn_fail(err, QN_ERR_NOMEM, "%d small groups", run->n_small);
    for (int k = 0; k < device->problem->n_groups; k++) {
        if (!run->is_small[k])
            continue;
        next[N] = device->problem->groups[k].n;
        next[IDX_AT] = device->idx_at[k];
        next[DATA_AT] = qn_fit_dev_reads_jacobian(kind) ? run->jacobian_at[k] : device->data_at[k];
        next[ROW_AT] = device->row_at[k];
        next[COST_AT] = device->cost_at[k];
        next[JACOBIAN_AT] = run->jacobian_at[k];
        next[SLOPE_AT] = run->slopes.base ? run->slopes.base[k] : 0;
        next[SQUARE_AT] = run->squares.base ? run->squares.base[k] : 0;
        next += N_NUMBERS;
    }
    st = qn_fit_device_table(device, "fit.small", at, n * sizeof *at, &run->small_at, err);
    free(at);
    return st;
}

qn_status qn_fit_dev_stage_small(qn_fit_device *device, qn_graph *graph, qn_fit_dev_kind kind,
                                 const qn_fit_dev_vectors *v, qn_err *err)
{
    const qn_fit_dev_run *run = &device->runs[kind];
    qn_buf *const buffers[N_TARGETS] = { device->costs, device->costs,    v->rows,
                                         v->jacobian,   run->slopes.part, run->squares.part };
    qn_arg args[6 + N_TARGETS];
    int n = 0;

    args[n++] = qn_arg_buf(run->small_at);
    args[n++] = qn_arg_buf(device->idx);
    if (!qn_fit_dev_reads_jacobian(kind))
        args[n++] = qn_arg_buf(v->x);
    args[n++] = qn_arg_buf(qn_fit_dev_reads_jacobian(kind) ? v->jacobian : device->data);
    if (has_tangent(kind))
        args[n++] = qn_arg_buf(v->tangent);
    if (has_seed(kind))
        args[n++] = qn_arg_buf(v->seed);
    for (int t = 0; t < N_TARGETS; t++)
        if (has_target(device, kind, t))
            args[n++] = qn_arg_buf(buffers[t]);
    return qn_graph_stage(graph, "fit.small", qn_kernels_find(run->module, "fit_small"),
                          qn_range_1d((qn_i64)run->n_small * SIDE), args, err);
}
