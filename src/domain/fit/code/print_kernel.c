/* print_kernel.c - a tape as a MAP of the kernel dialect, or as a function for other kernels. */
#include "domain/fit/code/print.h"

#include "util/status.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Arguments. */

static int reads(const qn_fit_tape *p, qn_fit_opcode leaf)
{
    for (int k = 0; k < p->n_values; k++)
        if (p->values[k].op == leaf)
            return 1;
    return 0;
}

int qn_fit_kernel_args(const qn_fit_tape *tape, qn_fit_arg *out)
{
    const int has_params = reads(tape, QN_FIT_OP_param);
    int n = 0;

    out[n++] = QN_FIT_ARG_LD;
    if (has_params || tape->uses_tangent)
        out[n++] = QN_FIT_ARG_IDX;
    if (has_params)
        out[n++] = QN_FIT_ARG_X;
    if (tape->uses_tangent)
        out[n++] = QN_FIT_ARG_TANGENT;
    if (reads(tape, QN_FIT_OP_data))
        out[n++] = QN_FIT_ARG_DATA;
    if (tape->uses_seed)
        out[n++] = QN_FIT_ARG_SEED;
    for (int s = 0; s < QN_FIT_N_SECTIONS; s++)
        if (tape->sections[s].count)
            out[n++] = (qn_fit_arg)(QN_FIT_ARG_OUT + s);
    return n;
}

static void print_arg(qn_fit_arg arg, qn_fit_style style, qn_str *out)
{
    static const char *const inputs[] = { "VAL(i64, ld)",      "IN(u32, idx)",   "IN(real, x)",
                                          "IN(real, tangent)", "IN(real, data)", "IN(real, seed)" };

    if (arg == QN_FIT_ARG_DATA)
        qn_str_addf(out, "IN(%s, data)", style.data_type);
    else if (arg < QN_FIT_ARG_OUT)
        qn_str_add(out, inputs[arg]);
    else
        qn_str_addf(out, "OUT(%s, %s)",
                    arg == QN_FIT_ARG_OUT + QN_FIT_JAC ? style.jac_type : "real",
                    qn_fit_section_names[arg - QN_FIT_ARG_OUT]);
}

/* A graph's name comes from the user: keep it printable, and free of the end of a comment. */
static void print_comment(const qn_fit_tape *p, qn_str *out)
{
    qn_str_add(out, "/* ");
    for (const char *c = p->name; *c; c++)
        qn_str_addf(out, "%c",
                    isprint((unsigned char)*c) && *c != '*' && *c != '/' && *c != '\\' ? *c : '_');
    qn_str_addf(out, ": %d operations, at most %d values alive", p->n_ops, p->peak_live);
    if (p->n_again)
        qn_str_addf(out, "; %d without %d repeated operations", p->peak_live_kept, p->n_again);
    qn_str_add(out, " */\n");
}

/* The body. */

static void print_cell(const char *table, unsigned row, const char *column, qn_fit_style style,
                       qn_str *out)
{
    if (row == 0)
        qn_str_addf(out, "%s[%s]", table, column);
    else if (row == 1 && !style.is_wgsl)
        qn_str_addf(out, "%s[ld + %s]", table, column);
    else
        qn_str_addf(out, "%s[%u%s * ld + %s]", table, row, style.is_wgsl ? "u" : "", column);
}

/* The start of a block is loaded together with its first component. */
static void print_load(const qn_fit_tape *p, int k, uint8_t *has_block, qn_fit_style style,
                       qn_str *out)
{
    const qn_fit_value *v = &p->values[k];
    const char *const column = v->is_again ? "FIT_SAME(i)" : "i";

    if ((v->op == QN_FIT_OP_param || v->op == QN_FIT_OP_tangent) && !has_block[v->slot]) {
        qn_str_addf(out, "    %s b%u = ", style.is_wgsl ? "let" : "const i64", v->slot);
        print_cell("idx", v->slot, "i", style, out);
        qn_str_add(out, ";\n");
        has_block[v->slot] = 1;
    }
    qn_str_addf(out, "    %s in%d = ", style.is_wgsl ? "let" : "const real", k);
    switch (v->op) {
    case QN_FIT_OP_param:
    case QN_FIT_OP_tangent:
        qn_str_addf(out, v->is_again ? "%s[FIT_SAME(b%u)" : "%s[b%u",
                    v->op == QN_FIT_OP_param ? "x" : "tangent", v->slot);
        if (v->comp)
            qn_str_addf(out, " + %u%s", v->comp, style.is_wgsl ? "u" : "");
        qn_str_add(out, "]");
        break;
    case QN_FIT_OP_data:
        print_cell("data", v->slot, column, style, out);
        break;
    default:
        print_cell("seed", v->slot, column, style, out);
    }
    qn_str_add(out, ";\n");
}

static qn_status print_store(const qn_fit_tape *p, int section, int row, qn_fit_style style,
                             qn_str *out, qn_err *err)
{
    qn_status st = QN_OK;

    qn_str_add(out, "    ");
    print_cell(qn_fit_section_names[section], (unsigned)row, "i", style, out);
    qn_str_add(out, " = ");
    if (section == QN_FIT_JAC && !style.is_wgsl && strcmp(style.jac_type, "real") != 0)
        qn_str_addf(out, "(%s)", style.jac_type);
    QN_TRY(qn_fit_print_operand(p, p->outputs[p->sections[section].first + row], style, out, err));
    qn_str_add(out, ";\n");
out:
    return st;
}

/* Writes every output whose value is `k`. */
static qn_status print_stores(const qn_fit_tape *p, uint32_t k, qn_fit_style style, qn_str *out,
                              qn_err *err)
{
    qn_status st = QN_OK;

    for (int s = 0; s < QN_FIT_N_SECTIONS; s++)
        for (int row = 0; row < p->sections[s].count; row++)
            if (p->outputs[p->sections[s].first + row] == k)
                QN_TRY(print_store(p, s, row, style, out, err));
out:
    return st;
}

qn_status qn_fit_print_values(const qn_fit_tape *tape, qn_fit_style style, qn_str *out, qn_err *err)
{
    uint8_t *has_block = calloc((size_t)tape->n_slots + 1, 1);
    qn_status st = QN_OK;

    if (!has_block)
        return qn_fail(err, QN_ERR_NOMEM, "%s: text of %d slots", tape->name, tape->n_slots);
    for (int k = 0; k < tape->n_values; k++) {
        const qn_fit_value *v = &tape->values[k];

        if (v->op != QN_FIT_OP_lit && qn_fit_op_has((qn_fit_opcode)v->op, QN_FIT_IS_LEAF)) {
            print_load(tape, k, has_block, style, out);
        } else if (v->op != QN_FIT_OP_lit) {
            qn_str_add(out, "    ");
            QN_TRY(qn_fit_print_statement(tape, k, style, out, err));
            qn_str_add(out, "\n");
        }
        QN_TRY(print_stores(tape, (uint32_t)k, style, out, err));
    }
out:
    free(has_block);
    return st;
}

qn_status qn_fit_print_map(const qn_fit_tape *tape, const char *name, qn_fit_precision precision,
                           qn_str *out, qn_err *err)
{
    return qn_fit_print_map_stored(tape, name, precision, precision, out, err);
}

qn_status qn_fit_print_map_stored(const qn_fit_tape *tape, const char *name,
                                  qn_fit_precision precision, qn_fit_precision storage, qn_str *out,
                                  qn_err *err)
{
    const char *const stored = storage == precision    ? "real"
                               : storage == QN_FIT_F64 ? "double"
                                                       : "float";
    const qn_fit_style style = { .precision = precision,
                                 .jac_type = stored,
                                 .data_type = tape->reads_jacobian ? stored : "real" };
    qn_fit_arg args[QN_FIT_N_ARGS];
    const int n_args = qn_fit_kernel_args(tape, args);
    qn_status st = QN_OK;

    print_comment(tape, out);
    qn_str_addf(out, "MAP(%s", name);
    for (int a = 0; a < n_args; a++) {
        qn_str_add(out, ", ");
        print_arg(args[a], style, out);
    }
    qn_str_add(out, ")\n{\n    const i64 i = GI;\n");
    QN_TRY(qn_fit_print_values(tape, style, out, err));
    qn_str_add(out, "}\n");
    if (out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "%s: kernel text", tape->name);
out:
    return st;
}

/* The function. */

int qn_fit_function_inputs(const qn_fit_tape *tape, uint32_t *out)
{
    int n = 0;

    for (int k = 0; k < tape->n_values; k++)
        if (tape->values[k].op != QN_FIT_OP_lit &&
            qn_fit_op_has((qn_fit_opcode)tape->values[k].op, QN_FIT_IS_LEAF))
            out[n++] = (uint32_t)k;
    return n;
}

qn_status qn_fit_print_function(const qn_fit_tape *tape, const char *name,
                                qn_fit_precision precision, qn_str *out, qn_err *err)
{
    const qn_fit_style style = { .precision = precision };
    uint32_t *inputs = calloc((size_t)tape->n_values + 1, sizeof *inputs);
    qn_status st = QN_OK;
    int n_inputs;

    if (!inputs)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: text of %d values", tape->name, tape->n_values);
    print_comment(tape, out);
    n_inputs = qn_fit_function_inputs(tape, inputs);
    qn_str_addf(out, "typedef struct {\n    real v[%d];\n} %s_out;\n\nFN %s_out %s(",
                tape->n_outputs ? tape->n_outputs : 1, name, name, name);
    for (int k = 0; k < n_inputs; k++)
        qn_str_addf(out, "%sconst real in%u", k ? ", " : "", inputs[k]);
    qn_str_addf(out, ")\n{\n    %s_out r;\n", name);
    for (int k = 0; k < tape->n_values; k++)
        if (!qn_fit_op_has((qn_fit_opcode)tape->values[k].op, QN_FIT_IS_LEAF)) {
            qn_str_add(out, "    ");
            QN_TRY(qn_fit_print_statement(tape, k, style, out, err));
            qn_str_add(out, "\n");
        }
    for (int k = 0; k < tape->n_outputs; k++) {
        qn_str_addf(out, "    r.v[%d] = ", k);
        QN_TRY(qn_fit_print_operand(tape, tape->outputs[k], style, out, err));
        qn_str_add(out, ";\n");
    }
    qn_str_add(out, "    return r;\n}\n");
    if (out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "%s: function text", tape->name);
out:
    free(inputs);
    return st;
}
