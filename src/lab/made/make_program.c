/* make_program.c - random programs of the solve form. */
#include "lab/made/make.h"
#include "lab/made/maker.h"

enum { LEAST_STATEMENTS = 5, MOST_STATEMENTS = 80, MOST_GROWN = 3 };

static void add_operand(qn_str *out, qn_arc_operand operand)
{
    if (operand.word)
        qn_str_add(out, operand.word);
    else
        qn_str_addf(out, "x%d", operand.variable);
}

static void add_call(qn_str *out, const qn_arc_call *call)
{
    add_operand(out, call->function);
    qn_str_add(out, "(");
    for (int i = 0; i < call->n_args; i++) {
        qn_str_add(out, i ? ", " : "");
        add_operand(out, call->args[i]);
    }
    qn_str_add(out, ")\n");
}

void qn_arc_make_program(uint64_t seed, const char *name, const qn_arc_make_options *options,
                         qn_str *out)
{
    qn_arc_maker maker;
    qn_arc_call call;
    int n = options->n_statements;
    int wrong = 0;

    if (!qn_arc_maker_init(&maker, seed, n > MOST_STATEMENTS ? n : MOST_STATEMENTS)) {
        out->failed = 1;
        return;
    }
    maker.most_grown = MOST_GROWN;
    if (n <= 0)
        n = LEAST_STATEMENTS + qn_arc_maker_below(&maker, MOST_STATEMENTS - LEAST_STATEMENTS + 1);
    if (qn_arc_maker_chance(&maker, options->wrong_pct))
        wrong = 1 + qn_arc_maker_below(&maker, n);
    qn_str_addf(out, "def solve_%s(I):\n", name);
    for (int i = 1; i <= n; i++) {
        const int is_last = i == n;

        if (is_last)
            maker.input_pct = 0;
        qn_arc_maker_draw(
            &maker, is_last && qn_arc_maker_chance(&maker, 90) ? QN_ARC_T_GRID : QN_ARC_T_NONE,
            &call);
        if (i == wrong)
            qn_arc_maker_spoil(&maker, &call);
        if (is_last)
            qn_str_add(out, "    O = ");
        else
            qn_str_addf(out, "    x%d = ", i);
        add_call(out, &call);
        qn_arc_maker_assign(&maker, &call);
    }
    qn_str_add(out, "    return O\n");
    qn_arc_maker_free(&maker);
}
