/* kcache.h - compiled kernels on disk.
 *
 * One file per key: magic "QNKC", u32 version, u32 kind, u32 zero, u64 payload bytes, SHA-256 of
 * key and payload, payload; little endian. A file is used only if folder and file belong to us,
 * nobody else can write them, and the digest matches, because some entries are code that the
 * process loads. Other files are ignored, removed and counted.
 */
#ifndef QN_ENGINE_KCACHE_H
#define QN_ENGINE_KCACHE_H

#include "engine/engine.h"
#include "hal/backend.h"

typedef struct qn_kcache qn_kcache;

enum { QN_KCACHE_VERSION = 2, QN_KCACHE_HEADER = 56 };

typedef enum { QN_KCACHE_MISS, QN_KCACHE_HIT, QN_KCACHE_BAD } qn_kcache_result;

/* With `dir` NULL the cache stays empty. The folder is made on the first store. Temporary files in
 * it that are older than an hour are removed. */
qn_kcache *qn_kcache_new(const char *dir);
void qn_kcache_free(qn_kcache *cache);

/* Whether the cache stores anything. */
int qn_kcache_is_on(const qn_kcache *cache);

qn_kcache_result qn_kcache_load(qn_kcache *cache, const char key[QN_KEY_CHARS + 1], qn_blob *out);

/* Whether there is a file of that key; loading says whether it is any good. */
int qn_kcache_has(qn_kcache *cache, const char key[QN_KEY_CHARS + 1]);

/* Best effort: QN_ERR_IO says why it was not kept. Over 512 MiB the oldest entries go. */
qn_status qn_kcache_store(qn_kcache *cache, const char key[QN_KEY_CHARS + 1], const qn_blob *blob,
                          qn_err *err);

#endif
