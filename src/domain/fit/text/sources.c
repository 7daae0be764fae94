/* sources.c - reads inputs by name: meshes, tables, bundle adjustment problems. */
#include "domain/fit/text/scope.h"

#include "util/closest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Entering a source. */

static char *member(char *out, const char *source, const char *name)
{
    snprintf(out, 136, "%.64s.%.64s", source, name);
    return out;
}

static void refs(qn_fit_scope *w, int domain, const char *name, uint32_t *at, int to)
{
    qn_fit_domain_field(
        w, domain,
        (qn_fit_field){
            .name = name, .kind = QN_FIT_FIELD_REF, .refs = qn_fit_scope_own(w, at), .to = to });
}

static void reals(qn_fit_scope *w, int domain, const char *name, double *at)
{
    qn_fit_domain_field(w, domain, (qn_fit_field){ .name = name, .real = qn_fit_scope_own(w, at) });
}

static void index_field(qn_fit_scope *w, int domain)
{
    qn_fit_domain_field(w, domain, (qn_fit_field){ .name = "index" });
}

/* Corners of faces as columns. */
static void face_columns(qn_fit_scope *w, int faces, const qn_fit_mesh *m, int verts)
{
    static const char *const names[] = { "a", "b", "c" };

    for (int c = 0; c < 3; c++) {
        uint32_t *at = malloc(((size_t)m->n_faces + 1) * sizeof *at);

        for (size_t f = 0; at && f < m->n_faces; f++)
            at[f] = m->faces[3 * f + (size_t)c];
        w->is_out_of_memory |= !at;
        refs(w, faces, names[c], at, verts);
    }
}

/* Takes ownership of the mesh. */
static qn_status enter_mesh(qn_fit_scope *w, const char *name, qn_fit_mesh *mesh, qn_err *err)
{
    qn_fit_topology t = { 0 };
    char text[136];
    qn_status st = qn_fit_topology_new(mesh, &t, err);
    int source, verts, edges, faces, hinges, corners;

    if (st != QN_OK)
        return st;
    source = qn_fit_scope_source(w, name);
    verts = qn_fit_scope_domain(w, member(text, name, "verts"), mesh->n_verts);
    edges = qn_fit_scope_domain(w, member(text, name, "edges"), t.n_edges);
    faces = qn_fit_scope_domain(w, member(text, name, "faces"), mesh->n_faces);
    hinges = qn_fit_scope_domain(w, member(text, name, "hinges"), t.n_hinges);
    corners = qn_fit_scope_domain(w, member(text, name, "corners"), mesh->n_faces * 3);
    if (source < 0 || verts < 0 || edges < 0 || faces < 0 || hinges < 0 || corners < 0) {
        qn_fit_topology_free(&t);
        return qn_fail(err, QN_ERR_NOMEM, "%s: a mesh", name);
    }
    w->sources[source].mesh = *mesh;
    w->sources[source].verts = verts;
    qn_fit_scope_array(w, member(text, name, "pos"), verts, 3, mesh->pos);
    index_field(w, verts);
    qn_fit_domain_field(w, verts,
                        (qn_fit_field){ .name = "ring",
                                        .kind = QN_FIT_FIELD_LIST,
                                        .start = qn_fit_scope_own(w, t.ring_start),
                                        .to = corners });
    reals(w, verts, "boundary", t.boundary);
    refs(w, edges, "a", t.edge_a, verts);
    refs(w, edges, "b", t.edge_b, verts);
    index_field(w, edges);
    face_columns(w, faces, mesh, verts);
    index_field(w, faces);
    refs(w, hinges, "a", t.hinge_a, verts);
    refs(w, hinges, "b", t.hinge_b, verts);
    refs(w, hinges, "c", t.hinge_c, verts);
    refs(w, hinges, "d", t.hinge_d, verts);
    index_field(w, hinges);
    refs(w, corners, "j", t.ring_j, verts);
    refs(w, corners, "k", t.ring_k, verts);
    *mesh = (qn_fit_mesh){ 0 };
    return QN_OK;
}

static qn_status enter_bal(qn_fit_scope *w, const char *name, const qn_fit_bal *b, qn_err *err)
{
    char text[136];
    const int source = qn_fit_scope_source(w, name);
    const int cameras = qn_fit_scope_domain(w, member(text, name, "cameras"), b->n_cameras);
    const int points = qn_fit_scope_domain(w, member(text, name, "points"), b->n_points);
    const int obs = qn_fit_scope_domain(w, member(text, name, "obs"), b->n_obs);

    if (source < 0 || cameras < 0 || points < 0 || obs < 0)
        return qn_fail(err, QN_ERR_NOMEM, "%s: observations", name);
    qn_fit_scope_array(w, member(text, name, "camera"), cameras, 9,
                       qn_fit_scope_own(w, b->cameras));
    qn_fit_scope_array(w, member(text, name, "point"), points, 3, qn_fit_scope_own(w, b->points));
    refs(w, obs, "cam", b->cam, cameras);
    refs(w, obs, "pt", b->pt, points);
    reals(w, obs, "u", b->u);
    reals(w, obs, "v", b->v);
    return QN_OK;
}

void qn_fit_scope_table(qn_fit_scope *scope, const char *name, qn_fit_table *table)
{
    const int domain = qn_fit_scope_domain(scope, name, (uint32_t)table->n_rows);

    for (int c = 0; c < table->n_cols; c++) {
        char *copy = qn_fit_scope_alloc(scope, sizeof table->names[c], 1);

        if (copy)
            memcpy(copy, table->names[c], sizeof table->names[c]);
        reals(scope, domain, copy ? copy : "", table->cols[c]);
    }
    *table = (qn_fit_table){ 0 };
}

/* Arguments. */

typedef struct {
    qn_fit_scope *scope;
    const qn_fit_item *item;
    const qn_fit_source_arg *args;
    int n_args;
    const qn_fit_files *files;
    char *data; /* of the file */
    size_t bytes;
    qn_fit_table table; /* instead of a file, if has_table */
    int has_table;
} call;

static double number_at(const call *c, int k, double otherwise)
{
    return k < c->n_args && !c->args[k].text && !c->args[k].name ? c->args[k].number : otherwise;
}

static const qn_fit_source_arg *named(const call *c, const char *name)
{
    for (int k = 0; k < c->n_args; k++)
        if (c->args[k].name && !strcmp(c->args[k].name, name))
            return &c->args[k];
    return NULL;
}

static qn_status integer_at(const call *c, int k, const char *what, int *out, qn_err *err)
{
    const double number = number_at(c, k, NAN);

    if (!(number >= 0) || number > INT32_MAX || number != floor(number))
        return qn_fail(err, QN_ERR_INPUT, "%s: argument %d must be a whole number", what, k + 1);
    *out = (int)number;
    return QN_OK;
}

static qn_status read_file(call *c, const char *source, qn_err *err)
{
    const qn_fit_files *files = c->files;
    const char *name = c->args[0].text;
    qn_status st = QN_OK;

    if (!files || !files->read)
        return qn_fail(err, QN_ERR_UNSUPPORTED, "%s: this program cannot read files", name);
    if (files->table && !strcmp(source, "csv"))
        QN_TRY(files->table(files->user, name, &c->table, &c->has_table, err));
    if (c->has_table)
        goto out;
    QN_TRY(files->read(files->user, name, &c->data, &c->bytes, err));
    QN_TRY(qn_fit_gunzip(name, &c->data, &c->bytes, err));
out:
    return st;
}

/* The sources. */

static qn_status make_mesh(call *c, const char *source, qn_err *err)
{
    const char *file = c->args ? c->args[0].text : NULL;
    qn_fit_mesh m = { 0 };
    int a = 0, b = 0;
    qn_status st = QN_OK;

    if (!strcmp(source, "icosphere")) {
        QN_TRY(integer_at(c, 0, "icosphere: level", &a, err));
        QN_TRY(qn_fit_mesh_icosphere(a, number_at(c, 1, 1), &m, err));
    } else if (!strcmp(source, "grid")) {
        QN_TRY(integer_at(c, 0, "grid: nx", &a, err));
        QN_TRY(integer_at(c, 1, "grid: ny", &b, err));
        QN_TRY(qn_fit_mesh_grid(a, b, number_at(c, 2, 1), number_at(c, 3, 1), &m, err));
    } else if (!strcmp(source, "torus")) {
        QN_TRY(integer_at(c, 0, "torus: nu", &a, err));
        QN_TRY(integer_at(c, 1, "torus: nv", &b, err));
        QN_TRY(qn_fit_mesh_torus(a, b, number_at(c, 2, 1), number_at(c, 3, 0.25), &m, err));
    } else if (!strcmp(source, "obj")) {
        QN_TRY(qn_fit_obj_parse(file, c->data, c->bytes, &m, err));
    } else {
        QN_TRY(qn_fit_ply_parse(file, c->data, c->bytes, &m, err));
    }
    QN_TRY(enter_mesh(c->scope, c->item->name.name, &m, err));
out:
    qn_fit_mesh_free(&m);
    return st;
}

static qn_status make_table(call *c, const char *source, qn_err *err)
{
    const char *file = c->args ? c->args[0].text : NULL;
    const qn_fit_source_arg *header = named(c, "header"), *sep = named(c, "sep");
    qn_fit_table t = { 0 };
    qn_status st = QN_OK;

    if (c->has_table)
        t = c->table;
    else if (!strcmp(source, "nist"))
        QN_TRY(qn_fit_nist_parse(file, c->data, c->bytes, &t, err));
    else
        QN_TRY(qn_fit_csv_parse(file, c->data, c->bytes, !header || header->number != 0,
                                sep && sep->text && *sep->text ? *sep->text : ',', &t, err));
    qn_fit_scope_table(c->scope, c->item->name.name, &t);
out:
    return st;
}

static qn_status make_bal(call *c, QN_UNUSED const char *source, qn_err *err)
{
    qn_fit_bal b = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_fit_bal_parse(c->args[0].text, c->data, c->bytes, &b, err));
    QN_TRY(enter_bal(c->scope, c->item->name.name, &b, err));
out:
    return st;
}

static const struct {
    const char *kind, *name;
    int min_args, max_args, has_file;
    qn_status (*make)(call *c, const char *source, qn_err *err);
} SOURCES[] = {
    { "mesh", "icosphere", 1, 2, 0, make_mesh }, { "mesh", "grid", 2, 4, 0, make_mesh },
    { "mesh", "torus", 2, 4, 0, make_mesh },     { "mesh", "obj", 1, 1, 1, make_mesh },
    { "mesh", "ply", 1, 1, 1, make_mesh },       { "table", "nist", 1, 1, 1, make_table },
    { "table", "csv", 1, 3, 1, make_table },     { "bal", "bal", 1, 1, 1, make_bal },
};

enum { N_SOURCES = sizeof SOURCES / sizeof *SOURCES };

static void no_such_source(const qn_fit_item *item, qn_fit_diagnostics *diagnostics)
{
    const char *names[N_SOURCES + 1] = { 0 }, *hint;
    int n = 0;

    for (int k = 0; k < N_SOURCES; k++)
        if (!strcmp(SOURCES[k].kind, item->word))
            names[n++] = SOURCES[k].name;
    hint = qn_closest(item->words[0].name, names);
    qn_fit_diagnose(diagnostics, item->words[0].at, "no source %s for a %s; %s%s?",
                    item->words[0].name, item->word, hint ? "did you mean " : "there is ",
                    hint ? hint : names[0]);
}

void qn_fit_scope_input(qn_fit_scope *scope, const qn_fit_item *item, const qn_fit_source_arg *args,
                        int n_args, const qn_fit_files *files, qn_fit_diagnostics *diagnostics)
{
    call c = {
        .scope = scope, .item = item, .args = n_args ? args : NULL, .n_args = n_args, .files = files
    };
    const char *source = item->words[0].name;
    qn_err err = { .text = "" };
    qn_status st = QN_OK;
    int k = 0;

    while (k < N_SOURCES &&
           (strcmp(SOURCES[k].kind, item->word) || strcmp(SOURCES[k].name, source)))
        k++;
    if (k == N_SOURCES) {
        no_such_source(item, diagnostics);
        return;
    }
    if (n_args < SOURCES[k].min_args || n_args > SOURCES[k].max_args) {
        qn_fit_diagnose(diagnostics, item->words[0].at, "%s takes %d to %d arguments, not %d",
                        source, SOURCES[k].min_args, SOURCES[k].max_args, n_args);
        return;
    }
    if (SOURCES[k].has_file && !args[0].text) {
        qn_fit_diagnose(diagnostics, args[0].at, "%s needs the name of a file as text", source);
        return;
    }
    if (SOURCES[k].has_file)
        st = read_file(&c, source, &err);
    if (st == QN_OK)
        st = SOURCES[k].make(&c, source, &err);
    if (st != QN_OK)
        qn_fit_diagnose_error(diagnostics, n_args ? args[0].at : item->words[0].at, &err);
    free(c.data);
}
