/* test_fit_show.c - pictures of meshes: depth, frames, faces without area. */
#include "test.h"

#include "domain/fit/show/show.h"
#include "util/file.h"

enum { SIDE = 64 };

/* Two triangles, one of them in front of the other. */
static double pos[] = { 0, 0, 0, 2, 0, 0, 0, 2, 0, 0.2, 0.1, 0.5, 1.2, 0.3, 0.9, 0.3, 1.1, 0.7 };

static qn_fit_image draw(const qn_fit_mesh *mesh)
{
    qn_fit_image image = { 0 };
    qn_fit_view view = { 0 };
    qn_err err = { .text = "" };

    qn_fit_view_add(&view, mesh->pos, mesh->n_verts);
    if (qn_fit_image_new(&image, SIDE, SIDE, &err) != QN_OK ||
        qn_fit_draw_mesh(&image, 0, 0, SIDE, mesh, &view, &err) != QN_OK)
        fail_msg("%s", err.text);
    return image;
}

static int n_painted(const qn_fit_image *image)
{
    int n = 0;

    for (int k = 0; k < SIDE * SIDE; k++)
        n += image->rgb[3 * k] != 255 || image->rgb[3 * k + 1] != 255;
    return n;
}

static void what_is_in_front_does_not_depend_on_the_order_of_faces(void **state)
{
    uint32_t forth[] = { 0, 1, 2, 3, 4, 5 }, back[] = { 3, 4, 5, 0, 1, 2 };
    const qn_fit_mesh a = { .n_verts = 6, .n_faces = 2, .pos = pos, .faces = forth };
    const qn_fit_mesh b = { .n_verts = 6, .n_faces = 2, .pos = pos, .faces = back };
    const qn_fit_mesh alone = { .n_verts = 6, .n_faces = 1, .pos = pos, .faces = forth };
    qn_fit_image one = draw(&a), two = draw(&b), far = draw(&alone);

    (void)state;
    assert_memory_equal(one.rgb, two.rgb, (size_t)3 * SIDE * SIDE);
    assert_memory_not_equal(one.rgb, far.rgb, (size_t)3 * SIDE * SIDE);
    assert_true(n_painted(&far) > 100);
    qn_fit_image_free(&one);
    qn_fit_image_free(&two);
    qn_fit_image_free(&far);
}

static void everything_lies_within_the_frame(void **state)
{
    qn_fit_mesh mesh = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_fit_mesh_icosphere(2, 7, &mesh, &err), QN_OK);
    qn_fit_image image = draw(&mesh);

    assert_true(n_painted(&image) > SIDE * SIDE / 2);
    for (int k = 0; k < SIDE; k++) {
        assert_int_equal(image.rgb[3 * k], 255);
        assert_int_equal(image.rgb[3 * ((SIDE - 1) * SIDE + k)], 255);
        assert_int_equal(image.rgb[3 * k * SIDE], 255);
        assert_int_equal(image.rgb[3 * (k * SIDE + SIDE - 1)], 255);
    }
    qn_fit_image_free(&image);
    qn_fit_mesh_free(&mesh);
}

static void faces_without_area_are_left_out(void **state)
{
    uint32_t faces[] = { 0, 0, 0, 0, 1, 1 };
    const qn_fit_mesh mesh = { .n_verts = 6, .n_faces = 2, .pos = pos, .faces = faces };
    const qn_fit_mesh none = { 0 };
    qn_fit_image image = draw(&mesh), empty = draw(&none);

    (void)state;
    assert_int_equal(n_painted(&image), 0);
    assert_int_equal(n_painted(&empty), 0);
    qn_fit_image_free(&image);
    qn_fit_image_free(&empty);
}

static void a_picture_appears_whole_or_not_at_all(void **state)
{
    uint32_t faces[] = { 0, 1, 2, 3, 4, 5 };
    const qn_fit_mesh mesh = { .n_verts = 6, .n_faces = 2, .pos = pos, .faces = faces };
    double before[18] = { 0 };
    qn_temp_dir dir = { .path = "" };
    char path[1100], *png = NULL;
    size_t bytes = 0;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_temp_dir_make(&dir, &err), QN_OK);
    snprintf(path, sizeof path, "%s/mesh.png", dir.path);
    assert_int_equal(qn_fit_show_mesh(path, &mesh, before, SIDE, &err), QN_OK);
    assert_int_equal(qn_file_read(path, &png, &bytes, &err), QN_OK);
    assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
    /* Width and height are in the header of the file. */
    assert_int_equal((uint8_t)png[19], 2 * SIDE);
    assert_int_equal((uint8_t)png[23], SIDE);
    snprintf(path, sizeof path, "%s/none/mesh.png", dir.path);
    assert_int_not_equal(qn_fit_show_mesh(path, &mesh, before, SIDE, &err), QN_OK);
    free(png);
    qn_temp_dir_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_front_does_not_depend_on_the_order_of_faces),
        cmocka_unit_test(everything_lies_within_the_frame),
        cmocka_unit_test(faces_without_area_are_left_out),
        cmocka_unit_test(a_picture_appears_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
