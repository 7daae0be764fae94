#!/usr/bin/env bash
# arc_patterns.sh PACK TASKS [OUT] - the gain of each pattern that the compiler fuses: a program that consists
# only of the pattern, on the inputs of all tasks, compiled with fusing and without. The outputs of both must
# be equal.
#
# PACK is a folder with the command: of scripts/pack, or of a build. TASKS is a folder of task files.
# OUT (default bench/results/arc_patterns.md) gets the table.
# Environment: BACKEND (default cpu), COPIES (default 4), SAMPLES (default 5).
set -euo pipefail

usage='usage: arc_patterns.sh PACK TASKS [OUT]'
pack=$(realpath "${1:?$usage}")
tasks=$(realpath "${2:?$usage}")
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "${3:-$here/results/arc_patterns.md}")
[ ! -d "$pack/lib" ] || export LD_LIBRARY_PATH=$pack/lib
quern=$pack/quern
backend=${BACKEND:-cpu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The pass, and a statement that is just its pattern.
patterns() {
    cat <<'PATTERNS'
argmin first(order(objects(I, T, F, T), height))
colorcount size(ofcolor(I, ZERO))
replace fill(I, FIVE, ofcolor(I, ZERO))
fill paint(I, recolor(FIVE, asindices(I)))
first_of_size first(sizefilter(partition(I), ONE))
argmax_size argmax(partition(I), size)
largest_object argmax(objects(I, T, F, T), size)
PATTERNS
}

# Runs per second of the kernels on the device, or on all threads.
rate() {
    "$quern" arc bench "$1" --tasks "$tasks" --match all --replicate "${COPIES:-4}" --no-check \
        --samples "${SAMPLES:-5}" --backend "$backend" --quiet --no-share -o bench.json >/dev/null
    python3 - bench.json "$backend" <<'RATE'
import json
import sys

rows = json.load(open(sys.argv[1]))["rows"]
device = sys.argv[2].split(":")[0]
own = [row for row in rows if row["device"].startswith(device)]
print(max(own, key=lambda row: row["threads"] or 0)["kernel_runs_per_s"])
RATE
}

{
    printf 'Inputs of %s tasks, %s copies of each, on %s, %s (bench/arc_patterns.sh).\n\n' \
        "$(find "$tasks" -name '*.json' | wc -l)" "${COPIES:-4}" "$backend" "$(date -u +%F)"
    echo '| pattern | statement | runs/s without | runs/s with | gain |'
    echo '|---|---|---|---|---|'
} >table.md
patterns | while read -r pass statement; do
    printf 'def solve_pattern(I):\n    return %s\n' "$statement" >pattern.py
    "$quern" arc dis pattern.py -o with.qarc --quiet
    "$quern" arc dis pattern.py --without "$pass" -o without.qarc --quiet
    for form in with without; do
        "$quern" arc run $form.qarc --tasks "$tasks" --match all --backend "$backend" --quiet \
            -o $form.jsonl >/dev/null 2>&1
        # Steps, and the name of the failing primitive, differ: one primitive replaces two.
        sed 's/"steps":[0-9]*,//; s/"error":"[^"]*"/"error"/' $form.jsonl >$form.txt
    done
    cmp with.txt without.txt || { echo "$pass: other outputs than without it" >&2; exit 1; }
    python3 - "$pass" "$statement" "$(rate without.qarc)" "$(rate with.qarc)" <<'ROW' >>table.md
import sys

name, statement, plain, fused = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
print(f"| {name} | `{statement}` | {plain:,.0f} | {fused:,.0f} | {fused / plain:.2f} |")
ROW
done
mkdir -p "$(dirname "$out")"
mv table.md "$out"
cat "$out"
