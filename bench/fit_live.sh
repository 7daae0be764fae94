#!/usr/bin/env bash
# fit_live.sh BUILD [BACKEND] [LEVEL] - the hinge energy with limits on the values that a kernel holds at
# once. With 0 it holds all of them, and those without a register go to memory; with a limit, cheap ones are
# computed again. LEVEL: of the sphere (6: 40962 vertices). Environment: LIVE, the limits. Prints a table in
# Markdown; exits with 1 if a limit changed the result.
set -euo pipefail
build=${1:?usage: fit_live.sh BUILD [BACKEND] [LEVEL]}
backend=${2:-cuda}
level=${3:-6}
export QUERN_CACHE=0
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

echo "Hinge energy of icosphere $level by L-BFGS on $backend, $(date -u +%Y-%m-%d)"
echo
echo '| values kept at most | first s | best s | in the loop s | steps | cost |'
echo '|---|---|---|---|---|---|'
for live in ${LIVE:-0 128 112 96 80 64}; do
    QUERN_FIT_LIVE=$live "$build/tests/perf" perf_fit_solve B6 level="$level" backend="$backend" |
        python3 -c '
import json
import sys

row = json.loads(sys.stdin.read().splitlines()[-1])
print("| {} | {first_s:.4f} | {best_s:.4f} | {loop_s:.4f} | {accepted} | {final_cost!r} |".format(
    sys.argv[1], **row))' "$live" | tee -a "$rows"
done
[ "$(cut -d'|' -f6,7 "$rows" | sort -u | wc -l)" = 1 ] || {
    echo 'a limit changed the result' >&2
    exit 1
}
