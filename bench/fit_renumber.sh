#!/usr/bin/env bash
# fit_renumber.sh BUILD BACKEND [LEVEL] - one step of springs on a sphere whose vertices are in a random
# order, alternating renumber = 0 and 1, and on the sphere in its original order.
#
# Per line: mesh, renumber, seconds of the solver, seconds of the run with renumbering, cost.
set -euo pipefail

build=${1:?usage: fit_renumber.sh BUILD BACKEND [LEVEL]}
backend=${2:?usage: fit_renumber.sh BUILD BACKEND [LEVEL]}
level=${3:-8}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$build/quern" make mesh icosphere "$level" "$work/made.obj" >/dev/null
"$here/fit_shuffle.py" "$work/made.obj" "$work/shuffled.obj"

solve() { # MESH RENUMBER
    cat >"$work/springs.fit" <<F
fit 1;
mesh M = obj("$1.obj");
param x[M.verts] : vec3 = M.pos;
data rest[M.edges] = 0.95 * length(M.pos[self.a] - M.pos[self.b]);
residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - rest[e]; }
residual anchor over v in M.verts weight 0.01 { yield x[v] - M.pos[v]; }
solve lm { linear_solver = pcg; max_iterations = 4; function_tolerance = 1e-14; renumber = $2; }
F
    "$build/quern" fit run "$work/springs.fit" --backend "$backend" --report "$work/r.json" \
        --out "$work/out" >/dev/null 2>&1 || true # not converged is all right
    python3 -c "
import json, sys
r = json.load(open('$work/r.json'))
print('%-8s renumber=%s loop %.3f run %.3f cost %.12g' % (
    '$1', '$2', r['seconds'], r['run_seconds'], r['final_cost']))"
}

for _ in 1 2 3; do
    solve made 0
    solve shuffled 0
    solve shuffled 1
done
