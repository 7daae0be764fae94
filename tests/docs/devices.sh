# devices.sh - profiles that calibrate writes are not for other tests; no OpenCL, as on most laptops.
# shellcheck shell=bash disable=SC2154
export QUERN_CACHE_DIR=$scratch/cache QUERN_HIDE=opencl
