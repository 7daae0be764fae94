#!/usr/bin/env bash
# cli_les_resume.sh - an interrupted run resumes bit for bit; damaged and foreign files are refused.
# test: long, cost 11, no-cache
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
les() {
    quern les run --progress off --quiet --backend cpu --n 32 --steps 40 --stride 10 \
        --hash-every 10 --observer metrics "$@"
}
same() {
    if command -v python3 >/dev/null; then
        python3 - "$@" <<'PY' || fail "a resumed run differs"
import json, sys
a, b = (json.load(open(f))["les"] for f in sys.argv[1:])
assert a["hashes"] == b["hashes"] and len(a["hashes"]) > 1
assert a["series"] == b["series"] and a["snapshots"] == b["snapshots"]
PY
    fi
}

exits 0 les --out whole

# Killed right after its first checkpoint. If it ended before that, it is repeated with more steps.
long() {
    les --n 64 --steps $steps --stride 100 --hash-every 500 --observer snapshots --video none "$@"
}
for steps in 4000 16000 64000; do
    rm -rf killed
    long --checkpoint-every 100 --out killed >/dev/null 2>&1 &
    pid=$!
    while [ ! -e killed/les_checkpoint.qnc ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
    kill -KILL $(pgrep -P $pid) $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    [ -e "$(echo killed/*_metrics.json)" ] || break
done
[ -e killed/les_checkpoint.qnc ] || fail "no checkpoint came"
[ ! -e "$(echo killed/*_metrics.json)" ] || fail "the run was over before it was killed"
[ -s "$(echo killed/*_omega_t000100.npy)" ] || fail "a snapshot from before the checkpoint is missing"
exits 0 long --checkpoint-every 100 --resume --out killed
exits 0 long --out long
same killed/*_metrics.json long/*_metrics.json
# A killed process may leave a temporary file beside the fields.
[ "$(ls killed/*_omega_t*.npy | wc -l)" = "$(ls long/*_omega_t*.npy | wc -l)" ] || fail "fields are missing"

# The last checkpoint of a finished run, and of an ensemble.
exits 0 les --checkpoint-every 30 --out again
exits 0 les --checkpoint-every 30 --out again --resume
same again/*_metrics.json whole/*_metrics.json
exits 0 les --ensemble 2 --precision f64 --checkpoint-every 15 --out pair
exits 0 les --ensemble 2 --precision f64 --checkpoint-every 15 --out pair --resume
exits 0 les --ensemble 2 --precision f64 --out pair2
same pair/*_metrics.json pair2/*_metrics.json

# Refused, each with one sentence.
refused 2 'again/les_checkpoint.qnc was made with seed 0, not 5' les --seed 5 --resume --out again
refused 2 'again/les_checkpoint.qnc was made with N 32, not 48' \
    quern les run --n 48 --steps 40 --stride 10 --hash-every 10 --backend cpu --resume --out again
refused 6 'no checkpoint to continue from: whole/les_checkpoint.qnc' les --resume --out whole
cp -r again cut
truncate -s 3000 cut/les_checkpoint.qnc
refused 6 'cut/les_checkpoint.qnc is not a whole checkpoint: 2912 bytes of content' les --resume --out cut
cp again/les_checkpoint.qnc cut/les_checkpoint.qnc
printf 'x' | dd of=cut/les_checkpoint.qnc bs=1 seek=2000 conv=notrunc status=none
refused 6 'cut/les_checkpoint.qnc is not a whole checkpoint: its content does not fit its SHA-256' \
    les --resume --out cut
lines "$err" 1

# A flow that blows up leaves the last good checkpoint.
exits 1 les --steps 400 --dt 0.6 --allow-unstable --nu0 0 --cs 0 --what sim --check-every 1 \
    --checkpoint-every 1 --out blown
has "$err" 'not finite: they came between steps [0-9]+ and [0-9]+; the checkpoint of step [0-9]+ remains$'
[ -s blown/les_checkpoint.qnc ] || fail "the last good checkpoint is gone"
