/* show.h - draws meshes: shaded, from one side, without perspective. */
#ifndef QN_FIT_SHOW_SHOW_H
#define QN_FIT_SHOW_SHOW_H

#include "domain/fit/mesh/mesh.h"

/* Pixels, three bytes each. A zero-initialised image is empty. */
typedef struct qn_fit_image {
    uint8_t *rgb;
    int width, height;
} qn_fit_image;

qn_status qn_fit_image_new(qn_fit_image *image, int width, int height, qn_err *err);
void qn_fit_image_free(qn_fit_image *image);

/* The part of the plane that a picture shows. */
typedef struct qn_fit_view {
    double low[2], high[2];
    int is_set;
} qn_fit_view;

/* Extends the view to contain `n` positions. */
void qn_fit_view_add(qn_fit_view *view, const double *pos, uint32_t n);

/* Draws faces and edges into the square of `side` pixels whose top left corner is (x, y). */
qn_status qn_fit_draw_mesh(qn_fit_image *image, int x, int y, int side, const qn_fit_mesh *mesh,
                           const qn_fit_view *view, qn_err *err);

/* Writes a PNG with the mesh at the positions `before` (NULL: not shown) and at its own positions,
 * side by side at the same scale. */
qn_status qn_fit_show_mesh(const char *path, const qn_fit_mesh *mesh, const double *before,
                           int side, qn_err *err);

#endif
