#!/usr/bin/env bash
# fit_speculate.sh BUILD BACKEND - solves of fit on a device with speculate = 0 and 1, in turns.
#
# Springs of small meshes, where waiting is most of a step, of large ones, and cameras; all to the
# last digit, so that there are steps enough. One line of JSON for each: `waits` is how often the
# host waited for the device, `loop_s` the best of nine solves without setting up.
set -euo pipefail

build=${1:?usage: fit_speculate.sh BUILD BACKEND}
backend=${2:?usage: fit_speculate.sh BUILD BACKEND}
solve=$build/tests/perf_fit_solve

in_turns() {
    for speculate in 0 1 0 1; do
        "$solve" B5 "$@" backend="$backend" speculate=$speculate repeats=9
    done
}

for level in 2 3 4 5 6 7; do
    in_turns what=springs level=$level goal=1e-25
done
in_turns what=cameras
in_turns what=cameras cameras=1000 points=200000
