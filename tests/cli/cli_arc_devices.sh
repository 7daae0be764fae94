#!/usr/bin/env bash
# cli_arc_devices.sh - `quern arc run` on several devices, by route, with checks and a profile: the
# same digest everywhere.
# test: long
. "$(dirname "$0")/lib.sh"

export QUERN_CACHE_DIR=$PWD/cache
exits 0 quern make programs --programs 40 --grids 5 --out made
run=(quern arc run made/solvers.py --tasks made/tasks --match all)
exits 0 "${run[@]}" --backend cpu --digest cpu.txt
same() {
    cmp -s cpu.txt "$1" || fail "other results than on the CPU: $1"
}

# Several devices.
export QUERN_FAULT=sim.devices=4
for split in dynamic equal proportional; do
    exits 0 "${run[@]}" --devices sim:0,sim:1,sim:2,sim:3 --split $split --digest $split.txt
    has "$out" ' runs on sim:0\+sim:1\+sim:2\+sim:3: '
    same $split.txt
done
QUERN_FAULT=sim.devices=3,device_lost@4*1 exits 0 "${run[@]}" --devices sim --digest lost.txt \
    --metrics lost.json
same lost.txt
exits 0 "${run[@]}" --backend sim:0 --route balance --digest balance.txt
has "$out" ' runs on cpu:0\+sim:0: '
same balance.txt
unset QUERN_FAULT

# Routes.
exits 0 "${run[@]}" --backend cpu,sim:0 --route auto --explain-route route.csv --digest auto.txt
same auto.txt
has route.csv ',arc.vm,arc.batch,[0-9]+,cpu:0,'
has route.csv ',arc.vm,arc.batch,[0-9]+,sim:0,'
exits 0 "${run[@]}" --backend cpu,sim:0 --route cpu --stats s.json
has "$out" ' runs on cpu:0: '
has s.json '"gpu_ops": 0,'
has cache/profile/arc-costs.json '"format": "quern-arc-costs/1"'

QUERN_FAULT=sim.launch_us=200000 exits 0 "${run[@]}" --backend cpu,sim:0 --route gpu --adapt \
    --explain-route adapt.csv --digest adapt.txt --stats s.json
same adapt.txt
has s.json '"cpu_programs": 40,'
has s.json '"gpu_ops": 0,'
has adapt.csv ',made0,arc.program,[0-9]+,sim:0,'

# Launches, checks, profile.
exits 0 "${run[@]}" --backend sim --slice 1 --digest slice.txt --stats s.json
same slice.txt
exits 0 "${run[@]}" --backend sim --slice 0 --no-share --stats s.json
has s.json '"launches": 1,'
exits 0 "${run[@]}" --backend sim --verify-sample 50 --digest checked.txt --metrics m.json
same checked.txt
has m.json '"verify_checked"'
exits 0 "${run[@]}" --backend cpu --op-times p.json --metrics m.json
has m.json '"arc_program_time_ms"'
has p.json '"format": "quern-arc-profile/1"'
has p.json '"calls_pct": '
! grep -q device_seconds p.json || fail 'a time of a device where there is none'
exits 0 "${run[@]}" --backend sim --op-times p.json --stats s.json
has p.json '"device_seconds": '
has s.json '"instances": 8000,'

for priority in 1 2 3; do
    exits 0 "${run[@]}" --backend sim --op-priority $priority --digest priority.txt --stats s.json \
        --log none
    same priority.txt
done
has s.json '"fallbacks": \{\}'
exits 0 "${run[@]}" --backend sim --arena 8K --digest arena.txt --log info
same arena.txt
has "$err" 'arc.vm: [0-9]+ runs on sim:0 with 2048 KB instead of 8 KB$'

# Common prefixes of programs.
for ending in hmirror vmirror rot180; do
    printf 'def solve_%s(I):\n    x1 = objects(I, T, T, T)\n    x2 = mapply(toindices, x1)\n' $ending
    printf '    x3 = fill(I, FIVE, x2)\n    O = %s(x3)\n    return O\n\n\n' $ending
done >alike.py
for option in '' --no-share; do
    # shellcheck disable=SC2086
    exits 0 quern arc run alike.py --tasks made/tasks --match all --backend sim $option \
        --digest alike$option.txt --stats alike$option.json
done
cmp -s alike.txt alike--no-share.txt || fail 'other results where values are shared'
has alike.json '"shared_nodes": 200,'
has alike.json '"shared_hits": 600,'
has alike--no-share.json '"shared_nodes": 0,'
QUERN_CC=/nonexistent QUERN_CACHE=0 exits 0 "${run[@]}" --backend sim --group 8 --digest group.txt
has "$err" '^\[GPU\] arc.vm failed: .*no C compiler: /nonexistent not found. CPU fallback.$'
same group.txt
QUERN_CC=/nonexistent QUERN_CACHE=0 exits 3 "${run[@]}" --backend sim --group 8 --fallback error
exits 1 "${run[@]}" --backend cpu --op-times /nowhere/p.json
has "$err" '^quern arc run: cannot write /nowhere/p.json: '
