/* evict.c - keep memory under its budget without losing data.
 *
 * Rungs 1 to 3 of the out-of-memory ladder: trim idle pool blocks (inside the pool), drop clean
 * copies, spill dirty copies to the host. Victims are chosen by last use; a clean copy costs
 * nothing to drop, so all clean ones go before the first dirty one. When the host has a budget,
 * too, its least used copies go to files; off by default.
 */
#include "engine/fault.h"
#include "engine/residency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_USE = QN_USE_READ | QN_USE_WRITE | QN_USE_COPY_SRC | QN_USE_COPY_DST };

static int has_other_copy(const qn_buf *buf, int slot)
{
    if (qn_buf_valid_host(buf))
        return 1;
    for (int d = 1; d < buf->ctx->n_devices; d++)
        if (d != slot && qn_buf_valid_on(buf, &buf->ctx->devices[d]))
            return 1;
    return 0;
}

/* The least recently used copy on the device that may go; `clean` says which sort. */
static qn_buf *pick_victim(qn_device *device, int clean)
{
    const int slot = device->slot;
    qn_buf *oldest = NULL;

    for (qn_buf *buf = device->ctx->bufs; buf; buf = buf->next) {
        const qn_copy *copy = &buf->copies[slot];
        int is_clean;

        if (!copy->block || copy->pins || copy->borrowed)
            continue;
        is_clean = copy->version != buf->version || has_other_copy(buf, slot);
        if (is_clean == clean && (!oldest || copy->tick < oldest->copies[slot].tick))
            oldest = buf;
    }
    return oldest;
}

/* Frees one copy and its memory. 0 when nothing may go. */
static int evict_one(qn_device *device, int clean, qn_err *err)
{
    qn_ctx *ctx = device->ctx;
    qn_buf *victim = pick_victim(device, clean);

    if (!victim)
        return 0;
    if (!clean) {
        if (qn_buf_fetch(victim, err) != QN_OK)
            return 0;
        qn_metric_add(ctx->m.spill, (double)victim->bytes);
    } else if (qn_point_await(device, victim->copies[device->slot].used, err) != QN_OK) {
        return 0;
    }
    qn_metric_add(clean ? ctx->m.evict_clean : ctx->m.evict_dirty, 1);
    qn_log_put(&ctx->log, QN_LOG_INFO, "memory: %s copy of %s (%zu bytes) leaves %s",
               clean ? "clean" : "dirty", victim->name, victim->bytes, device->id);
    qn_buf_drop_copy(victim, device);
    return 1;
}

static qn_status try_acquire(qn_device *device, size_t bytes, const char *what, qn_block **out,
                             qn_err *err)
{
    if (qn_fault_hits(device->ctx->faults, "alloc", what, bytes))
        return qn_fail(err, QN_ERR_NOMEM, "out of memory (injected, need %zu bytes)", bytes);
    return qn_pool_acquire(device->pool, bytes, BLOCK_USE, out, err);
}

qn_status qn_evict_acquire(qn_device *device, size_t bytes, const char *what, qn_block **out,
                           qn_err *err)
{
    qn_err ignored;
    qn_status st;

    if (bytes > device->info.max_alloc)
        return qn_fail(err, QN_ERR_LIMIT, "buffer %s of %zu bytes exceeds device limit %llu", what,
                       bytes, (unsigned long long)device->info.max_alloc);
    st = try_acquire(device, bytes, what, out, err);
    for (int clean = 1; clean >= 0; clean--)
        while (st == QN_ERR_NOMEM && evict_one(device, clean, &ignored)) {
            qn_pool_trim(device->pool, bytes);
            st = try_acquire(device, bytes, what, out, err);
        }
    if (st == QN_OK) {
        const qn_pool_stats now = qn_pool_get_stats(device->pool);

        qn_metric_set(device->m.mem_used, (double)(now.bytes_live + now.bytes_idle));
        qn_metric_max(device->m.mem_peak, (double)now.bytes_peak);
    }
    return st;
}

/* ---- host memory --------------------------------------------------------------- */

static qn_buf *pick_host_victim(qn_ctx *ctx)
{
    qn_buf *biggest = NULL;

    for (qn_buf *buf = ctx->bufs; buf; buf = buf->next)
        if (buf->host_block && buf->host_device < 0 && (!biggest || buf->bytes > biggest->bytes))
            biggest = buf;
    return biggest;
}

static qn_status write_all(int file, const char *data, size_t bytes)
{
    while (bytes) {
        const ssize_t n = write(file, data, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return QN_ERR_IO;
        data += n;
        bytes -= (size_t)n;
    }
    return QN_OK;
}

/* Moves one host copy to an unnamed file, or drops it when a device has the content. */
static qn_status spill_one(qn_ctx *ctx, qn_err *err)
{
    qn_buf *victim = pick_host_victim(ctx);
    char path[1100];
    qn_status st;
    int file;

    if (!victim)
        return qn_fail(err, QN_ERR_NOMEM, "host budget of %zu bytes is used up", ctx->host_budget);
    if ((st = qn_buf_await_host_write(victim, err)) != QN_OK)
        return st;
    if (qn_buf_valid_host(victim)) {
        snprintf(path, sizeof path, "%s/quern-spill-XXXXXX", ctx->spill_dir);
        if ((file = mkstemp(path)) < 0)
            return qn_fail(err, QN_ERR_IO, "cannot create %s: %s", path, strerror(errno));
        unlink(path);
        if (write_all(file, victim->host, victim->bytes) != QN_OK) {
            close(file);
            return qn_fail(err, QN_ERR_IO, "spill of %s (%zu bytes) to %s: %s", victim->name,
                           victim->bytes, ctx->spill_dir, strerror(errno));
        }
        victim->spill_file = file;
        qn_metric_add(ctx->m.spill_file, (double)victim->bytes);
    }
    qn_pool_release(ctx->host_pool, victim->host_block);
    qn_pool_trim(ctx->host_pool, victim->bytes);
    victim->host_block = NULL;
    victim->host = NULL;
    return QN_OK;
}

qn_status qn_evict_acquire_host(qn_ctx *ctx, size_t bytes, qn_block **out, qn_err *err)
{
    qn_status st = qn_pool_acquire(ctx->host_pool, bytes, BLOCK_USE, out, err);
    qn_err why;

    while (st == QN_ERR_NOMEM && ctx->spill_dir[0]) {
        if (spill_one(ctx, &why) != QN_OK) {
            *err = why;
            return why.status;
        }
        st = qn_pool_acquire(ctx->host_pool, bytes, BLOCK_USE, out, err);
    }
    return st;
}

qn_status qn_evict_unspill(qn_buf *root, qn_err *err)
{
    const int file = root->spill_file;
    size_t done = 0;
    qn_status st;

    if (!err) { /* the buffer is being freed: only the file matters */
        close(file);
        root->spill_file = -1;
        return QN_OK;
    }
    if ((st = qn_evict_acquire_host(root->ctx, root->bytes, &root->host_block, err)) != QN_OK)
        return qn_prefix(err, "buffer %s", root->name);
    root->host = root->host_block->host;
    while (done < root->bytes) {
        const ssize_t n = pread(file, (char *)root->host + done, root->bytes - done, (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return qn_fail(err, QN_ERR_IO, "spill file of %s: %s", root->name,
                           n ? strerror(errno) : "too short");
        done += (size_t)n;
    }
    close(file);
    root->spill_file = -1;
    return QN_OK;
}
