#!/usr/bin/env bash
# cli_solweig_shadow.sh - `quern solweig shadow` and `walls`: maps, suns, golden masks, bad input.
. "$(dirname "$0")/lib.sh"

golden=${QUERN_TEST_DATA:-${QUERN_SOURCE_DIR:-$test_dir/../..}/../shared/data}/solweig
shadow() { quern solweig shadow --backend cpu --quiet "$@"; }
walls() { quern solweig walls --backend cpu --quiet "$@"; }
checked() { if command -v python3 >/dev/null; then python3 - "$@"; else cat >/dev/null; fi; }

exits 0 quern make town --size 64 --out city

# Files.
exits 0 shadow --dsm city/dsm.npy --cdsm city/cdsm.npy --azimuth 135 --altitude 30 -o a.npy
empty "$err"
has "$out" '^sun at azimuth 135.000, altitude 30.000: [0-9.]+ % sunlit$'
has "$out" '^file: a.npy$'
checked a.npy <<'PY' || fail "values other than sun, shade and leaves"
import struct, sys
data = open(sys.argv[1], "rb").read()[-64 * 64 * 4:]
values = set(struct.unpack("<4096f", data))
leaf = struct.unpack("<f", struct.pack("<f", 0.03))[0]
assert {round(v, 6) for v in values} == {0, 1, round(leaf, 6)}, values
PY
exits 0 shadow --dsm city/dsm.npy --azimuth 135 --altitude 30 -o a.png
[ "$(head -c 4 a.png | tail -c 3)" = PNG ] || fail "no picture"
exits 0 shadow --dsm city/dsm.npy --cdsm city/cdsm.npy --azimuth 135 --altitude 30 --psi 1 -o p.npy
exits 0 shadow --dsm city/dsm.npy --azimuth 135 --altitude 30 -o b.npy
cmp -s p.npy b.npy || fail "trees of glass shade"

# Suns.
exits 0 shadow --dsm city/dsm.npy --at 2006-07-26T13:30 --lat 57.7 --lon 12 --utc 1 -o c.npy
has "$out" '^sun at azimuth 20[0-9]\.[0-9]+, altitude 49\.[0-9]+: '
sun=$(head -1 "$out")
exits 0 shadow --dsm city/dsm.npy --at 2006-07-26T12:30:00Z --lat 57.7 --lon 12 -o d.npy
[ "$sun" = "$(head -1 "$out")" ] || fail "another sun by UTC"
cmp -s c.npy d.npy || fail "another shadow by UTC"
exits 0 shadow --dsm city/dsm.npy --at 2006-12-26T23:00Z --lat 57.7 --lon 12 -o night.npy
has "$out" 'below the horizon: 100\.0 % sunlit$'
exits 0 env QUERN_FAULT=launch:shadow*1 quern solweig shadow --backend sim --quiet \
    --dsm city/dsm.npy --azimuth 135 --altitude 30 -o e.npy
has "$err" '^\[GPU\] shadow failed: .*\. CPU fallback\.$'
cmp -s b.npy e.npy || fail "another shadow after a fallback"
exits 0 env QUERN_FAULT=copy_d2h*1 quern solweig shadow --backend sim --quiet \
    --dsm city/dsm.npy --azimuth 135 --altitude 30 -o e.npy
lines "$err" 1
has "$err" '^\[GPU\] shadow failed: (download of .*: )?injected copy_d2h fault \([0-9]+ bytes\)\. CPU fallback\.$'
cmp -s b.npy e.npy || fail "another shadow after a copy that failed"
for tile in 20 33; do
    exits 0 shadow --dsm city/dsm.npy --azimuth 135 --altitude 30 --tile $tile -o e.npy
    cmp -s b.npy e.npy || fail "another shadow in tiles"
done

# Walls.
exits 0 walls --dsm city/dsm.npy --out w
has "$out" '^[1-9][0-9]* of 4096 pixels have a wall, the highest 40\.0 m$'
for name in wall_height.npy wall_aspect.npy wall_height.png; do
    [ -s w/$name ] || fail "no file $name"
done
exits 0 env QUERN_FAULT=launch:walls*1 quern solweig walls --backend sim --quiet \
    --dsm city/dsm.npy --out wf
has "$err" '^\[GPU\] walls failed: .*\. CPU fallback\.$'
cmp -s w/wall_aspect.npy wf/wall_aspect.npy || fail "other walls after a fallback"
exits 0 env QUERN_FAULT=copy_d2h@2*1 quern solweig walls --backend sim --quiet \
    --dsm city/dsm.npy --tile 40 --out wf
lines "$err" 1
has "$err" '^\[GPU\] walls failed: (download of .*: )?injected copy_d2h fault \([0-9]+ bytes\)\. CPU fallback\.$'
for name in wall_height wall_aspect; do
    cmp -s w/$name.npy wf/$name.npy || fail "other walls after a copy that failed"
done

# Impossible requests.
refused 2 'where is the sun' shadow --dsm city/dsm.npy -o x.npy
refused 2 'where is the sun' shadow --dsm city/dsm.npy --azimuth 3 -o x.npy
refused 2 '--at and --azimuth' shadow --dsm city/dsm.npy --azimuth 3 --at 2006-07-26T13:30 -o x.npy
refused 2 '--at needs --lat and --lon' shadow --dsm city/dsm.npy --at 2006-07-26T13:30 -o x.npy
refused 2 "--at: '2006-02-30T13:30' is not a time" \
    shadow --dsm city/dsm.npy --at 2006-02-30T13:30 --lat 1 --lon 1 -o x.npy
for time in 2006-07-26T13:3 2006-07-26T13:30:60 2006-07-26T13:30ZZ 2006-07-26 -006-07-26T13:30; do
    refused 2 "--at: '$time' is not a time" shadow --dsm city/dsm.npy --at "$time" --lat 1 --lon 1 -o x.npy
done
refused 2 "--at: 'noon' is not a time" shadow --dsm city/dsm.npy --at noon --lat 1 --lon 1 -o x.npy
refused 2 '--at 2006-07-26T13:30Z is UTC; --utc 1 contradicts it' \
    shadow --dsm city/dsm.npy --at 2006-07-26T13:30Z --utc 1 --lat 1 --lon 1 -o x.npy
refused 2 '--altitude: 91 is above the largest value, 90' \
    shadow --dsm city/dsm.npy --azimuth 3 --altitude 91 -o x.npy
refused 2 '--lat: 95 is above the largest value, 90' shadow --dsm city/dsm.npy --at 2006-07-26T13:30 --lat 95 --lon 1 -o x.npy
QUERN_FAULT=sim.devices=3 refused 2 '--devices: solweig shadow works on one device; ' \
    quern --devices sim solweig shadow --dsm city/dsm.npy --azimuth 3 --altitude 9 -o x.npy
refused 2 '-o FILE is needed' shadow --dsm city/dsm.npy --azimuth 3 --altitude 9
refused 2 'x.jpg does not end with .tif, .npy or .png' \
    shadow --dsm city/dsm.npy --azimuth 3 --altitude 9 -o x.jpg
refused 6 'cannot open nowhere.tif' shadow --dsm nowhere.tif --azimuth 3 --altitude 9 -o x.npy
exits 1 shadow --dsm city/dsm.npy --azimuth 3 --altitude 9 -o nowhere/x.npy
has "$err" 'nowhere/x'
exits 0 walls --dsm city/dsm.npy --backend cpu # without --out: into out/
[ -n "$(find out -name "wall_height*")" ] || fail "no wall heights in out/"
refused 2 'pixels of 0.1 m: aspects of walls need at least 0.2 m' \
    walls --dsm city/dsm.npy --pixel-size 0.1 --out x
[ ! -e x.npy ] && [ ! -e x.jpg ] && [ ! -e nowhere ] || fail "a refused run wrote something"
[ -z "$(find . -name '*partial*')" ] || fail "partial files were left"

# Golden masks.
if [ ! -r "$golden/athens/shadow_noon_bldg.npy" ]; then
    echo "skipped: no golden data in $golden"
    exit 0
fi
for sun in morning:90:30 noon:180:60; do
    IFS=: read -r name azimuth altitude <<<"$sun"
    exits 0 shadow --dsm "$golden/athens/in_dsm.npy" --azimuth "$azimuth" --altitude "$altitude" \
        --max-distance 0 -o "$name.npy"
    checked "$name.npy" "$golden/athens/shadow_${name}_bldg.npy" <<'PY' || fail "$name differs"
import struct, sys
n = 400 * 400
got = struct.unpack("<%df" % n, open(sys.argv[1], "rb").read()[-4 * n:])
want = open(sys.argv[2], "rb").read()[-n:]
assert sum(a != b for a, b in zip(got, want)) == 0
PY
done
exits 0 walls --dsm "$golden/ga/prep_dsm.npy" --pixel-size 2 --out gaw
for name in wall_height wall_aspect; do
    cmp -s <(tail -c $((104 * 116 * 4)) gaw/$name.npy) \
        <(tail -c $((104 * 116 * 4)) "$golden/ga/prep_$name.npy") || fail "$name differs"
done
