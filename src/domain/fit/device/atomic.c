/* atomic.c - gradients and products J'J v by atomic additions.
 *
 * Each instance adds directly to the result: no stored contributions, no lists. Additions happen in
 * whatever order the device reaches them, so the last bits differ from run to run, and instances
 * that share a parameter wait for each other. CUDA adds doubles in memory; the CPU compares and
 * swaps; OpenCL C has neither without extensions, so the text refuses to compile there.
 */
#include "domain/fit/device/device_impl.h"

#include <stdio.h>

static const char ADD[] =
    "#if defined(QN_OPENCL)\n"
    "#error \"OpenCL C has no atomic addition of real numbers: use accumulate = gather\"\n"
    "#elif defined(QN_CUDA)\n"
    "#define FIT_ADD(p, v) atomicAdd((p), (v))\n"
    "#else\n"
    "FN void fit_add(GLOBAL real *p, real v)\n"
    "{\n"
    "    real seen = *p, sum;\n\n"
    "    do {\n"
    "        sum = seen + v;\n"
    "    } while (!__atomic_compare_exchange(p, &seen, &sum, 0, __ATOMIC_RELAXED, "
    "__ATOMIC_RELAXED));\n"
    "}\n"
    "#define FIT_ADD(p, v) fit_add((p), (v))\n"
    "#endif\n";

static void print_part(const qn_fit_tape *p, const qn_fit_section *s, int v, qn_str *out)
{
    const qn_fit_variable *of = &p->variables[v];

    qn_str_addf(out, "    if (!is_off[(i64)idx[%u * ld + i] + %u])\n        FIT_ADD(&out[(i64)",
                of->slot, of->comp);
    qn_str_addf(out, "idx[%u * ld + i] + %u], ", of->slot, of->comp);
    qn_fit_dev_print_part(s, v, out);
    qn_str_add(out, ");\n");
}

static qn_status print_group(const qn_fit_device *d, qn_fit_dev_kind kind, int k, qn_str *out,
                             qn_err *err)
{
    const qn_fit_group *g = &d->problem->groups[k];
    const qn_fit_tape *p = d->runs[kind].tapes[k];
    const qn_fit_dev_tables tables = { "", "", "", "ld", g->is_energy };
    char function[32];
    qn_status st = QN_OK;

    snprintf(function, sizeof function, "fit_add%d", k);
    QN_TRY(qn_fit_print_function(p, function, d->precision, out, err));
    qn_str_addf(out,
                "MAP(fit_g%d, VAL(i64, ld), IN(u32, idx), IN(real, x), IN(real, tangent), "
                "IN(real, data), IN(u8, is_off), INOUT(real, out))\n{\n    const i64 i = GI;\n",
                k);
    QN_TRY(qn_fit_dev_print_call(p, function, &tables, "    ", out, err));
    for (int v = 0; v < p->n_variables; v++)
        print_part(p, &p->sections[qn_fit_dev_section(g, kind)], v, out);
    qn_str_add(out, "}\n");
out:
    return st;
}

qn_status qn_fit_dev_print_atomic(const qn_fit_device *device, qn_fit_dev_kind kind, qn_str *out,
                                  qn_err *err)
{
    qn_status st = QN_OK;

    qn_str_add(out, ADD);
    qn_str_add(out, "MAP(fit_clear, OUT(real, out))\n{\n    out[GI] = R(0);\n}\n");
    for (int k = 0; k < device->problem->n_groups; k++)
        QN_TRY(print_group(device, kind, k, out, err));
    if (out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "text of %d kernels", device->problem->n_groups);
out:
    return st;
}

static qn_status stage_group(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind, int k,
                             qn_buf *x, qn_buf *tangent, qn_buf *out, qn_err *err)
{
    const qn_fit_group *g = &d->problem->groups[k];
    const qn_arg args[] = { qn_arg_val(&g->ld, sizeof g->ld),
                            qn_arg_at(d->idx, (size_t)d->idx_at[k] * sizeof *g->idx),
                            qn_arg_buf(x),
                            qn_arg_buf(tangent ? tangent : x),
                            g->n_columns
                                ? qn_arg_at(d->data, (size_t)d->data_at[k] * qn_fit_dev_size(d))
                                : qn_arg_buf(d->data),
                            qn_arg_buf(d->is_fixed),
                            qn_arg_buf(out) };

    return qn_fit_dev_stage_group(d, graph, "fit.add", kind, k, g->n, d->batch_size, args, err);
}

qn_status qn_fit_dev_stage_atomic(qn_fit_device *device, qn_graph *graph, qn_buf *x,
                                  qn_buf *tangent, qn_buf *out, qn_err *err)
{
    const qn_fit_dev_kind kind = tangent ? QN_FIT_DEV_ATOMIC_JTJV : QN_FIT_DEV_ATOMIC;
    const qn_arg clear[] = { qn_arg_buf(out) };
    qn_status st = QN_OK;

    QN_TRY(qn_fit_dev_prepare(device, kind, err));
    if (device->problem->n_scalars)
        QN_TRY(qn_graph_stage(graph, "fit.add.clear",
                              qn_kernels_find(device->runs[kind].module, "fit_clear"),
                              qn_range_1d(device->problem->n_scalars), clear, err));
    for (int k = 0; k < device->problem->n_groups; k++)
        if (device->problem->groups[k].n)
            QN_TRY(stage_group(device, graph, kind, k, x, tangent, out, err));
out:
    return st;
}
