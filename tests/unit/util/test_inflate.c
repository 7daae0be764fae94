/* test_inflate.c - unpacking: both formats, growth, limits, and damaged data. */
/* test: no-tsan */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { ROOM = 4096 };

/* `text` in zlib format or, with `gzip`, in gzip format. */
static size_t packed(const char *text, size_t n, int gzip, unsigned char *out)
{
    z_stream z = { 0 };
    size_t bytes;

    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, gzip ? 15 + 16 : 15, 9, Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = ROOM;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    bytes = ROOM - z.avail_out;
    deflateEnd(&z);
    return bytes;
}

static void both_formats_are_read(void **state)
{
    static const char text[] = "MAP(saxpy, VAL(float, a), IN(float, x), INOUT(float, y))";
    unsigned char data[ROOM];

    (void)state;
    for (int gzip = 0; gzip < 2; gzip++) {
        const size_t bytes = packed(text, strlen(text), gzip, data);
        char *out = NULL;
        size_t n = 0;
        qn_err err;

        assert_int_equal(qn_inflate("t", data, bytes, 1 << 20, &out, &n, &err), QN_OK);
        assert_int_equal(n, strlen(text));
        assert_string_equal(out, text);
        free(out);
    }
}

static void a_long_run_of_one_letter_grows_to_its_length_and_no_further(void **state)
{
    enum { LONG = 200 * 1000 };
    unsigned char data[ROOM];
    char *text = malloc(LONG), *out = NULL;
    size_t n = 0, bytes;
    qn_err err;

    (void)state;
    assert_non_null(text);
    memset(text, 'a', LONG);
    bytes = packed(text, LONG, 0, data);
    assert_true(bytes < 1000);
    assert_int_equal(qn_inflate("t", data, bytes, LONG + 1, &out, &n, &err), QN_OK);
    assert_int_equal(n, LONG);
    assert_memory_equal(out, text, LONG);
    free(out);
    out = NULL;
    assert_int_equal(qn_inflate("t", data, bytes, LONG, &out, &n, &err), QN_OK);
    assert_int_equal(n, LONG);
    free(out);
    out = NULL;
    assert_int_equal(qn_inflate("t", data, bytes, LONG - 1, &out, &n, &err), QN_ERR_LIMIT);
    assert_int_equal(qn_inflate("t", data, bytes, LONG / 2, &out, &n, &err), QN_ERR_LIMIT);
    assert_string_equal(err.text, "t: unpacks to more than 100000 bytes");
    assert_null(out);
    free(text);
}

static void data_that_is_cut_or_changed_is_refused(void **state)
{
    static const char text[] = "a text of some length, of some length, and of some more length";
    unsigned char data[ROOM];
    const size_t bytes = packed(text, strlen(text), 0, data);
    char *out = NULL;
    size_t n = 0;
    qn_err err;

    (void)state;
    for (size_t cut = 0; cut < bytes; cut++)
        assert_int_equal(qn_inflate("t", data, cut, 1 << 20, &out, &n, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "t: bad or cut gzip data after "));
    data[bytes - 1] ^= 1; /* of the checksum */
    assert_int_equal(qn_inflate("t", data, bytes, 1 << 20, &out, &n, &err), QN_ERR_INPUT);
    assert_null(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_formats_are_read),
        cmocka_unit_test(a_long_run_of_one_letter_grows_to_its_length_and_no_further),
        cmocka_unit_test(data_that_is_cut_or_changed_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
