#!/usr/bin/env bash
# solweig_sites_npy.sh OUT [QUERN] [GOLDEN] - reference data for a machine without GDAL: a copy of the folder
# GOLDEN in OUT with the layers of its two sites as .npy files instead of GeoTIFF. This machine needs GDAL; on
# the other, `quern solweig check --golden OUT` then checks whole days too.
set -euo pipefail

out=${1:?usage: $0 OUT [QUERN] [GOLDEN]}
quern=${2:-build/quern}
golden=${3:-../shared/data/solweig}

mkdir -p "$out"
cp -r "$golden"/. "$out"
chmod -R u+w "$out"
"$quern" solweig check --golden "$golden" --export-npy "$out"
find "$out" -name "*.tif" -delete
