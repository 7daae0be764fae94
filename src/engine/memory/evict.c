/* evict.c - keeps memory within its budget without losing data.
 *
 * Rungs 1 to 3 of the out-of-memory ladder: trim idle pool blocks (inside the pool), drop clean
 * copies, spill dirty copies to the host. Victims are chosen by last use. A clean copy costs
 * nothing to drop, so all clean ones are dropped before the first dirty one. Temporaries of idle
 * graphs count as clean, since their content is not needed. If the host has a budget too (off by
 * default), its least recently used copies are written to files.
 */
#include "engine/memory/residency.h"
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_USE = QN_USE_READ | QN_USE_WRITE | QN_USE_COPY_SRC | QN_USE_COPY_DST };

static int may_go(const qn_buf *buf, int slot, int clean)
{
    const qn_copy *copy = &buf->copies[slot];

    if (!copy->block || copy->pins)
        return 0;
    if (copy->borrowed)
        return clean && !buf->owner->is_running;
    return clean == (copy->version != buf->version || qn_buf_valid_mask(buf) & ~(1u << slot));
}

/* The least recently used copy on the device that may be evicted; `clean` chooses the kind. */
static qn_buf *pick_victim(const qn_device *device, int clean)
{
    const int slot = device->slot;
    qn_buf *oldest = NULL;

    for (qn_buf *buf = device->ctx->bufs; buf; buf = buf->next)
        if (may_go(buf, slot, clean) &&
            (!oldest || buf->copies[slot].tick < oldest->copies[slot].tick))
            oldest = buf;
    return oldest;
}

/* Frees one copy and its memory. Returns 0 if there is none to evict. */
static int evict_one(qn_device *device, int clean)
{
    qn_ctx *ctx = device->ctx;
    qn_buf *victim = pick_victim(device, clean);
    qn_err ignored;

    if (!victim)
        return 0;
    if (!clean) {
        if (qn_buf_fetch(victim, &ignored) != QN_OK)
            return 0;
        qn_metric_add(ctx->m.spill, (double)victim->bytes);
    } else if (qn_points_await(device, &victim->copies[device->slot].used, &ignored) != QN_OK) {
        return 0;
    }
    qn_metric_add(clean ? ctx->m.evict_clean : ctx->m.evict_dirty, 1);
    qn_log_put(&ctx->log, QN_LOG_INFO, "memory: %s copy of %s (%zu bytes) leaves %s",
               clean ? "clean" : "dirty", victim->name, victim->bytes, device->id);
    if (victim->copies[device->slot].borrowed)
        victim->owner->release(victim->owner, device->slot);
    else
        qn_buf_drop_copy(victim, device);
    return 1;
}

int qn_evict_some(qn_device *device)
{
    return qn_pool_trim(device->pool, SIZE_MAX) || evict_one(device, 1) || evict_one(device, 0);
}

static qn_status try_acquire(qn_device *device, size_t bytes, const char *stage, qn_block **out,
                             qn_err *err)
{
    const uint64_t trims = qn_pool_get_stats(device->pool).trims;
    qn_status st;

    if (qn_fault_hits(device->ctx->faults, "alloc", stage, bytes))
        return qn_fail(err, QN_ERR_NOMEM, "out of memory (injected, need %zu bytes)", bytes);
    st = qn_pool_acquire(device->pool, bytes, BLOCK_USE, out, err);
    if (qn_pool_get_stats(device->pool).trims > trims)
        qn_log_put(&device->ctx->log, QN_LOG_INFO, "memory: %llu idle blocks leave %s",
                   (unsigned long long)(qn_pool_get_stats(device->pool).trims - trims), device->id);
    return st;
}

qn_status qn_evict_acquire(qn_device *device, size_t bytes, const char *stage, const char *name,
                           int may_evict, qn_block **out, qn_err *err)
{
    qn_pool_stats now;
    qn_status st;

    if (bytes > device->info.max_alloc)
        return qn_fail(err, QN_ERR_LIMIT, "buffer %s of %zu bytes exceeds device limit %llu", name,
                       bytes, (unsigned long long)device->info.max_alloc);
    st = try_acquire(device, bytes, stage, out, err);
    for (int clean = 1; clean >= 0 && may_evict; clean--)
        while (st == QN_ERR_NOMEM && evict_one(device, clean))
            st = try_acquire(device, bytes, stage, out, err);
    if (st != QN_OK)
        return st == QN_ERR_NOMEM ? qn_prefix(err, "buffer %s", name) : st;
    now = qn_pool_get_stats(device->pool);
    qn_metric_set(device->m.mem_used, (double)(now.bytes_live + now.bytes_idle));
    qn_metric_max(device->m.mem_peak, (double)now.bytes_peak);
    return QN_OK;
}

/* Host memory. */

static int device_has_it(const qn_buf *buf)
{
    for (int d = 1; d < buf->ctx->n_devices; d++)
        if (!buf->ctx->devices[d].lost && !buf->ctx->devices[d].info.unified_memory &&
            qn_buf_valid_on(buf, &buf->ctx->devices[d]))
            return 1;
    return 0;
}

/* The least recently used host copy that may be evicted; `clean`: one that need not be written. */
static qn_buf *pick_host_victim(qn_ctx *ctx, int clean)
{
    qn_buf *oldest = NULL;

    for (qn_buf *buf = ctx->bufs; buf; buf = buf->next) {
        if (!buf->host_block || buf->host_pins || buf->lent == buf->version)
            continue;
        if (clean == (!qn_buf_valid_host(buf) || device_has_it(buf)) &&
            (!oldest || buf->host_tick < oldest->host_tick))
            oldest = buf;
    }
    return oldest;
}

/* Writes the content to a nameless file, which disappears with its descriptor. */
static qn_status write_spill(qn_buf *victim, qn_err *err)
{
    qn_ctx *ctx = victim->ctx;
    char path[1100];
    int file;

    if (!ctx->settings.spill_dir[0])
        return qn_fail(err, QN_ERR_NOMEM, "no folder to spill to (QUERN_SPILL_DIR)");
    snprintf(path, sizeof path, "%s/quern-spill-XXXXXX", ctx->settings.spill_dir);
    if ((file = mkostemp(path, O_CLOEXEC)) < 0)
        return qn_fail(err, QN_ERR_IO, "cannot create %s: %s", path, strerror(errno));
    unlink(path);
    if (!qn_write_exactly(file, victim->host, victim->bytes)) {
        qn_fail(err, QN_ERR_IO, "spill of %s (%zu bytes) to %s: %s", victim->name, victim->bytes,
                ctx->settings.spill_dir, strerror(errno));
        close(file);
        return QN_ERR_IO;
    }
    victim->spill_file = file;
    qn_metric_add(ctx->m.spill_file, (double)victim->bytes);
    qn_log_put(&ctx->log, QN_LOG_INFO, "memory: host copy of %s (%zu bytes) goes to a file",
               victim->name, victim->bytes);
    return QN_OK;
}

/* Frees the memory of one host copy. */
static qn_status spill_one(qn_ctx *ctx, qn_err *err)
{
    qn_buf *victim = pick_host_victim(ctx, 1);
    qn_status st = QN_OK;

    if (victim) {
        QN_TRY(qn_buf_await_host_write(victim, err));
        victim->host_version = 0;
    } else {
        if (!(victim = pick_host_victim(ctx, 0)))
            return qn_fail(err, QN_ERR_NOMEM, "no host copy may go");
        QN_TRY(qn_buf_await_host(victim, err));
        QN_TRY(qn_buf_await_host_write(victim, err));
        QN_TRY(write_spill(victim, err));
    }
    qn_pool_release(ctx->host_pool, victim->host_block);
    victim->host_block = NULL;
    victim->host = NULL;
out:
    return st;
}

qn_status qn_evict_acquire_host(qn_ctx *ctx, size_t bytes, qn_block **out, qn_err *err)
{
    qn_status st = qn_pool_acquire(ctx->host_pool, bytes, BLOCK_USE, out, err);
    qn_err why;

    while (st == QN_ERR_NOMEM && ctx->settings.host_budget) {
        const qn_status spilled = spill_one(ctx, &why);

        if (spilled == QN_ERR_NOMEM) /* nothing to spill: the error of the request is more useful */
            return st;
        if (spilled != QN_OK) {
            *err = why;
            return spilled;
        }
        st = qn_pool_acquire(ctx->host_pool, bytes, BLOCK_USE, out, err);
    }
    return st;
}

void qn_evict_forget(qn_buf *root)
{
    if (root->spill_file >= 0)
        close(root->spill_file);
    root->spill_file = -1;
}

static qn_status read_spill(const qn_buf *root, char *to, qn_err *err)
{
    size_t done = 0;

    while (done < root->bytes) {
        const ssize_t n = pread(root->spill_file, to + done, root->bytes - done, (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return qn_fail(err, QN_ERR_IO, "spill file of %s: %s", root->name,
                           n ? strerror(errno) : "too short");
        done += (size_t)n;
    }
    return QN_OK;
}

qn_status qn_evict_unspill(qn_buf *root, qn_err *err)
{
    qn_ctx *ctx = root->ctx;
    qn_block *block;
    qn_status st = qn_evict_acquire_host(ctx, root->bytes, &block, err);

    if (st != QN_OK)
        return qn_prefix(err, "buffer %s", root->name);
    if ((st = read_spill(root, block->host, err)) != QN_OK) {
        qn_pool_release(ctx->host_pool, block);
        return st;
    }
    qn_evict_forget(root);
    root->host_block = block;
    root->host = block->host;
    return QN_OK;
}
