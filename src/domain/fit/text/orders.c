/* orders.c - the instructions of a program: solve and write. */
#include "domain/fit/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SOLVERS[] = {
    "lm", "gauss_newton", "lbfgs", "sgd", "adam", "adamw", NULL
};

static const char *const OPTIONS[] = { "linear_solver",
#define NUMBER(member, name, fallback, low, high) name,
#define COUNT(member, name, fallback, low, high)  name,
#define SWITCH(member, name, fallback, low)       name,
#define WORDS(type, member, name, ...)            name,
#define LINEAR(kind, member, name)                name,
#include "domain/fit/solve/options.def"
                                       NULL };

/* A name that is not a constant is a word: linear_solver = schur. */
static qn_status load_option(qn_fit_loader *m, int item, const qn_fit_word *word,
                             qn_fit_option *out, qn_err *err)
{
    qn_status st;

    snprintf(out->name, sizeof out->name, "%s", word->name);
    if (word->string ||
        (word->value->kind == QN_FIT_TREE_NAME &&
         qn_fit_scope_find(&m->text->scope, word->value->name).kind == QN_FIT_IS_NOTHING &&
         strcmp(word->value->name, "pi"))) {
        snprintf(out->word, sizeof out->word, "%.63s",
                 word->string ? word->string : word->value->name);
        return QN_OK;
    }
    st = qn_fit_number(m, item, word->value, &out->number, err);
    if (isnan(out->number))
        qn_fit_diagnose(m->diagnostics, word->value->at, "%.40s is not a number", word->name);
    return st;
}

qn_status qn_fit_load_solve(qn_fit_loader *m, int item, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    qn_fit_text *t = m->text;
    qn_fit_solve *more = realloc(t->solves, (size_t)(t->n_solves + 1) * sizeof *more), *solve;
    qn_status st = QN_OK;

    if (!more)
        return qn_fail(err, QN_ERR_NOMEM, "solve %s", it->name.name);
    t->solves = more;
    solve = &t->solves[t->n_solves++];
    *solve = (qn_fit_solve){ 0 };
    if (!qn_fit_is_among(it->name.name, SOLVERS)) {
        qn_fit_diagnose_unknown(m->diagnostics, it->name.at, "solver", it->name.name, SOLVERS);
        return QN_OK;
    }
    snprintf(solve->solver, sizeof solve->solver, "%s", it->name.name);
    if (!(solve->options = calloc((size_t)it->n_words + 1, sizeof *solve->options)))
        return qn_fail(err, QN_ERR_NOMEM, "solve %s", it->name.name);
    for (int k = 0; k < it->n_words && st == QN_OK; k++) {
        if (!qn_fit_is_among(it->words[k].name, OPTIONS)) {
            qn_fit_diagnose_unknown(m->diagnostics, it->words[k].at, "option", it->words[k].name,
                                    OPTIONS);
            continue;
        }
        if (qn_fit_solve_option(solve, it->words[k].name)) {
            qn_fit_diagnose(m->diagnostics, it->words[k].at, "option %.40s is given twice",
                            it->words[k].name);
            continue;
        }
        st = load_option(m, item, &it->words[k], &solve->options[solve->n_options], err);
        solve->n_options++;
    }
    return st;
}

const qn_fit_option *qn_fit_solve_option(const qn_fit_solve *solve, const char *name)
{
    for (int k = 0; k < solve->n_options; k++)
        if (!strcmp(solve->options[k].name, name))
            return &solve->options[k];
    return NULL;
}

/* Write. */

static int ends_with(const char *name, const char *end)
{
    return strlen(name) >= strlen(end) && !strcmp(name + strlen(name) - strlen(end), end);
}

static int is_mesh_file(const char *name)
{
    return ends_with(name, ".obj") || ends_with(name, ".ply");
}

qn_status qn_fit_load_write(qn_fit_loader *m, int item, qn_err *err)
{
    const qn_fit_item *it = &m->ast->items[item];
    const qn_fit_named found = qn_fit_scope_find(&m->text->scope, it->name.name);
    qn_fit_text *t = m->text;
    qn_fit_write write = { .source = -1 }, *more;
    const qn_fit_array *array;

    if (found.kind == QN_FIT_IS_BROKEN)
        return QN_OK;
    if (found.kind != QN_FIT_IS_ARRAY || t->scope.arrays[found.index].set < 0) {
        qn_fit_diagnose(m->diagnostics, it->name.at, "%.80s is not a parameter", it->name.name);
        return QN_OK;
    }
    array = &t->scope.arrays[found.index];
    write.set = array->set;
    for (int k = 0; k < t->scope.n_sources; k++)
        if (array->dim == 3 && array->domain >= 0 && t->scope.sources[k].verts == array->domain)
            write.source = k;
    if (strlen(it->string) >= sizeof write.file)
        qn_fit_diagnose(m->diagnostics, it->string_at, "a name of more than %zu bytes",
                        sizeof write.file - 1);
    else if (!m->options->allow_any_name && !qn_fit_name_is_safe(it->string))
        qn_fit_diagnose(m->diagnostics, it->string_at,
                        "\"%.80s\": absolute names and .. are not allowed", it->string);
    else if (is_mesh_file(it->string) && write.source < 0)
        qn_fit_diagnose(
            m->diagnostics, it->name.at,
            "%.80s is not a vec3 over the vertices of a mesh: it cannot be written as one",
            it->name.name);
    snprintf(write.file, sizeof write.file, "%.255s", it->string);
    if (!(more = realloc(t->writes, (size_t)(t->n_writes + 1) * sizeof *more)))
        return qn_fail(err, QN_ERR_NOMEM, "write %s", it->name.name);
    t->writes = more;
    t->writes[t->n_writes++] = write;
    return QN_OK;
}

qn_status qn_fit_text_print_write(const qn_fit_text *text, int write, const double *x, qn_str *out,
                                  qn_err *err)
{
    const qn_fit_write *w = &text->writes[write];
    const qn_fit_set *set = &text->problem->sets[w->set];

    if (is_mesh_file(w->file)) {
        qn_fit_mesh mesh = text->scope.sources[w->source].mesh;

        mesh.pos = (double *)(x + set->first);
        (ends_with(w->file, ".obj") ? qn_fit_obj_print : qn_fit_ply_print)(&mesh, out);
    } else {
        for (uint32_t c = 0; c < set->dim; c++)
            qn_str_addf(out, set->dim == 1 ? "%s%s" : "%s%s_%u", c ? "," : "", set->name, c);
        qn_str_add(out, "\n");
        for (uint32_t b = 0; b < set->count; b++)
            for (uint32_t c = 0; c < set->dim; c++)
                qn_str_addf(out, "%.17g%s", x[set->first + (size_t)b * set->dim + c],
                            c + 1 < set->dim ? "," : "\n");
    }
    return out->failed ? qn_fail(err, QN_ERR_NOMEM, "%s: its text", w->file) : QN_OK;
}
