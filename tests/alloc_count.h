/* alloc_count.h - counts how often a test program asks the allocator for memory, and how much it
 * holds.
 *
 * For one source file of a program, whose allocator calls then go through it. watch_allocator is
 * its group setup; counter_of_allocations_works belongs among its tests, since a counter that does
 * not move would prove everything.
 */
#ifndef QN_TESTS_ALLOC_COUNT_H
#define QN_TESTS_ALLOC_COUNT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <cmocka.h>

static atomic_long n_allocs, n_blocks; /* n_blocks: of these, not freed */

/* Sanitizers have their own allocator, with a hook to watch it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#ifdef HAS_SANITIZER
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void note_malloc(const volatile void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
    atomic_fetch_add(&n_allocs, 1);
    atomic_fetch_add(&n_blocks, 1);
}

static void note_free(const volatile void *block)
{
    atomic_fetch_sub(&n_blocks, block != NULL);
}

static int watch_allocator(void **state)
{
    (void)state;
    return __sanitizer_install_malloc_and_free_hooks(note_malloc, note_free) ? 0 : -1;
}
#else
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void __libc_free(void *block);

static atomic_long fail_at __attribute__((unused)); /* the call that returns NULL; 0: none */

static int is_given(void)
{
    return atomic_fetch_add(&n_allocs, 1) + 1 != atomic_load(&fail_at);
}

static void *with_count(void *block)
{
    atomic_fetch_add(&n_blocks, block != NULL);
    return block;
}

void *malloc(size_t bytes)
{
    return is_given() ? with_count(__libc_malloc(bytes)) : NULL;
}

void *calloc(size_t n, size_t bytes)
{
    return is_given() ? with_count(__libc_calloc(n, bytes)) : NULL;
}

void *realloc(void *old, size_t bytes)
{
    void *const block = is_given() ? __libc_realloc(old, bytes) : NULL;

    return old ? block : with_count(block);
}

void free(void *block)
{
    atomic_fetch_sub(&n_blocks, block != NULL);
    __libc_free(block);
}

static int watch_allocator(void **state)
{
    (void)state;
    return 0;
}
#endif

static long count_allocs(void)
{
    return atomic_load(&n_allocs);
}

static long count_blocks(void) __attribute__((unused));

static long count_blocks(void)
{
    return atomic_load(&n_blocks);
}

static void counter_of_allocations_works(void **state)
{
    const long before = count_allocs(), had = count_blocks();
    void *volatile block = malloc(10);

    (void)state;
    assert_true(count_allocs() > before);
    assert_int_equal(count_blocks(), had + 1);
    free(block);
    assert_int_equal(count_blocks(), had);
}

#endif
