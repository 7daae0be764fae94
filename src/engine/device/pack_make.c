/* pack_make.c - compiles every module that a device may be asked for into a pack.
 *
 * Needs a compiler that knows the architectures, and no device.
 */
#include "engine/device/module.h"
#include "engine/device/pack.h"
#include "hal/geometry.h"
#include "hal/module_text.h"
#include "kernel/contract.h"
#include "kernel/expand.h"
#include "util/file.h"
#include "util/list.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TEAM_LANES = 32, MOST_DATA = 1 << 30 };

/* One entry on its way. */
typedef struct entry {
    qn_job job; /* first */
    const qn_kernel_module *module;
    char defines[QN_MAX_DEFINES];
    int arch;
    unsigned char key[QN_SHA256_BYTES];
    unsigned char *packed;
    size_t n_packed, bytes;
    int is_kept; /* from the pack that is replaced */
    qn_status st;
    qn_err err;
} entry;

typedef struct maker {
    entry **list;
    size_t n, room;
    const int *archs;
    int n_archs;
    qn_kernel_module **variants; /* owned */
    size_t n_variants, variants_room;
    qn_status st;
    qn_err *err;
} maker;

static const qn_backend *backend(void)
{
    return qn_backend_find("cuda");
}

/* One entry. */

static qn_status pack_image(entry *e, const qn_blob *image)
{
    uLongf bytes = compressBound((uLong)image->bytes);

    if (!(e->packed = malloc(bytes)) ||
        compress2(e->packed, &bytes, image->data, (uLong)image->bytes, Z_BEST_COMPRESSION) != Z_OK)
        return qn_fail(&e->err, QN_ERR_NOMEM, "module %s: no memory to pack %zu bytes",
                       e->module->name, image->bytes);
    e->n_packed = bytes;
    e->bytes = image->bytes;
    return QN_OK;
}

static void make_entry(qn_job *job)
{
    entry *e = (entry *)job;
    qn_source src = { .module = e->module,
                      .team_lanes = TEAM_LANES,
                      .contracts = qn_may_contract(e->defines) };
    qn_blob image = { 0 };
    qn_str unit = { 0 };
    char *text = NULL;
    qn_err *const err = &e->err;
    qn_status st = QN_OK;

    QN_TRY(qn_module_text(e->module, &text, err));
    QN_TRY(qn_expand_unit(e->module->name, text, e->defines, QN_EXPAND_CUDA, &unit, err));
    src.text = qn_str_get(&unit);
    QN_TRY(backend()->image_for(e->arch, &src, &image, err));
    st = pack_image(e, &image);
out:
    e->st = st;
    free(image.data);
    free(text);
    qn_str_free(&unit);
}

/* The list. */

static qn_status add_entry(maker *m, const qn_kernel_module *module, int arch, qn_err *err)
{
    qn_status st = QN_OK;
    entry *e;

    QN_TRY(QN_GROW(m->list, m->n, &m->room, "modules of a pack", err));
    QN_TRY(QN_NEW(e, 1, "modules of a pack", err));
    m->list[m->n++] = e;
    *e = (entry){ .job = { .run = make_entry }, .module = module, .arch = arch };
    qn_module_defines(module, TEAM_LANES, e->defines);
    qn_pack_key(backend(), arch, module, e->defines, e->key);
out:
    return st;
}

static qn_status add_module(maker *m, const qn_kernel_module *module, qn_err *err)
{
    qn_status st = QN_OK;

    for (int a = 0; a < m->n_archs; a++)
        QN_TRY(add_entry(m, module, m->archs[a], err));
out:
    return st;
}

/* A tool names constants with which it compiles a module for usual sizes. */
static void add_variant(void *user, const qn_kernel_module *module, const char *defines)
{
    maker *m = user;
    qn_kernel_module *variant = NULL;

    if (m->st == QN_OK)
        m->st = QN_GROW(m->variants, m->n_variants, &m->variants_room, "modules of a pack", m->err);
    if (m->st == QN_OK)
        m->st = qn_kernels_with(module, defines, &variant, m->err);
    if (m->st != QN_OK)
        return;
    m->variants[m->n_variants++] = variant;
    m->st = add_module(m, variant, m->err);
}

static int is_for_cpu_alone(const qn_kernel_module *module)
{
    static const char end[] = "_wide";
    const size_t n = strlen(module->name);

    return n >= sizeof end && !strcmp(module->name + n - (sizeof end - 1), end);
}

static qn_status list_modules(maker *m, const qn_kernel_module *const *only, qn_err *err)
{
    qn_status st = QN_OK;

    for (int i = 0; only && only[i]; i++)
        QN_TRY(add_module(m, only[i], err));
    if (only)
        return QN_OK;
    for (int i = 0; qn_builtin_modules[i]; i++)
        if (!is_for_cpu_alone(qn_builtin_modules[i]))
            QN_TRY(add_module(m, qn_builtin_modules[i], err));
    m->err = err;
    for (int t = 0; qn_tools[t]; t++)
        if (qn_tools[t]->each_variant)
            qn_tools[t]->each_variant(add_variant, m);
    st = m->st;
out:
    return st;
}

/* The file. */

static void put_le(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(v >> 8 * i);
}

static void put_row(unsigned char *row, const entry *e, uint64_t at)
{
    qn_sha256 hash;

    memcpy(row, e->key, sizeof e->key);
    qn_sha256_begin(&hash);
    qn_sha256_add(&hash, e->key, sizeof e->key);
    qn_sha256_add(&hash, e->packed, e->n_packed);
    qn_sha256_end(&hash, row + 32);
    put_le(row + 64, at, 8);
    put_le(row + 72, e->n_packed, 4);
    put_le(row + 76, e->bytes, 4);
}

static qn_status write_pack(const maker *m, const char *path, size_t *n_bytes, qn_err *err)
{
    const size_t index = m->n * QN_PACK_ROW;
    size_t at = QN_PACK_HEADER + index;
    unsigned char *all = NULL;
    qn_status st = QN_OK;

    *n_bytes = at;
    for (size_t i = 0; i < m->n; i++)
        *n_bytes += m->list[i]->n_packed;
    if (*n_bytes > MOST_DATA)
        QN_FAIL(err, QN_ERR_LIMIT, "%s: a pack of %zu MB exceeds 1024", path, *n_bytes >> 20);
    QN_TRY(QN_NEW(all, *n_bytes, "a pack", err));
    for (size_t i = 0; i < m->n; i++) {
        const entry *e = m->list[i];

        put_row(all + QN_PACK_HEADER + i * QN_PACK_ROW, e, at);
        memcpy(all + at, e->packed, e->n_packed);
        at += e->n_packed;
    }
    memcpy(all, "QNKP", 4);
    put_le(all + 4, QN_PACK_VERSION, 4);
    put_le(all + 8, m->n, 4);
    qn_sha256_of(all + QN_PACK_HEADER, index, all + 16);
    st = qn_file_write(path, all, *n_bytes, err);
out:
    free(all);
    return st;
}

static void free_maker(maker *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->list[i]->packed);
        free(m->list[i]);
    }
    for (size_t i = 0; i < m->n_variants; i++)
        qn_kernels_free(m->variants[i]);
    free(m->list);
    free(m->variants);
}

qn_status qn_pack_make(const qn_kernel_module *const *only, const int *archs, int n_archs,
                       int n_threads, const char *path, qn_pack_made *made, qn_err *err)
{
    maker m = { .archs = archs, .n_archs = n_archs };
    qn_ahead *ahead = qn_ahead_new(n_threads);
    qn_pack *had = qn_pack_open_at(path);
    qn_status st = QN_OK;

    if (!ahead)
        QN_FAIL(err, QN_ERR_NOMEM, "%s: out of host memory", path);
    QN_TRY(list_modules(&m, only, err));
    *made = (qn_pack_made){ .n_entries = (int)m.n };
    for (size_t i = 0; i < m.n; i++) {
        entry *e = m.list[i];

        e->is_kept = had && qn_pack_copy(had, e->key, &e->packed, &e->n_packed, &e->bytes);
        made->n_compiled += !e->is_kept;
        if (!e->is_kept)
            qn_ahead_post(ahead, &e->job);
    }
    for (size_t i = 0; i < m.n; i++) {
        if (m.list[i]->is_kept)
            continue;
        qn_ahead_need(ahead, &m.list[i]->job);
        if ((st = m.list[i]->st) != QN_OK) {
            *err = m.list[i]->err;
            goto out;
        }
    }
    st = write_pack(&m, path, &made->bytes, err);
out:
    qn_ahead_free(ahead);
    qn_pack_close(had);
    free_maker(&m);
    return st;
}

qn_status qn_pack_archs(int **out, int *n, qn_err *err)
{
    return backend()->image_archs(out, n, err);
}
