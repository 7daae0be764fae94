/* make_program.c - random programs: of the solve form, and batt functions of plain, piled and
 * guarded steps with records. */
#include "lab/made/make.h"
#include "lab/made/maker.h"

/* Variables are `letter` and a number; `ending` is ".t" in piled steps: the value of a step. */
static void add_operand(qn_str *out, qn_arc_operand operand, char letter, const char *ending)
{
    if (operand.word)
        qn_str_add(out, operand.word);
    else
        qn_str_addf(out, "%c%d%s", letter, operand.variable, ending);
}

static void add_args(qn_str *out, const qn_arc_call *call, char letter, const char *ending)
{
    for (int i = 0; i < call->n_args; i++) {
        qn_str_add(out, i ? ", " : "");
        add_operand(out, call->args[i], letter, ending);
    }
}

static void add_call(qn_str *out, const qn_arc_call *call, char letter)
{
    add_operand(out, call->function, letter, "");
    qn_str_add(out, "(");
    add_args(out, call, letter, "");
    qn_str_add(out, ")\n");
}

/* Solve. */

enum { LEAST_STATEMENTS = 5, MOST_STATEMENTS = 80, MOST_GROWN = 3 };

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
        add_call(out, &call, 'x');
        qn_arc_maker_assign(&maker, &call);
    }
    qn_str_add(out, "    return O\n");
    qn_arc_maker_free(&maker);
}

/* Batt. */

enum { PILED_PCT = 60, GUARDED_PCT = 15, OUTPUT_PCT = 30, SCORE_PCT = 3 };

static void add_plain(qn_str *out, const qn_arc_call *call, const char *indent, int step)
{
    qn_str_addf(out, "%st%d = ", indent, step);
    add_call(out, call, 't');
}

static void add_guarded(qn_str *out, const qn_arc_call *call, int step)
{
    qn_str_add(out, "    try:\n");
    add_plain(out, call, "        ", step);
    qn_str_addf(out,
                "    except (AttributeError, TypeError, ValueError):\n"
                "        t%d = _get_safe_default(%s)\n",
                step, call->function.word);
}

/* True if all steps that the call uses have succeeded. */
static void add_condition(qn_str *out, const qn_arc_call *call)
{
    int n = 0;

    if (!call->function.word)
        qn_str_addf(out, "%st%d.ok", n++ ? " and " : "", call->function.variable);
    for (int i = 0; i < call->n_args; i++) {
        if (!call->args[i].word)
            qn_str_addf(out, "%st%d.ok", n++ ? " and " : "", call->args[i].variable);
    }
    if (n == 0)
        qn_str_add(out, "True");
}

static void add_piled(qn_str *out, const qn_arc_call *call, int step)
{
    qn_str_addf(out, "    t%d = env.do_pile(%d, [", step, step);
    add_operand(out, call->function, 't', ".t");
    qn_str_add(out, ", ");
    add_args(out, call, 't', ".t");
    qn_str_add(out, "], ");
    add_condition(out, call);
    qn_str_add(out, ")\n");
}

static void add_records(qn_arc_maker *maker, const qn_arc_call *call, int step, int is_last,
                        qn_str *out)
{
    if (is_last ||
        (call->signature->result == QN_ARC_T_GRID && qn_arc_maker_chance(maker, OUTPUT_PCT)))
        qn_str_addf(out, "    o.append((%d, %s, 'made', t%d))\n", step,
                    qn_arc_maker_chance(maker, 50) ? "True" : "False", step);
    if (qn_arc_maker_chance(maker, SCORE_PCT))
        qn_str_addf(out, "    s.append((%d, 'made', 'step%d', t%d))\n", step, step, step);
}

void qn_arc_make_batt(uint64_t seed, int n_steps, const qn_arc_make_options *options, qn_str *out)
{
    qn_arc_maker maker;
    qn_arc_call call;

    if (n_steps < 0 || !qn_arc_maker_init(&maker, seed, n_steps)) {
        out->failed = 1;
        return;
    }
    maker.is_batt = 1;
    maker.input_pct = 50; /* a bad step spoils those that depend on it */
    maker.most_grown = 3 + n_steps / 100;
    qn_str_add(out, "def batt(task_id, S, I, C, log_path):\n    s = []\n    o = []\n");
    for (int step = 1; step <= n_steps; step++) {
        const int form = qn_arc_maker_below(&maker, 100);

        qn_arc_maker_draw(&maker, QN_ARC_T_NONE, &call);
        if (qn_arc_maker_chance(&maker, options->wrong_pct))
            qn_arc_maker_spoil(&maker, &call);
        if (form < PILED_PCT)
            add_piled(out, &call, step);
        else if (form < PILED_PCT + GUARDED_PCT && call.function.word)
            add_guarded(out, &call, step);
        else
            add_plain(out, &call, "    ", step);
        qn_arc_maker_assign(&maker, &call);
        add_records(&maker, &call, step, step == n_steps, out);
    }
    qn_str_add(out, "    return o, s\n");
    qn_arc_maker_free(&maker);
}
