/* mock_image.c - names and parameters of the kernels in a cubin or in PTX.
 *
 * A cubin is an ELF file with a section .nv.info.<kernel> per kernel, a list of records: one
 * byte format, one byte attribute, two bytes that are the value or (format 4) the length of
 * what follows. Attribute 0x17 describes one parameter (its number in bytes 4..5 and its size
 * from bit 18 of the last word on), attribute 0x05 the largest block.
 */
#include "mock/mock_impl.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUfunction add_function(CUmodule module, const char *name, size_t name_bytes)
{
    CUfunction function = calloc(1, sizeof *function);

    if (!function)
        return NULL;
    snprintf(function->name, sizeof function->name, "%.*s", (int)name_bytes, name);
    function->max_threads = 1024;
    function->next = module->functions;
    module->functions = function;
    return function;
}

static void read_records(CUfunction function, const unsigned char *at, size_t bytes)
{
    const unsigned char *const end = at + bytes;
    uint16_t length, number;
    uint32_t word;

    while (end - at >= 4) {
        const int is_block = at[0] == 4;
        const int attribute = at[1];

        memcpy(&length, at + 2, sizeof length);
        at += 4;
        if (!is_block)
            continue;
        if (length > end - at)
            return;
        if (attribute == 0x17 && length == 12) {
            memcpy(&number, at + 4, sizeof number);
            memcpy(&word, at + 8, sizeof word);
            if (number < MOCK_MAX_PARAMS) {
                function->sizes[number] = word >> 18;
                if (number >= function->n_params)
                    function->n_params = number + 1;
            }
        }
        if (attribute == 0x05 && length == 12) {
            unsigned axes[3];

            memcpy(axes, at, sizeof axes);
            function->max_threads = axes[0] * axes[1] * axes[2];
        }
        at += length;
    }
}

static CUresult read_cubin(const unsigned char *image, CUmodule module)
{
    static const char prefix[] = ".nv.info.";
    Elf64_Ehdr head;
    Elf64_Shdr names, section;

    memcpy(&head, image, sizeof head);
    memcpy(&names, image + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
    for (int i = 0; i < head.e_shnum; i++) {
        const char *name;
        CUfunction function;

        memcpy(&section, image + head.e_shoff + i * sizeof section, sizeof section);
        name = (const char *)image + names.sh_offset + section.sh_name;
        if (strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        name += sizeof prefix - 1;
        if (!(function = add_function(module, name, strlen(name))))
            return CUDA_ERROR_OUT_OF_MEMORY;
        read_records(function, image + section.sh_offset, section.sh_size);
    }
    return CUDA_SUCCESS;
}

/* ".u64 name" is 8 bytes, ".align 4 .b8 name[20]" is 20. */
static size_t param_bytes(const char *at, const char *end)
{
    size_t bytes = 0;
    const char *bracket;

    for (const char *dot = at; dot < end; dot++)
        if (*dot == '.' && strchr("bsuf", dot[1]) && isdigit((unsigned char)dot[2]))
            bytes = (size_t)atoi(dot + 2) / 8;
    bracket = memchr(at, '[', (size_t)(end - at));
    return bracket ? bytes * (size_t)atoi(bracket + 1) : bytes;
}

static CUresult read_ptx(const char *text, CUmodule module, char *log, size_t log_size)
{
    const char *entry = text;

    if (!strstr(text, ".version")) {
        if (log)
            snprintf(log, log_size, "ptxas fatal   : error: missing .version directive\n");
        return CUDA_ERROR_INVALID_PTX;
    }
    while ((entry = strstr(entry, ".entry "))) {
        const char *const name = entry + strlen(".entry ");
        const size_t name_bytes = strcspn(name, "( \n\t");
        const char *const end = strchr(name, ')');
        const char *const body = end ? strchr(end, '{') : NULL;
        const char *at = name + name_bytes;
        const char *limit;
        CUfunction function;

        if (!body || !(function = add_function(module, name, name_bytes)))
            return CUDA_ERROR_INVALID_PTX;
        while ((at = strstr(at, ".param ")) && at < end && function->n_params < MOCK_MAX_PARAMS) {
            const char *stop = at + strcspn(at, ",)");

            at += strlen(".param ");
            function->sizes[function->n_params++] = param_bytes(at, stop);
        }
        limit = strstr(end, ".maxntid ");
        if (limit && limit < body)
            function->max_threads = (unsigned)atoi(limit + strlen(".maxntid "));
        entry = body;
    }
    return CUDA_SUCCESS;
}

CUresult mock_image_read(const void *image, CUmodule module, char *log, size_t log_size)
{
    if (memcmp(image, ELFMAG, SELFMAG) == 0)
        return read_cubin(image, module);
    return read_ptx(image, module, log, log_size);
}

void mock_image_free(CUmodule module)
{
    while (module->functions) {
        CUfunction const function = module->functions;

        module->functions = function->next;
        free(function);
    }
}
