/* pack.c - finds and reads a pack. */
#include "engine/device/pack.h"

#include "engine/device/module.h"
#include "kernel/contract.h"
#include "util/env.h"
#include "util/file.h"
#include "util/inflate.h"
#include "util/list.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef QN_PACK_FROM_BIN /* where `make install` puts it, seen from the folder of commands */
#define QN_PACK_FROM_BIN "../lib/quern/quern.qnp"
#endif

enum { MOST_ENTRIES = 1 << 16, MOST_BYTES = 1 << 28 };

struct qn_pack {
    int file;
    unsigned char *rows;
    uint32_t n;
};

/* Where it is. */

/* The folder of a file, its links resolved; 0 when there is none. */
static int folder_of(const char *file, char out[PATH_MAX])
{
    char *slash;

    if (!file || !realpath(file, out) || !(slash = strrchr(out, '/')))
        return 0;
    *slash = '\0';
    return 1;
}

/* Beside the library or the program that this code is in, or where both are installed. */
static int open_beside(const char *file)
{
    static const char *const places[] = { "quern.qnp", "quern/quern.qnp", "../quern.qnp",
                                          QN_PACK_FROM_BIN };
    char folder[PATH_MAX], path[PATH_MAX + 64];
    int found = -1;

    for (size_t i = 0; found < 0 && i < sizeof places / sizeof *places; i++) {
        if (!folder_of(file, folder))
            return -1;
        snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        found = open(path, O_RDONLY | O_CLOEXEC);
    }
    return found;
}

static int open_file(const char **named)
{
    Dl_info code = { 0 };
    int file;

    if ((*named = qn_env("QUERN_KERNELS")))
        return strcmp(*named, "0") != 0 ? open(*named, O_RDONLY | O_CLOEXEC) : -1;
    dladdr((const void *)qn_builtin_modules, &code);
    file = open_beside(code.dli_fname);
    return file >= 0 ? file : open_beside("/proc/self/exe");
}

/* Reading it. */

static uint64_t get_le(const unsigned char *p, int bytes)
{
    uint64_t v = 0;

    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static int read_index(qn_pack *pack)
{
    unsigned char head[QN_PACK_HEADER], digest[QN_SHA256_BYTES];
    size_t bytes;

    if (!qn_read_exactly_at(pack->file, head, sizeof head, 0) || memcmp(head, "QNKP", 4) ||
        get_le(head + 4, 4) != QN_PACK_VERSION || get_le(head + 8, 4) > MOST_ENTRIES)
        return 0;
    pack->n = (uint32_t)get_le(head + 8, 4);
    bytes = (size_t)pack->n * QN_PACK_ROW;
    if (!(pack->rows = malloc(bytes + 1)) ||
        !qn_read_exactly_at(pack->file, pack->rows, bytes, sizeof head))
        return 0;
    qn_sha256_of(pack->rows, bytes, digest);
    return !memcmp(digest, head + 16, sizeof digest);
}

/* Takes the file. */
static qn_pack *open_pack(int file)
{
    qn_pack *pack = file >= 0 ? calloc(1, sizeof *pack) : NULL;

    if (!pack) {
        if (file >= 0)
            close(file);
        return NULL;
    }
    pack->file = file;
    if (read_index(pack))
        return pack;
    qn_pack_close(pack);
    return NULL;
}

qn_pack *qn_pack_open_at(const char *path)
{
    return open_pack(open(path, O_RDONLY | O_CLOEXEC));
}

qn_pack *qn_pack_open(const qn_log *log)
{
    const char *named;
    const int file = open_file(&named);
    qn_pack *const pack = open_pack(file);

    if (file < 0 && named && strcmp(named, "0") != 0)
        qn_log_put(log, QN_LOG_WARN, "QUERN_KERNELS: cannot read %s", named);
    else if (file >= 0 && !pack)
        qn_log_put(log, QN_LOG_WARN,
                   "%s is no pack of compiled kernels of this version, or damaged",
                   named ? named : "quern.qnp");
    return pack;
}

void qn_pack_close(qn_pack *pack)
{
    if (!pack)
        return;
    close(pack->file);
    free(pack->rows);
    free(pack);
}

static const unsigned char *row_of(const qn_pack *pack, const unsigned char *key)
{
    for (uint32_t i = 0; i < pack->n; i++)
        if (!memcmp(pack->rows + (size_t)i * QN_PACK_ROW, key, QN_SHA256_BYTES))
            return pack->rows + (size_t)i * QN_PACK_ROW;
    return NULL;
}

int qn_pack_copy(const qn_pack *pack, const unsigned char key[QN_SHA256_BYTES],
                 unsigned char **packed, size_t *n_packed, size_t *bytes)
{
    const unsigned char *const row = row_of(pack, key);
    unsigned char digest[QN_SHA256_BYTES];
    qn_sha256 hash;

    if (!row)
        return 0;
    *n_packed = (size_t)get_le(row + 72, 4);
    *bytes = (size_t)get_le(row + 76, 4);
    if (!(*packed = malloc(*n_packed + 1)))
        return 0;
    if (qn_read_exactly_at(pack->file, *packed, *n_packed, (size_t)get_le(row + 64, 8))) {
        qn_sha256_begin(&hash);
        qn_sha256_add(&hash, key, QN_SHA256_BYTES);
        qn_sha256_add(&hash, *packed, *n_packed);
        qn_sha256_end(&hash, digest);
        if (!memcmp(digest, row + 32, sizeof digest))
            return 1;
    }
    free(*packed);
    *packed = NULL;
    return 0;
}

qn_pack_result qn_pack_get(const qn_pack *pack, const unsigned char key[QN_SHA256_BYTES],
                           qn_blob *out)
{
    unsigned char *packed;
    size_t n_packed, expected, bytes;
    qn_pack_result found = QN_PACK_BAD;
    char *data;
    qn_err ignored;

    if (!row_of(pack, key))
        return QN_PACK_MISS;
    if (!qn_pack_copy(pack, key, &packed, &n_packed, &expected))
        return QN_PACK_BAD;
    if (qn_inflate("quern.qnp", packed, n_packed, MOST_BYTES, &data, &bytes, &ignored) == QN_OK) {
        *out = (qn_blob){ data, bytes, QN_BIN_CUBIN };
        found = QN_PACK_HIT;
    }
    free(packed);
    return found;
}

/* For a device. */

void qn_pack_key(const qn_backend *backend, int arch, const qn_kernel_module *module,
                 const char *defines, unsigned char out[QN_SHA256_BYTES])
{
    const char version[] = { 'p', QN_PACK_VERSION, 0 };
    char options[256] = "";
    qn_sha256 hash;

    backend->image_options(arch, qn_may_contract(defines), options, sizeof options);
    qn_sha256_begin(&hash);
    qn_sha256_add(&hash, version, sizeof version);
    qn_module_hash(&hash, module, defines);
    qn_sha256_add(&hash, options, strlen(options) + 1);
    qn_sha256_end(&hash, out);
}

/* Sets the key of the newest architecture that the pack has code of for the device. */
static int find(const qn_device *device, const qn_kernel_module *module, const char *defines,
                unsigned char key[QN_SHA256_BYTES])
{
    const qn_pack *pack = device->ctx->pack;
    int arch;

    if (!pack || !device->backend->image_for || sscanf(device->info.arch, "sm_%d", &arch) != 1)
        return 0;
    for (int a = arch; a >= arch / 10 * 10; a--) {
        qn_pack_key(device->backend, a, module, defines, key);
        if (row_of(pack, key))
            return 1;
    }
    return 0;
}

qn_pack_result qn_pack_load(const qn_device *device, const qn_kernel_module *module,
                            const char *defines, qn_blob *out)
{
    unsigned char key[QN_SHA256_BYTES];

    return find(device, module, defines, key) ? qn_pack_get(device->ctx->pack, key, out)
                                              : QN_PACK_MISS;
}

int qn_pack_has(const qn_device *device, const qn_kernel_module *module, const char *defines)
{
    unsigned char key[QN_SHA256_BYTES];

    return find(device, module, defines, key);
}
