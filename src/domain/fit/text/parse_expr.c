/* parse_expr.c - parses expressions. */
#include "domain/fit/text/tree.h"

#include <string.h>

static qn_fit_tree *node(qn_fit_parser *p, qn_fit_tree_kind kind, size_t at)
{
    qn_fit_tree *t = qn_fit_ast_alloc(p->ast, sizeof *t);

    if (!t) {
        p->is_lost = 1;
        return &p->ast->nothing;
    }
    t->kind = kind;
    t->at = at;
    return t;
}

static void add_kid(qn_fit_parser *p, qn_fit_tree *t, qn_fit_tree *kid)
{
    qn_fit_tree **at = qn_fit_append(p, (void **)&t->kids, &t->n_kids, sizeof *t->kids);

    if (at)
        *at = kid;
}

static int enter(qn_fit_parser *p)
{
    if (p->depth < QN_FIT_MAX_NESTING) {
        p->depth++;
        return 1;
    }
    if (!p->is_lost)
        qn_fit_diagnose(p->diagnostics, p->token.at, "nested deeper than %d", QN_FIT_MAX_NESTING);
    p->is_lost = 1;
    return 0;
}

/* The leaves. */

void qn_fit_parse_args(qn_fit_parser *p, int is_source, qn_fit_tree ***list, int *n)
{
    while (!p->is_lost && p->token.kind != ')') {
        qn_fit_tree *arg, **at;

        if (*n && !qn_fit_expect(p, ','))
            return;
        if (is_source && p->token.kind == QN_FIT_TOK_STRING) {
            arg = node(p, QN_FIT_TREE_STRING, p->token.at);
            arg->name = qn_fit_token_text(p);
            qn_fit_advance(p);
        } else if (is_source && p->token.kind == QN_FIT_TOK_NAME &&
                   qn_fit_next_token(p->diagnostics, p->token.end).kind == '=') {
            arg = node(p, QN_FIT_TREE_NAMED, p->token.at);
            arg->name = qn_fit_token_text(p);
            qn_fit_advance(p);
            qn_fit_advance(p);
            if (p->token.kind == QN_FIT_TOK_STRING) {
                qn_fit_tree *text = node(p, QN_FIT_TREE_STRING, p->token.at);

                text->name = qn_fit_token_text(p);
                add_kid(p, arg, text);
                qn_fit_advance(p);
            } else {
                add_kid(p, arg, qn_fit_parse_expr(p));
            }
        } else {
            arg = qn_fit_parse_expr(p);
        }
        if ((at = qn_fit_append(p, (void **)list, n, sizeof **list)))
            *at = arg;
    }
}

/* sum(c in list: body), when `in` follows the first name. */
static int is_fold(qn_fit_parser *p, const char *name)
{
    qn_fit_token t = qn_fit_next_token(p->diagnostics, p->token.end);

    if (strcmp(name, "sum") && strcmp(name, "min") && strcmp(name, "max"))
        return 0;
    if (p->token.kind != '(' || t.kind != QN_FIT_TOK_NAME)
        return 0;
    t = qn_fit_next_token(p->diagnostics, t.end);
    return t.kind == QN_FIT_TOK_NAME && t.end - t.at == 2 &&
           !strncmp(p->diagnostics->text + t.at, "in", 2);
}

static qn_fit_tree *parse_postfix(qn_fit_parser *p);

static qn_fit_tree *parse_fold(qn_fit_parser *p, qn_fit_tree *t)
{
    t->kind = QN_FIT_TREE_FOLD;
    qn_fit_advance(p);
    t->variable = qn_fit_token_text(p);
    qn_fit_advance(p);
    qn_fit_advance(p);
    add_kid(p, t, parse_postfix(p));
    qn_fit_expect(p, ':');
    add_kid(p, t, qn_fit_parse_expr(p));
    qn_fit_expect(p, ')');
    return t;
}

static qn_fit_tree *parse_primary(qn_fit_parser *p)
{
    qn_fit_tree *t = node(p, QN_FIT_TREE_NUMBER, p->token.at);

    switch (p->token.kind) {
    case QN_FIT_TOK_NUMBER:
        t->number = p->token.number;
        qn_fit_advance(p);
        return t;
    case QN_FIT_TOK_NAME:
        t->kind = QN_FIT_TREE_NAME;
        t->name = qn_fit_token_text(p);
        if (qn_fit_is_no_value(t->name)) {
            qn_fit_unexpected(p, "an expression");
            return t;
        }
        qn_fit_advance(p);
        if (p->token.kind != '(')
            return t;
        if (is_fold(p, t->name))
            return parse_fold(p, t);
        t->kind = QN_FIT_TREE_CALL;
        qn_fit_advance(p);
        qn_fit_parse_args(p, 0, &t->kids, &t->n_kids);
        qn_fit_expect(p, ')');
        return t;
    case '(':
        qn_fit_advance(p);
        t = qn_fit_parse_expr(p);
        qn_fit_expect(p, ')');
        return t;
    case '[':
        t->kind = QN_FIT_TREE_VECTOR;
        do {
            qn_fit_advance(p);
            add_kid(p, t, qn_fit_parse_expr(p));
        } while (!p->is_lost && p->token.kind == ',');
        qn_fit_expect(p, ']');
        return t;
    default:
        qn_fit_unexpected(p, "an expression");
        return t;
    }
}

/* Operators, tightest first. */

static qn_fit_tree *parse_postfix(qn_fit_parser *p)
{
    qn_fit_tree *t = parse_primary(p);

    for (int n = 0; !p->is_lost && (p->token.kind == '.' || p->token.kind == '['); n++) {
        qn_fit_tree *outer = node(p, QN_FIT_TREE_FIELD, p->token.at);

        if (n == QN_FIT_MAX_NESTING) {
            qn_fit_diagnose(p->diagnostics, p->token.at, "more than %d fields and indices in a row",
                            QN_FIT_MAX_NESTING);
            p->is_lost = 1;
            break;
        }
        add_kid(p, outer, t);
        if (qn_fit_accept(p, '.')) {
            outer->at = p->token.at;
            if (p->token.kind != QN_FIT_TOK_NAME) {
                qn_fit_unexpected(p, "the name of a field");
                break;
            }
            outer->name = qn_fit_token_text(p);
            qn_fit_advance(p);
        } else {
            qn_fit_advance(p);
            outer->kind = QN_FIT_TREE_INDEX;
            add_kid(p, outer, qn_fit_parse_expr(p));
            qn_fit_expect(p, ']');
        }
        t = outer;
    }
    return t;
}

static qn_fit_tree *parse_unary(qn_fit_parser *p)
{
    qn_fit_tree *t, *inner;

    if (p->token.kind == '-' || p->token.kind == '!') {
        t = node(p, QN_FIT_TREE_UNARY, p->token.at);
        t->op = p->token.kind;
    } else {
        inner = parse_postfix(p);
        if (p->is_lost || p->token.kind != '^')
            return inner;
        t = node(p, QN_FIT_TREE_POWER, p->token.at);
        add_kid(p, t, inner);
    }
    if (!enter(p))
        return t;
    qn_fit_advance(p);
    add_kid(p, t, parse_unary(p));
    p->depth--;
    return t;
}

static int is_one_of(int kind, const int *kinds)
{
    for (; *kinds; kinds++)
        if (kind == *kinds)
            return 1;
    return 0;
}

static const int TERM[] = { '*', '/', '%', 0 };
static const int SUM[] = { '+', '-', 0 };
static const int COMPARE[] = { QN_FIT_TOK_EQ, QN_FIT_TOK_NE, '<', QN_FIT_TOK_LE,
                               '>',           QN_FIT_TOK_GE, 0 };
static const int AND[] = { QN_FIT_TOK_AND, 0 };
static const int OR[] = { QN_FIT_TOK_OR, 0 };
static const int *const LEVELS[] = { OR, AND, COMPARE, SUM, TERM };
enum { N_LEVELS = 5, COMPARE_LEVEL = 2 };

static qn_fit_tree *parse_level(qn_fit_parser *p, int level)
{
    qn_fit_tree *first, *chain = NULL;

    if (level == N_LEVELS)
        return parse_unary(p);
    first = parse_level(p, level + 1);
    while (!p->is_lost && is_one_of(p->token.kind, LEVELS[level])) {
        int n_ops = chain ? chain->n_kids - 1 : 0, *op;

        if (chain && level == COMPARE_LEVEL) {
            qn_fit_diagnose(p->diagnostics, p->token.at,
                            "a comparison of a comparison: use && between them");
            p->is_lost = 1;
            break;
        }
        if (!chain) {
            chain = node(p, QN_FIT_TREE_CHAIN, first->at);
            add_kid(p, chain, first);
        }
        if ((op = qn_fit_append(p, (void **)&chain->ops, &n_ops, sizeof *op)))
            *op = p->token.kind;
        qn_fit_advance(p);
        add_kid(p, chain, parse_level(p, level + 1));
    }
    return chain ? chain : first;
}

qn_fit_tree *qn_fit_parse_expr(qn_fit_parser *p)
{
    qn_fit_tree *t, *select;

    if (p->is_lost || !enter(p))
        return node(p, QN_FIT_TREE_NUMBER, p->token.at);
    t = parse_level(p, 0);
    if (!p->is_lost && p->token.kind == '?') {
        select = node(p, QN_FIT_TREE_SELECT, p->token.at);
        qn_fit_advance(p);
        add_kid(p, select, t);
        add_kid(p, select, qn_fit_parse_expr(p));
        qn_fit_expect(p, ':');
        add_kid(p, select, qn_fit_parse_expr(p));
        t = select;
    }
    p->depth--;
    return t;
}
