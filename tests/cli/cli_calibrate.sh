#!/usr/bin/env bash
# cli_calibrate.sh - `quern calibrate`: its output, its profile, its refusals.
. "$(dirname "$0")/lib.sh"

export QUERN_CACHE_DIR=$scratch/cache
unset QUERN_CACHE QUERN_PROFILE QUERN_BACKEND

# A machine that stalls for seconds leaves no time to measure in: then it is repeated, or gets more time.
for _ in 1 2 3 4 5; do
    exits 0 quern calibrate --quick --backend cpu,sim
    ! grep -Eq '^vadd +sim:0 +[0-9]+ ' "$out" || break
done
has "$out" '^OP +DEVICE +POINTS +FROM +US +TO +US +RESIDENT +COLD$'
has "$out" '^vadd +cpu:0 +[0-9]+ '
has "$out" '^vadd +sim:0 +[0-9]+ '
has "$out" "^sim:0  $QUERN_CACHE_DIR/profile/sim-[0-9a-f]{16}\.json$"
lines <(ls "$QUERN_CACHE_DIR/profile") 2
profile=$(ls "$QUERN_CACHE_DIR"/profile/sim-*.json)
for key in format identity updated links ops crossover_cold crossover_resident a_us b_us_per_elem \
    bucket median_us mad_us h2d_latency_us h2d_gbps d2h_latency_us d2h_gbps; do
    has "$profile" "\"$key\""
done
has "$profile" '"format": "quern-profile/1"'

# Only the requested ops; others in the profile stay.
for seconds in 0.1 1 10; do
    exits 0 quern calibrate --op saxpy --seconds $seconds --backend cpu,sim --quiet
    ! grep -Eq '^saxpy +sim:0 ' "$out" || break
done
lacks "$err" 'calibrate +[0-9]+ %'
has "$out" '^saxpy +sim:0 '
has "$profile" '"op": "saxpy"'
has "$profile" '"op": "vadd"'

exits 0 quern route show --backend cpu,sim
has "$out" '^sim:0 '
has "$out" '^  profile  20[0-9-]+T[0-9:]+Z$'
has "$out" '^  link     up 8\.0[0-9] us \+ 12\.[0-9]+ GB/s, down .* \(measured\)$'
has "$out" '^saxpy +cpu:0 '

refused 2 "unknown op 'nothing'" quern calibrate --op nothing --backend cpu
refused 2 "op merkle_top is a step of others and not measured alone" quern calibrate --op merkle_top --backend cpu
refused 2 '--quick has its own ops' quern calibrate --quick --op vadd
refused 1 'cannot make the folder ' env QUERN_CACHE_DIR=/dev/null/nowhere quern calibrate --quick --backend cpu
