#!/usr/bin/env bash
# cli_bench_compare.sh - before and after: saved figures compared with a new run.
. "$(dirname "$0")/lib.sh"

export QUERN_HIDE=opencl,cuda
bench() { quern bench "$@" --progress off --samples 3; }

exits 0 bench graph --backend cpu --stages 10 -o old.json
exits 0 bench graph --backend cpu --stages 10 --compare old.json -o new.json
has "$out" '^ITEM +DEVICE +METRIC +BEFORE +AFTER +RATIO +CHANGE$'
[ "$(grep -Ec '^(10 stages|1 stage) (direct|replayed) +cpu:0 +.* [0-9]+\.[0-9]{3} +(-|better|worse)$' "$out")" -eq 24 ] ||
    fail "not every figure has a ratio"
lacks "$out" 'new$|gone$'

# figures LIST: a saved file of bench graph with these figures
figures() {
    printf '{"format": "quern-bench/1", "verb": "graph", "figures": [%s]}\n' "$1"
}
figure() { # ITEM METRIC VALUE BETTER [DEVICE]
    printf '{"item": "%s", "device": "%s", "metric": "%s", "value": %s, "better": "%s"}' \
        "$1" "${5:-cpu:0}" "$2" "$3" "$4"
}

# Far slower before, far faster before, one that no longer exists, and two of a device that is not here.
figures "$(figure '10 stages direct' us/run 1e9 less), $(figure '1 stage direct' us/run 1e-6 less),
    $(figure 'an old item' us/run 7 less), $(figure '1 stage direct' us/run 2 less cuda:0),
    $(figure '10 stages direct' us/run null less cuda:0)" >made.json
exits 0 bench graph --backend cpu --stages 10 --compare made.json
has "$out" '^10 stages direct +cpu:0 +us/run .* better$'
has "$out" '^1 stage direct +cpu:0 +us/run .* worse$'
has "$out" '^10 stages direct +cpu:0 +us/stage +- .* - +new$'
has "$out" '^an old item +cpu:0 +us/run +7\.000 +- +- +gone$'
has "$out" '^2 figures +cuda:0 +- +- +- +- +gone$'

# More is better for rates.
printf '{"format": "quern-bench/1", "verb": "ops", "figures": [%s]}\n' \
    "$(figure 'vadd 100' GB/s 1e-9 more), $(figure 'vadd 100' us 1e9 less)" >ops.json
exits 0 bench ops --backend cpu --op vadd --sizes 100 --compare ops.json
has "$out" '^vadd 100 +cpu:0 +GB/s .* better$'
has "$out" '^vadd 100 +cpu:0 +us .* better$'

# Bad files are refused before anything is measured.
refused 6 'cannot open none.json: ' bench graph --compare none.json
refused 6 'ops.json is from bench ops, not bench graph$' bench graph --compare ops.json
echo '{"format": "quern-bench/2"}' >bad.json
refused 6 'bad.json: format "quern-bench/2", this program reads quern-bench/1$' bench pool --compare bad.json
echo '{' >bad.json
refused 6 'bad.json' bench pool --compare bad.json
figures '{"item": 3}' >bad.json
refused 6 'bad.json: figure 1: item is not a string|bad.json: figure 1.*item' bench graph --compare bad.json
figures "$(figure a b 1 lower)" >bad.json
refused 6 'bad.json: figure 1: better is "lower", not less, more or neither$' bench graph --compare bad.json
exits 1 bench pool --backend cpu -o /dev/null/x
has "$err" "^quern bench pool: cannot make the folder /dev/null: "
