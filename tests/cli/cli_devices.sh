#!/usr/bin/env bash
# cli_devices.sh - the output of `quern devices`, with and without GPU software on the machine.
. "$(dirname "$0")/lib.sh"

# No GPU software is needed to link or to start.
last="ldd quern"
ldd "$QUERN_BIN" >"$out"
lacks "$out" 'libcuda|libnvrtc|libOpenCL|libvulkan'

# The table: the CPU is always there, first, and ok. A backend without devices says why.
exits 0 quern devices
has "$out" '^ID +NAME +KIND +MEM GIB +UNITS +ARCH +STATE$'
sed -n 2p "$out" | grep -Eq '^cpu:0 .* cpu +[0-9]+\.[0-9] +[0-9]+ +[^ ]+ +ok$' || fail "second line is not the CPU"
for backend in opencl cuda; do
    has "$out" "^$backend:([0-9]+ .* (ok|unhealthy)|- +- +- +- +- +- +[^ -].*)$"
done
lacks "$out" '^sim:'

# A machine without any GPU software
QUERN_HIDE=opencl,cuda exits 0 quern devices
lines "$out" 4
empty "$err"
has "$out" '^opencl:- +- +- +- +- +- +hidden by QUERN_HIDE$'
has "$out" '^cuda:- +- +- +- +- +- +hidden by QUERN_HIDE$'

# -v adds limits, budget and tiles of each device; the budget follows its option, then its variable.
exits 0 quern --backend sim --mem-budget 64M devices -v
has "$out" '^sim:0  '
has "$out" '^  limits +group [0-9]+, grid [0-9]+ x [0-9]+ x [0-9]+, '
has "$out" '^  budget +64\.0 MiB$'
has "$out" '^  tiles +working set <= 32\.0 MiB \(50 % of the budget\), each array <= 32\.0 MiB$'
QUERN_MEM_BUDGET=128M exits 0 quern --backend sim devices -v
has "$out" '^  budget +128\.0 MiB$'
QUERN_MEM_BUDGET=128M exits 0 quern --backend sim --mem-budget 64M devices -v
has "$out" '^  budget +64\.0 MiB$'

# -v and --json end with the profile: its age, and the size from which the device is faster.
usual_cache=${QUERN_CACHE_DIR-}
export QUERN_CACHE_DIR=$scratch/cache
exits 0 quern --backend cpu,sim devices -v
[ "$(grep -c '^  profile    no profile; run quern calibrate$' "$out")" = 2 ] || fail "not two without a profile"
exits 0 quern --backend cpu,sim devices --json
has "$out" '"profile": null'
for seconds in 0.2 2 20; do # more for a machine that is busy elsewhere
    exits 0 quern calibrate --op matmul,vadd --seconds $seconds --backend cpu,sim --quiet
    [ "$(cat "$QUERN_CACHE_DIR"/profile/sim-*.json | grep -c '"crossover_cold"')" != 2 ] || break
done
for profile in "$QUERN_CACHE_DIR"/profile/sim-*.json; do
    sed -i 's/"crossover_cold": [0-9]*/"crossover_cold": 250000/; s/"crossover_resident": [0-9]*/"crossover_resident": 0/
            s/"updated": "[^"]*"/"updated": "2001-02-03T04:05:06Z"/' "$profile"
done
exits 0 quern --backend cpu,sim devices -v
has "$out" '^  profile    0 h old \(20[0-9-]+T[0-9:]+Z\)$'
has "$out" '^  profile    [0-9]{4,} days old \(2001-02-03T04:05:06Z\)$'
has "$out" '^  crossovers matmul +cold 250000, resident none$'
has "$out" '^             vadd +cold 250000, resident none$'
QUERN_PROFILE=0 exits 0 quern --backend cpu,sim devices -v
has "$out" '^  profile    not read, QUERN_PROFILE is 0$'
exits 0 quern --backend cpu,sim devices --json
if command -v python3 >/dev/null; then
    python3 - "$out" <<'PYTHON' || fail "the profile in JSON differs from the file"
import json, sys
cpu, sim = (d["profile"] for d in json.load(open(sys.argv[1]))["devices"])
assert 0 <= cpu["age_s"] < 3600 and cpu["ops"] == [], cpu
assert sim["updated"] == "2001-02-03T04:05:06Z" and sim["age_s"] > 7e8, sim
want = [{"op": op, "crossover_cold": 250000, "crossover_resident": 0} for op in ("matmul", "vadd")]
assert sim["ops"] == want, sim
PYTHON
fi
export QUERN_CACHE_DIR=$usual_cache

# Several devices of one backend
QUERN_FAULT=sim.devices=3 exits 0 quern --backend sim devices
has "$out" '^sim:2 '
for fault in sim.devces=3 sim.devices=many sim.devices; do # also where nobody opens a sim device
    QUERN_FAULT=$fault refused 2 "sim limit '?dev" quern --backend cpu devices
done
QUERN_FAULT=sim.devices=3 exits 0 quern --devices sim:0,sim:2 devices
has "$out" '^sim:2 '
lacks "$out" '^sim:1 '

# --json says the same
exits 0 quern devices --json
if command -v python3 >/dev/null; then
    python3 - "$out" <<'PYTHON' || fail "JSON differs from what is documented"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["format"] == "quern-devices/1", d
cpu = d["devices"][0]
assert cpu["id"] == "cpu:0" and cpu["kind"] == "cpu" and cpu["state"] == "ok", cpu
assert cpu["mem_total_bytes"] >= cpu["mem_free_bytes"] > 0, cpu
assert cpu["tile_bytes"] * 2 <= cpu["budget_bytes"] <= cpu["mem_total_bytes"], cpu
assert len(cpu["max_grid"]) == 3 and cpu["has_f64"] is True, cpu
seen = {x["id"].split(":")[0] for x in d["devices"]} | {x["backend"] for x in d["missing"]}
assert seen >= {"cpu", "opencl", "cuda"}, seen
PYTHON
fi

# By flag, by variable; the flag overrides the variable.
for line in "--backend cpu devices" "devices --backend=cpu" "--devices cpu devices"; do
    # shellcheck disable=SC2086
    exits 0 quern $line
    lacks "$out" '^(opencl|cuda|sim):[0-9]'
done
QUERN_BACKEND=sim exits 0 quern devices
has "$out" '^sim:0 '
QUERN_BACKEND=sim exits 0 quern devices --backend cpu
lacks "$out" '^sim:'

# A requested device that is absent: the line, then the CPU; or exit 3.
QUERN_HIDE=cuda exits 0 quern --backend cuda devices
lines "$err" 1
has "$err" '^\[GPU\] init failed: cuda: hidden by QUERN_HIDE\. CPU fallback\.$'
has "$out" '^cpu:0 '
QUERN_HIDE=cuda refused 3 'stage init failed' quern --backend cuda --fallback=error devices
QUERN_HIDE=cuda QUERN_FALLBACK=error refused 3 'stage init failed' quern --backend cuda devices
exits 0 quern --backend sim:7 devices
has "$err" '^\[GPU\] init failed: .*sim:7.*\. CPU fallback\.$'
refused 2 "--backend: 'vulkan' names no backend" quern --backend vulkan devices
QUERN_BACKEND=vulkan refused 2 ".*'vulkan'" quern devices

# Metrics of the run, whatever the command; a path that cannot be written is a failure.
exits 0 quern --backend sim devices --metrics run.json
has run.json '"command": "devices"'
has run.json '"status": "ok"'
exits 0 quern --backend sim devices --metrics run.prom
has run.prom '^# TYPE quern_gpu_available gauge$'
: >file
exits 1 quern devices --metrics file/run.json
lines "$err" 1
has "$err" '^quern devices: .*file/run.json'

# Threads of the CPU backend are shown with its name.
exits 0 quern --threads 3 --backend cpu devices
has "$out" '^cpu:0 .*\(3 thr\)'

# version --verbose: built-in features, libraries found
exits 0 quern version
lines "$out" 1
exits 0 quern version --verbose
has "$out" '^  Jansson +[0-9]'
has "$out" '^  libpng +[0-9]'
has "$out" '^  cpu +1 device$'
QUERN_HIDE=opencl QUERN_CC=/no/such/compiler exits 0 quern version -v
has "$out" '^  opencl +hidden by QUERN_HIDE$'
has "$out" '^  cc +missing: /no/such/compiler$'
has "$out" '^ +no kernels from text on the CPU: '
# Every optional library is named; a missing one is followed by the consequences.
QUERN_GDAL_LIB=/no/gdal QUERN_CHOLMOD_LIB=/no/cholmod QUERN_NVRTC_LIB=/no/nvrtc \
    QUERN_CUDA_LIB=/no/cuda QUERN_OPENCL_LIB=/no/opencl exits 0 quern version -v
for library in GDAL CHOLMOD NVRTC 'CUDA driver' OpenCL; do
    has "$out" "^  $library +missing: "
    sed -n "/^  $library /{n;p}" "$out" | grep -Eq '^ {15}[a-z]' || fail "what without $library?"
done
for library in FFTW VkFFT OpenMP Jansson libpng; do
    has "$out" "^  $library +"
done

# Commands that work on one device refuse a list before they open anything, so nothing else is printed.
for list in all cuda:0,cuda:1 cpu,sim; do
    for verb in 'solweig run' 'solweig svf' 'solweig check' 'les run' 'les bench' 'les check' \
        'fit run nothing.fit' 'fit check' 'fit bench hello'; do
        # shellcheck disable=SC2086 # words
        exits 2 quern $verb --devices $list
        empty "$out"
        lines "$err" 1
        has "$err" "^quern [a-z ]*: --devices: [a-z]* [a-z]* works on one device; choose it with --backend$"
    done
done
