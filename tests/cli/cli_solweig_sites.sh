#!/usr/bin/env bash
# cli_solweig_sites.sh - the two sites of the reference data on a machine without GDAL: their layers as
# arrays, whole days and measurements from these, messages if they are absent.
# test: long, cost 29
. "$(dirname "$0")/lib.sh"

golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/solweig
[ -r "$golden/ga/DSM_GA.tif" ] || { echo "skipped: no golden data in $golden"; exit 77; }
without_gdal() { env QUERN_GDAL_LIB=/nowhere/libgdal.so "$@"; }

# GeoTIFF files alone do not help there.
exits 6 without_gdal quern solweig check --golden "$golden" --stage prep,days --backend cpu --quiet
has "$out" ' ga/DSM\*\.tif .* no GDAL to read it, and no .npy beside it +skipped$'
refused 6 '.* no layers of a site: ga/DSM' without_gdal quern solweig check --golden "$golden" --export-npy none
refused 2 'give --golden DIR' quern solweig check --export-npy none

quern solweig check --golden "$golden" --stage prep --backend cpu --quiet >prep.txt 2>&1 || :
! grep 'no GDAL' prep.txt || exit 77
exits 0 bash "$QUERN_SOURCE_DIR/bench/solweig_sites_npy.sh" there "$QUERN_BIN" "$golden"
[ -z "$(find there -name '*.tif')" ] || fail "a GeoTIFF is left"
exits 0 quern solweig check --golden "$golden" --stage prep,walls,svf,weather,days --backend cpu --quiet
cp "$out" by_gdal.txt
exits 0 without_gdal quern solweig check --golden there --stage prep,walls,svf,weather,days --backend cpu --quiet
diff by_gdal.txt "$out" >diff.txt || fail "not the findings of GeoTIFF: $(head -5 diff.txt)"
for day in ga/aniso_20060726 ga/iso_20060726 ga/aniso_sitting_20060726 gbg/aniso_19970606; do
    has "$out" " ${day}_timeseries.csv tmrt_mean .* ok\$"
    has "$out" " ${day}_timeseries.csv poi_tmrt .* ok\$"
done
exits 0 without_gdal quern solweig check --golden there --measured --backend cpu --quiet
has "$out" '^aniso_20060726 +16 +6.1[0-9]+ '

# If both exist, the arrays are used when GDAL is absent.
cp "$golden"/ga/*.tif there/ga
chmod u+w there/ga/*.tif
exits 0 without_gdal quern solweig check --golden there --stage prep --backend cpu --quiet
has "$out" ' ga/prep_dsm.npy .* ok$'

# An invalid place.
echo '{"transform": [0, 2, 0, 0, 0]}' >there/ga/DSM_GA.place.json
exits 4 without_gdal quern solweig check --golden there --stage prep --backend cpu --quiet
has "$out" ' 5 terms of transform, not 6'

# The folder cannot be made.
touch file
refused 1 '.*file' quern solweig check --golden "$golden" --export-npy file
