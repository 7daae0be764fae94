#!/usr/bin/env bash
# cli_tasks_split.sh - one batch, or the chunks of files, over several devices: --devices, --split.
# test: cost 21, quick-opencl
. "$(dirname "$0")/lib.sh"

cat >batch.csv <<'CSV'
id,op,n,seed,arg
1,vadd,20000,7,
2,chain,70000,8,"mul:2,add:1,sqrt"
3,merkle,1024,9,
4,saxpy,150000,1,-1.5
5,sum,9000,2,
6,matmul,64,5,
7,sha256,500,6,0-200
8,merkle,777,3,rfc6962
CSV
seq 50000 >numbers.txt
printf abc >abc.txt
four=sim:0,sim:1,sim:2,sim:3
export QUERN_FAULT=sim.devices=4

exits 0 quern --backend cpu -q tasks run batch.csv -o cpu.csv
cut -d, -f1-3,6,8 cpu.csv >want
exits 0 quern --backend cpu -q tasks hash numbers.txt abc.txt
cp "$out" want.roots

# The same results for 1, 2 and 4 devices and every split, in the order of the tasks
for devices in sim:0 sim:0,sim:1 $four sim; do
    for split in equal proportional dynamic; do
        exits 0 quern --devices $devices --split $split -q tasks run batch.csv
        cut -d, -f1-3,6,8 "$out" | cmp -s want - || fail "results differ on $devices, $split"
        lacks "$out" ',(fallback|failed),'
        exits 0 quern --devices $devices --split $split -q tasks hash --chunk 512 numbers.txt abc.txt
        cp "$out" roots
        exits 0 quern --backend cpu -q tasks hash --chunk 512 numbers.txt abc.txt
        cmp -s roots "$out" || fail "roots differ on $devices, $split"
    done
done
exits 0 quern --devices $four -q tasks hash numbers.txt abc.txt
cmp -s want.roots "$out" || fail "roots of default chunks differ"

# Every task names its device, a task that was cut all of them; a list for --backend and the
# variable do the same
exits 0 quern --backend $four --split equal -q tasks run batch.csv
has "$out" '^4,saxpy,150000,sim,sim:[0-3](\+sim:[0-3])+,'
for device in 0 1 2 3; do has "$out" "sim:$device[+,]"; done
QUERN_DEVICES=sim:1,sim:3 exits 0 quern -q tasks run batch.csv
lacks "$out" 'sim:[02]'
has "$out" 'sim:1[+,]'
exits 0 quern --devices cpu,sim:0 --split equal -q tasks run batch.csv
has "$out" ',cpu,cpu:0,.*,ok,'
has "$out" '^4,saxpy,150000,cpu\+sim,cpu:0\+sim:0,'
exits 0 quern --backend sim --route balance --split equal -q tasks run batch.csv
has "$out" ',cpu,cpu:0,.*,ok,'
has "$out" ',sim,sim:[0-3],'

# The memory map has the arrays of all parts
exits 0 quern --devices $four -q --memory-map map.md tasks run batch.csv
has map.md '^\| saxpy\.[0-9]+\.x \| [0-9]+ \| [0-9]+ \| [0-9]+ \| saxpy \| saxpy \| sim:[0-3] \| 1 \| 0 \|$'

# Scenarios
exits 0 quern --devices $four tasks run --scenario all
[ "$(grep -Ec ' sim:0\+sim:1\+sim:2\+sim:3 .* verified$' "$out")" -eq 7 ] || fail "not 7 of 7"
has "$err" '^quern tasks run: 34 tasks in .*, result ok$'

# More devices than tasks; no tasks
head -2 batch.csv >one.csv
exits 0 quern --devices $four -q tasks run one.csv
has "$out" '^1,vadd,20000,sim,sim:0,'
head -1 batch.csv >none.csv
refused 6 'none.csv: 0 tasks' quern --devices $four tasks run none.csv

# A device lost in the middle: same results, and the summary and the metrics name it
for split in equal proportional dynamic; do
    QUERN_FAULT='sim.devices=4,device_lost@5*1' \
        exits 0 quern --devices $four --split $split --metrics m.json tasks run batch.csv
    cut -d, -f1-3,6,8 "$out" | cmp -s want - || fail "results differ after a loss, $split"
    lacks "$err" 'CPU fallback'
    has "$err" '^  failed     sim:[0-3]: [a-z0-9]+: device sim:[0-3] lost \(injected\)$'
    [ "$(grep -c '"state": "failed"' m.json)" -eq 1 ] || fail "not one failed device in the metrics"
    has m.json '"reason": "[a-z0-9]+: device sim:[0-3] lost \(injected\)"'
    [ "$(grep -c '"state": "ok"' m.json)" -eq 4 ] || fail "the others are not ok in the metrics"
    tasks=$(awk '/"name": "device_total_tasks"/ { on = 1 } on && /"value"/ { n += $2; on = 0 }
        END { printf "%.6f", n }' m.json)
    [ "$tasks" = 8.000000 ] || fail "device_total_tasks is $tasks, not 8"
done
QUERN_FAULT='sim.devices=4,device_lost:sha256@3*1' \
    exits 0 quern --devices $four tasks hash --chunk 512 numbers.txt abc.txt
cmp -s roots "$out" || fail "roots differ after a loss"
has "$err" '^  failed     sim:[0-3]: sha256: '

# All are lost: the CPU does the rest, reported once; or the run stops
QUERN_FAULT='sim.devices=4,device_lost@5' exits 0 quern --log error --devices $four tasks run batch.csv
cut -d, -f1-3,6,8 "$out" | cmp -s want - || fail "results differ after all were lost"
has "$out" ',cpu,cpu:0,.*,fallback,'
[ "$(grep -c '^\[GPU\] .* CPU fallback\.$' "$err")" -eq 1 ] || fail "not one line of fallback"
QUERN_FAULT='sim.devices=4,device_lost@5' \
    exits 3 quern --log none --fallback=error --devices $four tasks run batch.csv
has "$err" '^quern tasks run: .*fallback is forbidden'

# Missing devices
exits 0 quern --devices sim:0,sim:9 -q tasks run batch.csv
[ "$(cat "$err")" = '[GPU] init failed: no device sim:9 (sim has 4). CPU fallback.' ] || fail "line"
lines "$err" 1
exits 3 quern --devices sim:0,sim:9 --fallback=error tasks run batch.csv
lines "$err" 1
has "$err" '^quern tasks run: .*no device sim:9 \(sim has 4\)'
exits 3 quern --backend sim --devices sim:9 --fallback=error tasks run batch.csv
refused 2 "--devices: 'sim:0,gpu:1' names no backend" quern --devices sim:0,gpu:1 tasks run batch.csv
refused 2 '--split' quern --devices sim --split even tasks run batch.csv

# Two real devices: halves of the first OpenCL device
unset QUERN_FAULT
export QUERN_OPENCL_SUBDEVICES=2
if quern devices | grep -E '^opencl:1 .* ok$' >"$scratch/halves"; then
    exits 0 quern --devices opencl:0,opencl:1 --split equal -q tasks run batch.csv
    cut -d, -f1-3,6,8 "$out" | cmp -s want - || fail "results differ on two OpenCL devices"
    has "$out" 'opencl:0[+,]'
    has "$out" 'opencl:1[+,]'
else
    echo 'no OpenCL device that can be halved'
fi
