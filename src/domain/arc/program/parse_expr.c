/* parse_expr.c - turns names, numbers, tuples and calls into nodes.
 *
 * Recursion is bounded, since the lexer allows at most QN_ARC_MOST_BRACKETS nested brackets.
 */
#include "domain/arc/program/parse_impl.h"

#include <string.h>

#include "kernel/arc/arc_ops.h"
#include "util/list.h"

enum { MOST_ARGS = 4 };

/* Nodes. */

int qn_arc_add_node(qn_arc_parser *p, const qn_arc_node *node)
{
    int made;

    for (int i = 0; i < node->n_args; i++)
        if (node->a[i] < 0)
            return QN_ARC_NO_NODE;
    made = qn_arc_dag_add(&p->program->dag, node);
    if (made < 0)
        p->no_memory = 1;
    return made;
}

static int add_constant(qn_arc_parser *p, const qn_arc_value *value)
{
    return qn_arc_add_node(p, &(qn_arc_node){ .op = QN_ARC_NODE_CONST, .value = value });
}

static int add_new_constant(qn_arc_parser *p, qn_arc_value content)
{
    qn_arc_value *value = qn_arc_values(p->file->heap, 1);

    if (!value) {
        p->no_memory = 1;
        return QN_ARC_NO_NODE;
    }
    *value = content;
    return add_constant(p, value);
}

static int add_primitive(qn_arc_parser *p, int op)
{
    return add_new_constant(p, (qn_arc_value){ .kind = QN_ARC_PRIM, .number = op });
}

static void push(qn_arc_parser *p, int node)
{
    if (QN_GROW(p->stack, p->n_stack, &p->stack_room, "operands", NULL) == QN_OK)
        p->stack[p->n_stack++] = node;
    else
        p->no_memory = 1;
}

/* Names and numbers. */

static int parse_name(qn_arc_parser *p, const qn_arc_token *name)
{
    const char *text = qn_arc_text_of(p, name);
    qn_arc_variable *v = qn_arc_variable_of(p, name);
    const qn_arc_value *value;
    int op;

    if (v && v->is_assigned && !v->is_list) {
        v->is_used = 1;
        return v->node;
    }
    if (qn_arc_is_word(p, name, "True"))
        return add_new_constant(p, (qn_arc_value){ .kind = QN_ARC_BOOL, .number = 1 });
    if (qn_arc_is_word(p, name, "False"))
        return add_new_constant(p, (qn_arc_value){ .kind = QN_ARC_BOOL });
    if (qn_arc_is_word(p, name, "None"))
        return add_new_constant(p, (qn_arc_value){ .kind = QN_ARC_NONE });
    value = qn_arc_bound(p, name);
    if (!value)
        value = qn_arc_constant_named(text, name->len);
    if (value)
        return add_constant(p, value);
    op = qn_arc_op_named(text, name->len);
    if (op >= 0)
        return add_primitive(p, op);
    qn_arc_unknown(p, name, "unknown name");
    return QN_ARC_NO_NODE;
}

int qn_arc_parse_number(qn_arc_parser *p, int64_t *out)
{
    const int is_negative = qn_arc_take_char(p, '-');
    const qn_arc_token *token = qn_arc_want(p, QN_ARC_TOK_INT);
    const char *text = qn_arc_text_of(p, token);
    int64_t number = 0;

    if (p->is_lost)
        return 0;
    for (uint32_t i = 0; i < token->len; i++) {
        if (text[i] < '0' || text[i] > '9') {
            qn_arc_error(p, token, "'%.*s' is no number", token->len < 40 ? (int)token->len : 40,
                         text);
            p->is_lost = 1;
            return 0;
        }
        if (number <= INT32_MAX)
            number = number * 10 + (text[i] - '0');
    }
    if (number > (int64_t)INT32_MAX + is_negative) {
        qn_arc_error(p, token, "number %.*s is beyond 32 bits",
                     token->len < 40 ? (int)token->len : 40, text);
        return 0;
    }
    *out = is_negative ? -number : number;
    return 1;
}

/* Tuples. */

static int constant_tuple(qn_arc_parser *p, const int *nodes, int n)
{
    qn_arc_value *items = qn_arc_values(p->file->heap, n ? n : 1);

    if (!items) {
        p->no_memory = 1;
        return QN_ARC_NO_NODE;
    }
    for (int i = 0; i < n; i++)
        items[i] = *p->program->dag.nodes[nodes[i]].value;
    return add_new_constant(p, (qn_arc_value){ .kind = QN_ARC_TUPLE, .n = n, .items = items });
}

/* Four at a time; longer tuples are joined by `combine`. */
static int variable_tuple(qn_arc_parser *p, const int *nodes, int n, int line)
{
    int whole = QN_ARC_NO_NODE;

    for (int at = 0; at < n; at += MOST_ARGS) {
        qn_arc_node part = { .op = ARC_OP_TUPLE, .line = line };
        int made;

        part.n_args = (uint8_t)(n - at < MOST_ARGS ? n - at : MOST_ARGS);
        memcpy(part.a, nodes + at, part.n_args * sizeof *nodes);
        made = qn_arc_add_node(p, &part);
        whole = at == 0 ? made
                        : qn_arc_add_node(p, &(qn_arc_node){ .op = ARC_OP_combine,
                                                             .n_args = 2,
                                                             .a = { whole, made },
                                                             .line = line });
    }
    return whole;
}

static int parse_tuple(qn_arc_parser *p)
{
    const int base = p->n_stack, line = p->token->line;
    int has_comma = 0, is_constant = 1, is_whole = 1, made = QN_ARC_NO_NODE;

    qn_arc_want_char(p, '(');
    while (!p->is_lost && !qn_arc_is_char(p->token, ')')) {
        push(p, qn_arc_parse_arg(p));
        if (!qn_arc_take_char(p, ','))
            break;
        has_comma = 1;
    }
    qn_arc_want_char(p, ')');
    for (int i = base; i < p->n_stack; i++) {
        const int node = p->stack[i];

        is_whole = is_whole && node >= 0;
        is_constant = is_constant && is_whole && p->program->dag.nodes[node].value != NULL;
    }
    if (!p->is_lost && !p->no_memory && is_whole) {
        const int n = p->n_stack - base;
        const int *items = n ? p->stack + base : NULL; /* nothing may be on the stack yet */

        if (n == 1 && !has_comma)
            made = items[0];
        else if (is_constant)
            made = constant_tuple(p, items, n);
        else
            made = variable_tuple(p, items, n, line);
    }
    p->n_stack = base;
    return made;
}

/* Calls. */

typedef enum { CALLS_NOTHING, CALLS_PRIMITIVE, CALLS_VALUE } callee_kind;

/* What `name` stands for: an opcode, or a node that holds a function when the program runs. */
static callee_kind resolve_callee(qn_arc_parser *p, const qn_arc_token *name, int *out)
{
    qn_arc_variable *v = qn_arc_variable_of(p, name);
    const qn_arc_value *bound;

    if (v && v->is_assigned && !v->is_list) {
        v->is_used = 1;
        *out = v->node;
        return CALLS_VALUE;
    }
    bound = qn_arc_bound(p, name);
    if (bound && (bound->kind == QN_ARC_PRIM || bound->kind == QN_ARC_CLOS)) {
        *out = add_constant(p, bound);
        return CALLS_VALUE;
    }
    if (bound || qn_arc_constant_named(qn_arc_text_of(p, name), name->len) ||
        qn_arc_is_word(p, name, "True") || qn_arc_is_word(p, name, "False") ||
        qn_arc_is_word(p, name, "None")) {
        qn_arc_error(p, name, "'%.*s' is a constant, not a function", (int)name->len,
                     qn_arc_text_of(p, name));
        return CALLS_NOTHING;
    }
    *out = qn_arc_op_named(qn_arc_text_of(p, name), name->len);
    if (*out >= 0)
        return CALLS_PRIMITIVE;
    qn_arc_unknown(p, name, "unknown name");
    return CALLS_NOTHING;
}

static int call_primitive(qn_arc_parser *p, const qn_arc_token *name, int op, const int *args,
                          int n)
{
    const qn_arc_op *row = qn_arc_op_at(op);
    qn_arc_node node = { .op = (uint16_t)op, .line = name->line };
    const int without_key =
        (op == ARC_OP_get_nth_by_key_t || op == ARC_OP_get_nth_by_key_f) && n == 2;

    if (n != row->arity && !without_key) {
        qn_arc_error(p, name, "'%.*s' takes %d argument%s, not %d", (int)name->len,
                     qn_arc_text_of(p, name), row->arity, row->arity == 1 ? "" : "s", n);
        return QN_ARC_NO_NODE;
    }
    memcpy(node.a, args, (size_t)n * sizeof *args);
    if (without_key)
        node.a[n++] = add_primitive(p, ARC_OP_identity);
    node.n_args = (uint8_t)n;
    p->program->n_primitive_calls++;
    return qn_arc_add_node(p, &node);
}

static int call_value(qn_arc_parser *p, const qn_arc_token *name, int function, const int *args,
                      int n)
{
    qn_arc_node node = { .op = ARC_OP_CALL, .line = name->line };

    if (n < 1 || n > MOST_ARGS) {
        qn_arc_error(p, name, "functions take 1 to %d arguments, not %d", MOST_ARGS, n);
        return QN_ARC_NO_NODE;
    }
    p->program->n_variable_calls++;
    /* An instruction holds the function and up to three arguments. Fixing the first of four makes a
     * function of three that fails exactly when the call of four would. */
    if (n == MOST_ARGS) {
        function = qn_arc_add_node(p, &(qn_arc_node){ .op = ARC_OP_lbind,
                                                      .n_args = 2,
                                                      .a = { function, args[0] },
                                                      .line = name->line });
        args++;
        n--;
    }
    node.a[0] = function;
    memcpy(node.a + 1, args, (size_t)n * sizeof *args);
    node.n_args = (uint8_t)(n + 1);
    return qn_arc_add_node(p, &node);
}

int qn_arc_call_until(qn_arc_parser *p, const qn_arc_token *callee, char close)
{
    const int base = p->n_stack;
    callee_kind kind;
    int args[MOST_ARGS] = { 0 };
    int function = QN_ARC_NO_NODE, n;

    p->n_calls++;
    kind = resolve_callee(p, callee, &function);
    while (!p->is_lost && !qn_arc_is_char(p->token, close)) {
        push(p, qn_arc_parse_arg(p));
        if (!qn_arc_take_char(p, ','))
            break;
    }
    qn_arc_want_char(p, close);
    n = p->n_stack - base;
    for (int i = 0; i < n && i < MOST_ARGS; i++)
        args[i] = p->stack[base + i];
    p->n_stack = base;
    if (p->is_lost || p->no_memory || kind == CALLS_NOTHING)
        return QN_ARC_NO_NODE;
    return kind == CALLS_PRIMITIVE ? call_primitive(p, callee, function, args, n)
                                   : call_value(p, callee, function, args, n);
}

int qn_arc_parse_call(qn_arc_parser *p)
{
    const qn_arc_token *name = qn_arc_want(p, QN_ARC_TOK_NAME);

    qn_arc_want_char(p, '(');
    return p->is_lost ? QN_ARC_NO_NODE : qn_arc_call_until(p, name, ')');
}

/* Arguments. */

/* In batt programs "t5.t" is the value of step t5. */
static void skip_value_mark(qn_arc_parser *p)
{
    if (p->program->dag.flags & ARC_FLAG_BATT && qn_arc_take_char(p, '.'))
        qn_arc_want_word(p, "t");
}

int qn_arc_parse_arg(qn_arc_parser *p)
{
    const qn_arc_token *token = p->token;
    int64_t number;
    int node;

    if (p->is_lost)
        return QN_ARC_NO_NODE;
    if (token->kind == QN_ARC_TOK_NAME && qn_arc_is_char(token + 1, '('))
        return qn_arc_parse_call(p);
    if (token->kind == QN_ARC_TOK_NAME) {
        p->token++;
        node = parse_name(p, token);
        skip_value_mark(p);
        return node;
    }
    if (token->kind == QN_ARC_TOK_INT || qn_arc_is_char(token, '-')) {
        if (!qn_arc_parse_number(p, &number))
            return QN_ARC_NO_NODE;
        return add_new_constant(p, (qn_arc_value){ .kind = QN_ARC_INT, .number = number });
    }
    if (qn_arc_is_char(token, '('))
        return parse_tuple(p);
    qn_arc_unexpected(p);
    return QN_ARC_NO_NODE;
}
