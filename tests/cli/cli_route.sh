#!/usr/bin/env bash
# cli_route.sh - `quern route`: models, thresholds, regret; --route and --explain-route.
. "$(dirname "$0")/lib.sh"

export QUERN_CACHE_DIR=$scratch/cache
unset QUERN_CACHE QUERN_PROFILE QUERN_BACKEND QUERN_ROUTE

# Show.
exits 0 quern route show --backend cpu
has "$out" '^cpu:0 '
has "$out" '^  profile  none$'
has "$out" '^nothing has been measured; run quern calibrate$'
exits 0 quern route show vadd --backend cpu
has "$out" '^vadd has not been measured; '
for seconds in 0.1 1 10; do # more for a machine that stops in between
    exits 0 quern calibrate --op vadd --seconds $seconds --backend cpu,sim --progress off
    exits 0 quern route show vadd --backend cpu,sim
    ! grep -Eq '^sim:0 +1000 ' "$out" || break
done
has "$out" '^sim:0  threshold resident (none|[0-9]+), cold (none|[0-9]+)$'
has "$out" '^DEVICE +SIZE +MEDIAN US +MAD US +SAMPLES$'
has "$out" '^sim:0 +1000 +[0-9.]+ '
refused 2 "unknown op 'vad'" quern route show vad --backend cpu

# Eval of a trace that has all times.
header=seq,stage,op,size,candidate,predicted_us,chosen,actual_us,reason
{
    echo $header
    for i in $(seq 1 400); do
        # 10 us against 30, then 100 against 40; the trace chose the device every time.
        if [ $((i % 2)) = 0 ]; then n=1000 a=10 b=30; else n=50000 a=100 b=40; fi
        echo "$i,s,vadd,$n,cpu:0,1,0,$a,best"
        echo "$i,s,vadd,$n,cuda:0,1,1,$b,best"
    done
} >trace.csv
exits 0 quern route eval trace.csv --skip 200 --backend cpu --metrics regret.json
has "$out" '^400 decisions, the first 200 not counted; auto probed [0-9]+ times; auto chose cpu:0 [0-9]+ times, cuda:0 [0-9]+ times$'
has "$out" '^POLICY +MS +REGRET %$'
has "$out" '^best +5\.000 +0\.00$'
has "$out" '^as routed +7\.000 +40\.00$'
has "$out" '^always CPU +11\.000 +120\.00$'
has "$out" '^always GPU +7\.000 +40\.00$'
has "$out" '^auto +5\.[0-9]+ +[0-5]\.[0-9]+$'
has regret.json '"name": "route_regret"'

# Eval of a trace that must be replayed.
exits 0 quern tasks run --scenario Uniform-32k --backend cpu,sim --explain-route explain.csv --quiet
has explain.csv "^$header$"
has explain.csv '^1,[^,]+,vadd,[0-9]+,cpu:0,[0-9.]+,[01],'
exits 0 quern route eval explain.csv --samples 3 --backend cpu,sim
has "$out" '^as routed '

# Scenarios.
exits 0 quern route eval --scenario Mixed-Diverse --samples 3 --warmup 3 --backend cpu,sim
has "$out" '^SCENARIO +SIZE +BEST US +AUTO US +AUTO % +\+- % +VERDICT +CPU % +GPU % +STATIC % +CPU AGAIN % +\+- %$'
has "$out" '^Mixed-Diverse +1 +[0-9.]+ +[0-9.]+ +(-|-?[0-9.]+) +(-|[0-9.]+) +(ok|worse|unclear) '
has "$out" '^auto against the best fixed choice: worst [+-][0-9.inf]+ % \(Mixed-Diverse, size 1\), [01] of 1 more than 5 % worse, '
has "$out" '^the CPU against itself: .* % in the root mean square, at most '
lines "$out" 6
exits 0 quern route eval --scenario Mixed-Diverse --samples 1 --warmup 0 --backend cpu,sim
has "$out" '^1 rounds; '
exits 0 quern route eval --scenario Uniform-32k --spread 3 --samples 3 --warmup 3 --seconds 1 --backend cpu,sim
has "$out" '^Uniform-32k +1/2 +[0-9.]+ '
has "$out" '^Uniform-32k +2 +[0-9.]+ '
has "$out" '^Uniform-32k +all +[0-9.]+ '
has "$out" '^9 rounds; '

# Refusals.
refused 2 'give either a TRACE.csv or --scenario' quern route eval
refused 2 'give either a TRACE.csv or --scenario' quern route eval trace.csv --scenario all
refused 2 "--spread: '0' is not a number between 1 and 24" quern route eval --scenario all --spread 0 --backend cpu
refused 2 "no scenario 'Tiny'" quern route eval --scenario Tiny --backend cpu
refused 2 '--skip 400 leaves nothing of 400 decisions' quern route eval trace.csv --skip 400 --backend cpu
refused 6 'cannot open missing.csv' quern route eval missing.csv --backend cpu
echo "$header" >empty.csv
refused 6 'empty.csv: no decisions' quern route eval empty.csv --backend cpu
printf '%s\n1,s,vadd,abc,cpu:0,1,1,2,best\n' $header >bad.csv
refused 6 'bad.csv' quern route eval bad.csv --backend cpu
printf '%s\n1,s,nonsense,10,cpu:0,1,1,,best\n' $header >unknown.csv
refused 6 "unknown op 'nonsense'" quern route eval unknown.csv --backend cpu
refused 1 "cannot .*x.csv" quern route show --backend cpu --explain-route /dev/null/x.csv

# Modes.
for mode in auto cpu gpu balance static; do
    exits 0 quern tasks run --scenario Uniform-32k --backend cpu,sim --route $mode --quiet
done
exits 0 quern tasks run --scenario Uniform-32k --backend cpu,sim --route cpu --quiet --metrics m.json
lacks m.json '"name": "gpu_ops", *"value": [1-9]'
