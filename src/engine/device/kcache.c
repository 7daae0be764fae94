/* kcache.c - reads, writes and trims the folder of compiled kernels. */
#include "engine/device/kcache.h"

#include "util/file.h"
#include "util/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const uint64_t folder_cap_bytes = (uint64_t)512 << 20;
static const uint64_t entry_cap_bytes = (uint64_t)64 << 20;
static const char temp_end[] = ".XXXXXX"; /* suffix of a file that is being written */
enum { LEFTOVER_S = 3600 };               /* storing never takes that long */

struct qn_kcache {
    char dir[1024]; /* "": off */
};

static int is_entry_name(const char *name, size_t len)
{
    return len == QN_KEY_CHARS + 4 && strspn(name, "0123456789abcdef") == QN_KEY_CHARS &&
           !strncmp(name + QN_KEY_CHARS, ".qnk", 4);
}

static int is_temp_name(const char *name)
{
    const size_t len = strlen(name), end = sizeof temp_end - 1;

    return len > end && name[len - end] == '.' && is_entry_name(name, len - end);
}

/* Removes temporary files of processes that were killed while storing an entry. */
static void remove_leftovers(const char *dir)
{
    DIR *folder = opendir(dir);
    const struct dirent *item;
    struct stat info;

    while (folder && (item = readdir(folder)))
        if (is_temp_name(item->d_name) &&
            !fstatat(dirfd(folder), item->d_name, &info, AT_SYMLINK_NOFOLLOW) &&
            S_ISREG(info.st_mode) && difftime(time(NULL), info.st_mtime) > LEFTOVER_S)
            unlinkat(dirfd(folder), item->d_name, 0);
    if (folder)
        closedir(folder);
}

qn_kcache *qn_kcache_new(const char *dir)
{
    qn_kcache *cache = calloc(1, sizeof *cache);

    if (cache && dir && strlen(dir) < sizeof cache->dir) {
        strcpy(cache->dir, dir);
        remove_leftovers(dir);
    }
    return cache;
}

void qn_kcache_free(qn_kcache *cache)
{
    free(cache);
}

int qn_kcache_is_on(const qn_kcache *cache)
{
    return cache->dir[0] != 0;
}

static void entry_path(const char *dir, const char *key, char *out, size_t size)
{
    snprintf(out, size, "%s/%s.qnk", dir, key);
}

static uint64_t get_le(const unsigned char *p, int bytes)
{
    uint64_t v = 0;

    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static void put_le(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

/* Does not follow links, and does not block on special files. */
static int open_entry(const char *path)
{
    return open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

/* Owned by us and writable by no other user. */
static int is_private(const struct stat *info)
{
    return info->st_uid == geteuid() && !(info->st_mode & (S_IWGRP | S_IWOTH));
}

static int folder_is_safe(const char *dir)
{
    struct stat info;

    return stat(dir, &info) == 0 && S_ISDIR(info.st_mode) && is_private(&info);
}

/* Reads and checks the header fields; returns 0 if they are wrong. */
static int parse_header(const unsigned char *head, uint64_t file_bytes, uint32_t *kind,
                        uint64_t *payload)
{
    *kind = (uint32_t)get_le(head + 8, 4);
    *payload = get_le(head + 16, 8);
    return !memcmp(head, "QNKC", 4) && get_le(head + 4, 4) == QN_KCACHE_VERSION &&
           *kind >= QN_BIN_CUBIN && *kind < QN_N_BINS && get_le(head + 12, 4) == 0 &&
           *payload > 0 && *payload <= entry_cap_bytes && file_bytes == QN_KCACHE_HEADER + *payload;
}

/* The key is hashed too, so an entry under a wrong name is invalid. */
static void digest_of(const char *key, const void *data, size_t bytes,
                      unsigned char out[QN_SHA256_BYTES])
{
    qn_sha256 hash;

    qn_sha256_begin(&hash);
    qn_sha256_add(&hash, key, QN_KEY_CHARS);
    qn_sha256_add(&hash, data, bytes);
    qn_sha256_end(&hash, out);
}

static int read_entry(int file, const char *key, qn_blob *out)
{
    unsigned char head[QN_KCACHE_HEADER], digest[QN_SHA256_BYTES];
    struct stat info;
    uint32_t kind;
    uint64_t bytes;
    void *data;

    if (fstat(file, &info) || !S_ISREG(info.st_mode) || !is_private(&info) ||
        !qn_read_exactly(file, head, sizeof head) ||
        !parse_header(head, (uint64_t)info.st_size, &kind, &bytes) || !(data = malloc(bytes)))
        return 0;
    if (qn_read_exactly(file, data, bytes)) {
        digest_of(key, data, bytes, digest);
        if (!memcmp(digest, head + 24, sizeof digest)) {
            *out = (qn_blob){ data, bytes, (qn_bin_kind)kind };
            return 1;
        }
    }
    free(data);
    return 0;
}

qn_kcache_result qn_kcache_load(qn_kcache *cache, const char key[QN_KEY_CHARS + 1], qn_blob *out)
{
    char path[1200];
    int file, good;

    *out = (qn_blob){ 0 };
    if (!cache->dir[0])
        return QN_KCACHE_MISS;
    entry_path(cache->dir, key, path, sizeof path);
    if ((file = open_entry(path)) < 0) {
        if (errno != ELOOP)
            return QN_KCACHE_MISS;
        unlink(path);
        return QN_KCACHE_BAD;
    }
    good = folder_is_safe(cache->dir) && read_entry(file, key, out);
    if (good)
        futimens(file, NULL); /* mark as used */
    else
        unlink(path);
    close(file);
    return good ? QN_KCACHE_HIT : QN_KCACHE_BAD;
}

int qn_kcache_has(qn_kcache *cache, const char key[QN_KEY_CHARS + 1])
{
    char path[1200];

    if (!cache->dir[0])
        return 0;
    entry_path(cache->dir, key, path, sizeof path);
    return access(path, R_OK) == 0;
}

static int by_use(const void *a, const void *b)
{
    const int64_t x = ((const qn_kcache_entry *)a)->used_s,
                  y = ((const qn_kcache_entry *)b)->used_s;

    return x != y ? (x > y) - (x < y)
                  : strcmp(((const qn_kcache_entry *)a)->key, ((const qn_kcache_entry *)b)->key);
}

static int look_at(const char *dir, const char *name, qn_kcache_entry *out)
{
    unsigned char head[QN_KCACHE_HEADER];
    char path[1200];
    struct stat info;
    uint64_t payload;
    int file;

    *out = (qn_kcache_entry){ 0 };
    memcpy(out->key, name, QN_KEY_CHARS);
    entry_path(dir, out->key, path, sizeof path);
    if ((file = open_entry(path)) < 0)
        return errno == ELOOP; /* a link is listed, so that it can be cleared */
    if (fstat(file, &info) == 0) {
        out->bytes = (uint64_t)info.st_size;
        out->used_s = (int64_t)info.st_mtime;
        if (!qn_read_exactly(file, head, sizeof head) ||
            !parse_header(head, out->bytes, &out->kind, &payload))
            out->kind = 0;
    }
    close(file);
    return 1;
}

qn_status qn_kcache_list(const char *dir, qn_kcache_entry **out, int *n, qn_err *err)
{
    qn_kcache_entry *list = NULL, *grown;
    const struct dirent *item;
    DIR *folder = opendir(dir);
    qn_status st = QN_OK;

    *out = NULL;
    *n = 0;
    if (!folder && errno == ENOENT)
        return QN_OK;
    if (!folder)
        return qn_fail(err, errno == ENOMEM ? QN_ERR_NOMEM : QN_ERR_IO,
                       "cannot read the cache folder %s: %s", dir, strerror(errno));
    while ((item = readdir(folder))) {
        if (!is_entry_name(item->d_name, strlen(item->d_name)))
            continue;
        if (!(grown = realloc(list, (size_t)(*n + 1) * sizeof *grown))) {
            st = qn_fail(err, QN_ERR_NOMEM, "cache folder %s: out of host memory", dir);
            break;
        }
        list = grown;
        *n += look_at(dir, item->d_name, &list[*n]);
    }
    closedir(folder);
    if (st != QN_OK) {
        free(list);
        return st;
    }
    if (*n)
        qsort(list, (size_t)*n, sizeof *list, by_use);
    *out = list;
    return QN_OK;
}

qn_status qn_kcache_clear(const char *dir, int *n_removed, qn_err *err)
{
    qn_kcache_entry *list;
    char path[1200];
    int n;
    qn_status st = qn_kcache_list(dir, &list, &n, err);

    *n_removed = 0;
    remove_leftovers(dir);
    for (int i = 0; st == QN_OK && i < n; i++) {
        entry_path(dir, list[i].key, path, sizeof path);
        if (unlink(path) && errno != ENOENT)
            st = qn_fail(err, QN_ERR_IO, "cannot remove %s: %s", path, strerror(errno));
        else
            ++*n_removed;
    }
    free(list);
    return st;
}

/* Removes the least recently used entries until the folder is under its cap. */
static void trim(const char *dir)
{
    qn_kcache_entry *list;
    qn_err ignored;
    uint64_t total = 0;
    char path[1200];
    int n;

    if (qn_kcache_list(dir, &list, &n, &ignored) != QN_OK)
        return;
    for (int i = 0; i < n; i++)
        total += list[i].bytes;
    for (int i = 0; i < n && total > folder_cap_bytes; i++) {
        entry_path(dir, list[i].key, path, sizeof path);
        unlink(path);
        total -= list[i].bytes;
    }
    free(list);
}

static qn_status need_folder(const char *dir, qn_err *err)
{
    struct stat info;
    qn_status st = QN_OK;

    if (stat(dir, &info)) {
        if ((st = qn_make_dirs(dir, err)) != QN_OK)
            return st;
        chmod(dir, 0700);
    }
    if (!folder_is_safe(dir))
        return qn_fail(err, QN_ERR_IO,
                       "cache folder %s is not a folder that only its owner can write", dir);
    return QN_OK;
}

qn_status qn_kcache_store(qn_kcache *cache, const char key[QN_KEY_CHARS + 1], const qn_blob *blob,
                          qn_err *err)
{
    unsigned char head[QN_KCACHE_HEADER] = "QNKC";
    char path[1200], temp[1240];
    qn_status st;
    int file, good;

    if (!cache->dir[0] || !blob->bytes || blob->bytes > entry_cap_bytes)
        return QN_OK;
    if ((st = need_folder(cache->dir, err)) != QN_OK)
        return st;
    put_le(head + 4, QN_KCACHE_VERSION, 4);
    put_le(head + 8, blob->kind, 4);
    put_le(head + 16, blob->bytes, 8);
    digest_of(key, blob->data, blob->bytes, head + 24);

    entry_path(cache->dir, key, path, sizeof path);
    snprintf(temp, sizeof temp, "%s%s", path, temp_end);
    if ((file = mkostemp(temp, O_CLOEXEC)) < 0)
        return qn_fail(err, QN_ERR_IO, "cannot create %s: %s", temp, strerror(errno));
    good = qn_write_exactly(file, head, sizeof head) &&
           qn_write_exactly(file, blob->data, blob->bytes) && !fsync(file);
    if (!good)
        qn_fail(err, QN_ERR_IO, "cannot write %s: %s", temp, strerror(errno));
    close(file);
    if (good && rename(temp, path)) {
        qn_fail(err, QN_ERR_IO, "cannot rename to %s: %s", path, strerror(errno));
        good = 0;
    }
    if (!good) {
        unlink(temp);
        return QN_ERR_IO;
    }
    trim(cache->dir);
    return QN_OK;
}

const char *qn_kcache_kind(uint32_t kind)
{
    static const char *const names[QN_N_BINS] = {
        [QN_BIN_NONE] = "damaged",  [QN_BIN_CUBIN] = "cubin",   [QN_BIN_PTX] = "ptx",
        [QN_BIN_OPENCL] = "opencl", [QN_BIN_OBJECT] = "object", [QN_BIN_FFT] = "fft",
    };

    return kind < QN_N_BINS ? names[kind] : NULL;
}
