/* cmd_version.c - `quern version`: what this binary is made of, and what it found here. */
#include "cli/cli.h"

#include "domain/fit/linear/linear.h"
#include "domain/solweig/raster/gdal_api.h"
#include "engine/engine.h"
#include "hal/cpu/cpu_fft.h"
#include "hal/cuda/cuda_api.h"
#include "hal/opencl/cl_api.h"
#include "hal/opencl/opencl.h"

#include <jansson.h>
#include <png.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const qn_opt options[] = {
    { 'v', "verbose", QN_OPT_FLAG,
      .help = "list libraries and backends, found or missing, and the consequences" },
    { 0 }
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

/* One library: what it is, or why it is missing and what does not work then. */
static void print_found(const char *name, const char *what)
{
    printf("  %-11s %s\n", name, what);
}

static void print_missing(const char *name, const char *why, const char *meaning)
{
    printf("  %-11s missing: %s\n%15s%s\n", name, why, "", meaning);
}

static void print_fftw(void)
{
    const char *version = qn_cpu_fft_version();

    if (version)
        print_found("FFTW", version);
    else
        print_missing("FFTW", "not in this build (Debian: libfftw3-dev)",
                      "no Fourier transforms on cpu and sim: no quern les, no quern bench fft");
}

static void print_vkfft(void)
{
    const int version = qn_cl_fft_version();

    if (version)
        printf("  %-11s %d.%d.%d\n", "VkFFT", version / 10000, version / 100 % 100, version % 100);
    else
        print_missing("VkFFT", "not in this build (Debian: libvkfft-dev)",
                      "Fourier transforms on opencl and cuda run on the CPU instead");
}

static void print_gdal(void)
{
    qn_err err = { 0 };

    if (qn_sw_gdal_load("GeoTIFF", &err) == QN_OK) {
        print_found("GDAL", "found");
        return;
    }
    print_missing("GDAL", err.text + strlen("GeoTIFF: "),
                  "quern solweig reads and writes .npy rasters only");
}

static void print_cholmod(void)
{
    const char *why = "";

    if (qn_fit_has_sparse(&why))
        print_found("CHOLMOD", "found");
    else
        print_missing("CHOLMOD", why[0] ? why : "not in this build (Debian: libsuitesparse-dev)",
                      "quern fit has no sparse_cholesky; auto takes another solver");
}

/* The program that QUERN_CC names, without its arguments. */
static void print_compiler(void)
{
    const char *cc = getenv("QUERN_CC");
    char program[256];

    if (!cc || !*cc)
        cc = "cc";
    snprintf(program, sizeof program, "%.*s", (int)strcspn(cc, " "), cc);
    if (is_program(program))
        print_found("cc", program);
    else
        print_missing("cc", program,
                      "no kernels from text on the CPU: fit interprets terms, arc keeps its "
                      "built-in kernel");
}

static void print_ffmpeg(void)
{
    if (is_program("ffmpeg"))
        print_found("ffmpeg", "found");
    else
        print_missing("ffmpeg", "not in PATH", "films of quern les as .y4m, not as webm or mp4");
}

static void print_nvrtc(void)
{
    const char *reason = "";
    const qn_nvrtc_api *api = qn_nvrtc_load(&reason);

    if (api)
        printf("  %-11s %d.%d\n", "NVRTC", api->major, api->minor);
    else
        print_missing("NVRTC", reason,
                      "cuda runs built-in kernels from PTX where this build has it, no others");
}

static void print_drivers(void)
{
    const char *reason = "";

    if (qn_cuda_load(&reason))
        print_found("CUDA driver", "found");
    else
        print_missing("CUDA driver", reason, "no device cuda");
    if (qn_cl_load(&reason))
        print_found("OpenCL", "found");
    else
        print_missing("OpenCL", reason, "no device opencl");
}

static void print_backends(const qn_ctx *ctx)
{
    printf("backends\n");
    for (int i = 0; i < qn_backend_state_count(ctx); i++) {
        const qn_backend_state *state = qn_backend_state_at(ctx, i);

        if (state->n_devices)
            printf("  %-11s %d device%s\n", state->name, state->n_devices,
                   state->n_devices == 1 ? "" : "s");
        else
            printf("  %-11s %s\n", state->name, state->reason);
    }
}

static void print_built_with(void)
{
    printf("built with\n");
#ifdef __clang__
    print_found("compiler", __VERSION__);
#else
    print_found("compiler", "gcc " __VERSION__);
#endif
#ifdef _OPENMP
    printf("  %-11s %d\n", "OpenMP", _OPENMP);
#endif
    print_found("Jansson", jansson_version_str());
    print_found("libpng", png_get_libpng_ver(NULL));
    print_fftw();
    print_vkfft();
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
    print_built_with();
    printf("found at run time\n");
    print_compiler();
    print_gdal();
    print_cholmod();
    print_ffmpeg();
    print_nvrtc();
    print_drivers();
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
