/* wgsl.c - a tape as a WGSL module.
 *
 * The statements are the same. Support functions are translated word for word. WGSL leaves the
 * accuracy of mathematical functions too open, or lacks them, so they come from wgsl_library.c.
 */
#include "domain/fit/code/print.h"

#include "util/status.h"

#include <stdlib.h>
#include <string.h>

const qn_fit_words qn_fit_wgsl_words[] = {
    { "R", "f32" },
    { "real", "f32" },
    { "fit_flag", "bool" },
    { "fabs", "abs" },
    { "rint", "round" },
    { "fmod", "fit_fmod" },
    { "pow", "fit_power" },
    { "exp", "fit_exp" },
    { "exp2", "fit_exp2" },
    { "expm1", "fit_expm1" },
    { "log", "fit_log" },
    { "log2", "fit_log2" },
    { "log10", "fit_log10" },
    { "log1p", "fit_log1p" },
    { "fit_sine", "fit_sin" },
    { "fit_cosine", "fit_cos" },
    { "tan", "fit_tan" },
    { "asin", "fit_asin" },
    { "acos", "fit_acos" },
    { "atan", "fit_atan" },
    { "atan2", "fit_arc" },
    { "sinh", "fit_sinh" },
    { "cosh", "fit_cosh" },
    { "tanh", "fit_tanh" },
    { "asinh", "fit_asinh" },
    { "acosh", "fit_acosh" },
    { "atanh", "fit_atanh" },
    { "erf", "fit_erf" },
    { "cbrt", "fit_cbrt" },
    { "FIT_TINY", "f32(1e-18)" },
    { "FIT_TIE", "f32(1e-6)" },
    { "I32", "i32" },
    { "U32", "u32" },
    { "F32", "f32" },
    { "f32_bits", "bitcast<u32>" },
    { "bits_f32", "bitcast<f32>" },
    { NULL, NULL },
};

/* The module. */

static void print_binding(int index, qn_fit_arg arg, qn_str *out)
{
    static const char *const names[] = { "par", "idx", "x", "tangent", "data", "seed" };

    if (arg == QN_FIT_ARG_LD)
        qn_str_addf(out, "@group(0) @binding(%d) var<uniform> par: vec4<u32>;\n", index);
    else if (arg < QN_FIT_ARG_OUT)
        qn_str_addf(out, "@group(0) @binding(%d) var<storage, read> %s: array<%s>;\n", index,
                    names[arg], arg == QN_FIT_ARG_IDX ? "u32" : "f32");
    else
        qn_str_addf(out, "@group(0) @binding(%d) var<storage, read_write> %s: array<f32>;\n", index,
                    qn_fit_section_names[arg - QN_FIT_ARG_OUT]);
}

static void print_row(const char *table, unsigned row, qn_str *out)
{
    if (row == 0)
        qn_str_addf(out, "%s[i]", table);
    else
        qn_str_addf(out, "%s[%uu * ld + i]", table, row);
}

static void print_load(const qn_fit_tape *p, int k, uint8_t *has_block, qn_str *out)
{
    const qn_fit_value *v = &p->values[k];
    const int is_gather = v->op == QN_FIT_OP_param || v->op == QN_FIT_OP_tangent;

    if (is_gather && !has_block[v->slot]) {
        qn_str_addf(out, "    let b%u = ", v->slot);
        print_row("idx", v->slot, out);
        qn_str_add(out, ";\n");
        has_block[v->slot] = 1;
    }
    qn_str_addf(out, "    let in%d = ", k);
    if (is_gather)
        qn_str_addf(out, v->comp ? "%s[b%u + %uu]" : "%s[b%u]",
                    v->op == QN_FIT_OP_param ? "x" : "tangent", v->slot, v->comp);
    else
        print_row(v->op == QN_FIT_OP_data ? "data" : "seed", v->slot, out);
    qn_str_add(out, ";\n");
}

static qn_status print_stores(const qn_fit_tape *p, uint32_t k, qn_str *out, qn_err *err)
{
    const qn_fit_style style = { .is_wgsl = 1 };
    qn_status st = QN_OK;

    for (int s = 0; s < QN_FIT_N_SECTIONS; s++)
        for (int row = 0; row < p->sections[s].count; row++) {
            if (p->outputs[p->sections[s].first + row] != k)
                continue;
            qn_str_add(out, "    ");
            print_row(qn_fit_section_names[s], (unsigned)row, out);
            qn_str_add(out, " = ");
            QN_TRY(qn_fit_print_operand(p, k, style, out, err));
            qn_str_add(out, ";\n");
        }
out:
    return st;
}

static qn_status print_entry(const qn_fit_tape *p, const char *name, qn_str *out, qn_err *err)
{
    const qn_fit_style style = { .is_wgsl = 1 };
    uint8_t *has_block = calloc((size_t)p->n_slots + 1, 1);
    qn_status st = QN_OK;

    if (!has_block)
        return qn_fail(err, QN_ERR_NOMEM, "%s: text of %d slots", p->name, p->n_slots);
    qn_str_addf(out,
                "@compute @workgroup_size(64)\n"
                "fn %s(@builtin(global_invocation_id) gid: vec3<u32>) {\n"
                "    let ld = par.x;\n"
                "    let i = gid.x + gid.y * par.z;\n"
                "    if (i >= par.y) {\n        return;\n    }\n",
                name);
    for (int k = 0; k < p->n_values; k++) {
        const qn_fit_value *v = &p->values[k];

        if (v->op != QN_FIT_OP_lit && qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_LEAF)) {
            print_load(p, k, has_block, out);
        } else if (v->op != QN_FIT_OP_lit) {
            qn_str_add(out, "    ");
            QN_TRY(qn_fit_print_statement(p, k, style, out, err));
            qn_str_add(out, "\n");
        }
        QN_TRY(print_stores(p, (uint32_t)k, out, err));
    }
    qn_str_add(out, "}\n");
out:
    free(has_block);
    return st;
}

qn_status qn_fit_print_wgsl(const qn_fit_tape *tape, const char *name, qn_str *out, qn_err *err)
{
    qn_fit_arg args[QN_FIT_N_ARGS];
    const int n_args = qn_fit_kernel_args(tape, args);
    qn_str body = { 0 };
    qn_status st = QN_OK;

    QN_TRY(print_entry(tape, name, &body, err));
    for (int a = 0; a < n_args; a++)
        print_binding(a, args[a], out);
    qn_str_add(out, "\n");
    qn_fit_wgsl_library(qn_str_get(&body), out);
    qn_str_add(out, qn_str_get(&body));
    if (out->failed || body.failed)
        st = qn_fail(err, QN_ERR_NOMEM, "%s: WGSL text", tape->name);
out:
    qn_str_free(&body);
    return st;
}
