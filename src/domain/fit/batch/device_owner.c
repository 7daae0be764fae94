/* device_owner.c - gradients without contributions: each block evaluates the terms it is in.
 *
 * A spring has a score of operations and six neighbours: doing it twice costs less than writing
 * what it gives to both ends and reading that again. The kernel of a set walks the list of a block,
 * evaluates each instance and keeps what this block gets, in the order of the list, so the sums are
 * those of the gather.
 */
#include "domain/fit/batch/device_impl.h"

#include "kernel/fit/fit_gather.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_WEIGHT = 64 }; /* weighted operations of a term; a transcendental function is 20 */

static int grad_section(const qn_fit_group *g)
{
    return g->is_energy ? QN_FIT_VJP : QN_FIT_GRAD;
}

/* Short lists and little work per term. */
int qn_fit_dev_owner_pays(const qn_fit_device *device)
{
    const qn_fit_problem *p = device->problem;
    const qn_fit_dev_run *run = &device->runs[QN_FIT_DEV_OWNER];

    if (p->inverse.max_degree > QN_FIT_SHORT)
        return 0;
    for (int k = 0; k < p->n_groups; k++)
        if (run->programs[k]->weight > MAX_WEIGHT)
            return 0;
    return 1;
}

/* ---- text
 * ------------------------------------------------------------------------------------------- */

static void print_load(const qn_fit_value *v, int group, qn_str *out)
{
    switch (v->op) {
    case QN_FIT_OP_param:
        qn_str_addf(out, "x[(i64)idx[where[%d] + %u * ld + i] + %u]", 3 * group, v->slot, v->comp);
        break;
    case QN_FIT_OP_data:
        qn_str_addf(out, "data[where[%d] + %u * ld + i]", 3 * group + 1, v->slot);
        break;
    default:
        qn_str_add(out, "R(1)"); /* the seed of an energy */
    }
}

/* What the block gets as slot `slot` of an instance of the group. */
static void print_slot(const qn_fit_program *p, const qn_fit_group *g, int group, int slot,
                       const uint32_t *inputs, int n_inputs, qn_str *out)
{
    const qn_fit_section *s = &p->sections[grad_section(g)];

    qn_str_addf(out, "        if (from == %d) {\n            const i64 ld = where[%d];\n",
                g->first_place + slot, 3 * group + 2);
    qn_str_addf(out, "            const fit_own%d_out r = fit_own%d(", group, group);
    for (int k = 0; k < n_inputs; k++) {
        qn_str_add(out, k ? ",\n                " : "");
        print_load(&p->values[inputs[k]], group, out);
    }
    qn_str_add(out, ");\n\n");
    for (int v = 0; v < p->n_variables; v++) {
        const qn_fit_entry *e = &s->entries[v];

        if (p->variables[v].slot != (uint32_t)slot)
            continue;
        if (e->stored < 0)
            qn_str_addf(out, "            s%u += R(%.17g);\n", p->variables[v].comp, e->factor);
        else
            qn_str_addf(out, "            s%u += %sr.v[%d];\n", p->variables[v].comp,
                        e->factor < 0 ? "-" : "", s->first + e->stored);
    }
    qn_str_add(out, "        }\n");
}

static qn_status print_set(const qn_fit_device *d, int set, qn_str *out, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_fit_dev_run *run = &d->runs[QN_FIT_DEV_OWNER];
    const uint32_t dim = p->sets[set].dim;

    qn_str_addf(out,
                "MAP(fit_set%d, VAL(i64, first), VAL(i64, first_block), IN(i64, start), "
                "IN(u32, place), IN(u32, instance), IN(i64, where), IN(u32, idx), IN(real, x), "
                "IN(real, data), IN(u8, is_off), INOUT(real, out))\n{\n"
                "    const i64 end = start[first_block + GI + 1], at = first + GI * %u;\n",
                set, dim);
    for (uint32_t c = 0; c < dim; c++)
        qn_str_addf(out, "    real s%u = R(0);\n", c);
    qn_str_add(out, "\n    for (i64 k = start[first_block + GI]; k < end; k++) {\n"
                    "        const i64 i = instance[k];\n"
                    "        const u32 from = place[k];\n\n");
    for (int k = 0; k < p->n_groups; k++) {
        uint32_t *inputs = calloc((size_t)run->programs[k]->n_values + 1, sizeof *inputs);
        int n_inputs;

        if (!inputs)
            return qn_fail(err, QN_ERR_NOMEM, "%s: kernel text", p->groups[k].name);
        n_inputs = qn_fit_function_inputs(run->programs[k], inputs);
        for (int s = 0; s < p->groups[k].n_slots; s++)
            if (p->groups[k].slot_set[s] == set)
                print_slot(run->programs[k], &p->groups[k], k, s, inputs, n_inputs, out);
        free(inputs);
    }
    qn_str_add(out, "    }\n");
    for (uint32_t c = 0; c < dim; c++)
        qn_str_addf(out, "    out[at + %u] = is_off[at + %u] ? R(0) : s%u;\n", c, c, c);
    qn_str_add(out, "}\n");
    return out->failed ? qn_fail(err, QN_ERR_NOMEM, "%s: kernel text", p->sets[set].name) : QN_OK;
}

qn_status qn_fit_dev_print_owner(const qn_fit_device *device, qn_str *out, qn_err *err)
{
    const qn_fit_problem *p = device->problem;
    qn_status st = QN_OK;
    char name[32];

    for (int k = 0; k < p->n_groups; k++) {
        snprintf(name, sizeof name, "fit_own%d", k);
        QN_TRY(qn_fit_print_function(device->runs[QN_FIT_DEV_OWNER].programs[k], name,
                                     device->precision, out, err));
    }
    for (int k = 0; k < p->n_sets; k++)
        QN_TRY(print_set(device, k, out, err));
out:
    return st;
}

/* ---- stage
 * ------------------------------------------------------------------------------------------ */

/* where[3 g ..]: the group's tables in idx and in data, and their leading dimension. */
qn_status qn_fit_dev_owner_table(qn_fit_device *device, qn_err *err)
{
    const qn_fit_problem *p = device->problem;
    qn_i64 *where = calloc((size_t)p->n_groups * 3 + 1, sizeof *where);
    qn_status st;

    if (!where)
        return qn_fail(err, QN_ERR_NOMEM, "%d groups", p->n_groups);
    for (int k = 0; k < p->n_groups; k++) {
        where[3 * k] = device->idx_at[k];
        where[3 * k + 1] = device->data_at[k];
        where[3 * k + 2] = p->groups[k].ld;
    }
    st = qn_fit_dev_bytes(device, "fit.where", where, (size_t)p->n_groups * 3 * sizeof *where,
                          &device->runs[QN_FIT_DEV_OWNER].at, err);
    free(where);
    return st;
}

qn_status qn_fit_dev_stage_owner(qn_fit_device *device, qn_graph *graph, qn_buf *x,
                                 qn_buf *gradient, qn_err *err)
{
    const qn_fit_problem *p = device->problem;
    const qn_fit_dev_run *run = &device->runs[QN_FIT_DEV_OWNER];
    qn_status st = QN_OK;

    for (int k = 0; st == QN_OK && k < p->n_sets; k++) {
        const qn_i64 first = p->sets[k].first, first_block = p->sets[k].first_block;
        const qn_arg args[] = { qn_arg_val(&first, sizeof first),
                                qn_arg_val(&first_block, sizeof first_block),
                                qn_arg_buf(device->start),
                                qn_arg_buf(device->place),
                                qn_arg_buf(device->instance),
                                qn_arg_buf(run->at),
                                qn_arg_buf(device->idx),
                                qn_arg_buf(x),
                                qn_arg_buf(device->data),
                                qn_arg_buf(device->is_fixed),
                                qn_arg_buf(gradient) };
        char kernel[32], name[96];

        if (p->sets[k].count == 0)
            continue;
        snprintf(kernel, sizeof kernel, "fit_set%d", k);
        snprintf(name, sizeof name, "fit.own.%s", p->sets[k].name);
        st = qn_fit_dev_failed(device,
                               qn_graph_stage(graph, name, qn_kernels_find(run->module, kernel),
                                              qn_range_1d(p->sets[k].count), args),
                               err);
    }
    return st;
}
