#!/usr/bin/env bash
# engine.sh PACK [OUT] - the engine's reference work on one GPU: quern beside CuPy and torch, in one
# run. PACK is a folder made by scripts/pack; OUT (default bench/results/engine) gets the raw files
# and engine.md, the table of figures, bars and ratios. PEERS=off: quern alone, and no table.
set -euo pipefail

pack=$(realpath "${1:?usage: engine.sh PACK [OUT]}")
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here/results/engine}
mkdir -p "$out"
export LD_LIBRARY_PATH=$pack/lib
QUERN_CACHE_DIR=${QUERN_CACHE_DIR:-$(mktemp -d)}
export QUERN_CACHE_DIR
quern=$pack/quern

{
    date -u +%Y-%m-%dT%H:%M:%SZ
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    "$quern" version
    lscpu | sed -n 's/^Model name: *//p;s/^CPU(s): */cores /p'
} >"$out/conditions.txt"

run() { echo "\$ quern $*" >&2; "$quern" --progress off "$@"; }

run bench ops --backend cuda --samples 20 -o "$out/ops.json"
run bench ops --backend cpu --op vadd,saxpy,matmul,merkle --samples 10 -o "$out/ops_cpu.json"
run bench graph --backend cuda --samples 50 -o "$out/graph.json"
run tasks bench --backend cuda --scenario all --samples 100 --csv "$out/tasks.csv"
run bench kernels --backend cuda -o "$out/kernels.json"
run tasks pipe --backend cuda --csv "$out/pipe.csv"
# NVIDIA's OpenCL shows the same hardware again, and PoCL the same CPU.
QUERN_HIDE=opencl run route eval --scenario all --spread 12 --samples 400 --warmup 300 --seconds 0.4 --threads 8 | tee "$out/regret.txt"
[ "${PEERS:-on}" = on ] || exit 0
python3 "$here/peers_engine.py" --samples 100 | tee "$out/peers.csv"
python3 "$here/engine_table.py" "$out" | tee "$out/engine.md"
