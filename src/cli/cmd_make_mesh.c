/* cmd_make_mesh.c - `quern make mesh`: writes an icosphere, grid or torus. */
#include "cli/cli.h"

#include "domain/fit/mesh/mesh.h"
#include "domain/fit/show/show.h"
#include "util/file.h"

#include <stdlib.h>
#include <string.h>

static const qn_opt options[] = {
    { 0, "radius", QN_OPT_REAL, .value = "R", .fallback = "1", .min = 0, .max = 1000000,
      .help = "radius of an icosphere, or of a torus around its axis" },
    { 0, "tube", QN_OPT_REAL, .value = "R", .fallback = "0.4", .min = 0, .max = 1000000,
      .help = "radius of the tube of a torus" },
    { 0, "width", QN_OPT_REAL, .value = "W", .fallback = "1", .min = 0, .max = 1000000,
      .help = "width of a grid; cells are square" },
    { 0, "picture", QN_OPT_TEXT, .value = "FILE.png", .help = "also draw the mesh" },
    { 0 }
};

static const char *const examples[] = { "quern make mesh icosphere 3 ball.obj --picture ball.png",
                                        NULL };

enum { PICTURE_SIDE = 600 };

/* "3", "16x8" */
static qn_status parse_size(const char *text, int n, int *out, qn_err *err)
{
    const char *at = text;

    for (int k = 0; k < n; k++) {
        char *end;
        const long value = strtol(at, &end, 10);

        if (end == at || value < 0 || value > 100000 || *end != (k + 1 < n ? 'x' : '\0'))
            return qn_fail(err, QN_ERR_USAGE, "'%s' is not %s", text,
                           n == 1 ? "a level such as 3" : "a size such as 16x8");
        out[k] = (int)value;
        at = end + 1;
    }
    return QN_OK;
}

static qn_status make(const qn_args *args, qn_fit_mesh *out, qn_err *err)
{
    const char *kind = args->words[0];
    const int is_ball = !strcmp(kind, "icosphere"), is_grid = !strcmp(kind, "grid");
    const double radius = qn_real(args, "radius"), width = qn_real(args, "width");
    int size[2];
    qn_status st = QN_OK;

    if (!is_ball && !is_grid && strcmp(kind, "torus"))
        return qn_fail(err, QN_ERR_USAGE, "'%s' is not one of icosphere, grid, torus", kind);
    QN_TRY(parse_size(args->words[1], is_ball ? 1 : 2, size, err));
    if (is_ball)
        QN_TRY(qn_fit_mesh_icosphere(size[0], radius, out, err));
    else if (is_grid)
        QN_TRY(qn_fit_mesh_grid(size[0], size[1], width,
                                size[0] ? width * size[1] / size[0] : width, out, err));
    else
        QN_TRY(qn_fit_mesh_torus(size[0], size[1], radius, qn_real(args, "tube"), out, err));
out:
    return st;
}

static qn_status run(QN_UNUSED qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    const char *path = args->words[2], *dot = strrchr(path, '.');
    qn_fit_mesh mesh = { 0 };
    qn_str text = { 0 };
    qn_status st = QN_OK;

    if (!dot || (strcmp(dot, ".obj") && strcmp(dot, ".ply")))
        return qn_fail(err, QN_ERR_USAGE, "'%s' does not end in .obj or .ply", path);
    QN_TRY(make(args, &mesh, err));
    (strcmp(dot, ".obj") ? qn_fit_ply_print : qn_fit_obj_print)(&mesh, &text);
    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_file_write_str(path, &text, err));
    if (qn_text(args, "picture"))
        QN_TRY(qn_fit_show_mesh(qn_text(args, "picture"), &mesh, NULL, PICTURE_SIDE, err));
    printf("%s: %u vertices, %u faces\n", path, mesh.n_verts, mesh.n_faces);
out:
    qn_str_free(&text);
    qn_fit_mesh_free(&mesh);
    return st;
}

const qn_command qn_verb_make_mesh = {
    .name = "mesh",
    .summary = "generate a mesh for fit: an icosphere, a grid or a torus",
    .words = "icosphere|grid|torus SIZE FILE.obj|FILE.ply",
    .min_words = 3,
    .max_words = 3,
    .options = options,
    .notes =
        "SIZE is the level of an icosphere (each level splits every face into four), or two\n"
        "numbers such as 16x8: the cells of a grid, or the segments of a torus around its axis\n"
        "and around its tube.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
