/* show.h - pictures of meshes: shaded, from one side, without perspective. */
#ifndef QN_FIT_SHOW_SHOW_H
#define QN_FIT_SHOW_SHOW_H

#include "domain/fit/mesh/mesh.h"

/* Pixels, three bytes each. Zero-initialised is none. */
typedef struct qn_fit_image {
    uint8_t *rgb;
    int width, height;
} qn_fit_image;

qn_status qn_fit_image_new(qn_fit_image *image, int width, int height, qn_err *err);
void qn_fit_image_free(qn_fit_image *image);

/* What a picture shows: the bounds, across and up, of everything that was shown to it. */
typedef struct qn_fit_view {
    double low[2], high[2];
    int is_set;
} qn_fit_view;

/* Widens the view so that it holds `n` positions. */
void qn_fit_view_add(qn_fit_view *view, const double *pos, uint32_t n);

/* Faces with their edges into the square of `side` pixels whose left upper corner is (x, y). */
qn_status qn_fit_draw_mesh(qn_fit_image *image, int x, int y, int side, const qn_fit_mesh *mesh,
                           const qn_fit_view *view, qn_err *err);

/* The mesh with the positions `before` and with its own, side by side on one scale, as a PNG. */
qn_status qn_fit_show_mesh(const char *path, const qn_fit_mesh *mesh, const double *before,
                           int side, qn_err *err);

qn_status qn_fit_show_mesh_alone(const char *path, const qn_fit_mesh *mesh, int side, qn_err *err);

#endif
