#!/usr/bin/env bash
# arc_archs.sh BUILD [ARCH...] - compiles the virtual machine of grid programs for NVIDIA GPUs that are not
# present (default sm_75 sm_89 sm_90) and prints what each needs. The text is what quern passes to a driver,
# here to a mock driver (build/libcuda_mock.so). Needs nvcc; 40 s each.
set -euo pipefail

build=$(realpath "${1:?usage: arc_archs.sh BUILD [ARCH...]}")
shift
[ $# -gt 0 ] || set -- sm_75 sm_89 sm_90
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The mock device runs nothing, so results are the CPU's; only the text matters.
QUERN_CACHE=0 QUERN_DUMP=$work QUERN_CUDA_LIB=$build/libcuda_mock.so QUERN_HIDE=opencl \
    "$build/quern" arc run "$here/examples/arc/solvers.py" --tasks "$here/examples/arc/tasks" \
    --backend cuda --quiet >/dev/null 2>&1 || true
for arch; do
    nvcc -x cu -arch="$arch" -cubin --fmad=false -Xptxas -v "$work/cuda-arc_vm.cu" \
        -o "$work/$arch.cubin" 2>"$work/$arch.txt" || { cat "$work/$arch.txt" >&2; exit 1; }
    echo "$arch: $(grep -m1 -oE '[0-9]+ registers' "$work/$arch.txt")," \
        "$(grep -m1 -oE '[0-9]+ bytes spill stores, [0-9]+ bytes spill loads' "$work/$arch.txt")"
done
