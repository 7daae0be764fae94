/* ply.c - PLY, as text and as little-endian binary: x, y, z and the faces' vertex lists. */
#include "domain/fit/mesh/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ELEMENTS = 16, MAX_PROPERTIES = 64 };

typedef enum { I8, U8, I16, U16, I32, U32, F32, F64, N_TYPES } number_type;

static const char *const TYPE_NAMES[N_TYPES][2] = {
    { "char", "int8" }, { "uchar", "uint8" }, { "short", "int16" },   { "ushort", "uint16" },
    { "int", "int32" }, { "uint", "uint32" }, { "float", "float32" }, { "double", "float64" },
};
static const size_t TYPE_BYTES[N_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 8 };

typedef struct {
    char name[32];
    number_type type, count_type;
    int is_list;
} property;

typedef struct {
    char name[32];
    uint64_t count;
    property properties[MAX_PROPERTIES];
    int n_properties;
} element;

typedef struct {
    const char *name, *text;
    size_t at, bytes;
    int is_binary, n_elements;
    element elements[MAX_ELEMENTS];
    qn_fit_mesh mesh;
    qn_fit_mesh_room room;
} reader;

/* The head. */

static int find_type(const char *word, number_type *out)
{
    for (int k = 0; k < N_TYPES; k++)
        if (!strcmp(word, TYPE_NAMES[k][0]) || !strcmp(word, TYPE_NAMES[k][1])) {
            *out = (number_type)k;
            return 1;
        }
    return 0;
}

static qn_status head_line(reader *r, const char *line, qn_err *err)
{
    char a[32] = "", b[32] = "", c[32] = "", d[32] = "", e[32] = "";
    const int n = sscanf(line, "%31s %31s %31s %31s %31s", a, b, c, d, e);
    element *last = r->n_elements ? &r->elements[r->n_elements - 1] : NULL;
    property p = { .is_list = !strcmp(b, "list") };

    if (n < 1 || !strcmp(a, "comment") || !strcmp(a, "obj_info"))
        return QN_OK;
    if (!strcmp(a, "format")) {
        r->is_binary = !strcmp(b, "binary_little_endian");
        if (!r->is_binary && strcmp(b, "ascii"))
            return qn_fail(err, QN_ERR_INPUT,
                           "%s: PLY of format %s (ascii and binary_little_endian are read)",
                           r->name, b);
        return QN_OK;
    }
    if (!strcmp(a, "element") && n >= 3 && r->n_elements < MAX_ELEMENTS) {
        last = &r->elements[r->n_elements++];
        snprintf(last->name, sizeof last->name, "%s", b);
        last->count = strtoull(c, NULL, 10);
        if (last->count <= INT32_MAX)
            return QN_OK;
        return qn_fail(err, QN_ERR_LIMIT, "%s: %s elements %s (limit 2^31 - 1)", r->name, c, b);
    }
    if (!strcmp(a, "property") && last && last->n_properties < MAX_PROPERTIES &&
        (p.is_list
             ? n == 5 && find_type(c, &p.count_type) && p.count_type < F32 && find_type(d, &p.type)
             : n == 3 && find_type(b, &p.type))) {
        snprintf(p.name, sizeof p.name, "%s", p.is_list ? e : c);
        last->properties[last->n_properties++] = p;
        return QN_OK;
    }
    return qn_fail(err, QN_ERR_INPUT, "%s: PLY header line \"%.60s\" is not understood", r->name,
                   line);
}

static qn_status read_head(reader *r, qn_err *err)
{
    char line[256];

    for (long k = 0; r->at < r->bytes; k++) {
        const char *end = memchr(r->text + r->at, '\n', r->bytes - r->at);
        const size_t n = end ? (size_t)(end - r->text) - r->at : r->bytes - r->at;
        qn_status st;

        snprintf(line, sizeof line, "%.*s", n < 250 ? (int)n : 250, r->text + r->at);
        line[strcspn(line, "\r")] = 0;
        r->at = end ? r->at + n + 1 : r->bytes;
        if (k == 0 && strcmp(line, "ply"))
            break;
        if (!strcmp(line, "end_header"))
            return QN_OK;
        if (k && (st = head_line(r, line, err)) != QN_OK)
            return st;
    }
    return qn_fail(err, QN_ERR_INPUT, "%s: no PLY header", r->name);
}

/* Numbers. */

static double binary_number(const unsigned char *b, number_type type)
{
    uint64_t bits = 0;
    float single;
    double number;

    for (size_t k = TYPE_BYTES[type]; k-- > 0;)
        bits = bits << 8 | b[k];
    switch (type) {
    case I8:
        return (int8_t)bits;
    case I16:
        return (int16_t)bits;
    case I32:
        return (int32_t)bits;
    case F32: {
        const uint32_t low = (uint32_t)bits;

        memcpy(&single, &low, sizeof single);
        return single;
    }
    case F64:
        memcpy(&number, &bits, sizeof number);
        return number;
    default:
        return (double)bits;
    }
}

static qn_status next_number(reader *r, number_type type, double *out, qn_err *err)
{
    if (r->is_binary) {
        if (r->bytes - r->at < TYPE_BYTES[type])
            return qn_fail(err, QN_ERR_INPUT, "%s: PLY ends at byte %zu, within its data", r->name,
                           r->bytes);
        *out = binary_number((const unsigned char *)r->text + r->at, type);
        r->at += TYPE_BYTES[type];
        return QN_OK;
    }
    while (r->at < r->bytes && strchr(" \t\r\n", r->text[r->at]))
        r->at++;
    {
        char word[64] = "";
        size_t n = 0;
        char *end;

        while (r->at < r->bytes && !strchr(" \t\r\n", r->text[r->at]) && n < sizeof word - 1)
            word[n++] = r->text[r->at++];
        *out = strtod(word, &end);
        if (n && !*end)
            return QN_OK;
        return qn_fail(err, QN_ERR_INPUT, "%s: \"%s\" at byte %zu is not a number", r->name, word,
                       r->at);
    }
}

/* Elements. */

static qn_status read_list(reader *r, const property *p, int is_face, qn_err *err)
{
    double count = 0, v = 0;
    uint32_t first = 0, last = 0;
    qn_status st = QN_OK;

    QN_TRY(next_number(r, p->count_type, &count, err));
    for (double k = 0; k < count; k++) {
        QN_TRY(next_number(r, p->type, &v, err));
        if (!is_face)
            continue;
        if (!(v >= 0) || v >= r->mesh.n_verts || v != floor(v))
            QN_FAIL(err, QN_ERR_INPUT, "%s: face %u refers to vertex %g of %u", r->name,
                    r->mesh.n_faces, v, r->mesh.n_verts);
        if (k == 0)
            first = (uint32_t)v;
        if (k >= 2)
            QN_TRY(qn_fit_mesh_add_face(&r->mesh, &r->room, first, last, (uint32_t)v, err));
        last = (uint32_t)v;
    }
out:
    return st;
}

static qn_status read_element(reader *r, const element *e, qn_err *err)
{
    const int is_vertex = !strcmp(e->name, "vertex"), is_face = !strcmp(e->name, "face");
    double at[3] = { 0 }, number = 0;
    int found = 0;
    qn_status st = QN_OK;

    for (int k = 0; k < e->n_properties; k++) {
        const property *p = &e->properties[k];

        if (p->is_list) {
            QN_TRY(read_list(r, p, is_face && !strncmp(p->name, "vertex_ind", 10), err));
            continue;
        }
        QN_TRY(next_number(r, p->type, &number, err));
        if (p->name[0] >= 'x' && p->name[0] <= 'z' && !p->name[1]) {
            at[p->name[0] - 'x'] = number;
            found |= 1 << (p->name[0] - 'x');
        }
    }
    if (!is_vertex)
        goto out;
    if (found != 7 || !isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]))
        QN_FAIL(err, QN_ERR_INPUT, "%s: vertex %u lacks x, y or z, or one is not finite", r->name,
                r->mesh.n_verts);
    QN_TRY(qn_fit_mesh_add_vert(&r->mesh, &r->room, at, err));
out:
    return st;
}

qn_status qn_fit_ply_parse(const char *name, const char *text, size_t bytes, qn_fit_mesh *out,
                           qn_err *err)
{
    reader *r = calloc(1, sizeof *r);
    qn_status st = QN_OK;

    if (!r)
        return qn_fail(err, QN_ERR_NOMEM, "%s: PLY reader", name);
    r->name = name;
    r->text = text;
    r->bytes = bytes;
    QN_TRY(read_head(r, err));
    for (int k = 0; k < r->n_elements; k++) {
        /* An element without properties takes no bytes, so its count has no limit. */
        if (r->elements[k].n_properties == 0)
            continue;
        for (uint64_t i = 0; i < r->elements[k].count; i++)
            QN_TRY(read_element(r, &r->elements[k], err));
    }
    *out = r->mesh;
    r->mesh = (qn_fit_mesh){ 0 };
out:
    qn_fit_mesh_free(&r->mesh);
    free(r);
    return st;
}

void qn_fit_ply_print(const qn_fit_mesh *mesh, qn_str *out)
{
    qn_str_addf(out,
                "ply\nformat ascii 1.0\nelement vertex %u\nproperty double x\nproperty double y\n"
                "property double z\nelement face %u\nproperty list uchar int vertex_indices\n"
                "end_header\n",
                mesh->n_verts, mesh->n_faces);
    for (size_t v = 0; v < mesh->n_verts; v++)
        qn_str_addf(out, "%.17g %.17g %.17g\n", mesh->pos[3 * v], mesh->pos[3 * v + 1],
                    mesh->pos[3 * v + 2]);
    for (size_t f = 0; f < mesh->n_faces; f++)
        qn_str_addf(out, "3 %u %u %u\n", mesh->faces[3 * f], mesh->faces[3 * f + 1],
                    mesh->faces[3 * f + 2]);
}
