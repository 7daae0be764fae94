/* cpu_host.c - name and instruction sets of the host's processor. */
#include "hal/cpu/cpu_host.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/hash.h"

enum { TEXT_SIZE = 16 * 1024 }; /* one processor has two or three KiB */

static const char *widest_vectors(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? "avx512"
           : __builtin_cpu_supports("avx2")  ? "avx2"
           : __builtin_cpu_supports("avx")   ? "avx"
                                             : "sse2";
#elif defined(__aarch64__)
    return "neon";
#else
    return "scalar";
#endif
}

static void remove_all(char *text, const char *what)
{
    const size_t n = strlen(what);
    char *at;

    while ((at = strstr(text, what)))
        memmove(at, at + n, strlen(at + n) + 1);
}

static void trim(char *text)
{
    size_t n = strlen(text);

    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
}

/* Shortens "AMD EPYC 7543 32-Core Processor" to "AMD EPYC 7543": table columns are narrow, and the
 * core count of the package says nothing about the threads we may use. */
static void shorten(char *model)
{
    static const char *const noise[] = { "(R)", "(TM)", "(tm)", " CPU", " Processor" };
    char *at;

    if ((at = strstr(model, " @ ")))
        *at = '\0';
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        remove_all(model, noise[i]);
    trim(model);
    at = strrchr(model, ' ');
    if (at && isdigit((unsigned char)at[1]) && strstr(at, "-Core"))
        *at = '\0';
    trim(model);
}

/* The value of a "key : value" line, or NULL if the line has another key. */
static char *value_of(char *line, const char *key)
{
    const size_t n = strlen(key);
    char *value;

    if (strncmp(line, key, n) != 0 || (line[n] != '\t' && line[n] != ' ' && line[n] != ':'))
        return NULL;
    if (!(value = strchr(line, ':')))
        return NULL;
    value++;
    while (isspace((unsigned char)*value))
        value++;
    trim(value);
    return value;
}

/* Reads the beginning of a file of /proc as lines, without allocating. */
static char *read_lines(const char *path, char *text, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n;

    while (fd >= 0 && used + 1 < size && (n = read(fd, text + used, size - 1 - used)) > 0)
        used += (size_t)n;
    if (fd >= 0)
        close(fd);
    text[used] = '\0';
    return text;
}

qn_cpu_host qn_cpu_host_get(void)
{
    qn_cpu_host host = { .arch = widest_vectors(), .features = QN_FNV1A64_START };
    char text[TEXT_SIZE], *rest = read_lines("/proc/cpuinfo", text, sizeof text), *line, *value;

    /* Only the first processor is read; its block ends at an empty line. */
    while ((line = strsep(&rest, "\n")) && *line) {
        if ((value = value_of(line, "model name"))) {
            host.features = qn_fnv1a64_add(host.features, value, strlen(value));
            shorten(value);
            snprintf(host.model, sizeof host.model, "%s", value);
        } else if ((value = value_of(line, "vendor_id"))) {
            snprintf(host.vendor, sizeof host.vendor, "%s", value);
        } else if ((value = value_of(line, "flags")) || (value = value_of(line, "Features"))) {
            host.features = qn_fnv1a64_add(host.features, value, strlen(value));
        }
    }
    if (!host.model[0])
        snprintf(host.model, sizeof host.model, "CPU");
    return host;
}

void qn_cpu_host_memory(uint64_t *total, uint64_t *available)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    char text[TEXT_SIZE], *rest = read_lines("/proc/meminfo", text, sizeof text), *line, *value;

    *total = (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
    *available = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * page;
    while ((line = strsep(&rest, "\n")))
        if ((value = value_of(line, "MemAvailable")))
            *available = strtoull(value, NULL, 10) * 1024;
}
