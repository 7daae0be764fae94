/* failing_malloc.h - for tests that request impossible amounts of memory: makes malloc return NULL
 * under the sanitizers too, which otherwise end the program. Include it once in a program. */
#ifndef QN_TESTS_FAILING_MALLOC_H
#define QN_TESTS_FAILING_MALLOC_H

const char *__asan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

#endif
