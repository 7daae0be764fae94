#!/usr/bin/env bash
# fit_ceres.sh QUERN PEERS - residuals and Jacobians on one core, by quern and by Ceres (automatic
# differentiation): 491 520 springs, 240 000 observations by cameras. QUERN: the command. PEERS: folder of
# peer_ceres_bench.cc, which needs libceres-dev and is built here. Ceres' figure is the better of
# Problem::Evaluate, which makes a sparse matrix, and the Jacobians within a solve, which are allocated
# already. Prints a table in Markdown; exits with 1 if quern is not 10 times faster.
set -euo pipefail
quern=${1:?usage: fit_ceres.sh QUERN PEERS}
peers=${2:?usage: fit_ceres.sh QUERN PEERS}
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export OMP_NUM_THREADS=1 QUERN_THREADS=1 QUERN_HIDE=opencl,cuda

g++ -O3 -march=native -DNDEBUG -std=c++17 -I/usr/include/eigen3 "$peers/peer_ceres_bench.cc" \
    -o "$out/ceres" -lceres -lglog -lpthread
for turn in 1 2 3; do
    "$out/ceres" springs 7 1 cgnr >>"$out/springs.txt"
    "$quern" fit bench B1 --n 491520 --backend cpu -o "$out/B1_$turn.json" >&2
    "$out/ceres" balsynth 200 40000 1 schur >>"$out/cameras.txt"
    "$quern" fit bench B3 --n 240000 --backend cpu -o "$out/B3_$turn.json" >&2
done
python3 "$here/fit_ceres_table.py" "$out"
