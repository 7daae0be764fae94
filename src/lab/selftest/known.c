/* known.c - known answers, from standards and independent programs. */
#include "lab/selftest/selftest_impl.h"

#include "util/hash.h"

#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000, LEAF_SEED = 9 };

static const char long_message[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

/* FIPS 180-4 examples; the last message is a million times 'a'. */
static const char *const sha256_answers[] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
};

static const char *const keccak256_answers[] = {
    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
};

/* Roots over generated leaves, seed 9. */
static const struct {
    qn_i64 n_leaves;
    const char *plain, *rfc;
} roots[] = {
    { 1, "49407d2e6d1e221438f9575136f8588e06b53f145bb58585384315d1ea1446a1",
      "b2182d2999850b54f908a6a83800c10c8f51ef914d946c6fef4cb8927d5c4a55" },
    { 2, "3f6331bb807b6c20a12fc33a067c69e0311aeda13a74cf43f237e51f40b5bc67",
      "0466187c743762e3b69faa81a9b732906d1b20d34b0b70c9812059107860c2a1" },
    { 3, "fd385e796645a65414dcdbc63defa7b9c8441c336f4623d0090e119231c0ae67",
      "1cb964598416e740cac524843467dccdb4acea80231b9d5096f19e0311fa6d45" },
    { 5, "aabe8c25898648ba57a564155dcb5ea8efc3dffe4fb263c9e6061dd71aa3882e",
      "6c43704fa58fe83969444087f5605381f2ac64326f5114399d158139385bf57e" },
    { 1025, "08fe3b7c992edec156fe28a14bae5a2cb773132b3e9e808a468f84b1208ab92f",
      "262f5061d6e3516ed07ea3702e0c3ec7040ca8366653ac820045ae84d290bd33" },
};

/* On the host. */

static qn_status check_digest(const char *what, qn_i64 i, const void *digest, const char *want,
                              qn_err *err)
{
    char got[2 * QN_SHA256_BYTES + 1];

    if (!strcmp(qn_hex(digest, QN_SHA256_BYTES, got), want))
        return QN_OK;
    return qn_fail(err, QN_ERR_MISMATCH, "%s number %lld is %.16s..., not %.16s...", what,
                   (long long)i, got, want);
}

static qn_status host_sha256(qn_err *err)
{
    const char *const texts[] = { "", "abc", long_message };
    uint8_t digest[QN_SHA256_BYTES];
    qn_sha256 hash;
    qn_status st = QN_OK;

    for (int i = 0; i < 3; i++) {
        qn_sha256_of(texts[i], strlen(texts[i]), digest);
        QN_TRY(check_digest("digest", i, digest, sha256_answers[i], err));
    }
    qn_sha256_begin(&hash);
    for (int i = 0; i < MILLION; i++)
        qn_sha256_add(&hash, "a", 1);
    qn_sha256_end(&hash, digest);
    QN_TRY(check_digest("digest", 3, digest, sha256_answers[3], err));
out:
    return st;
}

static qn_status host_generator(qn_err *err)
{
    static const struct {
        uint64_t seed, index, value;
        uint32_t float_bits;
    } table[] = {
        { 1, 0, UINT64_C(0x910a2dec89025cc1), 0x3e085168 },
        { 1, 1, UINT64_C(0x975835de1c9756ce), 0x3e3ac1a8 },
        { 7, 19999, UINT64_C(0x232906ef7cdebe64), 0xbf39adf4 },
        { UINT64_MAX, UINT64_C(1) << 40, UINT64_C(0xfd0e3ed0c53aec45), 0x3f7a1c7c },
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const uint64_t value = qn_random_u64(table[i].seed, table[i].index);
        const float real = qn_random_float(table[i].seed, table[i].index);
        uint32_t bits;

        memcpy(&bits, &real, sizeof bits);
        if (value != table[i].value || bits != table[i].float_bits ||
            qn_random_byte(table[i].seed, table[i].index) != value >> 56)
            return qn_fail(err, QN_ERR_MISMATCH, "seed %llu, index %llu gives %016llx and %08x",
                           (unsigned long long)table[i].seed, (unsigned long long)table[i].index,
                           (unsigned long long)value, bits);
    }
    return QN_OK;
}

static qn_status host_buckets(qn_err *err)
{
    static const struct {
        uint64_t n, bucket;
    } table[] = {
        { 0, 16384 },
        { 1, 16384 },
        { 10000, 16384 },
        { 16384, 16384 },
        { 16385, 32768 },
        { 20000, 32768 },
        { 30000, 32768 },
        { 40000, 65536 },
        { 200000, 262144 },
        { 256000, 262144 },
        { UINT64_C(1) << 62, UINT64_C(1) << 62 },
    };
    uint64_t bucket = 0;
    qn_err unheard;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (qn_bucket(table[i].n, QN_BUCKET_MIN, &bucket, err) != QN_OK)
            return err->status;
        if (bucket != table[i].bucket)
            return qn_fail(err, QN_ERR_MISMATCH, "the bucket of %llu is %llu, not %llu",
                           (unsigned long long)table[i].n, (unsigned long long)bucket,
                           (unsigned long long)table[i].bucket);
    }
    if (qn_bucket((UINT64_C(1) << 62) + 1, QN_BUCKET_MIN, &bucket, &unheard) == QN_OK)
        return qn_fail(err, QN_ERR_MISMATCH, "2^62 + 1 has a bucket, %llu",
                       (unsigned long long)bucket);
    return QN_OK;
}

qn_status qn_selftest_known_host(qn_findings *findings, qn_err *err)
{
    static const struct {
        const char *name;
        qn_status (*check)(qn_err *err);
    } checks[] = {
        { "known: generator", host_generator },
        { "known: buckets", host_buckets },
        { "known: sha256", host_sha256 },
    };
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        qn_err why = { 0 };
        const qn_status found = checks[i].check(&why);

        QN_TRY(qn_selftest_note(findings, checks[i].name, "host", found, &why, err));
    }
out:
    return st;
}

/* On a device. */

static qn_status check_digests(qn_fixture *fixture, const char *device, const char *what,
                               const char *const *answers, qn_i64 n, qn_err *err)
{
    uint8_t *data;
    qn_status st = QN_OK;

    QN_TRY(qn_fixture_run(fixture, device, &data, err));
    for (qn_i64 i = 0; i < n; i++)
        QN_TRY(check_digest(what, i, data + QN_SHA256_BYTES * i, answers[i], err));
out:
    return st;
}

static qn_status known_hash(qn_ctx *ctx, const char *device, const char *op,
                            const char *const *answers, qn_i64 n, qn_err *err)
{
    const qn_i64 length = (qn_i64)strlen(long_message);
    const qn_i64 start[] = { 0, 0, 3, 3 + length, 3 + length + MILLION };
    qn_fixture fixture = { 0 };
    qn_status st = QN_OK;
    char *text;

    QN_TRY(qn_fixture_open(ctx, &fixture, err));
    QN_TRY(qn_owned_memory(&fixture.owned, (size_t)start[4], &text, err));
    memset(text, 'a', (size_t)start[4]);
    memcpy(text, "abc", 3);
    memcpy(text + 3, long_message, (size_t)length);
    QN_TRY(qn_build_hash(&fixture, op, text, start, n, err));
    QN_TRY(check_digests(&fixture, device, "digest", answers, n, err));
out:
    qn_fixture_close(&fixture);
    return st;
}

static qn_status known_root(qn_ctx *ctx, const char *device, qn_i64 n, int is_rfc,
                            const char *answer, qn_err *err)
{
    qn_fixture fixture = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_fixture_open(ctx, &fixture, err));
    QN_TRY(qn_build_merkle(&fixture, n, LEAF_SEED, is_rfc, err));
    QN_TRY(check_digests(&fixture, device, "root", &answer, 1, err));
out:
    if (st != QN_OK)
        qn_prefix(err, "%lld leaves%s", (long long)n, is_rfc ? ", rfc6962" : "");
    qn_fixture_close(&fixture);
    return st;
}

static qn_status known_roots(qn_ctx *ctx, const char *device, qn_err *err)
{
    qn_status st = QN_OK;

    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        QN_TRY(known_root(ctx, device, roots[i].n_leaves, 0, roots[i].plain, err));
        QN_TRY(known_root(ctx, device, roots[i].n_leaves, 1, roots[i].rfc, err));
    }
out:
    return st;
}

qn_status qn_selftest_known(qn_findings *findings, qn_ctx *ctx, int device, qn_err *err)
{
    const char *id = qn_device_id(ctx, device);
    qn_status st = QN_OK, found;
    qn_err why = { 0 };

    found = known_hash(ctx, id, "sha256", sha256_answers, 4, &why);
    QN_TRY(qn_selftest_note(findings, "known: sha256", id, found, &why, err));
    found = known_hash(ctx, id, "keccak256", keccak256_answers, 2, &why);
    QN_TRY(qn_selftest_note(findings, "known: keccak256", id, found, &why, err));
    found = known_roots(ctx, id, &why);
    QN_TRY(qn_selftest_note(findings, "known: merkle roots", id, found, &why, err));
out:
    return st;
}
