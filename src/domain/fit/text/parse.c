/* parse.c - parses the items of a program. */
#include "domain/fit/text/tree.h"
#include "util/list.h"

#include <string.h>

static void expect_word(qn_fit_parser *p, const char *word)
{
    if (!qn_fit_accept_word(p, word))
        qn_fit_unexpected(p, word);
}

/* A name; a declared one must not be a word of the language. */
static qn_fit_word read_name(qn_fit_parser *p, const char *wanted, int is_declared)
{
    qn_fit_word w = { .at = p->token.at, .name = "" };

    if (p->is_lost)
        return w;
    if (p->token.kind != QN_FIT_TOK_NAME) {
        qn_fit_unexpected(p, wanted);
        return w;
    }
    w.name = qn_fit_token_text(p);
    if (is_declared && qn_fit_is_keyword(w.name)) {
        qn_fit_diagnose(p->diagnostics, w.at, "%s is a word of the language and cannot be %s",
                        w.name, wanted);
        p->is_lost = 1;
    }
    qn_fit_advance(p);
    return w;
}

static void add_word(qn_fit_parser *p, qn_fit_word **list, int *n, qn_fit_word w)
{
    qn_fit_word *at = qn_fit_append(p, (void **)list, n, sizeof *at);

    if (at)
        *at = w;
}

static void add_tree(qn_fit_parser *p, qn_fit_item *item, qn_fit_tree *t)
{
    qn_fit_tree **at = qn_fit_append(p, (void **)&item->list, &item->n_list, sizeof *at);

    if (at)
        *at = t;
}

static qn_fit_word *read_domain(qn_fit_parser *p)
{
    qn_fit_word *w = qn_fit_ast_alloc(p->ast, sizeof *w);

    if (!w) {
        p->is_lost = 1;
        return NULL;
    }
    *w = read_name(p, "the name of a domain", 0);
    if (qn_fit_accept(p, '.'))
        w->member = read_name(p, "a domain of this source", 0).name;
    return w;
}

/* Items. */

static void parse_rows(qn_fit_parser *p, qn_fit_item *item)
{
    qn_fit_expect(p, '{');
    while (!p->is_lost && p->token.kind != '}') {
        const size_t at = p->token.at;
        int n = 0;

        for (;;) {
            const int is_negative = qn_fit_accept(p, '-');
            int count = (int)item->n_numbers;
            double *number;

            if (p->is_lost || p->token.kind != QN_FIT_TOK_NUMBER) {
                qn_fit_unexpected(p, "a number");
                return;
            }
            if (!(number = qn_fit_append(p, (void **)&item->numbers, &count, sizeof *number)))
                return;
            *number = is_negative ? -p->token.number : p->token.number;
            item->n_numbers = count;
            n++;
            qn_fit_advance(p);
            if (p->token.kind == ';' || p->token.kind == '}' || p->is_lost)
                break;
            qn_fit_accept(p, ',');
        }
        if (!p->is_lost && n != item->n_words) {
            qn_fit_diagnose(p->diagnostics, at, "row of %d numbers in a table of %d columns", n,
                            item->n_words);
            p->is_lost = 1;
            return;
        }
        if (p->token.kind == ';')
            qn_fit_advance(p);
    }
    qn_fit_expect(p, '}');
    qn_fit_expect(p, ';');
}

static void parse_input(qn_fit_parser *p, qn_fit_item *item)
{
    if (!strcmp(item->word, "table") && qn_fit_accept(p, '(')) {
        item->kind = QN_FIT_ITEM_TABLE;
        do
            add_word(p, &item->words, &item->n_words, read_name(p, "the name of a column", 1));
        while (qn_fit_accept(p, ','));
        qn_fit_expect(p, ')');
        qn_fit_expect(p, '=');
        parse_rows(p, item);
        return;
    }
    qn_fit_expect(p, '=');
    add_word(p, &item->words, &item->n_words, read_name(p, "the name of a source", 0));
    qn_fit_expect(p, '(');
    qn_fit_parse_args(p, 1, &item->list, &item->n_list);
    qn_fit_expect(p, ')');
    qn_fit_expect(p, ';');
}

static qn_fit_tree *parse_tuple(qn_fit_parser *p)
{
    qn_fit_tree *t = qn_fit_ast_alloc(p->ast, sizeof *t);

    if (!t) {
        p->is_lost = 1;
        return NULL;
    }
    t->kind = QN_FIT_TREE_VECTOR;
    t->at = p->token.at;
    qn_fit_expect(p, '(');
    qn_fit_parse_args(p, 0, &t->kids, &t->n_kids);
    qn_fit_expect(p, ')');
    return t;
}

static void parse_set(qn_fit_parser *p, qn_fit_item *item)
{
    qn_fit_expect(p, '(');
    do {
        qn_fit_word w = read_name(p, "the name of a field", 1);

        if (qn_fit_accept(p, QN_FIT_TOK_ARROW)) {
            const qn_fit_word *domain = read_domain(p);

            w.is_reference = 1;
            if (domain) {
                w.to = domain->name;
                w.to_member = domain->member;
                w.to_at = domain->at;
            }
        }
        add_word(p, &item->words, &item->n_words, w);
    } while (qn_fit_accept(p, ','));
    qn_fit_expect(p, ')');
    qn_fit_expect(p, '=');
    qn_fit_expect(p, '{');
    while (!p->is_lost && p->token.kind != '}') {
        qn_fit_tree *tuple = parse_tuple(p);

        if (!p->is_lost)
            add_tree(p, item, tuple);
        if (p->token.kind != '}')
            qn_fit_expect(p, ',');
    }
    qn_fit_expect(p, '}');
    qn_fit_expect(p, ';');
}

static void parse_const(qn_fit_parser *p, qn_fit_item *item)
{
    qn_fit_expect(p, '=');
    item->value = qn_fit_parse_expr(p);
    qn_fit_expect(p, ';');
}

static void parse_type(qn_fit_parser *p, qn_fit_item *item)
{
    static const char *const vectors[] = { "vec2", "vec3", "vec4" };

    for (int k = 0; k < 3; k++)
        if (qn_fit_accept_word(p, vectors[k])) {
            item->dim = k + 2;
            return;
        }
    if (!qn_fit_accept_word(p, "real")) {
        qn_fit_unexpected(p, "a type (real, vec2, vec3, vec4, real[n])");
        return;
    }
    item->dim = 1;
    if (!qn_fit_accept(p, '['))
        return;
    if (p->token.kind != QN_FIT_TOK_NUMBER || p->token.number < 1 || p->token.number > 64 ||
        p->token.number != (int)p->token.number) {
        qn_fit_unexpected(p, "a size from 1 to 64");
        return;
    }
    item->dim = (int)p->token.number;
    qn_fit_advance(p);
    qn_fit_expect(p, ']');
}

static void parse_clauses(qn_fit_parser *p, qn_fit_item *item)
{
    static const char *const names[] = { "fixed", "lower", "upper" };

    while (!p->is_lost && p->token.kind != ';') {
        qn_fit_word w = { .at = p->token.at };

        for (int k = 0; k < 3; k++)
            if (!w.name && qn_fit_accept_word(p, names[k]))
                w.name = names[k];
        if (!w.name) {
            qn_fit_unexpected(p, "';'");
            return;
        }
        if (w.name != names[0] || qn_fit_accept_word(p, "where"))
            w.value = qn_fit_parse_expr(p);
        add_word(p, &item->words, &item->n_words, w);
    }
}

static void parse_values(qn_fit_parser *p, qn_fit_item *item)
{
    const int is_param = item->kind == QN_FIT_ITEM_PARAM;

    if (!is_param || p->token.kind == '[') {
        qn_fit_expect(p, '[');
        item->domain = read_domain(p);
        qn_fit_expect(p, ']');
    }
    if (qn_fit_accept(p, ':'))
        parse_type(p, item);
    qn_fit_expect(p, '=');
    item->value = qn_fit_parse_expr(p);
    if (is_param)
        parse_clauses(p, item);
    qn_fit_expect(p, ';');
}

static void parse_lets(qn_fit_parser *p, qn_fit_item *item)
{
    while (qn_fit_accept_word(p, "let")) {
        qn_fit_word w = read_name(p, "the name of a value", 1);

        qn_fit_expect(p, '=');
        w.value = qn_fit_parse_expr(p);
        qn_fit_expect(p, ';');
        add_word(p, &item->lets, &item->n_lets, w);
    }
}

static void parse_fun(qn_fit_parser *p, qn_fit_item *item)
{
    qn_fit_expect(p, '(');
    if (p->token.kind != ')')
        do
            add_word(p, &item->words, &item->n_words, read_name(p, "the name of an argument", 1));
        while (qn_fit_accept(p, ','));
    qn_fit_expect(p, ')');
    if (qn_fit_accept(p, '=')) {
        item->value = qn_fit_parse_expr(p);
        qn_fit_expect(p, ';');
        return;
    }
    qn_fit_expect(p, '{');
    parse_lets(p, item);
    expect_word(p, "return");
    item->value = qn_fit_parse_expr(p);
    qn_fit_expect(p, ';');
    qn_fit_expect(p, '}');
}

/* "loss NAME [(scale)]", "weight expr" or "target expr"; the name of the loss is the member of the
 * word. `target` is reserved only here: elsewhere it may be a name. */
static int parse_option(qn_fit_parser *p, qn_fit_item *item)
{
    qn_fit_word w = { .at = p->token.at };

    if (qn_fit_is_word(p, "weight") || qn_fit_is_word(p, "target")) {
        w.name = qn_fit_token_text(p);
        qn_fit_advance(p);
        w.value = qn_fit_parse_expr(p);
    } else if (qn_fit_accept_word(p, "loss")) {
        w.name = "loss";
        w.at = p->token.at;
        w.member = read_name(p, "the name of a loss", 0).name;
        if (qn_fit_accept(p, '(')) {
            w.value = qn_fit_parse_expr(p);
            qn_fit_expect(p, ')');
        }
    } else {
        return 0;
    }
    add_word(p, &item->words, &item->n_words, w);
    return 1;
}

static void parse_block(qn_fit_parser *p, qn_fit_item *item)
{
    if (qn_fit_accept_word(p, "over")) {
        item->loop = read_name(p, "a loop variable", 1).name;
        expect_word(p, "in");
        item->domain = read_domain(p);
        if (qn_fit_accept_word(p, "where"))
            item->where = qn_fit_parse_expr(p);
    }
    while (!p->is_lost && parse_option(p, item))
        ;
    qn_fit_expect(p, '{');
    parse_lets(p, item);
    expect_word(p, "yield");
    do
        add_tree(p, item, qn_fit_parse_expr(p));
    while (qn_fit_accept(p, ','));
    qn_fit_expect(p, ';');
    qn_fit_expect(p, '}');
}

static void parse_solve(qn_fit_parser *p, qn_fit_item *item)
{
    qn_fit_expect(p, '{');
    while (!p->is_lost && p->token.kind != '}') {
        qn_fit_word w = read_name(p, "the name of an option", 0);

        qn_fit_expect(p, '=');
        if (p->token.kind == QN_FIT_TOK_STRING) {
            w.string = qn_fit_token_text(p);
            qn_fit_advance(p);
        } else {
            w.value = qn_fit_parse_expr(p);
        }
        qn_fit_expect(p, ';');
        add_word(p, &item->words, &item->n_words, w);
    }
    qn_fit_expect(p, '}');
}

static void parse_eliminate(qn_fit_parser *p, QN_UNUSED qn_fit_item *item)
{
    qn_fit_expect(p, ';');
}

static void parse_write(qn_fit_parser *p, qn_fit_item *item)
{
    expect_word(p, "to");
    item->string_at = p->token.at;
    if (!p->is_lost && p->token.kind == QN_FIT_TOK_STRING)
        item->string = qn_fit_token_text(p);
    qn_fit_expect(p, QN_FIT_TOK_STRING);
    qn_fit_expect(p, ';');
}

/* The items, by their first word: the meaning of their name, whether they declare or use it, and
 * the parser of the rest. */
static const struct {
    const char *word;
    qn_fit_item_kind kind;
    const char *name;
    int is_declared;
    void (*parse)(qn_fit_parser *p, qn_fit_item *item);
} ITEMS[] = {
    { "mesh", QN_FIT_ITEM_INPUT, "the name of an input", 1, parse_input },
    { "table", QN_FIT_ITEM_INPUT, "the name of an input", 1, parse_input },
    { "bal", QN_FIT_ITEM_INPUT, "the name of an input", 1, parse_input },
    { "set", QN_FIT_ITEM_SET, "the name of a set", 1, parse_set },
    { "const", QN_FIT_ITEM_CONST, "the name of a constant", 1, parse_const },
    { "param", QN_FIT_ITEM_PARAM, "the name of a parameter", 1, parse_values },
    { "data", QN_FIT_ITEM_DATA, "the name of data", 1, parse_values },
    { "fun", QN_FIT_ITEM_FUN, "the name of a function", 1, parse_fun },
    { "residual", QN_FIT_ITEM_BLOCK, "the name of a term", 1, parse_block },
    { "energy", QN_FIT_ITEM_BLOCK, "the name of a term", 1, parse_block },
    { "eliminate", QN_FIT_ITEM_ELIMINATE, "the name of a parameter", 0, parse_eliminate },
    { "solve", QN_FIT_ITEM_SOLVE, "the name of a solver", 0, parse_solve },
    { "write", QN_FIT_ITEM_WRITE, "the name of a parameter", 0, parse_write },
};

enum { N_ITEMS = sizeof ITEMS / sizeof *ITEMS };

/* The number of the item that the token begins, or N_ITEMS. */
static int item_here(const qn_fit_parser *p)
{
    int k = 0;

    while (k < N_ITEMS && !qn_fit_is_word(p, ITEMS[k].word))
        k++;
    return k;
}

static void parse_item(qn_fit_parser *p, qn_fit_item *item)
{
    const int k = item_here(p);

    item->at = p->token.at;
    if (k < N_ITEMS) {
        qn_fit_advance(p);
        item->kind = ITEMS[k].kind;
        item->word = ITEMS[k].word;
        item->name = read_name(p, ITEMS[k].name, ITEMS[k].is_declared);
        ITEMS[k].parse(p, item);
    } else {
        p->last_end = p->token.at;
        qn_fit_unexpected(p, "an item (mesh, table, bal, set, const, param, data, fun, residual, "
                             "energy, eliminate, solve, write)");
    }
}

/* The whole. */

/* Skips to the word that starts the next item on a line of its own: the rest of a broken item would
 * only cause more errors. */
static void recover(qn_fit_parser *p)
{
    p->is_lost = 0;
    p->depth = 0;
    while (p->token.kind != QN_FIT_TOK_END) {
        size_t k = p->token.at;

        while (k > 0 && (p->diagnostics->text[k - 1] == ' ' || p->diagnostics->text[k - 1] == '\t'))
            k--;
        if (item_here(p) < N_ITEMS && (k == 0 || p->diagnostics->text[k - 1] == '\n'))
            break;
        qn_fit_advance(p);
    }
    p->is_lost = 0;
}

static qn_fit_item *new_item(qn_fit_ast *ast)
{
    qn_fit_item *more = qn_grown(ast->items, (size_t)ast->n_items, &ast->item_room, sizeof *more);

    if (!more) {
        ast->is_out_of_memory = 1;
        return NULL;
    }
    ast->items = more;
    memset(&ast->items[ast->n_items], 0, sizeof *ast->items);
    return &ast->items[ast->n_items];
}

qn_status qn_fit_parse(qn_fit_diagnostics *diagnostics, qn_fit_ast *out, qn_err *err)
{
    qn_fit_parser p = { .diagnostics = diagnostics, .ast = out };
    qn_fit_item *item;

    if (diagnostics->bytes > QN_FIT_MAX_TEXT)
        return qn_fail(err, QN_ERR_LIMIT, "%s: %zu bytes (limit %d)", diagnostics->file,
                       diagnostics->bytes, QN_FIT_MAX_TEXT);
    qn_fit_advance(&p);
    if (!qn_fit_is_word(&p, "fit") || p.is_lost) {
        qn_fit_diagnose(diagnostics, p.token.at, "a program begins with \"fit 1;\"");
        return QN_OK;
    }
    qn_fit_advance(&p);
    if (p.token.kind != QN_FIT_TOK_NUMBER || p.token.number != 1) {
        qn_fit_diagnose(diagnostics, p.token.at, "only version 1 of the language is known: fit 1;");
        return QN_OK;
    }
    qn_fit_advance(&p);
    qn_fit_expect(&p, ';');
    if (p.is_lost)
        recover(&p);
    while (p.token.kind != QN_FIT_TOK_END && diagnostics->n < QN_FIT_MAX_DIAGNOSTICS) {
        if (!(item = new_item(out)))
            break;
        parse_item(&p, item);
        if (p.is_lost)
            recover(&p);
        else
            out->n_items++;
    }
    if (out->is_out_of_memory)
        return qn_fail(err, QN_ERR_NOMEM, "%s: %zu bytes of program", diagnostics->file,
                       diagnostics->bytes);
    return QN_OK;
}
