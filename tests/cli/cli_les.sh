#!/usr/bin/env bash
# cli_les.sh - files and errors of `quern les run` and `quern les bench`, on a small grid.
# test: long, cost 53, no-cache
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
les() { quern les run --progress off --quiet --backend cpu --n 32 --steps 60 --stride 20 --dt-max 0.01 "$@"; }
well_formed() { ! command -v xmllint >/dev/null || xmllint --noout "$1" || fail "$1 is not well-formed"; }
checked() { if command -v python3 >/dev/null; then python3 - "$@"; else cat >/dev/null; fi; }

# Files.
exits 0 les --observer snapshots --hash-every 20 --out a --log-metrics logs/run.json
empty "$err"
has "$out" '^60 steps of 32 x 32 on cpu:0: '
has "$out" '^ *60  forecast '
for name in metrics.json series.csv spectrum.csv video.y4m frame_0000.png frame_0003.png \
    omega_t000000.npy omega_t000060.npy lp_t000040.npy full_t000040.npy; do
    [ -s "a/les_$name" ] || fail "no file $name"
done
for name in z A mu scale anchors; do
    [ -s a/$name.npy ] || fail "no file $name.npy"
done
[[ $(ls logs) =~ ^run_20[0-9]{6}T[0-9]{6}Z\.json$ ]] || fail "no stamped log"
well_formed a/report.html
lacks a/report.html '<script|<link|href=|url\(|@import|https?://'
has a/report.html '<svg'
has a/report.html 'src="data:image/png;base64,'
has a/report.md '^## Accuracy$'
head -1 a/les_series.csv | grep -q '^step,time,energy,enstrophy,palinstrophy,max_abs' || fail "wrong series"
[ "$(tail -1 a/les_series.csv | cut -d, -f1)" = 60 ] || fail "the last step is not in the series"
checked a/les_metrics.json <<'PY' || fail "bad metrics"
import json, sys
d = json.load(open(sys.argv[1]))
les = d["les"]
assert d["format"] == "quern-metrics/1" and les["schema"] == "quern-les/1" and les["status"] == "ok"
assert les["config"]["N"] == 32 and les["proxy"]["D"] > 0 and les["sim"]["fft_per_step"] == 24
assert [s["t"] for s in les["snapshots"]] == [0, 20, 40, 60]
assert [s["window"] for s in les["snapshots"]] == ["fit", "fit", "fit", "forecast"]
assert [h["t"] for h in les["hashes"]] == [0, 20, 40, 60]
t = les["timing"]
total = sum(v["wall_s"] for k, v in t.items() if k != "total")
assert abs(total - t["total"]["wall_s"]) <= 0.05 * t["total"]["wall_s"], (total, t)
assert any(m["name"] == "les_l2_error" and m["value"] > 0 for m in d["metrics"])
PY

# The same run again gives the same hashes and files; and a rollout without a flow.
exits 0 les --observer metrics --hash-every 20 --out b
[ ! -e b/les_omega_t000000.npy ] || fail "a field was written without being asked for"
checked a/les_metrics.json b/les_metrics.json <<'PY' || fail "two runs differ"
import json, sys
a, b = (json.load(open(f))["les"] for f in sys.argv[1:])
assert a["hashes"] == b["hashes"] and a["snapshots"] == b["snapshots"] and a["series"] == b["series"]
PY
exits 0 les --observer snapshots --kernel-only a --out c
for name in lp_t000060.npy full_t000060.npy; do
    cmp -s a/les_"$name" c/les_"$name" || fail "$name differs without a flow"
done
exits 0 les --what sim --observer snapshots --video none --out d
[ ! -e d/z.npy ] || fail "what sim has encoded something"
[ -s d/les_frame_0003.png ] || fail "no picture of the flow"
exits 0 les --what codec --out e
has "$out" '^ *60  codec '
exits 0 les --observer none --out f
[ "$(ls f | tr '\n' ' ')" = 'les_metrics.json run.journal ' ] || fail "observer none wrote more than its metrics"

# Transfers: the simulated device has its own memory.
exits 0 env QUERN_FAULT=sim.launch_us=0,sim.gbps=100000 quern les run --progress off --quiet \
    --backend sim --n 16 --k-cut 3 --k-mid 5 --pairs 4 --steps 60 --stride 20 --precision f64 \
    --observer snapshots --video none --memory-map s.md --out s
has s.md '^\| state \| 1 \| 2304 \| 2304 \| les.first \| les.codec.encode \| sim:0 \| 1 \| 0 \|$'
checked s/les_metrics.json <<'PY' || fail "wrong residency"
import json, sys
r = json.load(open(sys.argv[1]))["les"]["residency"]
assert r["loop_h2d_bytes"] == 0, r
assert r["loop_d2h_bytes"] == 3 * 16 * 16 * 8, r
assert r["syncs"] <= 4 + 4, r
PY

# Films.
mkdir "$scratch/none"
PATH=$scratch/bin:$scratch/none exits 0 "$QUERN_BIN" les run --progress off --quiet --backend cpu \
    --n 32 --steps 20 --stride 10 --what sim --observer snapshots --video webm --out g
has "$err" '^\[les\] the film is les_video.y4m instead: ffmpeg is not installed$'
has g/les_metrics.json 'the film is y4m, not webm'
head -c 60 g/les_video.y4m | grep -aq '^YUV4MPEG2 W' || fail "no film in place of the other"

# With an encoder (here one that copies), the film is what was asked for.
printf '#!/bin/sh\nfor last; do :; done\nexec cat >"${last#file:}"\n' >"$scratch/none/ffmpeg"
chmod +x "$scratch/none/ffmpeg"
PATH=$scratch/none:$PATH exits 0 quern les run --progress off --quiet --backend cpu --n 32 --steps 20 --stride 10 \
    --what sim --observer snapshots --video mp4 --out h
cmp -s h/les_video.mp4 g/les_video.y4m || fail "the encoder got another film"

# Pictures have a title, a bar and numbers beside it; their colours are those of a range.
drawn() { les --what sim --observer snapshots --video none --out "$@"; }
exits 0 drawn p1 --clim -2,2
exits 0 drawn p2 --clim -2,2
exits 0 drawn p3 --clim rolling
exits 0 drawn p4 --clim -2,3
cmp -s p1/les_frame_0003.png p2/les_frame_0003.png || fail "two runs drew different pictures"
for other in d p3 p4; do
    ! cmp -s p1/les_frame_0003.png $other/les_frame_0003.png || fail "the range of $other has no effect"
done
cmp -s d/les_frame_0000.png p3/les_frame_0000.png || fail "the range of the first picture is not its own"
for clim in 2,1 2 x,3 1,nan 1,2,3; do
    refused 2 "clim: '$clim' is neither first, rolling, nor two numbers LO,HI" drawn p5 --clim "$clim"
done

# Refused.
refused 2 'dt: 3 is unstable: .*the largest admissible dt is 0\.' les --dt 3 --out bad
exits 1 les --dt 3 --allow-unstable --check-every 10 --what sim --out bad
has "$err" 'cells that are not finite: they came between steps [0-9]+ and [0-9]+; use a smaller --dt, or --dt-mode cfl$'
has bad/les_metrics.json '"nonfinite"'
refused 6 'cannot open nowhere.npy' les --ic-file nowhere.npy
refused 6 'cannot open nowhere/A.npy' les --kernel-only nowhere
refused 2 'unknown option --strid; did you mean --stride' les --strid 3
refused 2 'N: 33 is odd' quern les run --n 33
refused 2 'fft: vkfft does not run on cpu:0' les --fft vkfft --what sim --out bad

# Bench.
exits 0 quern les bench --backend cpu --quiet --sizes 16,32 --samples 3 --precision f32,f64 \
    --profile quern,origin --ensemble 1,2 --out fig
lines "$out" 18
[ "$(wc -l <fig/les_bench_*.csv)" = 17 ] || fail "wrong number of points"
well_formed fig/les_bench_*.html
exits 0 quern les bench --backend cpu --quiet --sizes 32 --samples 3 --fft-only --out fig2
has "$out" '^quern +f32 +cpu:0 +32 +1 +- '
exits 0 quern les bench --backend cpu --quiet --sizes 32 --table --steps 20 --out fig2
has fig2/summary.md '^\| +N \| precision \| steps \| +flow on cpu s \| +cpu s \| +mixed s \| +gpu s '
exits 0 quern les bench --backend cpu --quiet --sizes 32 --sweep --steps 100 --out fig2
has "$out" '^32 +f32 +10 +cpu:0 '
refused 2 "--precision: 'f16' is neither" quern les bench --precision f16

# The configuration of a run repeats it, on the same device.
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))["les"]["config"]))' \
        s/les_metrics.json >again.json
    exits 0 env QUERN_FAULT=sim.launch_us=0,sim.gbps=100000 quern les run --progress off --quiet \
        --config again.json --out s2
    has "$out" ' on sim:0: '
    for name in omega_t000060.npy full_t000060.npy; do
        cmp -s s/les_"$name" s2/les_"$name" || fail "$name differs"
    done
fi
