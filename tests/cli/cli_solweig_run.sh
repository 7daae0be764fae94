#!/usr/bin/env bash
# cli_solweig_run.sh - files, faults and refusals of `quern solweig run`, on a small city.
# test: long, cost 54
. "$(dirname "$0")/lib.sh"

exits 0 quern make town --size 72 --relief 12 --out city
row() { echo "2006 207 $1 0 0 0 0 0 0 2 60 $2 -999 0 $3 0 0 0 0 0 0 -999 -999 0"; }
{ row 5 16 90; row 6 18 190; row 13 27 800; row 20 22 60; row 23 18 0; } >day.txt
row 13 27 800 >noon.txt
place=(--lat 57.7 --lon 12 --utc 1)
city=(--dsm city/dsm.npy --cdsm city/cdsm.npy --progress off)
hot() { quern solweig run "${city[@]}" --weather day.txt "${place[@]}" "$@"; }

# Rasters and tables of two folders are equal, byte for byte. Files written tile by tile have their blocks in
# another order: for those, only the tables are compared (test_sw_run.c compares pixels).
same() {
    local file
    for file in $(cd "$1" && find . -name '*.csv' -o -name '*.tif' -o -name '*.npy'); do
        [ "${3:-}" != tables ] || [[ $file == *.csv ]] || continue
        cmp -s "$1/$file" "$2/$file" || fail "$file of $2 differs from $1"
    done
}

# Files.
echo "name,row,col
yard,20,30" >pois.csv
exits 0 hot --backend cpu --outputs tmrt,utci,pet,shadow,kdown,kup,ldown,lup --maps 13 \
    --pois pois.csv --metrics all.json --out all
has "$out" '^72 x 72 pixels of 1 m, 5 time steps: '
has "$out" '^hottest at 2006-07-26T13:00: Tmrt [0-9.]+, UTCI [0-9.]+ in the mean$'
[ "$(wc -l <"$out")" -le 12 ] || fail "the summary is longer than 12 lines"
for name in tmrt utci pet shadow kdown kup ldown lup; do
    ls all/$name/${name}_20060726_1300.* >/dev/null 2>&1 || fail "no raster of $name"
    [ -s all/maps/${name}_20060726_1300.png ] || fail "no map of $name"
done
for name in tmrt_mean tmrt_max tmrt_min tmrt_day_mean tmrt_night_mean utci_mean utci_max utci_min \
    utci_day_mean utci_night_mean sun_hours shade_hours utci_hours_above_32_day \
    utci_hours_above_38_day utci_hours_above_26_night; do
    ls all/summary/$name.* >/dev/null 2>&1 || fail "no grid $name"
done
! find all -name '*partial*' -o -name '*unfinished*' | grep . || fail "partial files are left"
has all/run.journal ' finished$'
lines all/timeseries.csv 6
lines all/pois.csv 6
has all/pois.csv '^yard,2006-07-26T13:00,'
[ -s all/run_metadata.json ] && [ -s all/report.html ] || fail "no metadata or report"
lacks all/report.html '<script|<link|href=|url\(|@import|https?://'
! command -v xmllint >/dev/null || xmllint --noout all/report.html || fail "report.html is not XML"
for name in svf_tile_wall_time_s svf_patch_progress_rate timestep_wall_time_s tile_turnaround_ms; do
    has all.json "\"$name\""
done

# Switches.
exits 0 hot --backend cpu --outputs none --no-summary --sky iso --person sitting --fixed --out iso
has "$out" '^switches: --corrected$'
has "$err" '--fixed is now --corrected'
[ ! -e iso/tmrt ] && [ ! -e iso/summary ] || fail "rasters that nobody asked for"
exits 0 hot --backend cpu --outputs none --above-day 30 --above-night 30,20 --out above
[ "$(ls above/summary | grep -c above)" = 2 ] || fail "a threshold of day and night has two grids"
ls above/summary/utci_hours_above_30.* >/dev/null 2>&1 || fail "no grid for day and night"
exits 0 hot --backend cpu --outputs tmrt --hours 13 --out hour
lines hour/timeseries.csv 2
exits 0 quern compare hour hour -o made/hour # grids of the night have no value
has "$out" ': [0-9]+ equal$'

# Saved view factors, tiles, other devices.
exits 0 hot --backend cpu --out plain
exits 0 quern solweig svf "${city[@]}" --backend cpu --out view
exits 0 hot --backend cpu --svf view --out kept
has "$out" '^sky view read in '
same plain kept
exits 0 hot --backend cpu --svf view --patches 145 --out other
has "$err" '^sky view computed: view: '
exits 0 hot --backend cpu --tile 30 --out tiles
has "$out" '^9 tiles of 30 pixels with a margin of [0-9]+ \(forced\)'
same plain tiles tables
QUERN_SOLWEIG_MAX_TILE_SIDE=71 exits 0 hot --backend cpu --out side
has "$out" '\(QUERN_SOLWEIG_MAX_TILE_SIDE\)'
same plain side tables
exits 0 hot --backend sim --memory-map made/sim.md --out sim
has made/sim.md '^\| dsm \| 1 \| 20736 \| 20736 \| shadow \| shadow \| sim:0 \| 1 \| 0 \|$'
has made/sim.md '^\| svf planes \(temporary\) \| 1 \| [0-9]+ \| [0-9]+ \| svf.finish '
same plain sim
QUERN_FAULT=sim.max_grid=65x1x1 exits 0 hot --backend sim --fallback error --out grid
same plain grid
for limit in sim.mem=3M sim.max_alloc=1M; do
    QUERN_FAULT=$limit exits 0 hot --backend sim --fallback error --out small
    same plain small
done

# Faults: the same result, the exact line, the count.
exits 0 hot --backend sim --outputs tmrt,pet --out clean
for stage in walls svf.shadow svf.finish gvf.geometry gvf.thermal shadow ground delay radiation \
    aniso tmrt utci pet summary; do
    QUERN_FAULT="launch:$stage*1" exits 0 hot --backend sim --outputs tmrt,pet --quiet --out fault \
        --metrics fault.json
    lines "$err" 1
    has "$err" "^\[GPU\] $stage failed: injected launch fault\. CPU fallback\.$"
    has fault/run_metadata.json "\"$stage\": 1"
    same clean fault
done
for rule in compile:aniso*1 copy_h2d@3*1 launch:delay@3*1 launch:summary@4*1; do
    QUERN_FAULT=$rule exits 0 hot --backend sim --outputs tmrt,pet --quiet --out fault
    has "$err" '^\[GPU\] .* failed: .*\. CPU fallback\.$'
    same clean fault
done
QUERN_FAULT='alloc@4*1' exits 0 hot --backend sim --outputs tmrt,pet --quiet --out fault
same clean fault # what is refused once is asked for again
left() { find "$1" -name '*.tif' -o -name '*.npy' -o -name '*unfinished*'; }
for rule in 'copy_d2h@1*1' 'copy_d2h@4*1' 'copy_d2h@9*1' 'copy_d2h@12*1'; do
    QUERN_FAULT=$rule exits 0 hot --backend sim --outputs tmrt,pet --quiet --out fault
    lines "$err" 1
    has "$err" '^\[GPU\] (walls|tmrt|pet|summary) failed: (download of .*: )?injected copy_d2h fault \([0-9]+ bytes\)\. CPU fallback\.$'
    same clean fault
done
QUERN_FAULT='copy_d2h@9*1' refused 3 '' hot --backend sim --fallback error --quiet --out lost
[ -z "$(left lost)" ] || fail "a run that failed left files"
QUERN_FAULT=launch:aniso refused 3 '' hot --backend sim --fallback error --quiet --out strict
[ -z "$(left strict)" ] || fail "a run that failed left files"

# A full disk: one error, nothing under a final name. A limit on file sizes fails like a full disk.
# It is hit early, and after a computation.
full() {
    (
        trap '' XFSZ
        ulimit -f "$1"
        shift
        "$@"
    )
}
for blocks in 2 4 8; do
    for overlap in 0 1; do
        QUERN_OVERLAP=$overlap exits 1 full $blocks quern solweig run "${city[@]}" --weather day.txt \
            "${place[@]}" --outputs tmrt,utci --quiet --backend cpu --out full
        has "$err" '^quern solweig run: '
        [ "$(wc -l <"$err")" = 1 ] || fail "more than one message about a full disk"
        [ -z "$(left full)" ] || fail "a full disk left files: $(left full)"
        rm -rf full
    done
done

QUERN_TIMING=1 exits 0 hot --backend sim --outputs none --out timed
has "$err" '^\[time\] '

# Refused.
refused 2 '--dsm FILE is needed' quern solweig run --weather day.txt --out x
refused 2 '--weather FILE is needed' quern solweig run "${city[@]}" --out x
refused 2 '--lat, --lon and --utc come together' quern solweig run "${city[@]}" --weather day.txt \
    --lat 57 --out x
refused 2 'day.txt does not say its location' quern solweig run "${city[@]}" --weather day.txt \
    --out x
refused 2 "'heat' is not an output" hot --outputs tmrt,heat --out x
refused 2 "--tile: 'ten'" hot --tile ten --out x
refused 2 '.*--above-day' hot --above-day warm --out x
refused 6 '.*nowhere.tif' quern solweig run --dsm nowhere.tif --weather day.txt "${place[@]}" --out x
refused 6 '.*none.epw' quern solweig run "${city[@]}" --weather none.epw --out x
refused 6 '.*5 rows of weather, from 2006-07-26 05:00 to 2006-07-26 23:00, none of them in the requested time' \
    hot --from 2007-01-01 --out x
head -c 200 city/dsm.npy >cut.npy
refused 6 '.*cut.npy' quern solweig run --dsm cut.npy --weather day.txt "${place[@]}" --out x
row 13 27 -5 | sed 's/ 60 27/ 160 27/' >bad.txt
refused 6 '.*bad.txt' quern solweig run "${city[@]}" --weather bad.txt "${place[@]}" --out x
echo '{"PET_settings":{"Value":{"clo":9}}}' >warm.json
refused 6 'person: clo 9 is not within 0.02 to 5' hot --params warm.json --outputs pet --out x
exits 0 hot --backend cpu --outputs tmrt --hours 13 --resume --out hour # is finished already
has "$out" 'nothing to do'
refused 4 'hour: .* it has "outputs=1", this one has "outputs=4"' hot --outputs pet --hours 13 --resume --out hour
touch file
refused 1 '.*file' hot --out file/x
if [ "$(id -u)" != 0 ]; then
    mkdir -m 500 closed
    refused 1 'cannot write into closed' hot --out closed
fi
