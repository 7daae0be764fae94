#!/usr/bin/env bash
# fit_speculate.sh BUILD BACKEND - solves of fit on a device, alternating speculate = 0 and 1.
#
# Springs of small meshes, where waiting is most of a step, of large ones, and cameras; all to the last digit,
# so that there are enough steps. One line of JSON for each: `waits` is how often the host waited for the
# device, `loop_s` the best of nine solves without setting up. Then springs that are far too short, whose
# solves take as many steps as allowed: the times for 10, 40 and 160 steps separate the time of a step from
# one-time costs.
set -euo pipefail

build=${1:?usage: fit_speculate.sh BUILD BACKEND}
backend=${2:?usage: fit_speculate.sh BUILD BACKEND}
solve=("$build/tests/perf" perf_fit_solve)

in_turns() {
    for speculate in 0 1 0 1; do
        "${solve[@]}" B5 "$@" backend="$backend" speculate=$speculate repeats=9
    done
}

# LEVEL STEPS SPECULATE
crumple() {
    cat >"$work/crumple.fit" <<F
fit 1;
mesh M = icosphere($1, 1.0);
param x[M.verts] : vec3 = M.pos;
data rest[M.edges] = 0.5 * length(M.pos[self.a] - M.pos[self.b]);
residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - rest[e]; }
residual anchor over v in M.verts weight 0.1 { yield x[v] - M.pos[v]; }
solve lm {
    linear_solver = pcg; max_iterations = $2; speculate = $3;
    function_tolerance = 1e-18; parameter_tolerance = 1e-18; gradient_tolerance = 1e-30;
}
F
    "$build/quern" fit run "$work/crumple.fit" --backend "$backend" --report "$work/r.json" \
        --out "$work/out" >/dev/null 2>&1 || true # stopped by the number of steps
    python3 -c "
import json
r = json.load(open('$work/r.json'))
print('crumple level %s steps %d + %d speculate %s waits %d loop %.5f cost %.15g' % (
    '$1', r['accepted'], r['rejected'], '$3', r['waits'], r['seconds'], r['final_cost']))"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for level in 2 4 6; do
    for steps in 10 40 160; do
        for speculate in 0 1 0 1; do
            crumple $level $steps $speculate
        done
    done
done
for level in 2 3 4 5 6 7; do
    in_turns what=springs level=$level goal=1e-25
done
in_turns what=cameras
in_turns what=cameras cameras=1000 points=200000
