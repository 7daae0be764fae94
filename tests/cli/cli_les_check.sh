#!/usr/bin/env bash
# cli_les_check.sh - `quern les check`: reference folders, findings, exit codes.
# test: long, cost 13, no-cache
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
refused 2 'give --golden DIR, names of checks' quern les check
refused 2 "unknown check 'V17'; the checks are V1 to V16" quern les check V17
refused 6 'cannot read the folder nowhere' quern les check --golden nowhere
mkdir none
refused 6 'none has no case' quern les check --golden none
exits 0 quern les check V9 v3 --backend cpu --quiet
has "$out" '^V9 .* yes$'
has "$out" '^V3 .* yes$'

golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/les
[ -r "$golden/quern_n64_s1.json" ] || { echo "skipped: no golden data in $golden"; exit 77; }
mkdir one
cp "$golden"/quern_n64_s1* one
chmod u+w one/*
exits 0 quern les check --golden one --precision f32,f64 --backend cpu --quiet
lacks "$out" ' NO$'
for what in omega_t100 z_t100 enc_s_t100 dec_full_t100 zhat_t300 tiny_A box_sum_i32 ic_hat anchor_pos; do
    has "$out" "^golden +quern_n64_s1 $what, f64 .* yes\$"
done
exits 0 quern les check --golden one --precision f64 --backend cpu --quiet --json
has "$out" '"what": *"quern_n64_s1 omega_t1, f64"'

# One wrong number, and one file that is not an array.
printf '\x41' | dd of=one/quern_n64_s1_omega_t10.npy bs=1 seek=5007 conv=notrunc status=none
echo none >one/quern_n64_s1_z_t0.npy
exits 4 quern les check --golden one --backend cpu --quiet
has "$out" 'omega_t10, f64 .* NO$'
has "$out" 'z_t0 cannot be read .* NO$'
has "$err" 'quern les check: 2 of [0-9]+ findings are out of bounds'

# A case is of profile origin wherever its name says so, and of a profile that its file names; a
# parameter that nobody knows is refused.
mkdir held
for f in "$golden"/origin_n64_s0*; do cp "$f" "held/held_$(basename "$f")"; done
chmod u+w held/*
exits 0 quern les check --golden held --backend cpu --quiet
has "$out" '^golden +held_origin_n64_s0 omega_t100, f64 .* yes$'
lacks "$out" ' NO$'
sed -i 's/"nu0"/"nu1"/' held/held_origin_n64_s0.json
refused 6 "held_origin_n64_s0.json: there is no parameter 'nu1'" quern les check --golden held --backend cpu
