# tutorial-solweig.sh - a town with its weather, as GeoTIFF and EPW.
# shellcheck shell=bash disable=SC2154
if ! command -v python3 >/dev/null || quern version --verbose | grep 'GDAL.*missing' >/dev/null; then
    echo 'skipped: GeoTIFF files need GDAL, and python3 makes them'
    exit 77
fi
python3 "$root/tests/docs/city.py"
