/* cmd_version.c - `quern version`: what this binary is made of, and what it found here. */
#include "cli/cli.h"

#include "engine/context.h"
#include "hal/cpu/cpu_fft.h"
#include "hal/cuda/cuda_api.h"
#include "hal/opencl/opencl.h"

#include <jansson.h>
#include <png.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const qn_opt options[] = {
    { 'v', "verbose", QN_OPT_FLAG, .help = "libraries and backends, found or missing" }, { 0 }
};

static const char *const examples[] = { "quern version --verbose", NULL };

/* Is `name` a program that can be run, by path or by PATH? */
static int is_program(const char *name)
{
    const char *path = getenv("PATH");
    char file[1024];

    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    for (; path && *path; path += strspn(path, ":")) {
        const size_t len = strcspn(path, ":");

        snprintf(file, sizeof file, "%.*s/%s", (int)len, path, name);
        if (access(file, X_OK) == 0)
            return 1;
        path += len;
    }
    return 0;
}

/* The program that QUERN_CC names, without its arguments. */
static void print_compiler(void)
{
    const char *cc = getenv("QUERN_CC");
    char program[256];

    if (!cc || !*cc)
        cc = "cc";
    snprintf(program, sizeof program, "%.*s", (int)strcspn(cc, " "), cc);
    printf("  %-9s %s%s\n", "cc", is_program(program) ? "" : "missing: ", program);
}

static void print_fft(void)
{
    const char *fftw = qn_cpu_fft_version();
    const int vkfft = qn_cl_fft_version();

    printf("  %-9s %s\n", "FFTW", fftw ? fftw : "missing: not in this build");
    if (vkfft)
        printf("  %-9s %d.%d.%d\n", "VkFFT", vkfft / 10000, vkfft / 100 % 100, vkfft % 100);
    else
        printf("  %-9s %s\n", "VkFFT", "missing: not in this build");
}

static void print_nvrtc(void)
{
    const char *reason = "";
    const qn_nvrtc_api *api = qn_nvrtc_load(&reason);

    if (api)
        printf("  %-9s %d.%d\n", "NVRTC", api->major, api->minor);
    else
        printf("  %-9s missing: %s\n", "NVRTC", reason);
}

static void print_backends(const qn_ctx *ctx)
{
    printf("backends\n");
    for (int i = 0; i < qn_backend_state_count(ctx); i++) {
        const qn_backend_state *state = qn_backend_state_at(ctx, i);

        if (state->n_devices)
            printf("  %-9s %d device%s\n", state->name, state->n_devices,
                   state->n_devices == 1 ? "" : "s");
        else
            printf("  %-9s %s\n", state->name, state->reason);
    }
}

static qn_status run(qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    qn_ctx *ctx = NULL;

    (void)none;
    printf("quern %s\n", qn_version());
    if (!qn_flag(args, "verbose"))
        return QN_OK;
    QN_TRY(qn_cli_open(args, &ctx, err));
    printf("built with\n");
#ifdef __clang__
    printf("  %-9s %s\n", "compiler", __VERSION__);
#else
    printf("  %-9s gcc %s\n", "compiler", __VERSION__);
#endif
#ifdef _OPENMP
    printf("  %-9s %d\n", "OpenMP", _OPENMP);
#endif
    printf("  %-9s %s\n", "Jansson", jansson_version_str());
    printf("  %-9s %s\n", "libpng", png_get_libpng_ver(NULL));
    print_fft();
    printf("  %-9s %s\n", "MPI", "missing: not in this build");
    printf("found at run time\n");
    print_compiler();
    print_nvrtc();
    print_backends(ctx);
    st = qn_cli_close(args, ctx, QN_OK, err);
out:
    return st;
}

const qn_command qn_cmd_version = {
    .name = "version",
    .summary = "print the version, and what was found at build and run time",
    .options = options,
    .examples = examples,
    .bare = 1,
    .run = run,
};
