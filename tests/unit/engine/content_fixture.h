/* content_fixture.h - a content store, and content that begins with a number. */
#ifndef QN_TESTS_CONTENT_FIXTURE_H
#define QN_TESTS_CONTENT_FIXTURE_H

#include "test.h"

#include "engine/content/content_impl.h"

/* Words of content with this bit are handles, whose low bits are an offset. */
#define HANDLE (UINT64_C(1) << 63)

enum { BASE = 1 << 30 };

static inline qn_status move_words(uint64_t *handle, unsigned char *bytes, size_t n, uint32_t by,
                                   qn_err *err)
{
    (void)err;
    for (size_t at = 0; at + 8 <= n; at += 8) {
        uint64_t word;

        memcpy(&word, bytes + at, sizeof word);
        word += word & HANDLE ? by : 0;
        memcpy(bytes + at, &word, sizeof word);
    }
    *handle += by;
    return QN_OK;
}

static inline qn_content_store *open_store(size_t budget)
{
    const qn_content_options options = { .budget_bytes = budget, .base = BASE, .move = move_words };
    qn_content_store *store = NULL;

    must(qn_content_open(NULL, &options, &store, &failure));
    return store;
}

enum { MOST_CONTENT = 4096 };

/* Content without handles that begins with `id`. */
static inline qn_content content_of(int id, size_t n, unsigned char *bytes)
{
    memset(bytes, 0, n);
    memcpy(bytes, &id, sizeof id);
    return (qn_content){ .bytes = bytes, .n = n };
}

static inline qn_content_taken take_with(qn_content_store *store, qn_content_hold *hold, int id,
                                         size_t n, qn_content_ticket *ticket, size_t *at)
{
    unsigned char bytes[MOST_CONTENT];
    const qn_content content = content_of(id, n, bytes);
    qn_content_taken taken = QN_CONTENT_FULL;
    uint64_t handle = 0;

    must(qn_content_take(store, hold, &content, ticket, &handle, &taken, &failure));
    if (taken == QN_CONTENT_RESIDENT) {
        assert_memory_equal(qn_content_bytes(store) + handle - BASE, bytes, n);
        if (at)
            *at = (size_t)handle - BASE;
    }
    return taken;
}

static inline qn_content_taken take(qn_content_store *store, qn_content_hold *hold, int id,
                                    size_t n, size_t *at)
{
    return take_with(store, hold, id, n, NULL, at);
}

#endif
