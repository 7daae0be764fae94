/* big_block.c - plain memory, or a mapped file without a name. */
#include "util/env.h"
#include "util/big_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *folder(void)
{
    static const char *const names[] = { "QUERN_SPILL_DIR", "TMPDIR" };

    for (int i = 0; i < 2; i++) {
        const char *name = qn_env(names[i]);

        if (name)
            return name;
    }
    return "/tmp";
}

/* Disk space is allocated now: if a mapping runs out of it later, the process is killed. */
static qn_status map_file(size_t bytes, const char *what, const char *tag, void **out, qn_err *err)
{
    char path[1100];
    void *data = MAP_FAILED;
    int file, why = 0;

    snprintf(path, sizeof path, "%s/quern-%s-XXXXXX", folder(), tag);
    if ((file = mkostemp(path, O_CLOEXEC)) < 0)
        return qn_fail(err, QN_ERR_IO, "cannot create %s: %s", path, strerror(errno));
    unlink(path);
    why = posix_fallocate(file, 0, (off_t)bytes);
    if (!why &&
        (data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED)
        why = errno;
    close(file);
    if (why)
        return qn_fail(err, QN_ERR_IO, "no room for %s, %zu bytes, in %s: %s", what, bytes,
                       folder(), strerror(why));
    *out = data;
    return QN_OK;
}

qn_status qn_big_block_new(size_t bytes, int is_mapped, const char *what, const char *tag,
                           qn_big_block *out, qn_err *err)
{
    qn_big_block block = { .bytes = bytes, .is_mapped = is_mapped };
    qn_status st = QN_OK;

    if (is_mapped)
        QN_TRY(map_file(bytes, what, tag, &block.data, err));
    else if (!(block.data = calloc(1, bytes)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s: %zu bytes", what, bytes);
    *out = block;
out:
    return st;
}

void qn_big_block_free(qn_big_block *block)
{
    if (block->is_mapped)
        munmap(block->data, block->bytes);
    else
        free(block->data);
    *block = (qn_big_block){ 0 };
}
