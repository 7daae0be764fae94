/* cmd_arc_dis.c - `quern arc dis` and `quern arc ops`: bytecode, and the primitives. */
#include "cli/arc_options.h"

#include "domain/arc/compile/compile.h"
#include "domain/arc/compile/passes.h"
#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/table.h"

#include <string.h>

/* Dis. */

static const qn_opt dis_options[] = {
    { 0, "program", QN_OPT_TEXT, .value = "ID", .help = "print only this program" },
    { 0, "notes", QN_OPT_FLAG, .help = "print warnings about the file instead, with their places" },
    { 0, "without", QN_OPT_TEXT, .value = "PASS[,PASS]",
      .help = "leave out passes of the compiler: merge, dead, inline, fusion, all" },
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

    for (int k = 0; k < programs->n_files; k++)
        if (programs->files[k])
            qn_arc_file_print_notes(programs->files[k], &text);
    fputs(qn_str_get(&text), stdout);
    qn_str_free(&text);
}

static qn_status read_passes(const char *list, unsigned *off, qn_err *err)
{
    for (const char *at = list ? list : ""; *at;) {
        const size_t n = strcspn(at, ",");
        const unsigned pass = qn_arc_pass_named(at, n);

        if (!pass)
            return qn_fail(err, QN_ERR_USAGE,
                           "--without: '%.*s' is not a pass; there are merge, dead, inline, fusion "
                           "and its parts, all",
                           (int)n, at);
        *off |= pass;
        at += n + (at[n] == ',');
    }
    return QN_OK;
}

static qn_status run_dis(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_arc_programs programs = { 0 };
    unsigned off = 0;
    qn_status st = QN_OK;

    QN_TRY(read_passes(qn_text(args, "without"), &off, err));
    QN_TRY(qn_arc_programs_of(args, off, &programs, err));
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
    .notes =
        "Parts of fusion: argmin, colorcount, replace, fill, first_of_size, argmax_size,\n"
        "largest_object. What is left out changes times alone: `quern arc bench` of two files\n"
        "that -o wrote shows by how much.",
    .examples = dis_examples,
    .bare = 1,
    .run = run_dis,
};

/* Ops. */

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

/* The kind of result of a primitive, for any operands. */
static const char *result_text(int op)
{
    static const struct {
        unsigned within;
        const char *text;
    } kinds[] = {
        { QN_ARC_IS_BOOL, "bool" },     { QN_ARC_IS_INT, "int" },
        { QN_ARC_IS_PAIR, "pair" },     { QN_ARC_IS_INT | QN_ARC_IS_PAIR, "int or pair" },
        { QN_ARC_IS_IDX, "indices" },   { QN_ARC_IS_A_SET, "set" },
        { QN_ARC_IS_A_TUPLE, "tuple" }, { QN_ARC_IS_FN, "function" },
    };
    const unsigned given = qn_arc_kinds_given(op, NULL).self;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((given & ~kinds[i].within) == 0)
            return kinds[i].text;
    return "any";
}

static qn_status run_ops(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    qn_table table = qn_table_begin("OP", "NAME", "ARGUMENTS", "RESULT", "COST", "PRIORITY");

    for (int i = 0; i < ARC_N_NAMED; i++) {
        const qn_arc_op *op = qn_arc_op_at(i);

        qn_table_addf(&table, "%d\t%s\t%d\t%s\t%s\t%d", i, op->name, op->arity, result_text(i),
                      class_text(op->class_), op->priority);
    }
    return qn_cli_print_table(&table, qn_flag(args, "json"), err);
}

const qn_command qn_verb_arc_ops = {
    .name = "ops",
    .summary = "list the primitives",
    .options = ops_options,
    .notes = "RESULT is what is known for any operands; for a grid, more may be known.\n"
             "COST is scalar, linear in the cells, more than that, calls (a function per element)\n"
             "or closure (makes a function). Every primitive runs on every backend;\n"
             "--disable-op and --op-priority of other verbs leave some to the CPU.",
    .examples = ops_examples,
    .bare = 1,
    .run = run_ops,
};
