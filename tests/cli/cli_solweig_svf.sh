#!/usr/bin/env bash
# cli_solweig_svf.sh - `quern solweig svf` and `bench`: files, tiles, real rasters, bad input.
# test: long, cost 32
. "$(dirname "$0")/lib.sh"

golden=${QUERN_TEST_DATA:-${QUERN_SOURCE_DIR:-$test_dir/../..}/../shared/data}/solweig
svf() { quern solweig svf --backend cpu --progress off --quiet "$@"; }
checked() { if command -v python3 >/dev/null; then python3 - "$@"; else cat >/dev/null; fi; }
has_gdal() { [ "$(svf --dsm city/dsm.npy --rasters tif --out probe 2>&1 | grep -c 'no GDAL')" = 0 ]; }

# The last BYTES of two files are equal: arrays without their heads.
same_data() {
    cmp -s <(tail -c "$1" "$2") <(tail -c "$1" "$3") || fail "$2 and $3 differ"
}

# Bench, and the city it generates.
exits 0 quern solweig bench --size 96 --relief 20 --steps 2 --samples 1 --tile 40 --save city \
    --backend cpu --quiet
for stage in shadow ground gvf.thermal delay tmrt utci pet 'step without pet'; do
    has "$out" "^aniso +$stage +[0-9.]+ "
    has "$out" "^iso +$stage +[0-9.]+ "
done
has "$out" '^aniso +aniso +[0-9.]+ +[0-9.]+ +96 +96 +20\.0 +cpu:0'
has "$out" '^iso +radiation +[0-9.]+ '
has "$out" '^once +svf, tiles, copies +[0-9.]+ '
exits 0 quern solweig bench --dsm city/dsm.npy --cdsm city/cdsm.npy --mirror 2x1 --steps 1 \
    --samples 1 --json --backend cpu --quiet
checked "$out" <<'PY' || fail "wrong JSON"
import json, sys
lines = json.load(open(sys.argv[1]))
assert all(l["rows"] == 192 and l["cols"] == 96 and l["ms"] > 0 for l in lines), lines
assert len(lines) == 3 + 2 * 9, len(lines)
PY
exits 0 quern solweig bench --size 64 --veg 0 --steps 1 --samples 1 --save bare --backend cpu --quiet
[ -s bare/dsm.npy ] && [ ! -e bare/cdsm.npy ] || fail "a city without trees has trees"
refused 2 "--mirror: '2' is not like 2x2" quern solweig bench --dsm city/dsm.npy --mirror 2
refused 2 "--size" quern solweig bench --size 3

# Files.
exits 0 svf --dsm city/dsm.npy --cdsm city/cdsm.npy --out whole --rasters npy
empty "$err"
has "$out" '^96 x 96 pixels, 153 patches on cpu:0: [0-9.]+ s '
for name in svf svfN svfWveg svfaveg svfEaveg; do
    [ "$(tail -c +1 whole/$name.npy | wc -c)" -gt $((96 * 96 * 4)) ] || fail "no map $name"
done
[ "$(head -c 4 whole/svf.png | tail -c 3)" = PNG ] || fail "no picture"
has whole/svf.json '"patches": 153'
if has_gdal; then
    [ -s whole/svfs.zip ] && [ -s whole/shadowmats.npz ] || fail "no cache"
    checked whole <<'PY' || fail "the cache is not what it says"
import sys, zipfile
maps = zipfile.ZipFile(sys.argv[1] + "/svfs.zip").namelist()
assert sorted(maps) == sorted("svf%s%s.tif" % (d, k) for d in ("", "N", "E", "S", "W")
                              for k in ("", "veg", "aveg")), maps
bits = zipfile.ZipFile(sys.argv[1] + "/shadowmats.npz").namelist()
assert set(bits) >= {"shadowmat.npy", "vegshadowmat.npy", "vbshmat.npy"}, bits
PY
fi
for patches in 145 305 609; do
    exits 0 svf --dsm bare/dsm.npy --patches $patches --out p$patches
    has p$patches/svf.json "\"patches\": $patches"
done

# Tiles give the same bytes; progress moves forward and waits for the sums.
for tile in 17 40 64; do
    exits 0 svf --dsm city/dsm.npy --cdsm city/cdsm.npy --out tiled --rasters npy --tile $tile \
        --pixel-size 4 --metrics tiled.json
    has "$out" "^[0-9]+ tiles of $tile pixels with a margin of [0-9]+, stitched in [0-9.]+ ms\$"
    [ $tile != 17 ] || exits 0 svf --dsm city/dsm.npy --cdsm city/cdsm.npy --out coarse --rasters npy \
        --pixel-size 4
    for name in tiled/*.npy; do
        cmp -s "$name" "coarse/${name##*/}" || fail "$name depends on tiles"
    done
done
for name in svf_tile_wall_time_s svf_patch_progress_rate svf_stitch_copy_time_ms \
    svf_gpu_fallback_count; do
    has tiled.json "\"$name\""
done
exits 0 quern solweig svf --backend cpu --dsm city/dsm.npy --out watched
has "$err" '^solweig svf .* 95 % '
has "$err" '^solweig svf .* 100 % '
sed -n 's/^solweig svf .* \([0-9]*\) % .*/\1/p' "$err" | sort -nc || fail "progress goes back"

# A device with its own memory: only results are copied back.
QUERN_FAULT=sim.launch_us=0,sim.gbps=100000 exits 0 quern solweig svf --backend sim --quiet \
    --progress off --fallback error --dsm city/dsm.npy --cdsm city/cdsm.npy --out sim --rasters npy \
    --tile 50 --metrics sim.json
for name in sim/*.npy; do cmp -s "$name" "whole/${name##*/}" || fail "$name differs on sim"; done
checked sim.json <<'PY' || fail "more than the results came back"
import json, sys
got = sum(m["value"] for m in json.load(open(sys.argv[1]))["metrics"] if m["name"] == "d2h_bytes")
assert 96 * 96 * 120 <= got <= 96 * 96 * 120 + 1024, got
PY
QUERN_FAULT=launch:svf.shadow*1 exits 0 quern solweig svf --backend sim --quiet --progress off \
    --dsm city/dsm.npy --cdsm city/cdsm.npy --out fell --rasters npy --metrics fell.json
has "$err" '^\[GPU\] svf.shadow failed: .*\. CPU fallback\.$'
for name in fell/*.npy; do cmp -s "$name" "whole/${name##*/}" || fail "$name after a fallback"; done
checked fell.json <<'PY' || fail "the fallback was not counted once"
import json, sys
got = [m["value"] for m in json.load(open(sys.argv[1]))["metrics"]
       if m["name"] == "svf_gpu_fallback_count"]
assert got == [1], got
PY
QUERN_FAULT=launch:svf.finish exits 3 quern solweig svf --backend sim --quiet --progress off \
    --fallback error --dsm city/dsm.npy --out never
[ ! -e never/svf.json ] || fail "a failed run left a cache"

# Impossible requests.
refused 2 '--dsm FILE is needed' svf --out bad
refused 6 'cannot open nowhere.npy' svf --dsm nowhere.npy --out bad
refused 2 "--patches: '150' is not one of 145, 153, 305, 609" svf --dsm city/dsm.npy --patches 150
refused 2 "--tile: '1.5' is not a whole number" svf --dsm city/dsm.npy --out bad --tile 1.5
refused 2 "--tile: 'all' is not a number" svf --dsm city/dsm.npy --out bad --tile all
refused 2 '--pixel-size: -1 is below the least value, 0.01' svf --dsm city/dsm.npy --out bad --pixel-size -1
refused 6 'bare/dsm.npy: 64 x 64 pixels, but city/dsm.npy has 96 x 96' \
    svf --dsm city/dsm.npy --cdsm bare/dsm.npy --out bad
head -c 3000 city/dsm.npy >cut.npy
exits 6 svf --dsm cut.npy --out bad
has "$err" 'cut.npy'
echo text >file
exits 1 svf --dsm city/dsm.npy --out file/below
has "$err" 'cannot make the folder file'
if [ "$(id -u)" != 0 ]; then
    mkdir shut && chmod 500 shut
    refused 1 'cannot write into shut' svf --dsm city/dsm.npy --out shut
fi
[ ! -e bad ] || fail "a refused run made its folder"

# A full disk, simulated by a limit on file sizes: no file appears under its name.
for kib in 4 40; do
    (
        trap '' XFSZ
        ulimit -f $kib
        svf --dsm city/dsm.npy --cdsm city/cdsm.npy --out full --rasters npy >"$out" 2>"$err"
    ) && fail "a full disk was not noticed"
    has "$err" '^quern solweig svf: cannot write full/'
    [ ! -e full/svf.json ] || fail "a cache of a full disk"
    [ -z "$(find full -name '*partial*' -o -name '*.zip')" ] || fail "half a file was left"
done

# GeoTIFF.
if ! has_gdal; then
    echo "skipped: this build has no GDAL"
    exit 0
fi

# A raster of 40 x 30 floats: tif NAME KEYS ROTATION VALUE writes one without compression.
tif() {
    python3 - "$@" <<'PY'
import struct, sys
name, crs, rotation, value = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
cols, rows = 40, 30
data = struct.pack("<f", value) * (cols * rows)
matrix = [2, rotation, 0, 1000, rotation, -2, 0, 5000, 0, 0, 0, 0, 0, 0, 0, 1]
model = {0: None, 4326: 2}.get(crs, 1)
keys = [] if model is None else [1, 1, 0, 3, 1024, 0, 1, model, 1025, 0, 1, 1,
                                 2048 if model == 2 else 3072, 0, 1, crs]
tags = [(256, 4, [cols]), (257, 4, [rows]), (258, 3, [32]), (259, 3, [1]), (262, 3, [1]),
        (273, 4, [0]), (277, 3, [1]), (278, 4, [rows]), (279, 4, [len(data)]), (339, 3, [3]),
        (34264, 12, matrix)] + ([(34735, 3, keys)] if keys else [])
sizes = {3: "H", 4: "I", 12: "d"}
at = 8 + 2 + 12 * len(tags) + 4
extra, entries = b"", b""
for tag, kind, values in tags:
    body = struct.pack("<%d%s" % (len(values), sizes[kind]), *values)
    if len(body) > 4:
        entries += struct.pack("<HHII", tag, kind, len(values), at + len(extra))
        extra += body
    else:
        entries += struct.pack("<HHI", tag, kind, len(values)) + body.ljust(4, b"\0")
head = b"II*\0" + struct.pack("<IH", 8, len(tags))
entries = entries.replace(struct.pack("<HHII", 273, 4, 1, 0),
                          struct.pack("<HHII", 273, 4, 1, at + len(extra)))
open(name, "wb").write(head + entries + struct.pack("<I", 0) + extra + data)
PY
}
if command -v python3 >/dev/null; then
    tif good.tif 3006 0 7
    exits 0 svf --dsm good.tif --out flat --rasters tif
    has "$out" '^30 x 40 pixels'
    tif rotated.tif 3006 0.5 7
    refused 6 'rotated.tif: .*(rotated|north)' svf --dsm rotated.tif --out bad
    tif nowhere.tif 0 0 7
    refused 6 'nowhere.tif: .*(CRS|reference system)' svf --dsm nowhere.tif --out bad
    tif degrees.tif 4326 0 7
    refused 6 'degrees.tif: .*(degrees|projected|geographic)' svf --dsm degrees.tif --out bad
    tif empty.tif 3006 0 nan
    refused 6 'empty.tif: none of its 30 x 40 pixels has a value' svf --dsm empty.tif --out bad
    head -c 4000 good.tif >short.tif
    refused 6 'short.tif' svf --dsm short.tif --out bad
fi
[ ! -e bad ] || fail "a refused run made its folder"

if [ ! -r "$golden/ga/DSM_GA.tif" ]; then
    echo "skipped: no golden data in $golden"
    exit 0
fi
exits 0 svf --dsm "$golden/ga/DSM_GA.tif" --dem "$golden/ga/DEM_GA.tif" \
    --cdsm "$golden/ga/CDSM_GA.tif" --reference --out ga --rasters npy
for pair in svf:svf_svf svfN:svf_svf_n svfEveg:svf_veg_e svfSveg:svf_veg_s svfWaveg:svf_aveg_w; do
    same_data $((104 * 116 * 4)) "ga/${pair%:*}.npy" "$golden/ga/${pair#*:}.npy"
done
