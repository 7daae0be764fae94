/* golden.h - arrays and figures that results must agree with.
 *
 * They are in QUERN_TEST_DATA, or in ../shared/data beside the checkout. Tests that need them are
 * skipped if they are missing, and say so.
 */
#ifndef QN_TESTS_GOLDEN_H
#define QN_TESTS_GOLDEN_H

#include "test.h"

#include "util/hash.h"
#include "util/json.h"
#include "util/npy.h"

/* The path of `name` in the folder of golden data. */
static inline const char *golden_path(const char *name)
{
    static char path[2048];
    const char *folder = getenv("QUERN_TEST_DATA");
    const char *source = getenv("QUERN_SOURCE_DIR");

    if (folder && *folder)
        snprintf(path, sizeof path, "%s/%s", folder, name);
    else
        snprintf(path, sizeof path, "%s/../shared/data/%s", source ? source : ".", name);
    return path;
}

/* Skips the test, with a message, if `name` is missing. */
static inline void need_golden(const char *name)
{
    if (access(golden_path(name), R_OK) == 0)
        return;
    printf("skipped: %s is missing; set QUERN_TEST_DATA to the folder with the golden data\n",
           golden_path(name));
    fflush(stdout);
    skip();
}

static inline qn_npy golden_array(const char *name)
{
    qn_npy array = { 0 };
    qn_err err = { .text = "" };

    if (qn_npy_read(golden_path(name), &array, &err) != QN_OK)
        fail_msg("%s", err.text);
    return array;
}

static inline json_t *golden_json(const char *name)
{
    json_t *root = NULL;
    qn_err err = { .text = "" };

    if (qn_json_read(golden_path(name), &root, &err) != QN_OK)
        fail_msg("%s", err.text);
    return root;
}

/* The member at `path` ("box/mu_hex"). */
static inline json_t *golden_member(json_t *root, const char *path)
{
    char key[64];

    for (; *path; path += strcspn(path, "/"), path += *path == '/') {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(path, "/"), path);
        root = json_object_get(root, key);
        if (!root)
            fail_msg("golden data have no %s", key);
    }
    return root;
}

static inline void assert_sha256(const void *data, size_t bytes, const char *hex)
{
    uint8_t digest[QN_SHA256_BYTES];
    char text[2 * QN_SHA256_BYTES + 1];

    qn_sha256_of(data, bytes, digest);
    assert_string_equal(qn_hex(digest, sizeof digest, text), hex);
}

#endif
