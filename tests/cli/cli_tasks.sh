#!/usr/bin/env bash
# cli_tasks.sh - batches, benches, the pipe and file hashes of `quern tasks`.
# test: cost 31, quick-opencl
. "$(dirname "$0")/lib.sh"

cat >batch.csv <<'CSV'
id,op,n,seed,arg
1,vadd,20000,7,
2,chain,40000,8,"mul:2,add:1,sqrt"
3,merkle,1024,9,
4,saxpy,300,1,-1.5
5,sum,100000,2,
6,dot,5000,3,
7,max,70000,4,
8,matmul,130,5,
9,sha256,500,6,0-200
10,keccak256,200,6,137
11,merkle,777,3,rfc6962
12,chain,1000,1,"exp,sin"
13,vadd,700000,1,
CSV

# One line per task in its order; checksums are the same on every backend.
for backend in cpu sim opencl; do
    if [ "$backend" = opencl ] && ! quern devices | grep -Eq '^opencl:0 .* ok$'; then continue; fi
    exits 0 quern --backend $backend tasks run batch.csv -o $backend.csv
    empty "$out"
    has "$err" '^quern tasks run: 13 tasks in .*, result ok$'
    lines $backend.csv 14
    [ "$(head -1 $backend.csv)" = id,op,n,backend,device,bucket,status,checksum,exec_us ] || fail "header"
    has $backend.csv "^1,vadd,20000,$backend,$backend:0,32768,ok,[0-9a-f]{16},[0-9]+\.[0-9]{3}$"
    has $backend.csv "^2,chain,40000,$backend,$backend:0,65536,ok,[0-9a-f]{16},"
    has $backend.csv "^3,merkle,1024,$backend,$backend:0,16384,ok,[0-9a-f]{16},"
    has $backend.csv "^12,chain,1000,$backend,$backend:0,16384,ok,-,"
    cut -d, -f1-3,6-8 $backend.csv >$backend.same
    cmp -s cpu.same $backend.same || fail "results on $backend differ from those on the CPU"
done
[ "$(cut -d, -f1 cpu.csv | tr '\n' ' ')" = "id 1 2 3 4 5 6 7 8 9 10 11 12 13 " ] || fail "order"

# Without -o the results go to stdout. Neither cutting into chunks nor a second run changes anything.
exits 0 quern --backend sim --chunk-elems 10000 -q tasks run batch.csv
empty "$err"
cut -d, -f1-3,6-8 "$out" | cmp -s - cpu.same || fail "chunks change results"
QUERN_BUCKET_MIN=1024 exits 0 quern --backend sim -q tasks run batch.csv --no-verify
has "$out" '^4,saxpy,300,sim,sim:0,1024,ok,'

# The rule of trees is an option; the argument of a task overrides it.
printf 'id,op,n,seed,arg\n1,merkle,777,3,\n2,merkle,777,3,plain\n' >trees.csv
exits 0 quern --backend cpu -q tasks run trees.csv --merkle-rule rfc6962
[ "$(grep '^1,' "$out" | cut -d, -f8)" = "$(grep '^11,' cpu.csv | cut -d, -f8)" ] || fail "--merkle-rule"
[ "$(grep '^2,' "$out" | cut -d, -f8)" != "$(grep '^11,' cpu.csv | cut -d, -f8)" ] || fail "arg plain"

# A fault: the line, the status, the counter, the right result.
QUERN_FAULT=launch:vadd exits 0 quern --backend sim tasks run batch.csv -o fault.csv --metrics fault.json
has "$err" '^\[GPU\] vadd failed: injected launch fault\. CPU fallback\.$'
has fault.csv '^1,vadd,20000,cpu,cpu:0,32768,fallback,'
has fault.csv '^3,merkle,1024,sim,sim:0,16384,ok,'
cut -d, -f1-3,6,8 fault.csv >fault.same
cut -d, -f1-3,6,8 cpu.csv | cmp -s - fault.same || fail "a fault changes results"
has fault.json '"name": "gpu_fallback_count"'
QUERN_FAULT=launch:vadd exits 3 quern --backend sim --fallback=error tasks run batch.csv -o never.csv
[ ! -e never.csv ] || fail "a refused fallback left a result"

# A wrong result ends with 4 and is marked; the others stay.
QUERN_FAULT='corrupt:dot@2' exits 4 quern --backend sim tasks run batch.csv -o wrong.csv
has "$err" '^quern tasks run: task 6 \(dot, size 5000\): 1 of 1 values differ'
has wrong.csv '^6,dot,5000,sim,sim:0,16384,failed,'
has wrong.csv '^5,sum,100000,sim,sim:0,131072,ok,'

# Metrics, statistics, memory map
QUERN_TIMING=1 exits 0 quern --backend sim tasks run batch.csv -o timed.csv --metrics timed.json
has timed.json '"exec_us": [1-9]'
QUERN_STATS=1 exits 0 quern --backend sim tasks run batch.csv -o x.csv --metrics x.prom --memory-map map.md
has "$err" '^bucket +tasks +share % +waste %$'
has "$err" '^16384 +7 '
has x.prom '^quern_hybrid_batch_size 13$'
has x.prom '^quern_bucket_tasks\{bucket="32768"\} 2$'
has x.prom '^quern_gpu_crypto_executions_total 2$'
has x.prom '^quern_plan_misses 13$'
has map.md '^# Memory map of quern tasks run$'
has map.md '^\| vadd\.[0-9]+\.x \| [0-9]+ \| [0-9]+ \| [0-9]+ \| vadd \| vadd \| sim:0 \| 1 \| 0 \|$'
has map.md '^\| sim:0 \| [0-9]+ \| [1-9][0-9]+ \| 0 \| [1-9][0-9]* \| [0-9]+ \|$'

# bench
exits 0 quern --backend sim tasks bench --scenario uniform-32k --samples 5 --csv bench.csv --md bench.md
lines "$out" 5
for mechanism in 'single pass' 'plan cache' 'bucket cache' pools; do
    has "$out" "^Uniform-32k +$mechanism +[0-9]"
    has bench.csv "^Uniform-32k,$mechanism,on,sim:0,4,5,"
    has bench.csv "^Uniform-32k,$mechanism,off,sim:0,4,5,"
    has bench.md "^\| Uniform-32k \| $mechanism +\|"
done
has bench.csv '^# command quern tasks bench '
has bench.csv '^scenario,mechanism,setting,device,tasks,samples,median_us,p90_us,'

# pipe
exits 0 quern --backend sim tasks pipe --rounds 2 --depths 1,2,4 --csv pipe.csv
lines pipe.csv 4
has pipe.csv '^depth,tasks,elems,rounds,wall_us,p90_us,prepare_us,h2d_us,compute_us,d2h_us,overlap_ratio,'
[ "$(tail -n +2 pipe.csv | awk -F, '{ print $NF }' | sort -u | wc -l)" -eq 1 ] || fail "checksums differ"
awk -F, 'NR > 1 && $12 > $1 { exit 1 }' pipe.csv || fail "more in flight than the depth"
has "$out" '^ +1 .* 0\.000 +1 +1\.00$'
exits 0 quern --backend cpu tasks pipe --tasks 4 --rounds 2 --depths 1,4 --csv cpu.csv
[ "$(grep -Ec '^ +[14] .* 0\.0 +no copies +[14] ' "$out")" = 2 ] || fail "overlap on the CPU"
awk -F, 'NR > 1 && $11 != "0.0000" { exit 1 }' cpu.csv || fail "overlap on the CPU"
awk -F, 'NR == 3 && $13 < 1.10 { exit 1 }' pipe.csv || fail "depth 2 does not gain 10 %"

# hash: against sha256sum for one chunk, and a tree of three built by hand
printf 'one chunk' >one
: >nothing
exits 0 quern tasks hash -q one nothing
sha256sum one nothing | cmp -s - "$out" || fail "a single chunk is its own root"
printf 'aaaabbbbcc' >three
leaf() { printf %s "$1" | sha256sum | cut -c1-64; }
joined() { printf %s "$1$2" | tr a-f A-F | sed 's/../\\x&/g' | xargs -0 printf | sha256sum | cut -c1-64; }
right=$(joined "$(leaf cc)" "$(leaf cc)")
root=$(joined "$(joined "$(leaf aaaa)" "$(leaf bbbb)")" "$right")
exits 0 quern tasks hash -q --chunk 4 three
[ "$(cat "$out")" = "$root  three" ] || fail "tree of three is not $root"
exits 0 quern --backend sim tasks hash -q --chunk 4 - <three
[ "$(cat "$out")" = "$root  -" ] || fail "standard input"
seq 300000 >numbers
exits 0 quern --backend sim tasks hash -q numbers --chunk 1K
cp "$out" sim.root
exits 0 quern --backend cpu --pipeline 4 tasks hash numbers --chunk 1024
cmp -s sim.root "$out" || fail "roots differ between backends"
has "$err" '^quern tasks hash: 1 file in '
exits 0 quern tasks hash -q numbers --chunk 1K --merkle-rule rfc6962
if cmp -s sim.root "$out"; then fail "the rule changes nothing"; fi
