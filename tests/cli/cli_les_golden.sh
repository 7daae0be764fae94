#!/usr/bin/env bash
# cli_les_golden.sh - every reference array on the CPU; those of the smallest grid, which has all
# kinds, on an OpenCL device too.
# test: long, cost 56, no-cache
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/les
[ -r "$golden/quern_n64_s1.json" ] || { echo "skipped: no golden data in $golden"; exit 77; }
exits 0 quern les check --golden "$golden" --backend cpu --quiet
lacks "$out" ' NO$'
quern devices | grep '^opencl:0 ' >/dev/null || { echo "skipped on opencl: no device"; exit 77; }
has_vkfft || { echo "skipped on opencl: this build has no VkFFT"; exit 77; }
mkdir small
ln -s "$golden"/*_n64_* small
exits 0 quern les check --golden small --backend opencl --fallback error --quiet
lacks "$out" ' NO$'
for what in ic_hat box_sum_i32 omega_t100 enc_s_t100 zhat_t300 dec_full_t100; do
    has "$out" "^golden +quern_n64_s1 $what, f64 .* yes\$"
done
