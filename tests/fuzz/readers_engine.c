/* readers_engine.c - the files that the engine keeps on disk. */
#include "fuzz.h"

#include "engine/device/context.h"
#include "engine/device/kcache.h"
#include "engine/route/route.h"
#include "util/file.h"

#include <unistd.h>

/* Compiled kernels. */

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

enum { DIGEST = 24 }; /* its offset in a file: kcache.h */

static qn_status store_entry(const char *folder, const void *data, size_t n, qn_err *err)
{
    qn_kcache *cache = qn_kcache_new(folder);
    const qn_blob blob = { (void *)(uintptr_t)data, n, QN_BIN_PTX };
    const qn_status st = qn_kcache_store(cache, KEY, &blob, err);

    qn_kcache_free(cache);
    return st;
}

static void seed_entry(const char *path)
{
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    qn_err err;

    fuzz_ok(store_entry(folder, ".version 7.0", 12, &err), &err);
    free(folder);
}

/* The content with a correct digest, after a head that may be wrong in everything else. */
static void mend_entry(const fuzz_input *in, qn_err *err)
{
    FILE *file;

    if (in->n <= QN_KCACHE_HEADER || store_entry(in->folder, in->bytes + QN_KCACHE_HEADER,
                                                 in->n - QN_KCACHE_HEADER, err) != QN_OK)
        return;
    file = fopen(in->path, "rb+");
    fuzz_must(file && fwrite(in->bytes, 1, DIGEST, file) == DIGEST, "an entry cannot be changed");
    fclose(file);
}

static qn_status read_entry(const fuzz_input *in, qn_err *err)
{
    qn_kcache *cache = qn_kcache_new(in->folder);
    qn_kcache_entry *list = NULL;
    qn_kcache_result found;
    qn_blob blob;
    int n = 0;

    mend_entry(in, err);
    found = qn_kcache_load(cache, KEY, &blob);

    fuzz_must((found == QN_KCACHE_HIT) == (blob.data != NULL), "an entry without data");
    fuzz_must(found != QN_KCACHE_HIT || blob.bytes + QN_KCACHE_HEADER == in->n, "another size");
    free(blob.data);
    if (qn_kcache_list(in->folder, &list, &n, err) == QN_OK)
        free(list);
    qn_kcache_free(cache);
    return found == QN_KCACHE_HIT ? QN_OK : qn_fail(err, QN_ERR_INPUT, "the entry is not believed");
}

/* The router's profile of a device. */

static qn_ctx *profile_ctx(const char *path)
{
    static qn_ctx *ctx;
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    qn_err err;

    if (!ctx)
        fuzz_ok(qn_ctx_open(&QN_OPTIONS(.backend = "cpu", .log = "error", .cache_dir = folder),
                            &ctx, &err),
                &err);
    free(folder);
    return ctx;
}

static void seed_profile(const char *path)
{
    qn_ctx *ctx = profile_ctx(path);
    qn_route_op *op = qn_router_op(ctx, "vadd");
    char own[1200];
    qn_err err;

    qn_model_restore(&op->models[0], 1000, 12.5, 0.25, 32);
    ctx->router->links[0] = (qn_link){ 6.1, 24, 7.9, 22.5, 12 };
    ctx->router->has_link = 1;
    ctx->router->speeds[0] = (qn_speed){ 3, 400, 9000, 1 };
    fuzz_ok(qn_profile_write(ctx, 0, &err), &err);
    fuzz_ok(qn_profile_path(ctx, 0, own, sizeof own, &err), &err);
    fuzz_must(rename(own, path) == 0, "a profile cannot be renamed");
}

static qn_status read_profile(const fuzz_input *in, qn_err *err)
{
    qn_ctx *ctx = profile_ctx(in->path);
    char own[1200];

    fuzz_ok(qn_profile_path(ctx, 0, own, sizeof own, err), err);
    fuzz_ok(qn_make_parent(own, err), err);
    fuzz_must(rename(in->path, own) == 0, "a profile cannot be renamed");
    ctx->router->is_loaded = 0;
    ctx->router->has_profile = 0;
    qn_profile_load_all(ctx);
    return ctx->router->has_profile ? QN_OK : qn_fail(err, QN_ERR_INPUT, "the profile is ignored");
}

const fuzz_reader fuzz_engine[] = {
    { .name = "kernel-cache", .file = KEY ".qnk", .read = read_entry, .seed = seed_entry },
    { .name = "profile", .file = "profile.json", .read = read_profile, .seed = seed_profile },
    { .name = NULL },
};
