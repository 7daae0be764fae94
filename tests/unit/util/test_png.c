/* test_png.c - PNG images, decoded again by libpng. */
/* test: no-tsan */
#include "test.h"

#include <png.h>

#include "util/file.h"
#include "util/hash.h"
#include "util/png.h"

static const char *path; /* of a file in the folder */

static int choose_path(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    path = in_folder("a.png");
    return 0;
}

static uint8_t *random_image(int width, int height, uint64_t seed)
{
    const size_t bytes = (size_t)width * (size_t)height * 3;
    uint8_t *rgb = malloc(bytes);

    assert_non_null(rgb);
    for (size_t i = 0; i < bytes; i++)
        rgb[i] = qn_random_byte(seed, i);
    return rgb;
}

static void expect_round_trip(int width, int height)
{
    uint8_t *rgb = random_image(width, height, 7), *back = malloc((size_t)width * height * 3);
    png_image image = { .version = PNG_IMAGE_VERSION };
    qn_err err = { .text = "" };

    if (qn_png_write(path, rgb, width, height, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(image.format, PNG_FORMAT_RGB);
    assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
    assert_memory_equal(back, rgb, (size_t)width * height * 3);
    free(rgb);
    free(back);
}

static void decoded_image_has_the_pixels_that_were_written(void **state)
{
    (void)state;
    expect_round_trip(1, 1);
    expect_round_trip(776, 256);
    expect_round_trip(3, 501);
}

static void same_pixels_give_the_same_file(void **state)
{
    uint8_t *rgb = random_image(64, 48, 3);
    char *first, *second;
    size_t n_first, n_second;

    (void)state;
    assert_int_equal(qn_png_write(path, rgb, 64, 48, NULL), QN_OK);
    assert_int_equal(qn_file_read(path, &first, &n_first, NULL), QN_OK);
    assert_int_equal(qn_png_write(path, rgb, 64, 48, NULL), QN_OK);
    assert_int_equal(qn_file_read(path, &second, &n_second, NULL), QN_OK);
    assert_int_equal(n_first, n_second);
    assert_memory_equal(first, second, n_first);
    free(first);
    free(second);
    free(rgb);
}

static void failed_writes_name_the_file_and_the_reason(void **state)
{
    uint8_t *rgb = random_image(64, 64, 1);
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_png_write("/nowhere/a.png", rgb, 64, 64, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "/nowhere/a.png"));
    assert_int_equal(qn_png_write("/dev/full", rgb, 64, 64, &err), QN_ERR_IO);
    assert_non_null(strstr(err.text, "/dev/full"));
    free(rgb);
}

static void image_without_pixels_or_too_large_is_refused(void **state)
{
    const uint8_t pixel[3] = { 0 };
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(unlink(path) == 0 || access(path, F_OK) != 0, 1);
    assert_int_equal(qn_png_write(path, pixel, 0, 5, &err), QN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "0 x 5 pixels is outside 1 .. 1000000"));
    assert_int_equal(qn_png_write(path, pixel, 1, 1000001, &err), QN_ERR_LIMIT);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void check_takes_whole_images_and_refuses_every_part_of_one(void **state)
{
    uint8_t *rgb = random_image(9, 5, 3);
    char *png = NULL;
    size_t bytes = 0;
    int width = 0, height = 0;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_png_write(path, rgb, 9, 5, &err), QN_OK);
    assert_int_equal(qn_file_read(path, &png, &bytes, &err), QN_OK);
    assert_int_equal(qn_png_check("whole.png", png, bytes, &width, &height, &err), QN_OK);
    assert_int_equal(width, 9);
    assert_int_equal(height, 5);
    /* The last chunk only marks the end: all pixels are before it. */
    for (size_t n = 0; n < bytes - 12; n++) {
        assert_int_equal(qn_png_check("part.png", png, n, &width, &height, &err), QN_ERR_INPUT);
        assert_non_null(strstr(err.text, "part.png is "));
    }
    png[bytes / 2] ^= 1;
    assert_int_equal(qn_png_check("bent.png", png, bytes, &width, &height, &err), QN_ERR_INPUT);
    free(png);
    free(rgb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoded_image_has_the_pixels_that_were_written),
        cmocka_unit_test(same_pixels_give_the_same_file),
        cmocka_unit_test(failed_writes_name_the_file_and_the_reason),
        cmocka_unit_test(image_without_pixels_or_too_large_is_refused),
        cmocka_unit_test(check_takes_whole_images_and_refuses_every_part_of_one),
    };
    return cmocka_run_group_tests(tests, choose_path, remove_folder);
}
