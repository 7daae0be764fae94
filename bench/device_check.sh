#!/usr/bin/env bash
# device_check.sh PACK DATA OUT [BACKEND] - `quern les|fit|arc|solweig check` on BACKEND (default cuda) with
# all reference data. PACK is made by scripts/pack. DATA has folders les, fit, arc and solweig;
# solweig_sites_npy.sh makes the last one for machines without GDAL. OUT gets the whole output of each check.
# Prints the last line and the exit code of each; exits with 0 if all agree.
set -u
usage='usage: device_check.sh PACK DATA OUT [BACKEND]'
pack=${1:?$usage}
data=${2:?$usage}
out=${3:?$usage}
backend=${4:-cuda}
export LD_LIBRARY_PATH=$pack/lib
status=0
mkdir -p "$out"

check() { # tool, arguments
    local code begin=$SECONDS
    timeout "${LIMIT_S:-300}" "$pack/quern" "$1" check "${@:2}" --backend "$backend" >"$out/$1.txt" 2>"$out/$1.log"
    code=$?
    [ $code -eq 0 ] || status=1
    printf '%-8s exit %d  %3d s  %6d lines  %s\n' "$1" $code $((SECONDS - begin)) \
        "$(wc -l <"$out/$1.txt")" "$(grep -E 'result|findings' "$out/$1.log" "$out/$1.txt" -h | tail -n 1)"
}

"$pack/quern" version
check les all --golden "$data/les" --precision f32,f64
check fit --golden "$data/fit" --verbose
check arc --cases "$data/arc/dsl_cases.json,$data/arc/batt_cases.json"
check solweig --golden "$data/solweig"
exit $status
