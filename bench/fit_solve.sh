#!/usr/bin/env bash
# fit_solve.sh BUILD [BACKEND] - whole solves of fit, and the same by Ceres if its program is available.
#
# Times springs, cameras and hinges with the solvers in host memory (two threads) and, if a backend is named,
# on its device. CERES_PEER names a program that solves the same problems with Ceres (`springs LEVEL THREADS
# cgnr`, `balsynth CAMERAS POINTS THREADS schur`); both sides run in turns, so that a busy machine slows both.
# One line of JSON, or of key=value, for each.
set -euo pipefail

build=${1:?usage: fit_solve.sh BUILD [BACKEND]}
backend=${2:-}
solve=("$build/tests/perf" perf_fit_solve)
# On a busy machine, threads that spin while they wait take the processor from those that work.
export OMP_WAIT_POLICY=passive

peer() { [ -z "${CERES_PEER:-}" ] || "$CERES_PEER" "$@" | tail -1; }

for _ in 1 2 3; do
    "${solve[@]}" B5 what=springs threads=2 linear=pcg repeats=3
    CERES_GOAL=1e-12 peer springs 5 2 cgnr
    "${solve[@]}" B5 what=cameras threads=2 repeats=3 goal=22495.738
    CERES_GOAL=22495.738 peer balsynth 64 20000 2 schur
done
"${solve[@]}" B6 level=5 threads=2 repeats=1

[ -n "$backend" ] || exit 0
"${solve[@]}" B5 what=springs level=7 backend="$backend"
CERES_GOAL=1e-12 peer springs 7 "$(nproc)" cgnr
"${solve[@]}" B5 what=cameras cameras=1000 points=200000 backend="$backend"
peer balsynth 1000 200000 "$(nproc)" schur
for level in 3 4 5 6; do
    "${solve[@]}" B6 level=$level backend="$backend"
done
