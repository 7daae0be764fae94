/* test_hash.c - known answers of the digests and of the input generator. */
/* test: no-tsan */
#include "test.h"

#include "util/hash.h"

static void expect_sha(const void *data, size_t bytes, const char *hex)
{
    uint8_t digest[QN_SHA256_BYTES];
    char text[2 * QN_SHA256_BYTES + 1];

    qn_sha256_of(data, bytes, digest);
    assert_string_equal(qn_hex(digest, sizeof digest, text), hex);
}

static void sha256_gives_the_published_digests(void **state)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

    (void)state;
    expect_sha("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_sha("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_sha(two_blocks, strlen(two_blocks),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void sha256_of_a_million_a_is_right(void **state)
{
    char *a = malloc(1000000);

    (void)state;
    memset(a, 'a', 1000000);
    expect_sha(a, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(a);
}

static void sha256_in_pieces_equals_sha256_at_once(void **state)
{
    uint8_t data[300];
    uint8_t whole[QN_SHA256_BYTES];
    uint8_t parts[QN_SHA256_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = qn_random_byte(3, i);
    for (size_t n = 0; n <= sizeof data; n++) {
        qn_sha256 hash;
        size_t step = 1;
        qn_sha256_of(data, n, whole);
        qn_sha256_begin(&hash);
        for (size_t at = 0; at < n; at += step, step = step % 67 + 5)
            qn_sha256_add(&hash, data + at, step < n - at ? step : n - at);
        qn_sha256_add(&hash, NULL, 0);
        qn_sha256_end(&hash, parts);
        assert_memory_equal(whole, parts, sizeof whole);
    }
}

static void fnv1a_gives_the_published_values(void **state)
{
    (void)state;
    assert_true(qn_fnv1a64("", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(qn_fnv1a64("a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(qn_fnv1a64("foobar", 6) == UINT64_C(0x85944171f73967e8));
    assert_true(qn_fnv1a64_add(qn_fnv1a64("foo", 3), "bar", 3) == qn_fnv1a64("foobar", 6));
}

/* Expected values were computed with exact integers in another language. */
static void generator_gives_fixed_values(void **state)
{
    (void)state;
    assert_true(qn_random_u64(0, 0) == UINT64_C(0x5692161d100b05e5));
    assert_true(qn_random_u64(7, 0) == UINT64_C(0xe099ec6cd7363ca5));
    assert_true(qn_random_u64(7, 19999) == UINT64_C(0x232906ef7cdebe64));
    assert_true(qn_random_u64(UINT64_MAX, UINT64_MAX) == UINT64_C(0x336503c6b835bec0));
    assert_true(qn_random_float(7, 0) == 0.754697322845459f);
    assert_true(qn_random_float(7, 19999) == -0.7253105640411377f);
    assert_int_equal(qn_random_byte(7, 0), 224);
    assert_int_equal(qn_random_byte(7, 19999), 35);
}

static void generated_floats_fill_minus_one_to_one_evenly(void **state)
{
    double sum = 0;
    int below = 0;

    (void)state;
    for (uint64_t i = 0; i < 100000; i++) {
        const float x = qn_random_float(42, i);
        assert_true(x >= -1.0f && x < 1.0f);
        sum += x;
        below += x < -0.5f;
    }
    assert_true(sum > -1000 && sum < 1000);
    assert_in_range(below, 24000, 26000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_gives_the_published_digests),
        cmocka_unit_test(sha256_of_a_million_a_is_right),
        cmocka_unit_test(sha256_in_pieces_equals_sha256_at_once),
        cmocka_unit_test(fnv1a_gives_the_published_values),
        cmocka_unit_test(generator_gives_fixed_values),
        cmocka_unit_test(generated_floats_fill_minus_one_to_one_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
