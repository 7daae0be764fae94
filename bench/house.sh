#!/usr/bin/env bash
# house.sh A B OUT [BENCH...] - engine.sh, les_peers.sh, fit.sh and arc.sh (BENCH: engine, les, fit, arc;
# default all) for two builds in one call, without peers, and a table of every figure of both.
#
# A and B are folders made by scripts/pack: A of the build to compare with, B of the new one. They
# alternate, ROUNDS times each (default 2), and the better round of each figure counts. OUT gets the raw
# files and house.md. Exit 1: a figure of B is more than LIMIT % worse (default 3), or is missing.
# TASKS and SOLVERS are for arc.sh (default examples/arc).
#
# For a GPU machine to which the repository and named ignored paths are copied:
#   scripts/pack BUILD_A out/a; scripts/pack BUILD_B out/b        here
#   bench/house.sh out/a out/b "$OUT" engine                      there; out/a and out/b are carried
set -euo pipefail

usage='usage: house.sh A B OUT [BENCH...]'
a=$(realpath "${1:?$usage}")
b=$(realpath "${2:?$usage}")
out=${3:?$usage}
shift 3
here=$(cd "$(dirname "$0")" && pwd)
benches=("${@:-}")
[ -n "${benches[0]}" ] || benches=(engine les fit arc)
tasks=${TASKS:-$here/../examples/arc/tasks}
solvers=${SOLVERS:-$here/../examples/arc/solvers.py}
export PEERS=off
mkdir -p "$out"

run_bench() { # name, pack, folder
    case $1 in
        engine) "$here/engine.sh" "$2" "$3" ;;
        les) "$here/les_peers.sh" "$2" - '' "$3" ;;
        fit) "$here/fit.sh" "$2" - "$3" ;;
        arc) "$here/arc.sh" "$2" "$tasks" "$solvers" "$3" ;;
        *)
            echo "house.sh: no bench $1" >&2
            exit 2
            ;;
    esac
}

for bench in "${benches[@]}"; do
    for ((round = 1; round <= ${ROUNDS:-2}; round++)); do
        for side in A B; do
            pack=$a
            [ "$side" = A ] || pack=$b
            folder=$out/$side/$round/$bench
            mkdir -p "$folder"
            echo "house: $bench, round $round, $side" >&2
            run_bench "$bench" "$pack" "$folder" >"$folder/log.txt" 2>&1 ||
                echo "house: $bench of $side ended with $?; see $folder/log.txt" >&2
        done
    done
done
python3 "$here/house_table.py" "$out" "${LIMIT:-3}" | tee "$out/house.md"
