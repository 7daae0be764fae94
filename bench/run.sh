#!/usr/bin/env bash
# run.sh [BUILD] - the script of `make bench`: micro-benchmarks of this machine, compared with those of the
# previous run, which are in out/bench. GPU machines with peers installed: bench/engine.sh.
set -euo pipefail
build=${1:-build}
cd "$(dirname "$0")/.."
mkdir -p out/bench
for verb in ops graph pool kernels; do
    compare=()
    if [ -f out/bench/$verb.json ]; then
        cp out/bench/$verb.json out/bench/$verb.last.json
        compare=(--compare out/bench/$verb.last.json)
    fi
    "$build/quern" bench $verb -o out/bench/$verb.json "${compare[@]}"
done
"$build/quern" tasks bench --samples 20 --csv out/bench/tasks.csv --md out/bench/tasks.md
"$build/tests/perf" perf_fit_eval
