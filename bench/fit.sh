#!/usr/bin/env bash
# fit.sh PACK PEERS [OUT] - evaluation of terms by quern and by jax in one call on one GPU: springs, a term of
# 64 operations, cameras, gradients; f64 and f32. Then the cost of compiling, and the size from which the GPU
# is faster. PACK: from scripts/pack. PEERS: folder of peer_fit_jax.py. OUT keeps the JSON files. Prints a
# table in Markdown; exits with 1 if a bar is missed. PEERS=off: quern alone, and no table.
set -euo pipefail
pack=${1:?usage: fit.sh PACK PEERS [OUT]}
peers=${2:?usage: fit.sh PACK PEERS [OUT]}
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$pack/lib
# NVIDIA's OpenCL shows the same hardware again.
export QUERN_HIDE=${QUERN_HIDE-opencl}
quern=$pack/quern
if [ $# -ge 3 ]; then
    out=$3
    mkdir -p "$out"
else
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi
{
    echo "quern $("$quern" --version | cut -d' ' -f2), $(date -u +%Y-%m-%d)"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    [ "${PEERS:-on}" = off ] || python3 -c 'import jax; print("jax", jax.__version__)'
} >"$out/conditions.txt"

for precision in f64 f32; do
    for bench in B1 B2 B3 B4; do
        "$quern" fit bench $bench --backend cuda --precision $precision \
            -o "$out/${bench}_$precision.json" >&2
    done
done
for bench in B7 B8; do
    "$quern" fit bench $bench --backend cuda -o "$out/${bench}_f64.json" >&2 ||
        echo "$bench: did not run" >&2
done
[ "${PEERS:-on}" = on ] || exit 0
for precision in f64 f32; do
    timeout "${QUERN_PEER_SECONDS:-600}" python3 "$peers/peer_fit_jax.py" --dtype $precision \
        --only springs,graph64,bal,grad --sizes 10000000 --json "$out/jax_$precision.json" >&2 ||
        echo "jax $precision: did not run" >&2
done
python3 "$here/fit_table.py" "$out"
