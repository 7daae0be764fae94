/* op_sample.c - makes up arguments for ops to be measured. */
#include "engine/route/measure.h"

#include <string.h>

void qn_op_sample_set(qn_op_sample *s, int arg, const void *value, size_t bytes)
{
    size_t at = 0;

    for (int a = 0; a < arg; a++)
        at += s->kernel->args[a].mode == QN_ARG_VAL ? 160u : 0u; /* chain_par has 144 bytes */
    s->value_at[arg] = at;
    memcpy(s->values + at, value, bytes);
}

void qn_op_sample_set_int(qn_op_sample *s, int arg, qn_i64 value)
{
    const int32_t narrow = (int32_t)value;

    if (s->kernel->args[arg].size == sizeof narrow)
        qn_op_sample_set(s, arg, &narrow, sizeof narrow);
    else
        qn_op_sample_set(s, arg, &value, sizeof value);
}

/* One element of each buffer per point, constants 1.5. */
static void make_points(qn_op_sample *s)
{
    const float k = 1.5f;

    s->range = qn_range_1d(s->n);
    for (int a = 0; a < s->kernel->n_args; a++) {
        if (s->kernel->args[a].mode == QN_ARG_VAL)
            qn_op_sample_set(s, a, &k, sizeof k);
        else
            s->bytes[a] = (size_t)s->n * s->kernel->args[a].size;
    }
}

/* Any MAP over plain arrays whose constants are floats. */
static int is_plain_map(const qn_op *op, const qn_kernel_info *kernel)
{
    if (op->cost != qn_cost_points || kernel->form != QN_FORM_MAP)
        return 0;
    for (int a = 0; a < kernel->n_args; a++)
        if (!kernel->args[a].size ||
            (kernel->args[a].mode == QN_ARG_VAL && strcmp(kernel->args[a].type, "float") != 0))
            return 0;
    return 1;
}

qn_status qn_op_sample_make(const qn_op *op, qn_i64 n, qn_op_sample *out, qn_err *err)
{
    const qn_kernel_info *kernel = qn_op_kernel(op);
    qn_op_sample s = { .op = op, .kernel = kernel, .n = n < 1 ? 1 : n };

    if (!kernel || !kernel->module)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "op %s has no kernel", op->name);
    if (!op->sample && !is_plain_map(op, kernel))
        return qn_fail(err, QN_ERR_UNSUPPORTED, "op %s is a step of others and not measured alone",
                       op->name);
    s.kernel_i = qn_stage_kernel_i(kernel);
    if (op->sample)
        op->sample(&s);
    else
        make_points(&s);
    *out = s;
    return QN_OK;
}

void qn_op_sample_fill(const qn_op_sample *s, int arg, void *data)
{
    if (s->op->fill)
        s->op->fill(s, arg, data);
}

double qn_op_sample_items(const qn_op_sample *s)
{
    return qn_cost_count(&s->range) * (s->kernel->lanes > 1 ? s->kernel->lanes : 1);
}
