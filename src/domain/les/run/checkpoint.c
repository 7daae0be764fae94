/* checkpoint.c - writes and reads checkpoint files. */
#include "checkpoint.h"

#include "util/file.h"
#include "util/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "QNLESCP3"

typedef struct {
    char magic[8];
    uint64_t payload_bytes;
    uint8_t payload_hash[QN_SHA256_BYTES];
} head;

typedef struct {
    int64_t step;
    uint64_t bytes[QN_LES_SAVED_PARTS];
} counts;

_Static_assert(sizeof(head) == 48, "the header is 48 bytes");

void qn_les_saved_free(qn_les_saved *saved)
{
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++)
        free(saved->parts[p].data);
    *saved = (qn_les_saved){ 0 };
}

qn_status qn_les_saved_grow(qn_les_saved *saved, int part, size_t bytes, qn_err *err)
{
    qn_les_bytes *p = &saved->parts[part];
    char *data;

    if (bytes <= p->n)
        return QN_OK;
    if (!(data = realloc(p->data, bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "checkpoint: no memory for %zu bytes", bytes);
    memset(data + p->n, 0, bytes - p->n);
    *p = (qn_les_bytes){ data, bytes };
    return QN_OK;
}

/* Writing. */

static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
}

static void hash_part(qn_sha256 *hash, const qn_les_bytes *part)
{
    static const char zeros[8];

    if (part->n)
        qn_sha256_add(hash, part->data, part->n);
    qn_sha256_add(hash, zeros, padded(part->n) - part->n);
}

qn_status qn_les_checkpoint_write(qn_out *out, const qn_les_saved *saved, qn_err *err)
{
    static const char zeros[8];
    head h = { .payload_bytes = sizeof(counts) };
    counts c = { .step = saved->step };
    qn_sha256 hash;

    memcpy(h.magic, MAGIC, sizeof h.magic);
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++) {
        c.bytes[p] = saved->parts[p].n;
        h.payload_bytes += padded(saved->parts[p].n);
    }
    qn_sha256_begin(&hash);
    qn_sha256_add(&hash, &c, sizeof c);
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++)
        hash_part(&hash, &saved->parts[p]);
    qn_sha256_end(&hash, h.payload_hash);

    fwrite(&h, sizeof h, 1, out->file);
    fwrite(&c, sizeof c, 1, out->file);
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++) {
        const qn_les_bytes *part = &saved->parts[p];

        if (part->n)
            fwrite(part->data, 1, part->n, out->file);
        fwrite(zeros, 1, padded(part->n) - part->n, out->file);
    }
    return qn_out_commit(out, err);
}

/* Reading. */

static qn_status damaged(const char *path, const char *what, qn_err *err)
{
    return qn_fail(err, QN_ERR_INPUT, "%s is not a whole checkpoint: %s", path, what);
}

static qn_status check_head(const char *path, const char *data, size_t bytes, head *h, qn_err *err)
{
    uint8_t hash[QN_SHA256_BYTES];

    if (bytes < sizeof *h + sizeof(counts))
        return qn_fail(err, QN_ERR_INPUT, "%s is not a whole checkpoint: %zu bytes, at least %zu",
                       path, bytes, sizeof *h + sizeof(counts));
    memcpy(h, data, sizeof *h);
    if (memcmp(h->magic, MAGIC, sizeof h->magic))
        return damaged(path, "it does not begin with " MAGIC, err);
    if (h->payload_bytes != bytes - sizeof *h)
        return qn_fail(err, QN_ERR_INPUT,
                       "%s is not a whole checkpoint: %zu bytes of content, %llu expected", path,
                       bytes - sizeof *h, (unsigned long long)h->payload_bytes);
    qn_sha256_of(data + sizeof *h, bytes - sizeof *h, hash);
    if (memcmp(hash, h->payload_hash, sizeof hash))
        return damaged(path, "its content does not fit its SHA-256", err);
    return QN_OK;
}

/* The parts of a payload whose hash is right. */
static qn_status take_parts(const char *path, const char *data, size_t bytes, qn_les_saved *out,
                            qn_err *err)
{
    size_t at = sizeof(counts);
    qn_status st = QN_OK;
    counts c;

    memcpy(&c, data, sizeof c);
    out->step = c.step;
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++) {
        const size_t n = (size_t)c.bytes[p];

        if (n > bytes - at || padded(n) > bytes - at)
            return damaged(path, "its parts are longer than the file", err);
        QN_TRY(qn_les_saved_grow(out, p, n, err));
        if (n)
            memcpy(out->parts[p].data, data + at, n);
        at += padded(n);
    }
    if (at != bytes)
        return damaged(path, "its parts are shorter than the file", err);
out:
    return st;
}

qn_status qn_les_checkpoint_read(const char *path, qn_les_saved *out, qn_err *err)
{
    qn_les_saved saved = { 0 };
    char *data = NULL;
    size_t bytes = 0;
    qn_status st = QN_OK;
    head h;

    if (qn_file_read(path, &data, &bytes, err) != QN_OK)
        QN_FAIL(err, QN_ERR_INPUT, "no checkpoint to continue from: %s", path);
    QN_TRY(check_head(path, data, bytes, &h, err));
    QN_TRY(take_parts(path, data + sizeof h, bytes - sizeof h, &saved, err));
    *out = saved;
    saved = (qn_les_saved){ 0 };
out:
    free(data);
    qn_les_saved_free(&saved);
    return st;
}
