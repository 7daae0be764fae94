/* parse_batt.c - parses what only batt programs have: lists, piled and guarded steps.
 *
 * A piled step names the steps that must be ok. The steps it uses must be ok anyway, so only the
 * others are stored with the node.
 */
#include "domain/arc/program/parse_impl.h"

#include <stdlib.h>
#include <string.h>

void qn_arc_parse_list(qn_arc_parser *p, const qn_arc_token *name)
{
    qn_arc_variable *v;

    if (!qn_arc_is_word(p, name, "o") && !qn_arc_is_word(p, name, "s")) {
        qn_arc_error(p, name, "lists are called o and s");
        return;
    }
    qn_arc_want_char(p, '[');
    qn_arc_want_char(p, ']');
    qn_arc_want_end(p);
    qn_arc_assign(p, name, QN_ARC_NO_NODE);
    v = qn_arc_variable_of(p, name);
    if (v)
        v->is_list = 1;
}

/* Piled steps. */

/* The number at the start of a pile must match the variable, as in t5 = env.do_pile(5, ... */
static void parse_step_number(qn_arc_parser *p, const qn_arc_token *name)
{
    const qn_arc_token *token = p->token;
    const char *text = qn_arc_text_of(p, name);
    int64_t number, expected = -1;

    if (!qn_arc_parse_number(p, &number))
        return;
    if (text[0] == 't' && name->len > 1 && name->len < 11) {
        expected = 0;
        for (uint32_t i = 1; i < name->len && expected >= 0; i++)
            expected = text[i] >= '0' && text[i] <= '9' ? expected * 10 + text[i] - '0' : -1;
    }
    if (number != expected)
        qn_arc_error(p, token, "step number %lld in the assignment of '%.*s'", (long long)number,
                     name->len < 40 ? (int)name->len : 40, text);
}

static int is_operand(const qn_arc_node *node, int other)
{
    for (int i = 0; i < node->n_args; i++)
        if (node->a[i] == other)
            return 1;
    return 0;
}

/* Notes once that `step` needs `other` to be ok. `at` names it. */
static void add_need(qn_arc_parser *p, int step, int other, const qn_arc_token *at)
{
    qn_arc_dag *dag = &p->program->dag;
    qn_arc_node *node = &dag->nodes[step];

    if (is_operand(node, other) || dag->nodes[other].op == QN_ARC_NODE_PARAM)
        return;
    for (int i = 0; i < node->n_needs; i++)
        if (dag->needs[node->needs + i] == other)
            return;
    if (node->n_needs == QN_ARC_MOST_NEEDS) {
        qn_arc_error(p, at, "the step waits for more than %d others", QN_ARC_MOST_NEEDS);
        p->is_lost = 1;
    } else if (qn_arc_dag_need(dag, other))
        node->n_needs++;
    else
        p->no_memory = 1;
}

/* Parses True, False, or steps that must be ok: t1.ok and t2.ok and ... Returns 0 if it can only be
 * false. */
static int parse_ok(qn_arc_parser *p, int step)
{
    int can_be_ok = 1;

    for (;;) {
        const qn_arc_token *name = qn_arc_want(p, QN_ARC_TOK_NAME);

        if (p->is_lost)
            return 1;
        if (qn_arc_is_word(p, name, "False")) {
            can_be_ok = 0;
        } else if (!qn_arc_is_word(p, name, "True")) {
            qn_arc_variable *v = qn_arc_variable_of(p, name);

            qn_arc_want_char(p, '.');
            qn_arc_want_word(p, "ok");
            if (p->is_lost)
                return 1;
            if (!v || !v->is_assigned || v->is_list) {
                qn_arc_unknown(p, name, "unknown step");
            } else {
                v->is_used = 1;
                if (step >= 0 && v->node >= 0)
                    add_need(p, step, v->node, name);
            }
        }
        if (!qn_arc_is_word(p, p->token, "and"))
            return can_be_ok;
        p->token++;
    }
}

int qn_arc_parse_pile(qn_arc_parser *p, const qn_arc_token *name)
{
    const qn_arc_token *function;
    int step = QN_ARC_NO_NODE;
    char close = ')';

    p->token += 2; /* env . */
    qn_arc_want_word(p, "do_pile");
    qn_arc_want_char(p, '(');
    if (!p->is_lost)
        parse_step_number(p, name);
    qn_arc_want_char(p, ',');
    if (!p->is_lost && qn_arc_is_char(p->token, '[')) {
        p->token++;
        close = ']';
    } else {
        qn_arc_want_char(p, '(');
    }
    function = qn_arc_want(p, QN_ARC_TOK_NAME);
    if (qn_arc_take_char(p, '.'))
        qn_arc_want_word(p, "t");
    if (!p->is_lost && !qn_arc_is_char(p->token, close))
        qn_arc_want_char(p, ',');
    if (!p->is_lost)
        step = qn_arc_call_until(p, function, close);
    qn_arc_want_char(p, ',');
    if (!p->is_lost && !parse_ok(p, step) && step >= 0) {
        qn_arc_node *node = &p->program->dag.nodes[step];

        *node = (qn_arc_node){ .op = ARC_OP_FAIL, .line = node->line, .needs = node->needs };
    }
    qn_arc_want_char(p, ')');
    qn_arc_want_end(p);
    return step;
}

/* Guarded steps. */

/* Moves to the line after the colon if nothing follows on its own line. */
static void enter_block(qn_arc_parser *p, int end)
{
    const int outer = p->words.lines[p->line].indent;

    qn_arc_want_char(p, ':');
    if (p->is_lost || p->token->kind != QN_ARC_TOK_END)
        return;
    if (p->line + 1 >= end) {
        qn_arc_unexpected(p);
        return;
    }
    qn_arc_start_line(p, p->line + 1);
    if (p->words.lines[p->line].is_broken) {
        p->program->n_errors++;
        p->is_lost = 1;
    } else if (p->words.lines[p->line].indent <= outer) {
        qn_arc_error(p, p->token, "bad indentation: not deeper than line %d",
                     p->words.tokens[p->words.lines[p->line - 1].first].line);
    }
}

/* except (names): NAME = _get_safe_default(function). Returns the kind of the default. */
static int parse_except(qn_arc_parser *p, const qn_arc_token *name, int end)
{
    const qn_arc_token *token;
    int op;

    qn_arc_want_word(p, "except");
    while (!p->is_lost && p->token->kind != QN_ARC_TOK_END && !qn_arc_is_char(p->token, ':'))
        p->token++;
    enter_block(p, end);
    token = qn_arc_want(p, QN_ARC_TOK_NAME);
    if (!p->is_lost && (token->len != name->len ||
                        memcmp(qn_arc_text_of(p, token), qn_arc_text_of(p, name), name->len)))
        qn_arc_error(p, token, "the default is given to another name than '%.*s'",
                     name->len < 40 ? (int)name->len : 40, qn_arc_text_of(p, name));
    qn_arc_want_char(p, '=');
    qn_arc_want_word(p, "_get_safe_default");
    qn_arc_want_char(p, '(');
    token = qn_arc_want(p, QN_ARC_TOK_NAME);
    if (qn_arc_take_char(p, '.'))
        qn_arc_want_word(p, "t");
    qn_arc_want_char(p, ')');
    qn_arc_want_end(p);
    if (p->is_lost)
        return ARC_GUARD_NO;
    /* A variable hides a primitive; its value is not known here. */
    op = qn_arc_op_named(qn_arc_text_of(p, token), token->len);
    if (qn_arc_variable_of(p, token) && qn_arc_variable_of(p, token)->is_assigned)
        op = -1;
    else if (op < 0)
        qn_arc_unknown(p, token, "unknown name");
    return op >= 0 ? qn_arc_op_at(op)->guard : ARC_GUARD_TUPLE;
}

/* Skips the lines of a guarded step that could not be parsed. */
static void skip_guarded(qn_arc_parser *p, int indent, int end)
{
    while (p->line + 1 < end) {
        const qn_arc_line *next = &p->words.lines[p->line + 1];

        if (next->indent <= indent && !qn_arc_is_word(p, &p->words.tokens[next->first], "except"))
            return;
        p->line++;
    }
}

void qn_arc_parse_guarded(qn_arc_parser *p, int end)
{
    const qn_arc_token *start = p->token++, *name;
    const int n_calls = p->n_calls, indent = p->words.lines[p->line].indent;
    int step = QN_ARC_NO_NODE, guard = ARC_GUARD_NO;

    enter_block(p, end);
    name = p->token;
    qn_arc_want(p, QN_ARC_TOK_NAME);
    qn_arc_want_char(p, '=');
    if (!p->is_lost)
        step = qn_arc_parse_call(p);
    if (!p->is_lost)
        qn_arc_want_end(p);
    if (!p->is_lost && p->n_calls - n_calls != 1)
        qn_arc_error(p, name, "a guarded step is one call, without others inside");
    if (!p->is_lost) {
        if (p->line + 1 < end)
            qn_arc_start_line(p, p->line + 1);
        if (p->token->kind != QN_ARC_TOK_END && qn_arc_is_word(p, p->token, "except")) {
            guard = parse_except(p, name, end);
        } else {
            qn_arc_error(p, start, "'try' without 'except'");
            p->line -= p->token->kind != QN_ARC_TOK_END;
            p->is_lost = 1;
        }
    }
    if (name->kind == QN_ARC_TOK_NAME) {
        p->program->n_statements++;
        qn_arc_assign(p, name, p->is_lost ? QN_ARC_NO_NODE : step);
    }
    if (p->is_lost)
        skip_guarded(p, indent, end);
    else if (step >= 0)
        p->program->dag.nodes[step].guard = (uint8_t)guard;
}

/* Records. */

static int is_true(const qn_arc_parser *p, const qn_arc_token *token)
{
    return qn_arc_is_word(p, token, "True") || qn_arc_is_word(p, token, "T");
}

static void parse_flag(qn_arc_parser *p, int *out)
{
    const qn_arc_token *token = p->token;

    *out = is_true(p, token);
    if (!*out && !qn_arc_is_word(p, token, "False") && !qn_arc_is_word(p, token, "F"))
        qn_arc_unexpected(p);
    p->token += !p->is_lost;
}

static char *parse_text(qn_arc_parser *p)
{
    const qn_arc_token *token = qn_arc_want(p, QN_ARC_TOK_STRING);

    if (p->is_lost)
        return NULL;
    if (token->len > QN_ARC_MOST_TEXT) {
        qn_arc_error(p, token, "text of %u bytes is longer than %d", token->len, QN_ARC_MOST_TEXT);
        p->is_lost = 1;
        return NULL;
    }
    return qn_arc_token_text(p, token);
}

/* o.append((N, BOOL, 'task', value)) or s.append((N, 'task', 'name', value)) */
void qn_arc_parse_append(qn_arc_parser *p, const qn_arc_token *name)
{
    const qn_arc_variable *v = qn_arc_variable_of(p, name);
    qn_arc_record record = { .line = name->line, .node = QN_ARC_NO_NODE };

    if (!v || !v->is_assigned || !v->is_list) {
        if (qn_arc_is_word(p, name, "o") || qn_arc_is_word(p, name, "s"))
            qn_arc_unknown(p, name, "unknown list");
        else
            qn_arc_unexpected(p);
        return;
    }
    record.list = qn_arc_text_of(p, name)[0];
    p->token += 2;
    qn_arc_want_word(p, "append");
    qn_arc_want_char(p, '(');
    qn_arc_want_char(p, '(');
    if (!p->is_lost)
        qn_arc_parse_number(p, &record.number);
    qn_arc_want_char(p, ',');
    if (record.list == 'o')
        parse_flag(p, &record.flag);
    else
        record.task = parse_text(p);
    qn_arc_want_char(p, ',');
    if (record.list == 'o')
        record.task = parse_text(p);
    else
        record.name = parse_text(p);
    qn_arc_want_char(p, ',');
    record.node = qn_arc_parse_arg(p);
    qn_arc_take_char(p, ',');
    qn_arc_want_char(p, ')');
    qn_arc_want_char(p, ')');
    qn_arc_want_end(p);
    if (!record.name)
        record.name = strdup("");
    if (!p->is_lost && record.node >= 0 && record.name && record.task) {
        if (qn_arc_dag_record(&p->program->dag, &record))
            return;
        p->no_memory = 1;
    }
    free(record.task);
    free(record.name);
}
