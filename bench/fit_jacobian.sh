#!/usr/bin/env bash
# fit_jacobian.sh BUILD [BACKEND [SIZE]] - solves by pcg with J stored, in f64 or f32, or computed.
#
# Springs, cameras and a curve, each in every way that `jacobian` and `storage` have, on the device of BACKEND
# or, if none is named or it is "host", by the solvers in host memory. SIZE is small (to see that it works),
# usual or large (for a GPU). Prints a line of JSON for each solve, then a table of times of the loop, and of
# costs relative to `free`. Fails if a cost differs by more than 1e-5: how J is obtained changes the path of a
# solve, not its end.
set -euo pipefail

build=${1:?usage: fit_jacobian.sh BUILD [BACKEND [SIZE]]}
backend=${2:-host}
size=${3:-usual}
solve=("$build/tests/perf" perf_fit_solve)
export OMP_WAIT_POLICY=passive

case $size in
small) springs=(level=3) cameras=(cameras=8 points=300) curve=(points=10000) ;;
usual) springs=(level=5) cameras=(cameras=64 points=20000) curve=(points=100000) ;;
large) springs=(level=8) cameras=(cameras=1000 points=200000) curve=(points=10000000) ;;
*) echo "fit_jacobian.sh: $size is no size: small, usual, large" >&2 && exit 2 ;;
esac
where=()
[ "$backend" = host ] || where=(backend="$backend")

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

run() { # WHAT ARGUMENT...
    local what=$1 way
    shift
    for way in jacobian=free jacobian=stored storage=f32 jacobian=auto; do
        "${solve[@]}" B5 what="$what" linear=pcg repeats=3 "$@" "$way" "${where[@]}" |
            sed "s/^{/{\"way\": \"$way\", /"
    done | tee -a "$lines"
}
run springs "${springs[@]}"
run cameras "${cameras[@]}"
run curve "${curve[@]}"

python3 - "$lines" <<'PYTHON'
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
free = {row["what"]: row for row in rows if row["way"] == "jacobian=free"}
failed = False

print(f"{'what':8} {'way':16} {'used':12} {'J MB':>9} {'steps':>6} {'CG':>6} "
      f"{'loop ms':>10} {'us/CG':>9} {'of free':>8} {'cost':>9}")
for row in rows:
    base = free[row["what"]]
    n = max(row["linear_iterations"], 1)
    scale = max(base["final_cost"], 1e-12 * base["initial_cost"])
    apart = (row["final_cost"] - base["final_cost"]) / scale
    # Springs stop at a goal: any cost below it is accepted.
    wrong = abs(apart) > 1e-5 and row["status"] != "user_stop"
    failed |= wrong
    print(f"{row['what']:8} {row['way']:16} {row['jacobian'] + ' ' + row['storage']:12} "
          f"{row['jacobian_bytes'] / 1e6:9.2f} {row['accepted'] + row['rejected']:6d} {n:6d} "
          f"{1e3 * row['loop_s']:10.2f} {1e6 * row['loop_s'] / n:9.1f} "
          f"{row['loop_s'] / base['loop_s']:8.2f} {apart:9.1e}{' WRONG' if wrong else ''}")
sys.exit(failed)
PYTHON
