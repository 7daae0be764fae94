#!/usr/bin/env bash
# The example programs give the same answer on every device, and report their transfers correctly.
# test: long, cost 38
. "$(dirname "$0")/lib.sh"

dir=$(dirname "$QUERN_BIN")/examples
devices="cpu sim opencl"
quern devices | grep '^opencl:[0-9]' >/dev/null || devices="cpu sim"

examples="own_kernel heat batches search"
! has_fftw || examples+=" spectrum"
for example in $examples; do
    want=
    for device in $devices; do
        exits 0 "$dir/$example" "$device"
        # Transfers and replays differ between host and device; the answer does not.
        got=$(sed -E 's/[0-9]+ (uploads|replays|bytes up|bytes down|stages on devices)//g' "$out")
        [ -n "$want" ] || want=$got
        [ "$got" = "$want" ] || fail "$example on $device: '$got' instead of '$want'"
    done
done

if [[ $examples == *spectrum* ]]; then
    exits 0 "$dir/spectrum" cpu
    has "$out" '^the Laplacian is -13 times the field, to 1e-11$'
fi
exits 0 "$dir/own_kernel" sim
has "$out" '1 uploads, [89] replays'
exits 0 "$dir/heat" sim
has "$out" '100 steps, 524288 bytes up, 64 bytes down'
exits 0 "$dir/batches" sim
has "$out" 'at most 2 in flight, 12 stages on devices'
exits 0 "$dir/search" cpu
has "$out" '"rot180 rot270":\{"runs":2,"solved":2,'
has "$out" '"rot180 rot90":\{"runs":2,"solved":0,'
# Not on OpenCL: it has many kernels, and others test them there.
for device in cpu sim; do
    exits 0 "$dir/town" "$device"
    has "$out" '^sky view 0\.32 in the street, 0\.91 in the open$'
    has "$out" '^mean radiant temperature 25\.2 in the street, 58\.9 in the open'
done
