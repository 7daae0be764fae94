/* cmd_arc_dis.c - `quern arc dis` and `quern arc ops`: bytecode, and the primitives. */
#include "cli/arc_options.h"
#include "cli/cmd_arc.h"

#include "domain/arc/compile/code_file.h"
#include "domain/arc/compile/dis.h"
#include "domain/arc/value/known.h"
#include "kernel/arc/arc_ops.h"
#include "util/table.h"

#include <string.h>

/* ---- dis ------------------------------------------------------------------------------- */

static const qn_opt dis_options[] = {
    { 0, "program", QN_OPT_TEXT, .value = "ID", .help = "this one alone" },
    { 0, "notes", QN_OPT_FLAG, .help = "print what is odd in the file instead, with its place" },
    { 'o', NULL, QN_OPT_TEXT, .value = "FILE.qarc", .help = "write bytecode instead of text" },
    { 0 }
};

static const char *const dis_examples[] = {
    "printf 'def solve_turn(I):\\n    O = vmirror(I)\\n    return O\\n' >solvers.py",
    "quern arc dis solvers.py", NULL
};

static qn_status print_text(const qn_arc_programs *programs, const char *id, qn_err *err)
{
    qn_str text = { 0 };
    qn_status st = QN_OK;
    int n = 0;

    for (int i = 0; i < programs->n; i++)
        if (!id || !strcmp(id, programs->codes[i].id)) {
            QN_TRY(qn_arc_disassemble(&programs->codes[i], &text, err));
            n++;
        }
    if (!n)
        st = qn_fail(err, QN_ERR_USAGE, "--program: there is no program '%s'", id);
    else
        fputs(qn_str_get(&text), stdout);
out:
    qn_str_free(&text);
    return st;
}

static void print_notes(const qn_arc_programs *programs)
{
    qn_str text = { 0 };

    if (programs->file)
        qn_arc_file_print_notes(programs->file, &text);
    fputs(qn_str_get(&text), stdout);
    qn_str_free(&text);
}

static qn_status run_dis(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_arc_programs programs = { 0 };
    qn_status st = QN_OK;

    (void)ctx;
    QN_TRY(qn_arc_programs_of(args, &programs, err));
    if (qn_flag(args, "notes"))
        print_notes(&programs);
    else if (qn_text(args, "o"))
        QN_TRY(qn_arc_codes_write(qn_text(args, "o"), programs.codes, programs.n, err));
    else
        QN_TRY(print_text(&programs, qn_text(args, "program"), err));
out:
    qn_arc_programs_free(&programs);
    return st;
}

const qn_command qn_verb_arc_dis = {
    .name = "dis",
    .summary = "print programs as the bytecode that devices run",
    .words = "PROGRAMS",
    .min_words = 1,
    .max_words = 1,
    .options = dis_options,
    .examples = dis_examples,
    .bare = 1,
    .run = run_dis,
};

/* ---- ops ------------------------------------------------------------------------------- */

static const qn_opt ops_options[] = {
    { 0, "json", QN_OPT_FLAG, .help = "print JSON instead of a table" }, { 0 }
};

static const char *const ops_examples[] = { "quern arc ops", NULL };

static const char *class_text(char class_)
{
    switch (class_) {
    case 'S':
        return "scalar";
    case 'L':
        return "linear";
    case 'Q':
        return "more";
    case 'H':
        return "calls";
    default:
        return "closure";
    }
}

static qn_status run_ops(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_table table = qn_table_begin("OP", "NAME", "ARGUMENTS", "COST", "PRIORITY");

    (void)ctx;
    for (int i = 0; i < ARC_N_OPS; i++) {
        const qn_arc_op *op = qn_arc_op_at(i);

        qn_table_addf(&table, "%d", i);
        qn_table_add(&table, op->name);
        qn_table_addf(&table, "%d", op->arity);
        qn_table_add(&table, class_text(op->class_));
        qn_table_addf(&table, "%d", op->priority);
    }
    if (!qn_table_print(&table, stdout, qn_flag(args, "json") ? QN_TABLE_JSON : QN_TABLE_TEXT))
        return qn_fail(err, QN_ERR_IO, "cannot write a table to stdout");
    return QN_OK;
}

const qn_command qn_verb_arc_ops = {
    .name = "ops",
    .summary = "list the primitives",
    .options = ops_options,
    .notes = "COST is scalar, linear in the cells, more than that, calls (a function per element)\n"
             "or closure (makes a function). Every primitive runs on every backend;\n"
             "--disable-op and --op-priority of other verbs leave some to the CPU.",
    .examples = ops_examples,
    .bare = 1,
    .run = run_ops,
};
