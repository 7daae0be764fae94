# devices.sh - other tests must not use the profiles that calibrate writes; no OpenCL, as on most laptops.
# shellcheck shell=bash disable=SC2154
export QUERN_CACHE_DIR=$scratch/cache QUERN_HIDE=opencl
