/* malloc.c - makes one allocation of a program fail.
 *
 * A library for LD_PRELOAD. It counts the program's own calls of malloc, calloc, realloc,
 * posix_memalign and aligned_alloc, and those that libc, jansson, libpng and zlib make on its
 * behalf: strdup, getline, fopen, json_loads. Those of PoCL, GDAL, libgomp and the loader are not
 * counted, since quern could not handle their failure. Call MALLOC_AT fails, once. Then its callers
 * are written to MALLOC_TRACE, as addresses in the program.
 *
 * A program that does not end within two minutes is ended by SIGALRM.
 *
 * Without MALLOC_AT it counts: at the end MALLOC_COUNT receives the number of calls, then for each
 * distinct chain of callers the numbers of its first and its last call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FRAMES = 24, MAX_CHAINS = 1 << 16, MAX_HELPERS = 8, LIMIT_S = 120 };

typedef struct {
    uintptr_t from, to;
} range;

typedef struct {
    unsigned long hash;
    long first, last;
} chain;

static struct {
    int is_on, n_helpers;
    range program, helpers[MAX_HELPERS]; /* helpers allocate on behalf of their caller */
    long at;
    atomic_long n;
    pthread_mutex_t lock;
    chain chains[MAX_CHAINS];
} shim = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Calls of the library itself are not counted. initial-exec: the first use must not allocate. */
static __thread int depth __attribute__((tls_model("initial-exec")));

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *block);

static int is_in(const range *r, const void *address)
{
    return (uintptr_t)address >= r->from && (uintptr_t)address < r->to;
}

static int is_helper(const void *address)
{
    for (int i = 0; i < shim.n_helpers; i++)
        if (is_in(&shim.helpers[i], address))
            return 1;
    return 0;
}

static void note(void *const *frames, int n, long number)
{
    unsigned long hash = 14695981039346656037UL;
    chain *c;

    for (int i = 0; i < n; i++)
        if (is_in(&shim.program, frames[i]))
            hash = (hash ^ ((uintptr_t)frames[i] - shim.program.from)) * 1099511628211UL;
    pthread_mutex_lock(&shim.lock);
    c = &shim.chains[hash % MAX_CHAINS];
    while (c->first && c->hash != hash)
        c = c + 1 < shim.chains + MAX_CHAINS ? c + 1 : shim.chains;
    if (!c->first)
        *c = (chain){ hash, number, number };
    c->last = number;
    pthread_mutex_unlock(&shim.lock);
}

static void trace(void *const *frames, int n)
{
    const char *path = getenv("MALLOC_TRACE");
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    char line[32];

    for (int i = 0; file >= 0 && i < n; i++)
        if (is_in(&shim.program, frames[i])) {
            const int len =
                snprintf(line, sizeof line, "%#lx\n", (uintptr_t)frames[i] - shim.program.from - 1);

            (void)!write(file, line, (size_t)len);
        }
    if (file >= 0)
        close(file);
}

static int is_programs(void *const *frames, int n)
{
    int i = 0;

    while (i < n && is_helper(frames[i]))
        i++;
    return i < n && is_in(&shim.program, frames[i]);
}

/* The number of an allocation; 0: not one of the program, -1: it must fail. The callers are only
 * examined if they matter, since that takes longer than everything else. */
static __attribute__((noinline)) long count(const void *caller)
{
    const int is_direct = is_in(&shim.program, caller);
    void *frames[MAX_FRAMES];
    long number;
    int n = 0;

    if (!shim.is_on || depth || (!is_direct && !is_helper(caller)))
        return 0;
    depth++;
    if (!is_direct || !shim.at)
        n = backtrace(frames, MAX_FRAMES) - 2; /* two of the frames are in this file */
    number = is_direct || is_programs(frames + 2, n) ? ++shim.n : 0;
    if (number && !shim.at)
        note(frames + 2, n, number);
    if (number && number == shim.at) {
        trace(frames, backtrace(frames, MAX_FRAMES));
        errno = ENOMEM;
        number = -1;
    }
    depth--;
    return number;
}

/* Blocks that the program has allocated and not freed. Each has a mark with its number appended: if
 * one is left, `sum` tells which. */
static struct {
    atomic_long n, sum;
} live;

enum { MARK_BYTES = 8 };

#define MARK    0xA110CA7E00000000U
#define NUMBERS 0xFFFFFFFFU

static uint64_t *mark_of(void *block)
{
    return (uint64_t *)((char *)block + malloc_usable_size(block) - MARK_BYTES);
}

static void *marked(void *block, long number)
{
    if (block && number) {
        *mark_of(block) = (MARK ^ ((uintptr_t)block << 32)) | ((uint64_t)number & NUMBERS);
        live.n++;
        live.sum += number;
    }
    return block;
}

/* Removes the mark of a block and returns its number; 0: it has none. */
static long unmark(void *block)
{
    uint64_t *mark;
    long number;

    if (!block || malloc_usable_size(block) < MARK_BYTES)
        return 0;
    mark = mark_of(block);
    number = (long)(*mark & NUMBERS);
    if ((*mark & ~(uint64_t)NUMBERS) != (MARK ^ ((uintptr_t)block << 32)) || !number)
        return 0;
    *mark = 0;
    live.n--;
    live.sum -= number;
    return number;
}

static size_t longer(size_t bytes, long number)
{
    return number && bytes < PTRDIFF_MAX ? bytes + MARK_BYTES : bytes;
}

#define COUNT count(__builtin_return_address(0))

void *malloc(size_t bytes)
{
    const long number = COUNT;

    return number < 0 ? NULL : marked(__libc_malloc(longer(bytes, number)), number);
}

void *calloc(size_t n, size_t size)
{
    const long number = COUNT;
    size_t bytes;

    if (number < 0 || __builtin_mul_overflow(n, size, &bytes))
        return NULL;
    return marked(__libc_calloc(1, longer(bytes, number)), number);
}

void *realloc(void *old, size_t bytes)
{
    const long number = COUNT;
    void *block;
    long before;

    if (number < 0)
        return NULL;
    before = unmark(old);
    block = __libc_realloc(old, longer(bytes, number));
    if (block || !bytes)
        return marked(block, number);
    marked(old, before);
    return NULL;
}

void *aligned_alloc(size_t align, size_t bytes)
{
    const long number = COUNT;

    return number < 0 ? NULL : marked(__libc_memalign(align, longer(bytes, number)), number);
}

int posix_memalign(void **out, size_t align, size_t bytes)
{
    const long number = COUNT;
    void *block = number < 0 ? NULL : marked(__libc_memalign(align, longer(bytes, number)), number);

    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

void free(void *block)
{
    unmark(block);
    __libc_free(block);
}

static int find_ranges(struct dl_phdr_info *object, size_t size, void *user)
{
    static const char *const helpers[] = { "/libc.so", "/libjansson.so", "/libpng", "/libz.so" };
    range r = { UINTPTR_MAX, 0 };
    int *n_objects = user;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const uintptr_t from = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;

        if (object->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        r.from = from < r.from ? from : r.from;
        r.to =
            from + object->dlpi_phdr[i].p_memsz > r.to ? from + object->dlpi_phdr[i].p_memsz : r.to;
    }
    if ((*n_objects)++ == 0)
        shim.program = r;
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (object->dlpi_name && strstr(object->dlpi_name, helpers[i]))
            shim.helpers[shim.n_helpers++] = r;
    return shim.n_helpers == MAX_HELPERS;
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("MALLOC_AT");
    int n_objects = 0;
    void *frame;

    unsetenv("LD_PRELOAD"); /* the compilers and other programs that it starts are not counted */
    backtrace(&frame, 1);   /* loads what it needs */
    dl_iterate_phdr(find_ranges, &n_objects);
    shim.at = at ? atol(at) : 0;
    shim.is_on = 1;
    if (at)
        alarm(LIMIT_S); /* for programs that never end */
}

__attribute__((destructor)) static void end(void)
{
    const char *to = getenv("MALLOC_COUNT");
    FILE *file;

    shim.is_on = 0;
    if (!to || !(file = fopen(to, "w")))
        return;
    fprintf(file, "%ld\n", (long)shim.n);
    for (int i = 0; i < MAX_CHAINS; i++)
        if (shim.chains[i].first)
            fprintf(file, "%ld %ld\n", shim.chains[i].first, shim.chains[i].last);
    fclose(file);
}
