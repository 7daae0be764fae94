/* test_y4m.c - films: colours, the stream, and the encoder behind it.
 *
 * The encoder is a script named ffmpeg in a folder at the front of PATH, which records its
 * arguments; the real one is not needed.
 */
/* test: no-tsan */
#include "test.h"

#include <sys/stat.h>

#include "util/file.h"
#include "util/hash.h"
#include "util/y4m.h"

enum { WIDTH = 37, HEIGHT = 21, AREA = WIDTH * HEIGHT };

static char film_path[1100], saved_path[4096];

static int make_films(void **state)
{
    snprintf(saved_path, sizeof saved_path, "%s", getenv("PATH"));
    if (make_folder(state) != 0)
        return -1;
    snprintf(film_path, sizeof film_path, "%s/film", test_folder.path);
    return 0;
}

static int remove_films(void **state)
{
    setenv("PATH", saved_path, 1);
    return remove_folder(state);
}

/* A program called ffmpeg that runs `body`, found before any other. */
static void install_encoder(const char *body)
{
    char path[1200], text[sizeof saved_path + sizeof test_folder.path];
    qn_err err = { .text = "" };

    snprintf(path, sizeof path, "%s/ffmpeg", test_folder.path);
    snprintf(text, sizeof text, "#!/bin/sh\nfor last; do :; done\nout=${last#file:}\n%s\n", body);
    if (qn_file_write(path, text, strlen(text), &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(text, sizeof text, "%s:%s", test_folder.path, saved_path);
    setenv("PATH", text, 1);
}

static void fill(uint8_t *rgb, uint64_t seed)
{
    for (size_t i = 0; i < 3 * AREA; i++)
        rgb[i] = qn_random_byte(seed, i);
}

static qn_film *opened(qn_film_kind kind)
{
    qn_film *film = NULL;
    qn_err err = { .text = "" };

    if (qn_film_open(film_path, kind, WIDTH, HEIGHT, &film, &err) != QN_OK)
        fail_msg("%s", err.text);
    return film;
}

/* Three frames of random pixels. */
static void make_film(qn_film_kind kind)
{
    qn_film *film = opened(kind);
    uint8_t rgb[3 * AREA];
    qn_err err = { .text = "" };

    for (uint64_t f = 0; f < 3; f++) {
        fill(rgb, f);
        if (qn_film_add(film, rgb, &err) != QN_OK)
            fail_msg("%s", err.text);
    }
    if (qn_film_close(film, &err) != QN_OK)
        fail_msg("%s", err.text);
}

static int n_files(void)
{
    char command[1200];
    int n = -1;

    snprintf(command, sizeof command, "ls -A '%s' | wc -l", test_folder.path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static void assert_film_is_the_stream(void)
{
    static const char head[] = "YUV4MPEG2 W37 H21 F10:1 Ip A1:1 C444 XCOLORRANGE=LIMITED\n";
    const size_t head_bytes = sizeof head - 1, frame_bytes = 6 + 3 * AREA;
    char *text;
    size_t bytes;

    assert_int_equal(qn_file_read(film_path, &text, &bytes, NULL), QN_OK);
    assert_int_equal(bytes, head_bytes + 3 * frame_bytes);
    assert_memory_equal(text, head, head_bytes);
    for (uint64_t f = 0; f < 3; f++) {
        const char *frame = text + head_bytes + f * frame_bytes;
        uint8_t rgb[3 * AREA];

        fill(rgb, f);
        assert_memory_equal(frame, "FRAME\n", 6);
        for (size_t i = 0; i < AREA; i++) {
            uint8_t ycc[3];

            qn_rgb_to_ycc(rgb + 3 * i, ycc);
            for (size_t p = 0; p < 3; p++)
                assert_int_equal((uint8_t)frame[6 + p * AREA + i], ycc[p]);
        }
    }
    free(text);
}

/* Colours. */

static void colours_follow_bt601(void **state)
{
    (void)state;
    for (uint64_t k = 0; k < 100000; k++) {
        const uint8_t rgb[3] = { qn_random_byte(1, k), qn_random_byte(2, k), qn_random_byte(3, k) };
        const double y = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
        const double want[3] = { 16 + y * 219 / 255, 128 + (rgb[2] - y) / 1.772 * 224 / 255,
                                 128 + (rgb[0] - y) / 1.402 * 224 / 255 };
        uint8_t ycc[3];

        qn_rgb_to_ycc(rgb, ycc);
        for (int p = 0; p < 3; p++)
            assert_true(fabs(ycc[p] - want[p]) < 0.51);
    }
}

static void greys_have_no_colour_and_ends_are_exact(void **state)
{
    uint8_t ycc[3];

    (void)state;
    for (int v = 0; v < 256; v++) {
        const uint8_t grey[3] = { (uint8_t)v, (uint8_t)v, (uint8_t)v };

        qn_rgb_to_ycc(grey, ycc);
        assert_int_equal(ycc[1], 128);
        assert_int_equal(ycc[2], 128);
        if (v == 0)
            assert_int_equal(ycc[0], 16);
    }
    assert_int_equal(ycc[0], 235);
    qn_rgb_to_ycc((const uint8_t[3]){ 0, 0, 255 }, ycc);
    assert_int_equal(ycc[1], 240);
    qn_rgb_to_ycc((const uint8_t[3]){ 0, 255, 255 }, ycc);
    assert_int_equal(ycc[2], 16);
}

/* Streams. */

static void y4m_has_header_and_frames(void **state)
{
    (void)state;
    make_film(QN_FILM_Y4M);
    assert_film_is_the_stream();
    unlink(film_path);
}

static void aborted_film_leaves_nothing(void **state)
{
    const int before = n_files();
    uint8_t rgb[3 * AREA];
    qn_film *film = opened(QN_FILM_Y4M);

    (void)state;
    fill(rgb, 1);
    assert_int_equal(qn_film_add(film, rgb, NULL), QN_OK);
    qn_film_abort(film);
    qn_film_abort(NULL);
    assert_int_equal(n_files(), before);
}

static void film_that_cannot_be_written_says_so(void **state)
{
    qn_film *film = NULL;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(qn_film_open("/nowhere/a.y4m", QN_FILM_Y4M, 8, 8, &film, &err), QN_ERR_IO);
    assert_int_equal(qn_film_open("a.y4m", QN_FILM_Y4M, 8, 40000, &film, &err), QN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "8 x 40000 pixels is outside 1 .. 32768"));
    assert_null(film);
}

/* Encoders. */

static void encoder_gets_the_stream_and_its_file_is_put_in_place(void **state)
{
    char log[1200], *text;
    size_t bytes;

    (void)state;
    snprintf(log, sizeof log, "printf '%%s\\n' \"$*\" > '%s/args'; cat > \"$out\"",
             test_folder.path);
    install_encoder(log);
    make_film(QN_FILM_WEBM);
    assert_film_is_the_stream();
    snprintf(log, sizeof log, "%s/args", test_folder.path);
    assert_int_equal(qn_file_read(log, &text, &bytes, NULL), QN_OK);
    assert_non_null(strstr(text, "-f yuv4mpegpipe -i pipe:0"));
    assert_non_null(strstr(text, "-f webm"));
    free(text);
    make_film(QN_FILM_MP4);
    assert_int_equal(qn_file_read(log, &text, &bytes, NULL), QN_OK);
    assert_non_null(strstr(text, "-f mp4"));
    free(text);
    unlink(log);
    unlink(film_path);
    assert_int_equal(n_files(), 1); /* the encoder */
}

static void missing_encoder_is_unsupported(void **state)
{
    qn_film *film = NULL;
    qn_err err = { .text = "" };

    (void)state;
    setenv("PATH", "/nowhere", 1);
    assert_int_equal(qn_film_open(film_path, QN_FILM_WEBM, 8, 8, &film, &err), QN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "ffmpeg is not installed"));
    assert_null(film);
    setenv("PATH", saved_path, 1);
}

static void failing_encoder_leaves_no_film(void **state)
{
    uint8_t rgb[3 * AREA];
    qn_err err = { .text = "" };

    (void)state;
    install_encoder("cat > \"$out\"; exit 3");
    qn_film *film = opened(QN_FILM_MP4);
    fill(rgb, 1);
    assert_int_equal(qn_film_add(film, rgb, &err), QN_OK);
    assert_int_equal(qn_film_close(film, &err), QN_ERR_FAILED);
    assert_non_null(strstr(err.text, "ffmpeg failed with status 3"));
    assert_int_equal(n_files(), 1);
}

/* The program must survive: a write to a closed pipe would end it. The encoder may exit before the
 * first one. */
static void encoder_that_dies_is_an_error(void **state)
{
    uint8_t rgb[3 * AREA];
    qn_film *film = NULL;
    qn_err err = { .text = "" };
    qn_status st;

    (void)state;
    install_encoder("exit 1");
    st = qn_film_open(film_path, QN_FILM_MP4, WIDTH, HEIGHT, &film, &err);
    fill(rgb, 1);
    for (int i = 0; i < 100000 && st == QN_OK; i++)
        st = qn_film_add(film, rgb, &err);
    assert_int_equal(st, QN_ERR_IO);
    assert_non_null(strstr(err.text, "the encoder ended"));
    qn_film_abort(film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_follow_bt601),
        cmocka_unit_test(greys_have_no_colour_and_ends_are_exact),
        cmocka_unit_test(y4m_has_header_and_frames),
        cmocka_unit_test(aborted_film_leaves_nothing),
        cmocka_unit_test(film_that_cannot_be_written_says_so),
        cmocka_unit_test(encoder_gets_the_stream_and_its_file_is_put_in_place),
        cmocka_unit_test(missing_encoder_is_unsupported),
        cmocka_unit_test(failing_encoder_leaves_no_film),
        cmocka_unit_test(encoder_that_dies_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_films, remove_films);
}
