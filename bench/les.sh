#!/usr/bin/env bash
# les.sh [QUERN] [BACKEND] [OUT] - figures of `quern les` on one device: steps by grid, precision and
# ensemble; whole runs beside the CPU; a sweep. Exits with 1 if the device is not faster than the CPU in a
# whole run, or less accurate.
set -euo pipefail

quern=${1:-build/quern}
backend=${2:-cuda}
out=${3:-bench/results}
sizes=${SIZES:-256,512,1024,2048,4096}
whole=${WHOLE_SIZES:-256,512,1024}

"$quern" les bench --backend "$backend" --sizes "$sizes" --precision f32,f64 --out "$out"
"$quern" les bench --backend "$backend" --sizes 256 --ensemble 1,64 --out "$out"
"$quern" les bench --backend cpu --sizes "$whole" --precision f32,f64 --profile quern,origin --out "$out"
"$quern" les bench --backend "$backend" --sizes "$whole" --precision f32,f64 --sweep --out "$out"
"$quern" les bench --backend "$backend" --sizes "$whole" --table --out "$out" | tee /dev/stderr |
    awk '$1 ~ /^[0-9]+$/ && NF >= 11 {
             n++
             if ($7 >= $4) { print "not faster than the flow alone on the CPU at N = " $1 > "/dev/stderr"; bad = 1 }
             if ($10 > 1.05 * $9 + 0.001) { print "less accurate at N = " $1 > "/dev/stderr"; bad = 1 }
         }
         END { exit bad || !n }'
