#!/usr/bin/env bash
# cli_les_opencl.sh - a whole run on an OpenCL device: nothing is uploaded while it steps, snapshots are
# downloaded, and the results agree with the CPU.
# test: cost 52, quick-opencl, no-cache
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
has_vkfft || { echo "skipped: this build has no VkFFT"; exit 77; }
quern devices | grep '^opencl:0 ' >/dev/null || { echo "skipped: no OpenCL device"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
les() {
    quern les run --progress off --quiet --fallback error --n 32 --steps 40 --stride 20 \
        --hash-every 20 --observer snapshots --video none "$@"
}

exits 0 les --backend opencl --out dev
has "$out" '^40 steps of 32 x 32 on opencl:0: '
exits 0 les --backend opencl --out twice
exits 0 les --backend cpu --out cpu
python3 - dev/les_metrics.json twice/les_metrics.json cpu/les_metrics.json <<'PY' || fail "wrong figures"
import json, sys
dev, twice, cpu = (json.load(open(f))["les"] for f in sys.argv[1:])
r = dev["residency"]
assert r["loop_h2d_bytes"] == 0 and r["loop_d2h_bytes"] == 2 * 32 * 32 * 4, r
assert r["syncs"] <= 3 + 4, r
assert dev["device"]["fft_used"] == "vkfft" and cpu["device"]["fft_used"] == "fftw"
assert dev["hashes"] == twice["hashes"] and dev["snapshots"] == twice["snapshots"]
for a, b in zip(dev["series"]["energy"], cpu["series"]["energy"]):
    assert abs(a - b) <= 1e-5 * b, (a, b)
for a, b in zip(dev["snapshots"], cpu["snapshots"]):
    for key in ("rel_l2_lp", "corr_lp", "persistence_rel_l2"):
        assert abs(a[key] - b[key]) <= 2e-3, (key, a, b)
PY
cmp -s dev/les_frame_0002.png twice/les_frame_0002.png || fail "two runs drew different pictures"
