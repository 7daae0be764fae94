/* cmd_version.c - `quern version`: prints the version, libraries and backends. */
#include "cli/cli.h"

#include "domain/fit/linear/linear.h"
#include "domain/solweig/raster/gdal_api.h"
#include "engine/engine.h"
#include "hal/cpu/cpu_cc.h"
#include "hal/cpu/cpu_fft.h"
#include "hal/cuda/cuda_api.h"
#include "hal/opencl/cl_api.h"
#include "hal/opencl/opencl.h"

#include "util/env.h"
#include "util/netcdf.h"

#include <jansson.h>
#include <png.h>

#include <string.h>

static const qn_opt options[] = {
    { 'v', "verbose", QN_OPT_FLAG,
      .help = "list libraries and backends, found or missing, and the consequences" },
    { 0 }
};

static const char *const examples[] = { "quern version --verbose", NULL };

/* Prints one library: its version, or if `found` is NULL, why it is missing and what does not work
 * without it. */
static void print_library(const char *name, const char *found, const char *why, const char *meaning)
{
    if (found)
        printf("  %-11s %s\n", name, found);
    else
        printf("  %-11s missing: %s\n%15s%s\n", name, why, "", meaning);
}

static void print_vkfft(void)
{
    const int version = qn_cl_fft_version();
    char text[40];

    snprintf(text, sizeof text, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    print_library("VkFFT", version ? text : NULL, "not in this build (Debian: libvkfft-dev)",
                  "Fourier transforms on opencl and cuda run on the CPU instead");
}

static void print_gdal(void)
{
    qn_err err = { 0 };
    const int has_gdal = qn_sw_gdal_load("GeoTIFF", &err) == QN_OK;

    print_library("GDAL", has_gdal ? "found" : NULL, err.text + strlen("GeoTIFF: "),
                  "quern solweig reads and writes .npy rasters only");
}

static void print_netcdf(void)
{
    qn_err err = { 0 };
    const int has_netcdf = qn_nc_load("format", &err) == QN_OK;

    print_library("NetCDF", has_netcdf ? "found" : NULL, err.text + strlen("format: "),
                  "quern les writes fields as .npy only");
}

static void print_cholmod(void)
{
    const char *why = "";
    const int has_cholmod = qn_fit_has_sparse(&why);

    print_library("CHOLMOD", has_cholmod ? "found" : NULL,
                  why[0] ? why : "not in this build (Debian: libsuitesparse-dev)",
                  "quern fit has no sparse_cholesky; auto takes another solver");
}

static void print_programs(void)
{
    const char *cc = qn_env("QUERN_CC");
    char program[256], path[PATH_MAX];

    if (!cc)
        cc = "cc";
    snprintf(program, sizeof program, "%.*s", (int)strcspn(cc, " "), cc); /* without arguments */
    print_library("cc", qn_find_program(program, path, sizeof path) ? program : NULL, program,
                  "no kernels from text on the CPU: fit interprets terms, arc keeps its "
                  "built-in kernel");
    print_gdal();
    print_netcdf();
    print_cholmod();
    print_library("ffmpeg", qn_find_program("ffmpeg", path, sizeof path) ? "found" : NULL,
                  "not in PATH", "quern les writes films as .y4m only, not as webm or mp4");
}

static void print_drivers(void)
{
    const char *reason = "", *cuda, *opencl;
    const qn_nvrtc_api *api = qn_nvrtc_load(&reason);
    char version[32];

    snprintf(version, sizeof version, "%d.%d", api ? api->major : 0, api ? api->minor : 0);
    print_library("NVRTC", api ? version : NULL, reason,
                  "cuda runs only built-in kernels, and only if this build has their PTX");
    cuda = qn_cuda_load(&reason) ? "found" : NULL;
    print_library("CUDA driver", cuda, reason, "no device cuda");
    opencl = qn_cl_load(&reason) ? "found" : NULL;
    print_library("OpenCL", opencl, reason, "no device opencl");
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
    print_library("compiler", __VERSION__, "", "");
#else
    print_library("compiler", "gcc " __VERSION__, "", "");
#endif
#ifdef _OPENMP
    printf("  %-11s %d\n", "OpenMP", _OPENMP);
#endif
    print_library("Jansson", jansson_version_str(), "", "");
    print_library("libpng", png_get_libpng_ver(NULL), "", "");
    print_library("FFTW", qn_cpu_fft_version(), "not in this build (Debian: libfftw3-dev)",
                  "no Fourier transforms on cpu and sim: no quern les, no quern bench fft");
    print_vkfft();
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    qn_ctx *ctx = NULL;

    printf("quern %s\n", qn_version());
    if (!qn_flag(args, "verbose"))
        return QN_OK;
    QN_TRY(qn_cli_open(args, &ctx, err));
    print_built_with();
    printf("found at run time\n");
    print_programs();
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
