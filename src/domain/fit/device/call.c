/* call.c - prints calls of a tape's function, for kernels whose text surrounds them. */
#include "domain/fit/device/device_impl.h"

#include <stdlib.h>

void qn_fit_dev_print_inputs(const qn_fit_tape *tape, const char *stored, qn_str *out)
{
    static const char *const inputs[] = { "VAL(i64, ld)",      "IN(u32, idx)",   "IN(real, x)",
                                          "IN(real, tangent)", "IN(real, data)", "IN(real, seed)" };
    qn_fit_arg args[QN_FIT_N_ARGS];
    const int n = qn_fit_kernel_args(tape, args);

    for (int a = 0; a < n && args[a] < QN_FIT_ARG_OUT; a++)
        if (args[a] == QN_FIT_ARG_DATA && tape->reads_jacobian)
            qn_str_addf(out, ", IN(%s, data)", stored);
        else if (args[a] != QN_FIT_ARG_LD)
            qn_str_addf(out, ", %s", inputs[args[a]]);
}

void qn_fit_dev_print_part(const qn_fit_section *section, int entry, qn_str *out)
{
    const qn_fit_entry *e = &section->entries[entry];

    if (e->stored < 0)
        qn_str_addf(out, "R(%.17g)", e->factor);
    else
        qn_str_addf(out, "%sr.v[%d]", e->factor < 0 ? "-" : "", section->first + e->stored);
}

static void print_load(const qn_fit_value *v, const qn_fit_dev_tables *t, qn_str *out)
{
    switch (v->op) {
    case QN_FIT_OP_param:
    case QN_FIT_OP_tangent:
        qn_str_addf(out, "%s[(i64)idx[%s%u * %s + i] + %u]",
                    v->op == QN_FIT_OP_param ? "x" : "tangent", t->idx, v->slot, t->ld, v->comp);
        break;
    case QN_FIT_OP_data:
        qn_str_addf(out, "data[%s%u * %s + i]", t->data, v->slot, t->ld);
        break;
    default:
        if (t->is_seed_one)
            qn_str_add(out, "R(1)");
        else
            qn_str_addf(out, "seed[%s%u * %s + i]", t->seed, v->slot, t->ld);
    }
}

qn_status qn_fit_dev_print_call(const qn_fit_tape *tape, const char *function,
                                const qn_fit_dev_tables *tables, const char *indent, qn_str *out,
                                qn_err *err)
{
    uint32_t *inputs = calloc((size_t)tape->n_values + 1, sizeof *inputs);
    int n;

    if (!inputs)
        return qn_fail(err, QN_ERR_NOMEM, "%s: kernel text", tape->name);
    n = qn_fit_function_inputs(tape, inputs);
    qn_str_addf(out, "%sconst %s_out r = %s(", indent, function, function);
    for (int k = 0; k < n; k++) {
        if (k)
            qn_str_addf(out, ",\n%s    ", indent);
        print_load(&tape->values[inputs[k]], tables, out);
    }
    qn_str_add(out, ");\n\n");
    free(inputs);
    return QN_OK;
}
