/* show.c - triangles by a depth buffer, seen from the front, the right and above.
 *
 * Faces are shaded by the angle between their normal and the light, equally on both sides, so that
 * both sides of open sheets are visible. Edges are darker where triangles are large enough to
 * distinguish.
 */
#include "domain/fit/show/show.h"

#include "util/png.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Axes of the picture in space: right, up, and towards the eye. */
static const double AXES[3][3] = {
    { 0.8660254037844386, 0.5, 0 },
    { -0.2113248654051871, 0.3660254037844387, 0.9063077870366499 },
    { 0.4531538935183250, -0.7848855672213958, 0.4226182617406994 },
};

static const double LIGHT[3] = { 0.2, 0.5, 0.84 }; /* in the picture's axes */

enum { EDGE_PIXELS = 8 }; /* faces narrower than this have no lines */

static double along(int axis, const double *pos)
{
    return AXES[axis][0] * pos[0] + AXES[axis][1] * pos[1] + AXES[axis][2] * pos[2];
}

void qn_fit_view_add(qn_fit_view *view, const double *pos, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        for (int a = 0; a < 2; a++) {
            const double at = along(a, pos + 3 * (size_t)k);

            view->low[a] = view->is_set ? fmin(view->low[a], at) : at;
            view->high[a] = view->is_set ? fmax(view->high[a], at) : at;
        }
        view->is_set = 1;
    }
}

typedef struct {
    qn_fit_image *image;
    float *depth; /* side * side, larger is nearer */
    double scale;
    int x, y, side;
} canvas;

typedef struct {
    double x, y, z;
} corner;

static corner project(const canvas *c, const qn_fit_view *view, const double *pos)
{
    return (corner){
        c->side / 2.0 + c->scale * (along(0, pos) - (view->low[0] + view->high[0]) / 2),
        c->side / 2.0 - c->scale * (along(1, pos) - (view->low[1] + view->high[1]) / 2),
        along(2, pos),
    };
}

/* Brightness of a face, 0 to 1; NaN where it has no area. */
static double shade(const canvas *c, const corner *p)
{
    const double ux = p[1].x - p[0].x, uy = p[0].y - p[1].y, uz = c->scale * (p[1].z - p[0].z);
    const double vx = p[2].x - p[0].x, vy = p[0].y - p[2].y, vz = c->scale * (p[2].z - p[0].z);
    const double n[3] = { uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx };
    const double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);

    return fabs(n[0] * LIGHT[0] + n[1] * LIGHT[1] + n[2] * LIGHT[2]) / size;
}

static void draw_pixel(const canvas *c, int x, int y, double depth, double bright, int is_edge)
{
    float *near = &c->depth[(size_t)y * (size_t)c->side + (size_t)x];
    uint8_t *rgb =
        c->image->rgb + 3 * ((size_t)(c->y + y) * (size_t)c->image->width + (size_t)(c->x + x));
    const double light = (0.35 + 0.65 * bright) * (is_edge ? 0.72 : 1);

    if ((float)depth <= *near)
        return;
    *near = (float)depth;
    rgb[0] = (uint8_t)(108 * light + 0.5);
    rgb[1] = (uint8_t)(164 * light + 0.5);
    rgb[2] = (uint8_t)(224 * light + 0.5);
}

static double edge_of(const corner *a, const corner *b, double x, double y)
{
    return (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
}

static double distance_of(const corner *a, const corner *b)
{
    return hypot(a->x - b->x, a->y - b->y);
}

static int clipped(double v, int side)
{
    return v < 0 ? 0 : v > side ? side : (int)v;
}

static void draw_face(const canvas *c, const corner *p)
{
    const double area = edge_of(&p[0], &p[1], p[2].x, p[2].y), bright = shade(c, p);
    const double lengths[3] = { distance_of(&p[1], &p[2]), distance_of(&p[2], &p[0]),
                                distance_of(&p[0], &p[1]) };
    const int x0 = clipped(fmin(p[0].x, fmin(p[1].x, p[2].x)), c->side);
    const int x1 = clipped(fmax(p[0].x, fmax(p[1].x, p[2].x)) + 1, c->side);
    const int y0 = clipped(fmin(p[0].y, fmin(p[1].y, p[2].y)), c->side);
    const int y1 = clipped(fmax(p[0].y, fmax(p[1].y, p[2].y)) + 1, c->side);
    const double longest = fmax(lengths[0], fmax(lengths[1], lengths[2]));
    const int has_edges = longest > EDGE_PIXELS;

    if (!(fabs(area) > 1e-9) || !isfinite(bright))
        return;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            double w[3], depth = 0;
            int is_in = 1, is_edge = 0;

            for (int k = 0; k < 3; k++) {
                const double along = edge_of(&p[(k + 1) % 3], &p[(k + 2) % 3], x + 0.5, y + 0.5);

                w[k] = along / area;
                is_in &= w[k] >= 0;
                is_edge |= has_edges && fabs(along) < 0.6 * lengths[k];
                depth += w[k] * p[k].z;
            }
            if (is_in)
                draw_pixel(c, x, y, depth, bright, is_edge);
        }
}

qn_status qn_fit_draw_mesh(qn_fit_image *image, int x, int y, int side, const qn_fit_mesh *mesh,
                           const qn_fit_view *view, qn_err *err)
{
    canvas c = { .image = image, .x = x, .y = y, .side = side };

    if (!(c.depth = malloc((size_t)side * (size_t)side * sizeof *c.depth)))
        return qn_fail(err, QN_ERR_NOMEM, "a picture of %d x %d pixels", side, side);
    for (size_t k = 0; k < (size_t)side * (size_t)side; k++)
        c.depth[k] = -INFINITY;
    const double extent = fmax(view->high[0] - view->low[0], view->high[1] - view->low[1]);

    c.scale = extent > 0 ? 0.94 * side / extent : 1;
    for (uint32_t f = 0; f < mesh->n_faces; f++) {
        corner p[3];

        for (int k = 0; k < 3; k++)
            p[k] =
                project(&c, view, mesh->pos + 3 * (size_t)mesh->faces[3 * (size_t)f + (size_t)k]);
        draw_face(&c, p);
    }
    free(c.depth);
    return QN_OK;
}

/* Pictures. */

qn_status qn_fit_image_new(qn_fit_image *image, int width, int height, qn_err *err)
{
    const size_t bytes = 3 * (size_t)width * (size_t)height;

    if (!(image->rgb = malloc(bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "a picture of %d x %d pixels", width, height);
    memset(image->rgb, 255, bytes);
    image->width = width;
    image->height = height;
    return QN_OK;
}

void qn_fit_image_free(qn_fit_image *image)
{
    free(image->rgb);
    *image = (qn_fit_image){ 0 };
}

qn_status qn_fit_show_mesh(const char *path, const qn_fit_mesh *mesh, const double *before,
                           int side, qn_err *err)
{
    const int n = before ? 2 : 1;
    qn_fit_mesh old = *mesh;
    qn_fit_image image = { 0 };
    qn_fit_view view = { 0 };
    qn_status st = QN_OK;

    old.pos = (double *)before;
    if (before)
        qn_fit_view_add(&view, before, mesh->n_verts);
    qn_fit_view_add(&view, mesh->pos, mesh->n_verts);
    QN_TRY(qn_fit_image_new(&image, n * side, side, err));
    if (before)
        QN_TRY(qn_fit_draw_mesh(&image, 0, 0, side, &old, &view, err));
    QN_TRY(qn_fit_draw_mesh(&image, (n - 1) * side, 0, side, mesh, &view, err));
    QN_TRY(qn_png_write(path, image.rgb, image.width, image.height, err));
out:
    qn_fit_image_free(&image);
    return st;
}
