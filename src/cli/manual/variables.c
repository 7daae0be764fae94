/* variables.c - environment variables without an option, for the manual. */
#include "cli/manual/man_page.h"

const qn_variable qn_variables[] = {
    { "QUERN_CACHE_DIR", "folder of compiled kernels and profiles (default $XDG_CACHE_HOME/quern, "
                         "else ~/.cache/quern)" },
    { "QUERN_CACHE=0", "do not cache kernels on disk" },
    { "QUERN_PROFILE=0", "neither read nor write measurements of devices and programs" },
    { "QUERN_HIDE", "backends to treat as not found, such as opencl,cuda" },
    { "QUERN_CC", "C compiler for kernels made at run time on the CPU (default cc)" },
    { "QUERN_KERNELS",
      "file of compiled kernels for CUDA, instead of the one beside the library; 0: "
      "none" },
    { "QUERN_COMPILE_THREADS", "threads that compile kernels (default: one per core, at most 16); "
                               "0: compile each kernel when it is needed" },
    { "QUERN_CUDA_LIB", "library to load as the CUDA driver" },
    { "QUERN_NVRTC_LIB", "library to load as NVRTC" },
    { "QUERN_OPENCL_LIB", "library to load as OpenCL" },
    { "QUERN_GDAL_LIB", "library to load as GDAL" },
    { "QUERN_NETCDF_LIB", "library to load as NetCDF" },
    { "QUERN_CHOLMOD_LIB", "library to load as CHOLMOD" },
    { "QUERN_HOST_BUDGET", "limit of host memory, such as 8G; data beyond it is spilled" },
    { "QUERN_SPILL_DIR", "folder for data beyond the budget of host memory (without it nothing is "
                         "spilled) and for large view factors of solweig" },
    { "QUERN_BUCKET_MIN", "smallest bucket of the memory pools, a power of two (default 16384)" },
    { "QUERN_FUSE=0", "run element-wise stages one by one instead of fused" },
    { "QUERN_OVERLAP=0",
      "run stages, copies and file access one after the other, without overlap" },
    { "QUERN_TEAM_LANES", "lanes of a team on devices: 8, 16 or 32" },
    { "QUERN_FIT_LIVE", "values that a kernel of fit holds at once before it recomputes cheap "
                        "ones; 0: all (default 96 doubles on cuda, 0 elsewhere)" },
    { "QUERN_SOLWEIG_RAM_FRACTION", "fraction of memory that a tile of solweig may use (default "
                                    "0.5)" },
    { "QUERN_SOLWEIG_MAX_TILE_SIDE", "longest side of a tile of solweig, in pixels" },
    { "QUERN_SOLWEIG_MEMMAP_PIXELS",
      "number of pixels from which on view factors are in a mapped file (default 50 million)" },
    { "QUERN_CHECKPOINT_S",
      "least seconds between two checkpoints of a tile of solweig, and between two states that les "
      "keeps for when its device fails (default 20; 0: after every step)" },
    { "QUERN_TIMING=1", "print one line per stage on stderr" },
    { "QUERN_STATS=1", "print tables of memory pools and buckets at the end" },
    { "QUERN_DUMP", "folder to which every compiled kernel text is written" },
    { "QUERN_FAULT", "faults to inject, for tests" },
    { "QUERN_CHECK_RANGES=1",
      "run every kernel on the CPU and stop at an access outside a buffer" },
    { "QUERN_OPENCL_SUBDEVICES",
      "number of parts to split the first OpenCL device into, for tests" },
    { 0 }
};
