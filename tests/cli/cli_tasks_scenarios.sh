#!/usr/bin/env bash
# cli_tasks_scenarios.sh - seven of seven scenarios verified, on every available backend.
. "$(dirname "$0")/lib.sh"

# all BACKEND DEVICE [option...]
all() {
    local backend=$1 device=$2
    shift 2
    exits 0 quern --backend "$backend" tasks run --scenario all "$@"
    [ "$(grep -Ec " $device .* verified$" "$out")" -eq 7 ] || fail "not 7 of 7 on $device"
    lines "$out" 8
    for name in Uniform-32k Uniform-64k Mixed-Same-Bucket Mixed-Adjacent-Buckets Mixed-Diverse \
        Large-Uniform Large-Mixed; do
        has "$out" "^$name "
    done
    has "$err" '^quern tasks run: 34 tasks in .*, result ok$'
}

all cpu cpu:0
all sim sim:0
has "$out" '^Mixed-Diverse +4 +4 +sim:0 '
has "$out" '^Large-Uniform +8 +1 +sim:0 '
if quern devices | grep -Eq '^opencl:0 .* ok$'; then all opencl opencl:0; fi
if quern devices | grep -Eq '^cuda:0 .* ok$'; then all cuda cuda:0; fi

# Other ops; a machine without any GPU software
all sim sim:0 --op saxpy --arg 0.5
all sim sim:0 --op dot
all cpu cpu:0 --op chain --arg square,neg
QUERN_HIDE=opencl,cuda exits 0 quern tasks run --scenario all
[ "$(grep -Ec ' cpu:0 .* verified$' "$out")" -eq 7 ] || fail "not 7 of 7 without GPU software"
lacks "$err" 'failed'

# One of them, ignoring case; not verified if that is switched off
exits 0 quern --backend sim -q tasks run --scenario large-mixed --no-verify
lines "$out" 2
has "$out" '^Large-Mixed +6 +2 +sim:0 +[0-9.]+ +[0-9.]+ +0  not verified$'
empty "$err"
