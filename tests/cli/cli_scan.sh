#!/usr/bin/env bash
# cli_scan.sh - what `quern scan` measures, checks and writes. Times are never judged, only their order and
# form; if a crossover is needed, the costs of the simulated device provide one.
# test: long
. "$(dirname "$0")/lib.sh"

export QUERN_HIDE=opencl,cuda
scan() { quern scan --progress off --quiet --samples 5 "$@"; }
rows() { grep -v '^#' "$1" | tail -n +2; }

# Without these tools the rest is still tested.
well_formed() { ! command -v xmllint >/dev/null || xmllint --noout "$1" || fail "$1 is not well-formed"; }
checked() { if command -v python3 >/dev/null; then python3 - "$@"; else cat >/dev/null; fi; }

# The four files, their columns, their order.
exits 0 scan --op dot,vadd --sizes 20000,3000,100 -o made/here/s
empty "$err"
for ending in csv md html json; do
    [ -s "made/here/s.$ending" ] || fail "no file s.$ending"
done
csv=made/here/s.csv
head -1 $csv | grep -qx '# quern-scan 1' || fail "no format line"
for fact in version date host device driver threads seed command; do
    has $csv "^# $fact .+"
done
has $csv '^# date 20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-9:]{8}Z$'
has $csv '^# command quern scan --op dot,vadd .*-o made/here/s'
grep -v '^#' $csv | head -1 | grep -qx 'op,size,residency,backend,device,samples,median_us,p90_us,min_us,max_us,mean_us,stddev_us,first_us,bytes_h2d,bytes_d2h,verified' ||
    fail "wrong header"
rows $csv | cut -d, -f1-5 >"$out"
printf '%s\n' {dot,vadd},{100,3000,20000},{cold,resident},{cpu,cpu1},cpu:0 |
    LC_ALL=C sort -t, -k1,1 -k2,2n -k4,4 -k3,3 >"$scratch/want"
cmp -s "$out" "$scratch/want" || fail "rows are missing or not sorted: $(diff "$out" "$scratch/want")"

# Five samples; min <= median <= p90 <= max; times have three decimals and none is 0; verified.
rows $csv | awk -F, '
    $6 != 5 || $16 != 1 { print "samples or verified: " $0 }
    !($9 <= $7 && $7 <= $8 && $8 <= $10 && $9 <= $11 && $11 <= $10) { print "order: " $0 }
    $7 <= 0 || $13 <= 0 { print "zero: " $0 }
    { for (i = 7; i <= 13; i++) if ($i !~ /^[0-9]+\.[0-9][0-9][0-9]$/) print "decimals: " $0 }' >"$out"
empty "$out"

# Other spellings of the same options.
well_formed made/here/s.html
lacks made/here/s.html '<script|<link|src=|href=|url\(|@import|https?://'
has made/here/s.html '<svg'
has made/here/s.md '^## vadd$'
has made/here/s.md '^\| *Size \| *CPU \| *p90 \| *CPU, 1 thread \| *p90 \| *Winner'
has made/here/s.md '^## Crossovers$'
has made/here/s.md '^## Wins$'
checked made/here/s.json <<'PY' || fail "bad JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["format"] == "quern-scan/1" and len(d["rows"]) == 24
assert all(r["median_us"] > 0 and r["verified"] for r in d["rows"])
PY

# Sizes, residency, backends, seeds.
exits 0 scan --sizes 1000:100000:2 --backends cpu --residency cold -o r
[ "$(rows r.csv | cut -d, -f2,3,4 | tr '\n' ' ')" = \
    '1000,cold,cpu 3162,cold,cpu 10000,cold,cpu 31623,cold,cpu 100000,cold,cpu ' ] || fail "wrong sizes"
exits 0 scan --sizes 1e3,1000 --backends cpu1 --residency resident --seed 77 --warmup 1 -o r
[ "$(rows r.csv | cut -d, -f1-5)" = vadd,1000,resident,cpu1,cpu:0 ] || fail "wrong rows"
has r.csv '^# seed 77$'
exits 0 scan --op matmul --sizes 40 --backends cpu -o m
exits 0 scan --op all --sizes 64 --backends cpu --residency cold -o every
[ "$(rows every.csv | cut -d, -f1 | tr '\n' ' ')" = \
    'chain dot keccak256 matmul max merkle saxpy sha256 sum vadd ' ] || fail "not every op"

# A device: bytes moved, crossover by the 90 % rule, refinement.
# 500 us per launch: one thread is far faster at 20 000 elements and far slower at 16 million.
export QUERN_FAULT=sim.launch_us=500,sim.gbps=4000,sim.mem=4G QUERN_THREADS=1
exits 0 scan --sizes 20000,16000000 --backends cpu,sim --residency resident --refine -o x
has x.csv '^vadd,20000,resident,sim,sim:0,5,50[0-9]\.[0-9]{3},.*,0,0,1$'
has "$out" '^vadd +resident +sim:0 .* [0-9]+ +[0-9]+$'
has x.md '\| vadd +\| resident +\| sim:0 .*\| +[0-9]+ \| +[0-9]+ \|$'
has x.html 'sim:0 from '
checked x.json x.csv <<'PY' || fail "the crossover is not where the rows say"
import csv, json, sys
found = json.load(open(sys.argv[1]))["crossovers"][0]["crossover"]
rows = [r for r in csv.DictReader(l for l in open(sys.argv[2]) if l[0] != "#")]
us = {(int(r["size"]), r["backend"]): float(r["median_us"]) for r in rows}
sizes = sorted({s for s, _ in us})
wins = [us[s, "sim"] <= 0.9 * us[s, "cpu"] for s in sizes]
want = None
for s, won in reversed(list(zip(sizes, wins))):
    if not won:
        break
    want = s
assert found == want, (found, want)
below = max(s for s in sizes if s < found)
assert found <= 1.1 * below, (below, found)
PY
exits 0 scan --sizes 20000 --backends sim:0 --residency cold -o x
has x.csv '^vadd,20000,cold,sim,sim:0,.*,160000,80000,1$'

# Wrong results are found; sizes that cannot be measured leave gaps.
QUERN_FAULT=corrupt:vadd refused 4 'vadd of size 1000 on sim:0: 1 of 1000 values differ from the CPU' \
    scan --sizes 1000 --backends cpu,sim -o bad
[ ! -e bad.csv ] || fail "a wrong scan was written"
# Halved six times, 8 MB still exceed the 4000 bytes that the device provides.
QUERN_FAULT='alloc>4000' exits 0 scan --sizes 100,2000000 --backends cpu,sim --residency cold -o hole
has "$err" 'vadd of size 2000000, cold, on sim:0 was not measured: .*out of memory'
has hole.csv '^# note vadd of size 2000000, cold, on sim:0 was not measured: '
[ "$(rows hole.csv | cut -d, -f2,4 | tr '\n' ' ')" = '100,cpu 100,sim 2000000,cpu ' ] || fail "wrong holes"
has hole.md 'was not measured'
QUERN_FAULT='alloc>4000' refused 3 'vadd of size 2000000 on sim:0: ' \
    scan --sizes 2000000 --backends cpu,sim --fallback error -o hole
unset QUERN_FAULT QUERN_THREADS

# A missing backend has no rows, and is reported.
exits 0 scan --sizes 1000 --backends cpu,opencl -o absent
has "$err" '^\[GPU\] init failed: opencl: hidden by QUERN_HIDE\. CPU fallback\.$'
lacks absent.csv ',opencl,'
exits 3 scan --sizes 1000 --backends cpu,opencl --fallback error -o absent

# Refused lines.
refused 2 "unknown op 'vad'; there are: vadd, " scan --op vad
refused 2 'op vadd is named twice$' scan --op vadd,vadd
refused 2 "size '12x' is not a whole number" scan --sizes 12x
refused 2 "size '0' is not a whole number" scan --sizes 0
refused 2 'a range of sizes is MIN:MAX:PER_DECADE$' scan --sizes 10:20
refused 2 'sizes from 20 to 10$' scan --sizes 20:10:3
refused 2 "--samples: '4' is not a number between 5 and" quern scan --samples 4
refused 2 "--backends: 'gpu' names no backend" scan --backends gpu
refused 2 "--backends: 'cpu1:0' has an index" scan --backends cpu1:0
refused 2 "--backends: 'cpu,sim:x' has an index" scan --backends cpu,sim:x
refused 1 'cannot make the folder|cannot ' scan --sizes 100 --backends cpu -o /dev/null/x
