#!/usr/bin/env bash
# cli_les_golden.sh - every reference array on the CPU and on an OpenCL device, and there too the
# checks of the generator and of parity.
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/les
[ -r "$golden/quern_n64_s1.json" ] || { echo "skipped: no golden data in $golden"; exit 77; }
exits 0 quern les check --golden "$golden" --backend cpu --quiet
lacks "$out" ' NO$'
quern devices | grep '^opencl:0 ' >/dev/null || { echo "skipped on opencl: no device"; exit 77; }
exits 0 quern les check V9 V12 --golden "$golden" --backend opencl --fallback error --quiet
lacks "$out" ' NO$'
has "$out" '^golden .* yes$'
has "$out" '^V12 .* yes$'
