/* checkpoint.c - writes and reads checkpoint files. */
#include "checkpoint.h"

#include "util/file.h"
#include "util/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "QNLESCP1"

enum { VERSION = 1 };

typedef struct {
    char magic[8];
    uint32_t version, zero;
    uint64_t payload_bytes;
    uint8_t config_hash[QN_SHA256_BYTES], payload_hash[QN_SHA256_BYTES];
} head;

typedef struct {
    int64_t step;
    char stamp[24];
    uint64_t bytes[QN_LES_SAVED_PARTS];
} counts;

_Static_assert(sizeof(head) == 88, "the header is 88 bytes");

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

void qn_les_checkpoint_path(const qn_les_options *config, char *out, size_t size)
{
    snprintf(out, size, "%s/les_checkpoint.qnc", config->out);
}

/* Options that must agree. */

/* The options on which results depend. */
static json_t *relevant_json(const qn_les_options *config)
{
    static const char *const free_to_differ[] = { "out",   "log_metrics", "resume",
                                                  "video", "backend",     "checkpoint_every" };
    json_t *json = qn_les_options_json(config);

    for (size_t i = 0; json && i < sizeof free_to_differ / sizeof *free_to_differ; i++)
        json_object_del(json, free_to_differ[i]);
    return json;
}

static char *relevant_text(const qn_les_options *config)
{
    json_t *json = relevant_json(config);
    char *text =
        json ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;

    json_decref(json);
    return text;
}

/* Names the first option that has another value in the file. */
static qn_status differs(const char *path, const char *saved_text, const char *text, qn_err *err)
{
    json_t *saved = json_loads(saved_text, 0, NULL), *wanted = json_loads(text, 0, NULL);
    qn_status st = QN_OK;
    const char *key;
    json_t *value;

    json_object_foreach(wanted, key, value)
    {
        json_t *before = json_object_get(saved, key);

        if (before && json_equal(before, value))
            continue;
        char *was = before ? json_dumps(before, JSON_ENCODE_ANY) : NULL;
        char *is = json_dumps(value, JSON_ENCODE_ANY);
        st = qn_fail(err, QN_ERR_USAGE, "%s was made with %s %s, not %s", path, key,
                     was ? was : "unset", is ? is : "that");
        free(was);
        free(is);
        break;
    }
    if (st == QN_OK)
        st = qn_fail(err, QN_ERR_USAGE, "%s was made by a version with other options", path);
    json_decref(saved);
    json_decref(wanted);
    return st;
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

static qn_status write_all(const char *path, const head *h, const counts *c,
                           const qn_les_saved *saved, qn_err *err)
{
    static const char zeros[8];
    qn_out out = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_out_open(path, &out, err));
    fwrite(h, sizeof *h, 1, out.file);
    fwrite(c, sizeof *c, 1, out.file);
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++) {
        const qn_les_bytes *part = &saved->parts[p];

        if (part->n)
            fwrite(part->data, 1, part->n, out.file);
        fwrite(zeros, 1, padded(part->n) - part->n, out.file);
    }
    /* It must be on disk before it replaces the previous one. */
    if (fflush(out.file) != 0 || fsync(fileno(out.file)) != 0) {
        st = qn_fail(err, QN_ERR_IO, "cannot write %s: %s", path, strerror(errno));
        goto out;
    }
    QN_TRY(qn_out_commit(&out, err));
out:
    qn_out_abort(&out);
    return st;
}

qn_status qn_les_checkpoint_write(const char *path, const qn_les_options *config,
                                  qn_les_saved *saved, qn_err *err)
{
    qn_les_bytes *text = &saved->parts[QN_LES_SAVED_CONFIG];
    head h = { .version = VERSION, .payload_bytes = sizeof(counts) };
    counts c = { .step = saved->step };
    qn_sha256 hash;

    free(text->data);
    *text = (qn_les_bytes){ .data = relevant_text(config) };
    if (!text->data)
        return qn_fail(err, QN_ERR_NOMEM, "checkpoint: no memory for the configuration");
    text->n = strlen(text->data);
    memcpy(h.magic, MAGIC, sizeof h.magic);
    memcpy(c.stamp, saved->stamp, sizeof saved->stamp);
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++) {
        c.bytes[p] = saved->parts[p].n;
        h.payload_bytes += padded(saved->parts[p].n);
    }
    qn_sha256_of(text->data, text->n, h.config_hash);
    qn_sha256_begin(&hash);
    qn_sha256_add(&hash, &c, sizeof c);
    for (int p = 0; p < QN_LES_SAVED_PARTS; p++)
        hash_part(&hash, &saved->parts[p]);
    qn_sha256_end(&hash, h.payload_hash);
    return write_all(path, &h, &c, saved, err);
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
    if (h->version != VERSION || h->zero)
        return qn_fail(err, QN_ERR_INPUT, "%s is a checkpoint of version %u, this is %d", path,
                       h->version, VERSION);
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
    memcpy(out->stamp, c.stamp, sizeof out->stamp);
    out->stamp[sizeof out->stamp - 1] = 0;
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

static qn_status check_config(const char *path, const qn_les_options *config, const head *h,
                              const qn_les_saved *saved, qn_err *err)
{
    const qn_les_bytes *part = &saved->parts[QN_LES_SAVED_CONFIG];
    char *before = strndup(part->data ? part->data : "", part->n), *now = relevant_text(config);
    uint8_t hash[QN_SHA256_BYTES];
    qn_status st = QN_OK;

    if (!before || !now) {
        st = qn_fail(err, QN_ERR_NOMEM, "checkpoint: no memory for the configuration");
        goto out;
    }
    qn_sha256_of(before, part->n, hash);
    if (memcmp(hash, h->config_hash, sizeof hash))
        st = damaged(path, "its configuration does not fit its SHA-256", err);
    else if (strcmp(before, now))
        st = differs(path, before, now, err);
out:
    free(before);
    free(now);
    return st;
}

qn_status qn_les_checkpoint_read(const char *path, const qn_les_options *config, qn_les_saved *out,
                                 qn_err *err)
{
    qn_les_saved saved = { 0 };
    char *data = NULL;
    size_t bytes = 0;
    qn_status st = QN_OK;
    head h;

    if (qn_file_read(path, &data, &bytes, err) != QN_OK) {
        st = qn_fail(err, QN_ERR_INPUT, "no checkpoint to continue from: %s", path);
        goto out;
    }
    QN_TRY(check_head(path, data, bytes, &h, err));
    QN_TRY(take_parts(path, data + sizeof h, bytes - sizeof h, &saved, err));
    QN_TRY(check_config(path, config, &h, &saved, err));
    *out = saved;
    saved = (qn_les_saved){ 0 };
out:
    free(data);
    qn_les_saved_free(&saved);
    return st;
}
