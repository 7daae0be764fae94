#!/usr/bin/env bash
# cli_solweig_golden.sh - all reference data of solweig on the CPU, measurements among them; its
# stages on an OpenCL device; days whose weather is part of a longer file.
# test: long, cost 42
. "$(dirname "$0")/lib.sh"

golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/solweig
[ -r "$golden/athens/params.json" ] || { echo "skipped: no golden data in $golden"; exit 77; }
quern solweig check --golden "$golden" --stage prep --backend cpu --quiet >prep.txt 2>&1 || :
! grep 'no GDAL' prep.txt || exit 77

exits 0 quern solweig check --golden "$golden" --backend cpu --quiet
lacks "$out" ' OUT$'
for stage in weather tables prep walls shadow svf gvf radiation aniso points comfort ga gbg; do
    has "$out" "^$stage .* ok\$"
done
has "$out" '^ga +ga/aniso_20060726_tmrt_h13.npy .* ok$'
has "$out" '^gbg +gbg/aniso_19970606_timeseries.csv tmrt_mean .* ok$'
has "$out" '^svf +athens/shmat_win64_veg.npy +81920 +0 +0 +100.000 '

# As close to the measurements as the reference: 6.2 K and 5.3 K.
exits 0 quern solweig check --golden "$golden" --measured --backend cpu --quiet
has "$out" '^aniso_20060726 +16 +6.1[0-9]+ '
has "$out" '^iso_20060726 +16 +5.2[0-9]+ '

# Two days in one weather file.
mkdir -p two/ga
cp "$golden"/ga/{DSM,DEM,CDSM,LC}_GA.tif "$golden"/ga/poi.geojson two/ga
cp "$golden"/ga/{iso_20060726,aniso_20051011_estimated_split}_timeseries.csv two/ga
cp "$golden"/ga/iso_20060726_tmrt_h13.npy "$golden"/ga/aniso_20051011_estimated_split_tmrt_h12.npy two/ga
cat "$golden"/ga/MetFile_20051011.txt "$golden"/ga/MetFile_20060726.txt >two/ga/both.txt
exits 0 quern solweig check --golden two --stage weather,ga --backend cpu --quiet
has "$out" ' ga/iso_20060726_tmrt_h13.npy .* ok$'
has "$out" ' ga/aniso_20051011_estimated_split_tmrt_h12.npy .* ok$'
has "$out" '^weather +ga/iso_20060726_timeseries.csv clearness_index .* ok$'

# Weather that ends too early, a series without rows.
head -20 "$golden"/ga/MetFile_20060726.txt >two/ga/both.txt
head -1 "$golden"/ga/iso_20060726_timeseries.csv >two/ga/aniso_20051011_estimated_split_timeseries.csv
exits 4 quern solweig check --golden two --stage ga --backend cpu --quiet
has "$out" ' ga/iso_20060726_timeseries.csv .* its weather file lacks rows +OUT$'
has "$out" ' ga/aniso_20051011_estimated_split_timeseries.csv .* it has no rows +OUT$'

quern devices | grep '^opencl:0 ' >/dev/null || { echo "skipped on opencl: no device"; exit 77; }
exits 0 quern solweig check --golden "$golden" --stage stages --backend opencl --fallback error --quiet
lacks "$out" ' OUT$'
has "$out" '^aniso +athens/aniso_clear_noon_out_lside.npy .* ok$'
