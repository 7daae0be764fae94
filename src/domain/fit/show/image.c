/* image.c - a white page of pixels, and two meshes on it. */
#include "domain/fit/show/show.h"

#include "util/png.h"

#include <stdlib.h>
#include <string.h>

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
    qn_fit_mesh old = *mesh;
    qn_fit_image image = { 0 };
    qn_fit_view view = { 0 };
    qn_status st = QN_OK;

    old.pos = (double *)before;
    qn_fit_view_add(&view, before, mesh->n_verts);
    qn_fit_view_add(&view, mesh->pos, mesh->n_verts);
    QN_TRY(qn_fit_image_new(&image, 2 * side, side, err));
    QN_TRY(qn_fit_draw_mesh(&image, 0, 0, side, &old, &view, err));
    QN_TRY(qn_fit_draw_mesh(&image, side, 0, side, mesh, &view, err));
    QN_TRY(qn_png_write(path, image.rgb, image.width, image.height, err));
out:
    qn_fit_image_free(&image);
    return st;
}

qn_status qn_fit_show_mesh_alone(const char *path, const qn_fit_mesh *mesh, int side, qn_err *err)
{
    qn_fit_image image = { 0 };
    qn_fit_view view = { 0 };
    qn_status st = QN_OK;

    qn_fit_view_add(&view, mesh->pos, mesh->n_verts);
    QN_TRY(qn_fit_image_new(&image, side, side, err));
    QN_TRY(qn_fit_draw_mesh(&image, 0, 0, side, mesh, &view, err));
    QN_TRY(qn_png_write(path, image.rgb, image.width, image.height, err));
out:
    qn_fit_image_free(&image);
    return st;
}
