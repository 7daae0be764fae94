/* pack.h - a pack: compiled kernels for several GPUs in one file, made before they are needed.
 *
 * `quern cache pack` makes it, for GPUs that need not be there. It lies beside the library or the
 * command, or where QUERN_KERNELS says. An entry is found by a digest of all that its compiler got:
 * text, constants, options with the architecture. So an entry of another text is never found.
 *
 * One file: magic "QNKP", u32 version, u32 entries, u32 zero, SHA-256 of the index; the index, one
 * row per entry: key (32 bytes), SHA-256 of key and data (32), u64 place, u32 bytes, u32 bytes
 * unpacked; then data, by zlib. Little endian.
 */
#ifndef QN_ENGINE_PACK_H
#define QN_ENGINE_PACK_H

#include "engine/device/context.h"
#include "util/hash.h"

enum { QN_PACK_VERSION = 1, QN_PACK_HEADER = 48, QN_PACK_ROW = 80 };

typedef enum { QN_PACK_MISS, QN_PACK_HIT, QN_PACK_BAD } qn_pack_result;

/* The pack of this process's library, or NULL: there is none, or it is damaged, which is logged. */
qn_pack *qn_pack_open(const qn_log *log);
void qn_pack_close(qn_pack *pack);

/* The key of a module for an architecture. */
void qn_pack_key(const qn_backend *backend, int arch, const qn_kernel_module *module,
                 const char *defines, unsigned char out[QN_SHA256_BYTES]);

/* The binary for the device, from any thread; the caller frees it. An older GPU of the same major
 * number will do, as its code runs on the device. */
qn_pack_result qn_pack_load(const qn_device *device, const qn_kernel_module *module,
                            const char *defines, qn_blob *out);
int qn_pack_has(const qn_device *device, const qn_kernel_module *module, const char *defines);

/* A pack by its name, NULL when it is none; and the packed bytes of a key, which the caller frees: 0
 * when it has none, or damaged ones. */
qn_pack *qn_pack_open_at(const char *path);
int qn_pack_copy(const qn_pack *pack, const unsigned char key[QN_SHA256_BYTES],
                 unsigned char **packed, size_t *n_packed, size_t *bytes);

/* The binary of a key. */
qn_pack_result qn_pack_get(const qn_pack *pack, const unsigned char key[QN_SHA256_BYTES],
                           qn_blob *out);

#endif
