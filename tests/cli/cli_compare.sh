#!/usr/bin/env bash
# cli_compare.sh - joins of scans: ratios, ties, gaps, any number of scans and hosts.
. "$(dirname "$0")/lib.sh"

well_formed() { ! command -v xmllint >/dev/null || xmllint --noout "$1" || fail "$1 is not well-formed"; }

header=op,size,residency,backend,device,samples,median_us,p90_us,min_us,max_us,mean_us,stddev_us,first_us,bytes_h2d,bytes_d2h,verified

# scan FILE HOST ROW...: each row is op,size,residency,backend,device,median
scan() {
    local file=$1 host=$2 row
    shift 2
    {
        printf '# quern-scan 1\n# version 0.1.0\n# date 2026-01-31T12:00:00Z\n# host %s\n%s\n' "$host" $header
        for row; do
            printf '%s,10,%s,%s,%s,%s,%s,0.1,900,0,0,1\n' "${row%,*}" "${row##*,}"{,,,,}
        done
    } >"$file"
}

# Ratios 2.0, 0.95, 1.05, 0.949, 0.5; A lacks 64, B lacks 16 and the device.
scan a.csv 'AMD EPYC 7543' vadd,{1,2,4,8,16,32},cold,cpu,cpu:0,100 vadd,1,cold,cuda,cuda:0,7
scan b.csv 'AMD EPYC 7543' vadd,1,cold,cpu,cpu:0,200 vadd,2,cold,cpu,cpu:0,95 \
    vadd,4,cold,cpu,cpu:0,105 vadd,8,cold,cpu,cpu:0,94.9 vadd,32,cold,cpu,cpu:0,50 \
    vadd,64,cold,cpu,cpu:0,1
exits 0 quern compare a.csv b.csv -o made/ab
has "$out" '^A = a, B = b$'
has "$out" '^vadd +cold +cpu +5 +1 +2 +2 +8 +64 +16$'
has "$out" '^vadd +cold +cuda +0 +0 +0 +0 +none +- +1$'
has made/ab.md '\| +1 \| \*\*100 µs\*\* \| +200 µs \| 2\.000 \| A +\|$'
has made/ab.md '\| +2 \| .*\| 0\.950 \| tie +\|$'
has made/ab.md '\| +4 \| .*\| 1\.050 \| tie +\|$'
has made/ab.md '\| +8 \| .*\| 0\.949 \| B +\|$'
has made/ab.md '\| +32 \| .*\| 0\.500 \| B +\|$'
# Rows missing in one of them are in no table of pairs.
awk '/^\|.* B \/ A / { on = 1 } /^$/ { on = 0 } on' made/ab.md >"$out"
lacks "$out" '\| +(16|64) \|'
lines "$out" 7

# Three scans of two hosts.
scan c.csv 'Neoverse N1' vadd,{1,2,4},cold,cpu,cpu:0,80 vadd,{1,2,4},resident,cuda,cuda:3,3 \
    'sum,9,cold,cpu,cpu:0,5'
exits 0 quern compare a.csv b.csv c.csv -o abc
has "$out" '^A = a, B = b$'
has "$out" '^A = a, B = c$'
has "$out" '^sum +cold +cpu +0 .* 9 +-$'
well_formed abc.html
lacks abc.html '<script|<link|src=|href=|url\(|@import|https?://'
has abc.html '3 scans of 2 hosts'
# One panel per host in the chart of (vadd, cold), one in charts of a single host.
[ "$(grep -c '<figcaption>AMD EPYC 7543</figcaption>' abc.html)" -eq 1 ] || fail "panels of the first host"
[ "$(grep -c '<figcaption>Neoverse N1</figcaption>' abc.html)" -eq 3 ] || fail "panels of the second host"
for series in 'a: CPU' 'b: CPU' 'a: cuda:0' 'c: CPU' 'c: cuda:3'; do
    has abc.html ">$series<"
done
has abc.md '^## All scans$'
has abc.md '^\| vadd +\| cold +\| cpu +\| +16 \| +100 µs \| +- \| +- \|$'
has abc.md '^\| vadd +\| cold +\| cpu +\| +64 \| +- \| +1 µs \| +- \|$'

# Two files with the same name stay separate.
mkdir other
cp b.csv other/a.csv
exits 0 quern compare a.csv other/a.csv -o twins
has "$out" '^A = a, B = a \(2\)$'

# Names and hosts are text, not markup.
scan 'x<y>&".csv' '<b>&"' vadd,1,cold,cpu,cpu:0,1
exits 0 quern compare a.csv 'x<y>&".csv' -o marked
well_formed marked.html

# A real scan compared with itself: all ties.
exits 0 quern scan --progress off -q --sizes 100,1000 --samples 5 --backends cpu,cpu1 -o real
exits 0 quern compare real.csv real.csv -o same
has "$out" '^vadd +resident +cpu1 +2 +0 +0 +2 +none +- +-$'

# Refused.
refused 2 'A.csv B.csv...\|A B is missing$' quern compare a.csv
refused 6 'cannot open no.csv: ' quern compare a.csv no.csv
refused 6 'cannot read other: it is a folder$' quern compare a.csv other
echo 'op,size' >bad.csv
refused 6 'bad.csv: no line "# quern-scan 1"; this is not a scan$' quern compare a.csv bad.csv
sed 's/,100,/,fast,/' a.csv >bad.csv
refused 6 'bad.csv:6: median_us "fast" is not a number' quern compare a.csv bad.csv
refused 1 'cannot ' quern compare a.csv b.csv -o /dev/null/x
