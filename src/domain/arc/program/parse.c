/* parse.c - files, functions and the statements all programs have. */
#include "domain/arc/program/parse_impl.h"

#include <stdlib.h>
#include <string.h>

#include "util/list.h"
#include "util/status.h"

static const char *const params_one[] = { "I", NULL };
static const char *const params_three[] = { "S", "I", "C", NULL };
static const char *const params_batt[] = { "task_id", "S", "I", "C", "log_path", NULL };

/* Statements. */

static int is_batt(const qn_arc_parser *p)
{
    return (p->program->dag.flags & ARC_FLAG_BATT) != 0;
}

static void return_list(qn_arc_parser *p, const char *name)
{
    const qn_arc_token *token = p->token;
    const qn_arc_variable *list;

    qn_arc_want_word(p, name);
    if (p->is_lost)
        return;
    list = qn_arc_variable_of(p, token);
    if (!list || !list->is_assigned)
        qn_arc_unknown(p, token, "return of unknown name");
}

static void parse_return(qn_arc_parser *p)
{
    const qn_arc_token *value = ++p->token;
    int node;

    p->has_return = 1;
    if (is_batt(p)) {
        return_list(p, "o");
        qn_arc_want_char(p, ',');
        return_list(p, "s");
        qn_arc_want_end(p);
        return;
    }
    if (value->kind == QN_ARC_TOK_NAME && !qn_arc_is_char(value + 1, '(')) {
        const qn_arc_variable *v = qn_arc_variable_of(p, value);
        const char *text = qn_arc_text_of(p, value);

        if (!(v && v->is_assigned) && !qn_arc_bound(p, value) &&
            !qn_arc_constant_named(text, value->len) && qn_arc_op_named(text, value->len) < 0) {
            p->token++;
            qn_arc_unknown(p, value, "return of unknown name");
            qn_arc_want_end(p);
            return;
        }
    }
    node = qn_arc_parse_arg(p);
    qn_arc_want_end(p);
    if (!p->is_lost)
        p->program->dag.output = node;
}

/* NAME = ...; the name exists from here on, even if the right side is wrong. */
static void parse_assignment(qn_arc_parser *p)
{
    const qn_arc_token *name = p->token;
    const qn_arc_token *value = name + 2;
    int node = QN_ARC_NO_NODE;

    p->token = value;
    if (is_batt(p) && qn_arc_is_char(value, '[')) {
        qn_arc_parse_list(p, name);
        return;
    }
    p->program->n_statements++;
    if (is_batt(p) && qn_arc_is_word(p, value, "env") && qn_arc_is_char(value + 1, '.')) {
        node = qn_arc_parse_pile(p, name);
    } else if (value->kind == QN_ARC_TOK_NAME && qn_arc_is_char(value + 1, '(')) {
        node = qn_arc_parse_call(p);
        qn_arc_want_end(p);
    } else if (value->kind == QN_ARC_TOK_END || value->kind == QN_ARC_TOK_BAD ||
               (value->kind == QN_ARC_TOK_CHAR && !strchr("-([", value->byte))) {
        qn_arc_unexpected(p);
    } else {
        qn_arc_error(p, value, "not a call: a statement is NAME = function(arguments)");
    }
    qn_arc_assign(p, name, p->is_lost ? QN_ARC_NO_NODE : node);
}

/* Defines the names of a line that the lexer gave up on. */
static void parse_broken(qn_arc_parser *p)
{
    p->program->n_errors++;
    if (qn_arc_is_word(p, p->token, "return"))
        p->has_return = 1;
    else if (p->token->kind == QN_ARC_TOK_NAME && qn_arc_is_char(p->token + 1, '='))
        qn_arc_assign(p, p->token, QN_ARC_NO_NODE);
}

static void check_indentation(qn_arc_parser *p)
{
    const qn_arc_line *line = &p->words.lines[p->line], *model;
    const qn_arc_token *first = p->token, *other;

    if (p->body < 0)
        p->body = p->line;
    model = &p->words.lines[p->body];
    other = &p->words.tokens[model->first];
    if (line->indent != model->indent ||
        memcmp(qn_arc_text_of(p, first) - line->indent, qn_arc_text_of(p, other) - line->indent,
               (size_t)line->indent) != 0)
        qn_arc_error(p, first, "bad indentation, differs from line %d", other->line);
}

/* A line that is only a text. Its token starts after the quotes, so its indentation cannot be
 * compared as for other lines. */
static int is_text_line(const qn_arc_parser *p)
{
    return p->token->kind == QN_ARC_TOK_STRING;
}

static void parse_statement(qn_arc_parser *p, int end)
{
    const qn_arc_token *first = p->token;

    if (is_text_line(p)) {
        p->token++;
        qn_arc_want_end(p);
        return;
    }
    check_indentation(p);
    if (p->words.lines[p->line].is_broken)
        parse_broken(p);
    else if (qn_arc_is_word(p, first, "from") || qn_arc_is_word(p, first, "import"))
        return;
    else if (qn_arc_is_word(p, first, "return"))
        parse_return(p);
    else if (is_batt(p) && qn_arc_is_word(p, first, "try"))
        qn_arc_parse_guarded(p, end);
    else if (first->kind == QN_ARC_TOK_NAME && qn_arc_is_char(first + 1, '='))
        parse_assignment(p);
    else if (is_batt(p) && first->kind == QN_ARC_TOK_NAME && qn_arc_is_char(first + 1, '.'))
        qn_arc_parse_append(p, first);
    else {
        /* If the line begins with a name, the fault comes after it. */
        if (first->kind == QN_ARC_TOK_NAME && !qn_arc_is_word(p, first, "def"))
            p->token++;
        qn_arc_unexpected(p);
    }
}

/* Functions. */

static int has_params(const qn_arc_parser *p, const qn_arc_token *const *given, int n,
                      const char *const *wanted)
{
    int i = 0;

    for (; i < n && wanted[i]; i++)
        if (!qn_arc_is_word(p, given[i], wanted[i]))
            return 0;
    return i == n && !wanted[i];
}

static int add_param(qn_arc_parser *p, const char *name, int slot)
{
    const int node = qn_arc_add_node(
        p, &(qn_arc_node){ .op = QN_ARC_NODE_PARAM, .number = slot, .line = p->program->line });

    qn_arc_assign_param(p, name, node);
    p->program->dag.n_params = slot + 1;
    return node;
}

/* ( names ), and the form of program that they imply. */
static void parse_params(qn_arc_parser *p)
{
    enum { MOST_PARAMS = 8 };
    const qn_arc_token *given[MOST_PARAMS], *first;
    qn_arc_dag *dag = &p->program->dag;
    int n = 0;

    qn_arc_want_char(p, '(');
    first = p->token;
    while (!p->is_lost && p->token->kind == QN_ARC_TOK_NAME) {
        if (n < MOST_PARAMS)
            given[n++] = p->token;
        p->token++;
        if (!qn_arc_take_char(p, ','))
            break;
    }
    qn_arc_want_char(p, ')');
    if (has_params(p, given, n, params_three)) {
        dag->flags = ARC_FLAG_THREE;
    } else if (has_params(p, given, n, params_batt)) {
        dag->flags = ARC_FLAG_THREE | ARC_FLAG_BATT;
    } else if (!has_params(p, given, n, params_one)) {
        if (!p->is_lost)
            qn_arc_error(p, first, "parameters are I, or S, I, C, or task_id, S, I, C, log_path");
        /* A guess, so that the body reports only its own errors. */
        dag->flags = n > 3 ? ARC_FLAG_THREE | ARC_FLAG_BATT : n > 1 ? ARC_FLAG_THREE : 0;
    }
    if (dag->flags & ARC_FLAG_THREE) {
        for (int i = 0; params_three[i]; i++)
            add_param(p, params_three[i], i);
    } else {
        add_param(p, "I", 0);
    }
}

static qn_arc_source *new_program(qn_arc_parser *p, const qn_arc_token *name, qn_map *ids)
{
    qn_arc_file *file = p->file;
    qn_arc_source *program;
    size_t first;

    if (QN_GROW(file->programs, file->n_programs, &file->room, "programs", NULL) != QN_OK) {
        p->no_memory = 1;
        return NULL;
    }
    program = &file->programs[file->n_programs];
    *program = (qn_arc_source){ .line = name->line, .number = file->n_programs };
    program->dag.output = -1;
    program->name = qn_arc_token_text(p, name);
    if (!program->name)
        return NULL;
    program->id =
        strdup(strncmp(program->name, "solve_", 6) == 0 && program->name[6] ? program->name + 6
                                                                            : program->name);
    file->n_programs++;
    p->program = program;
    first = (size_t)(uintptr_t)qn_map_get(ids, program->id ? program->id : "");
    if (first)
        qn_arc_error(p, name, "program '%s' is defined twice, first in line %d", program->id,
                     (int)first);
    else if (!program->id ||
             qn_map_put(ids, program->id, (void *)(uintptr_t)(unsigned)name->line) != QN_OK)
        p->no_memory = 1;
    return program;
}

/* Lines of the body: those that are indented, up to `end`. */
static void parse_body(qn_arc_parser *p, const qn_arc_token *name, int end)
{
    p->body = -1;
    p->has_return = 0;
    qn_arc_foresee(p, p->line + 1, end);
    for (int line = p->line + 1; line < end && !p->no_memory; line = p->line + 1) {
        qn_arc_start_line(p, line);
        parse_statement(p, end);
    }
    if (!p->has_return)
        qn_arc_error(p, name, "program '%s' has no return", p->program->id);
    qn_arc_warn_unused(p);
}

static int end_of_body(const qn_arc_parser *p, int line)
{
    while (line < p->words.n_lines && p->words.lines[line].indent > 0)
        line++;
    return line;
}

static void parse_function(qn_arc_parser *p, qn_map *ids)
{
    const int end = end_of_body(p, p->line + 1);
    const qn_arc_token *name;

    p->token++;
    name = qn_arc_want(p, QN_ARC_TOK_NAME);
    if (p->file->n_programs == QN_ARC_MOST_PROGRAMS) {
        qn_arc_error(p, name, "a file holds at most %d programs", QN_ARC_MOST_PROGRAMS);
        p->line = p->words.n_lines - 1;
        return;
    }
    if (!p->is_lost && new_program(p, name, ids)) {
        qn_arc_forget_names(p);
        if (p->words.lines[p->line].is_broken) {
            p->program->n_errors++;
            p->is_lost = 1;
        }
        parse_params(p);
        qn_arc_want_char(p, ':');
        qn_arc_want_end(p);
        parse_body(p, name, end);
    }
    p->program = NULL;
    p->line = end - 1;
}

/* Files. */

static void parse_lines(qn_arc_parser *p, qn_map *ids)
{
    for (int line = 0; line < p->words.n_lines && !p->no_memory; line = p->line + 1) {
        qn_arc_start_line(p, line);
        if (qn_arc_is_word(p, p->token, "def") && p->words.lines[line].indent == 0) {
            parse_function(p, ids);
        } else if (p->words.lines[line].indent > 0) {
            qn_arc_error(p, p->token, "bad indentation outside a function");
        } else if (!qn_arc_is_word(p, p->token, "from") && !qn_arc_is_word(p, p->token, "import") &&
                   !is_text_line(p) && !p->words.lines[line].is_broken) {
            qn_arc_unexpected(p);
            p->line = end_of_body(p, line + 1) - 1;
        }
    }
}

qn_status qn_arc_parse(const char *path, const char *text, size_t bytes,
                       const qn_arc_binding *bindings, int n_bindings, qn_arc_file **out,
                       qn_err *err)
{
    qn_status st = QN_OK;
    qn_arc_file *file = calloc(1, sizeof *file);
    qn_arc_parser p = { .file = file, .bindings = bindings, .n_bindings = n_bindings };
    qn_map ids = { 0 };

    if (!file)
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory", path);
    if (bytes > QN_ARC_MOST_SOURCE)
        QN_FAIL(err, QN_ERR_LIMIT, "%s: %zu bytes exceed the limit of %d", path, bytes,
                QN_ARC_MOST_SOURCE);
    p.notes = &file->notes;
    file->path = strdup(path);
    file->text = malloc(bytes + 1);
    if (!file->path || !file->text)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes", path, bytes);
    if (bytes)
        memcpy(file->text, text, bytes);
    file->text[bytes] = '\0';
    file->bytes = bytes;
    QN_TRY(qn_arc_heap_new(&file->heap, err));
    QN_TRY(qn_arc_lex(file->text, bytes, &file->notes, &p.words, err));
    parse_lines(&p, &ids);
    if (p.no_memory || file->notes.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for its %d programs", path, file->n_programs);
    qn_arc_notes_sort(&file->notes);
    *out = file;
    file = NULL;
out:
    qn_map_free(&ids);
    qn_map_free(&p.names);
    qn_arc_words_free(&p.words);
    free(p.variables);
    free(p.stack);
    qn_arc_file_free(file);
    return st;
}

void qn_arc_file_free(qn_arc_file *file)
{
    if (!file)
        return;
    for (int i = 0; i < file->n_programs; i++) {
        free(file->programs[i].id);
        free(file->programs[i].name);
        qn_arc_dag_free(&file->programs[i].dag);
    }
    free(file->programs);
    qn_arc_notes_free(&file->notes);
    qn_arc_heap_free(file->heap);
    free(file->path);
    free(file->text);
    free(file);
}

void qn_arc_file_print_notes(const qn_arc_file *file, qn_str *out)
{
    qn_arc_notes_print(&file->notes, file->path, file->text, file->bytes, out);
}
