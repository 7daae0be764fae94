#!/usr/bin/env bash
# device_parity.sh PACK - every parity test on the CUDA device and on NVIDIA's OpenCL, from a folder
# made by scripts/pack. Prints one line per test and backend; exits with 0 if all passed.
# QUERN_ARC_INSTANCES=100000 compares that many instances of made grid programs instead of 5000.
set -u
pack=${1:?usage: device_parity.sh PACK}
root=$(cd "$(dirname "$0")/.." && pwd)
export LD_LIBRARY_PATH=$pack/lib QUERN_SOURCE_DIR=$root
QUERN_CACHE_DIR=$(mktemp -d)
export QUERN_CACHE_DIR
status=0

# NVIDIA's OpenCL needs to be named once on machines that only have its library.
if [ "$(id -u)" -eq 0 ] && ! grep -qs nvidia /etc/OpenCL/vendors/*.icd; then
    mkdir -p /etc/OpenCL/vendors
    echo libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
"$pack/quern" devices
for backend in cuda opencl; do
    # One GPU backend at a time, so that a failure is this one's.
    if [ $backend = cuda ]; then
        export OCL_ICD_VENDORS=/nonexistent
    else
        unset OCL_ICD_VENDORS
        export QUERN_CUDA_LIB=/nonexistent
        QUERN_TEST_OPENCL=$("$pack/quern" devices | awk '/^opencl:.*NVIDIA/ { print $1; exit }')
        export QUERN_TEST_OPENCL
        [ -n "$QUERN_TEST_OPENCL" ] || { echo "opencl: no NVIDIA device" >&2; status=1; continue; }
    fi
    if ! "$pack/quern" devices | grep -q "^$backend:0"; then
        echo "$backend: no device, nothing tested" >&2
        status=1
        continue
    fi
    for test in "$pack"/tests/*; do
        [ -L "$test" ] || continue # a program of many tests
        log=$("$test" 2>&1)
        code=$?
        [ $code -eq 0 ] || status=1
        printf '%-9s %-18s %s\n' "${QUERN_TEST_OPENCL:-$backend}" "$(basename "$test")" \
            "$(printf '%s\n' "$log" | grep -E '^\[  (PASSED|FAILED|SKIPPED) *\] *[0-9]+ test' | tr '\n' ' ')"
        [ $code -eq 0 ] || printf '%s\n' "$log" | grep -E 'FAILED|error|!=|differ' | head -20
    done
done
exit $status
