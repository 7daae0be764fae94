/* maker.c - draws calls whose arguments fit their signatures. */
#include "lab/made/maker.h"
#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

enum { RECENT = 12 };

int qn_arc_maker_init(qn_arc_maker *maker, uint64_t seed, int most)
{
    *maker = (qn_arc_maker){ .seed = seed, .types = malloc((size_t)most + 1), .input_pct = 30 };
    return maker->types != NULL;
}

void qn_arc_maker_free(qn_arc_maker *maker)
{
    free(maker->types);
    *maker = (qn_arc_maker){ 0 };
}

int qn_arc_maker_below(qn_arc_maker *maker, int n)
{
    return (int)(qn_random_u64(maker->seed, maker->drawn++) % (uint64_t)n);
}

int qn_arc_maker_chance(qn_arc_maker *maker, int pct)
{
    return qn_arc_maker_below(maker, 100) < pct;
}

/* Arguments. */

static int is_function(qn_arc_type type)
{
    return type >= QN_ARC_T_OBJ_INT;
}

/* The last variable of this type, or the `back`-th before it; 0: none. */
static int variable_back(const qn_arc_maker *maker, qn_arc_type type, int back)
{
    for (int v = maker->n_variables; v > 0; v--) {
        if (maker->types[v] == type && back-- == 0)
            return v;
    }
    return 0;
}

static int count_variables(const qn_arc_maker *maker, qn_arc_type type)
{
    int n = 0;

    for (int v = 1; v <= maker->n_variables; v++)
        n += maker->types[v] == type;
    return n;
}

static int is_at_hand(const qn_arc_maker *maker, qn_arc_type type)
{
    size_t n_words = 0;

    return type == QN_ARC_T_GRID || (type == QN_ARC_T_SAMPLES && maker->is_batt) ||
           (qn_arc_words_of(type, &n_words) && n_words) || variable_back(maker, type, 0);
}

/* How often, in percent, a word is chosen even if there is a variable. */
static int share_of_words(qn_arc_type type)
{
    if (is_function(type))
        return 65;
    return type == QN_ARC_T_INT || type == QN_ARC_T_BOOL ? 60 : 30;
}

static qn_arc_operand draw_variable(qn_arc_maker *maker, qn_arc_type type)
{
    const int n = count_variables(maker, type);
    const int recent = n < RECENT ? n : RECENT;
    const int back = qn_arc_maker_below(maker, qn_arc_maker_chance(maker, 75) ? recent : n);

    return (qn_arc_operand){ .variable = variable_back(maker, type, back) };
}

static qn_arc_operand draw_operand(qn_arc_maker *maker, qn_arc_type type)
{
    size_t n_words = 0;
    const char *const *const words = qn_arc_words_of(type, &n_words);
    const int has_variable = variable_back(maker, type, 0) != 0;

    if (type == QN_ARC_T_GRID && (!has_variable || qn_arc_maker_chance(maker, maker->input_pct)))
        return (qn_arc_operand){ .word = "I" };
    if (type == QN_ARC_T_SAMPLES && (!has_variable || qn_arc_maker_chance(maker, 60)))
        return (qn_arc_operand){ .word = "S" };
    if (n_words && (!has_variable || qn_arc_maker_chance(maker, share_of_words(type))))
        return (qn_arc_operand){ .word = words[qn_arc_maker_below(maker, (int)n_words)] };
    return draw_variable(maker, type);
}

/* Calls. */

static int can_call(qn_arc_maker *maker, const qn_arc_signature *s)
{
    if ((s->flags & QN_ARC_SIG_BATT) && !maker->is_batt)
        return 0;
    if ((s->flags & QN_ARC_SIG_GROWS) && maker->n_grown >= maker->most_grown)
        return 0;
    if (!s->op && !variable_back(maker, s->args[0], 0))
        return 0;
    for (int i = 0; i < 4 && s->args[i]; i++) {
        if (!is_at_hand(maker, s->args[i]))
            return 0;
    }
    /* Calls that may fail are drawn less often; otherwise hardly any program would finish. */
    return !(s->flags & QN_ARC_SIG_FAILS) || qn_arc_maker_chance(maker, 20);
}

static void draw_call(qn_arc_maker *maker, qn_arc_type result, qn_arc_call *call)
{
    size_t n = 0;
    const qn_arc_signature *const all = qn_arc_signatures(&n);
    const qn_arc_signature *s;
    int i = 0;

    /* This loop terminates: rot90 of the input can always be called. */
    do
        s = &all[qn_arc_maker_below(maker, (int)n)];
    while ((result && s->result != result) || !can_call(maker, s));
    *call = (qn_arc_call){ .signature = s, .function = { .word = s->op } };
    if (!s->op)
        call->function = draw_variable(maker, s->args[i++]);
    if (s->first)
        call->args[call->n_args++] = (qn_arc_operand){ .word = s->first };
    for (; i < 4 && s->args[i]; i++)
        call->args[call->n_args++] = draw_operand(maker, s->args[i]);
}

/* Whether the result depends on the input. */
static int has_input(const qn_arc_call *call)
{
    if (!call->function.word)
        return 1;
    for (int i = 0; i < call->n_args; i++) {
        const char *const word = call->args[i].word;

        if (!word || strcmp(word, "I") == 0 || strcmp(word, "S") == 0)
            return 1;
    }
    return 0;
}

void qn_arc_maker_draw(qn_arc_maker *maker, qn_arc_type result, qn_arc_call *call)
{
    do
        draw_call(maker, result, call);
    while (!has_input(call) && qn_arc_maker_chance(maker, 85));
    maker->n_grown += (call->signature->flags & QN_ARC_SIG_GROWS) != 0;
}

void qn_arc_maker_spoil(qn_arc_maker *maker, qn_arc_call *call)
{
    const int i = qn_arc_maker_below(maker, call->n_args);
    qn_arc_type type;

    do
        type = (qn_arc_type)qn_arc_maker_below(maker, QN_ARC_N_TYPES);
    while (type == call->signature->args[i] || !is_at_hand(maker, type));
    call->args[i] = draw_operand(maker, type);
}

int qn_arc_maker_assign(qn_arc_maker *maker, const qn_arc_call *call)
{
    maker->types[++maker->n_variables] = (unsigned char)call->signature->result;
    return maker->n_variables;
}
