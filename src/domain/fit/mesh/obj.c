/* obj.c - reads and writes vertices and faces of Wavefront OBJ; other lines are skipped. */
#include "domain/fit/mesh/mesh.h"
#include "util/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Growing. */

static qn_status make_room(void **at, size_t *room, size_t n, size_t size, qn_err *err)
{
    void *grown;

    if (n >= INT32_MAX)
        return qn_fail(err, QN_ERR_LIMIT, "a mesh has at most 2^31 - 1 vertices or faces");
    if (!(grown = qn_grown(*at, n, room, size)))
        return qn_fail(err, QN_ERR_NOMEM, "a mesh of more than %zu elements", n);
    *at = grown;
    return QN_OK;
}

qn_status qn_fit_mesh_add_vert(qn_fit_mesh *mesh, qn_fit_mesh_room *room, const double *at,
                               qn_err *err)
{
    void *pos = mesh->pos;
    const qn_status st = make_room(&pos, &room->verts, mesh->n_verts, 3 * sizeof(double), err);

    mesh->pos = pos;
    if (st == QN_OK)
        memcpy(mesh->pos + 3 * (size_t)mesh->n_verts++, at, 3 * sizeof *at);
    return st;
}

qn_status qn_fit_mesh_add_face(qn_fit_mesh *mesh, qn_fit_mesh_room *room, uint32_t a, uint32_t b,
                               uint32_t c, qn_err *err)
{
    void *faces = mesh->faces;
    const qn_status st = make_room(&faces, &room->faces, mesh->n_faces, 3 * sizeof(uint32_t), err);

    mesh->faces = faces;
    if (st == QN_OK)
        memcpy(mesh->faces + 3 * (size_t)mesh->n_faces++, (const uint32_t[]){ a, b, c },
               3 * sizeof a);
    return st;
}

/* Reading. */

typedef struct {
    const char *name;
    long line;
    qn_fit_mesh mesh;
    qn_fit_mesh_room room;
} reader;

static qn_status read_vertex(reader *r, const char *at, qn_err *err)
{
    double p[3];

    for (int c = 0; c < 3; c++) {
        char *end;

        p[c] = strtod(at, &end);
        if (end == at || !isfinite(p[c]))
            return qn_fail(err, QN_ERR_INPUT, "%s:%ld: vertex without %c, or it is not finite",
                           r->name, r->line, "xyz"[c]);
        at = end;
    }
    return qn_fit_mesh_add_vert(&r->mesh, &r->room, p, err);
}

/* Indices count from 1, negative ones from the end. The part after a slash is skipped. */
static qn_status read_face(reader *r, const char *at, qn_err *err)
{
    uint32_t first = 0, last = 0;
    qn_status st = QN_OK;

    for (int n = 0;; n++) {
        char *end;
        const long long k = strtoll(at, &end, 10);
        const long long v = k < 0 ? (long long)r->mesh.n_verts + k : k - 1;

        if (end == at) {
            if (n < 3 || at[strspn(at, " \t\r")])
                return qn_fail(err, QN_ERR_INPUT, "%s:%ld: face of %d numbered corners", r->name,
                               r->line, n);
            return QN_OK;
        }
        if (k == 0 || v < 0 || v >= (long long)r->mesh.n_verts)
            return qn_fail(err, QN_ERR_INPUT, "%s:%ld: face refers to vertex %lld of %u so far",
                           r->name, r->line, k, r->mesh.n_verts);
        at = end + strcspn(end, " \t\r");
        if (n == 0)
            first = (uint32_t)v;
        if (n >= 2 &&
            (st = qn_fit_mesh_add_face(&r->mesh, &r->room, first, last, (uint32_t)v, err)) != QN_OK)
            return st;
        last = (uint32_t)v;
    }
}

qn_status qn_fit_obj_parse(const char *name, const char *text, size_t bytes, qn_fit_mesh *out,
                           qn_err *err)
{
    reader r = { .name = name };
    qn_status st = QN_OK;
    char *line = NULL;
    size_t room = 0;

    for (size_t at = 0; at < bytes;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        const size_t n = end ? (size_t)(end - text) - at : bytes - at;

        r.line++;
        if (n + 1 > room) {
            char *more = realloc(line, 2 * n + 256);

            if (!more)
                QN_FAIL(err, QN_ERR_NOMEM, "%s:%ld: line of %zu bytes", name, r.line, n);
            line = more;
            room = 2 * n + 256;
        }
        memcpy(line, text + at, n);
        line[n] = 0;
        at += n + 1;
        if (line[0] == 'v' && (line[1] == ' ' || line[1] == '\t'))
            QN_TRY(read_vertex(&r, line + 2, err));
        else if (line[0] == 'f' && (line[1] == ' ' || line[1] == '\t'))
            QN_TRY(read_face(&r, line + 2, err));
    }
    *out = r.mesh;
    r.mesh = (qn_fit_mesh){ 0 };
out:
    free(line);
    qn_fit_mesh_free(&r.mesh);
    return st;
}

void qn_fit_obj_print(const qn_fit_mesh *mesh, qn_str *out)
{
    for (size_t v = 0; v < mesh->n_verts; v++)
        qn_str_addf(out, "v %.17g %.17g %.17g\n", mesh->pos[3 * v], mesh->pos[3 * v + 1],
                    mesh->pos[3 * v + 2]);
    for (size_t f = 0; f < mesh->n_faces; f++)
        qn_str_addf(out, "f %u %u %u\n", mesh->faces[3 * f] + 1, mesh->faces[3 * f + 1] + 1,
                    mesh->faces[3 * f + 2] + 1);
}
