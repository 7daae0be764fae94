#!/usr/bin/env bash
# cli_report.sh - one page about several runs, refusals, and its look in a browser: wide and narrow, light and
# dark, nothing beyond the edge, every picture there.
# shellcheck disable=SC1091,SC2154  # lib.sh, and what it sets
# test: long
. "$(dirname "$0")/lib.sh"

source_dir=$(cd "$test_dir/../.." && pwd)
quiet=(--backend cpu --progress off -q)

# Small runs of every tool.

mkdir tasks
exits 0 quern tasks run --scenario Uniform-32k --metrics tasks/metrics.json --memory-map tasks/memory.md "${quiet[@]}"
exits 0 quern scan --backends cpu,cpu1 --sizes 100,1000 --samples 5 -o scan/scan --metrics scan/metrics.json \
    --progress off -q
exits 0 quern make town --size 32 --out city
echo 2006 207 13 0 0 0 0 0 0 2 60 26 -999 0 800 0 0 0 0 0 0 -999 -999 0 >noon.txt
exits 0 quern solweig svf --dsm city/dsm.npy --out town/svf --metrics town/svf_metrics.json "${quiet[@]}"
for name in town again; do
    exits 0 quern solweig run --dsm city/dsm.npy --weather noon.txt --lat 57.7 --lon 12 --utc 1 \
        --maps 13 --out $name --metrics $name/metrics.json "${quiet[@]}"
done
if has_fftw; then
    exits 0 quern les run --n 32 --steps 20 --stride 10 --observer snapshots --out flow \
        --metrics flow/metrics.json "${quiet[@]}"
    exits 0 quern les check V9 --metrics flow/check_metrics.json --backend cpu -q
fi
exits 0 quern arc run "$source_dir/examples/arc/solvers.py" --tasks "$source_dir/examples/arc/tasks" --check \
    -o results.jsonl --metrics puzzles/metrics.json "${quiet[@]}"
has "$out" '^solved 18 of 18 pairs, 0 errors$'
exits 0 quern arc show results.jsonl --tasks "$source_dir/examples/arc/tasks" -o puzzles/page.html
quern fit new mesh >film.fit
mkdir film
exits 0 quern fit run film.fit --out film --picture film/film.png --report film/film.html \
    --report film/film.json --metrics film/metrics.json "${quiet[@]}"

# Comparisons of folders.

exits 0 quern compare town/tmrt again/tmrt --named 'the same run again' -o town/agreement
has "$out" '^1024 values in 1 file: 1024 equal$'
mkdir a b
printf 'x,y\n1,2.5\n' >a/t.csv
printf 'x,y\n1,2.4\n' >b/t.csv
exits 4 quern compare a b -o ab
has "$out" '^4 values in 1 file: 3 equal, largest difference 0\.1 \(t\.csv\)$'
has "$err" '^quern compare: t\.csv: a difference of 0\.1, over --within 0$'
exits 0 quern compare a b --within 0.05 --relative -o ab
has ab.json '"limit": 0\.05'
printf 'x,z\n1,2.4\n' >b/t.csv
refused 4 "a/t\.csv:1: 'y' here is 'z' in b/t\.csv$" quern compare a b -o ab
printf 'x,y\n1,2.5\n2,3\n' >b/t.csv
refused 4 "a/t\.csv:3: '' here is '2' in b/t\.csv$" quern compare a b -o ab
: >b/more.csv
refused 4 'b/more\.csv is not in a$' quern compare a b -o ab
mkdir none
refused 6 'none has nothing to compare' quern compare a none -o ab
refused 6 'cannot list gone: ' quern compare a gone -o ab

# The page.

runs=(tasks scan town puzzles film)
! has_fftw || runs+=(flow)
exits 0 quern report "${runs[@]}" -o made/page.html --title 'A <title> & more'
has "$out" '^tasks run +4 tasks +cpu:0 .* a plain computation on the host +all 4 equal$'
has "$out" '^solweig run +1 time step +cpu:0 .* the same run again +all 1024 equal$'
has "$out" '^arc run +18 runs +cpu:0 .* all 18 equal$'
has "$out" '^scan +8 measurements .* all 8 equal$'
has "$out" '^fit run +[0-9]+ iterations +cpu:0 .* not compared$'
! has_fftw || has "$out" '^les run +20 steps .* random numbers and initial fields '
page=made/page.html
! command -v xmllint >/dev/null || xmllint --noout $page || fail "the page is not well-formed"
lacks $page '<script|<link|https?://|url\(|@import'
has $page '<h1>A &lt;title&gt; &amp; more</h1>'
for text in 'Sky view' 'Mean radiant temperature, 13:00' 'Before and after' 'Memory map: where the arrays of quern tasks run lived' \
    'kaleidoscope on kaleidoscope' 'vadd, cold' 'No stage fell back'; do
    has $page "$text"
done
has $page '<span>quern</span> <span>solweig</span> <span>run</span> <span>--dsm</span>'
# A folder of folders is expanded into them; one run needs no metrics.
mkdir all
cp -r tasks puzzles all
exits 0 quern report all -o all.html
has "$out" '^tasks run '
has "$out" '^arc run '
rm -r again/metrics.json
exits 0 quern report again -o again.html
has again.html 'How hot it feels in a town'
# A failed comparison is on the page, and the exit code says so.
mkdir off
cp tasks/metrics.json off
sed 's/"ok": true/"ok": false/' town/agreement.json >off/agreement.json
exits 4 quern report off -o off.html
has "$err" '^quern report: 1 of 2 comparisons do not hold$'
[ -s off.html ] || fail "no page about it"

# Refused.

refused 2 'DIR... is missing$' quern report
refused 6 'cannot list gone: ' quern report gone -o x.html
refused 6 'none has nothing to report: ' quern report none -o x.html
refused 6 'a has nothing to report: ' quern report a -o x.html
mkdir broken
echo '{ "format": "quern-metrics/1", ' >broken/metrics.json
refused 6 'broken/metrics.json' quern report broken -o x.html
lines "$err" 1
rm broken/metrics.json
head -c 500 film/film.png >broken/film.png
refused 6 'broken/film.png is a damaged PNG image: ' quern report broken -o x.html
lines "$err" 1
echo text >broken/film.png
refused 6 'broken/film.png is not a PNG image: ' quern report broken -o x.html
refused 1 'cannot ' quern report tasks -o /dev/null/x.html
[ ! -e x.html ] || fail "a page in spite of an error"

# In a browser.

browser=
for name in chromium chromium-headless-shell google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name || true)
done
[ -n "$browser" ] || { echo 'SKIPPED: no browser (chromium): the page was made, not looked at'; exit 77; }

# frame WIDTH SCHEME: the page in a window of that width.
frame() { printf '<iframe style="width:%spx;height:800px;color-scheme:%s" src="%s"></iframe>\n' "$1" "$2" $page; }
{
    printf '<!DOCTYPE html><html><body>\n'
    for width in 1280 400; do
        frame $width light
        frame $width dark
    done
    cat <<'SCRIPT'
<script>
window.onload = function () {
    const lines = [...document.querySelectorAll('iframe')].map(frame => {
        const page = frame.contentDocument, root = page.scrollingElement;
        const missing = [...page.images].filter(image => !(image.complete && image.naturalWidth > 0));
        const isDark = frame.contentWindow.matchMedia('(prefers-color-scheme: dark)').matches;
        return [frame.contentWindow.innerWidth, isDark ? 'dark' : 'light',
                'over', Math.max(0, root.scrollWidth - root.clientWidth),
                'images', page.images.length, 'missing', missing.length,
                getComputedStyle(page.body).backgroundColor].join(' ');
    });
    document.body.innerHTML = '<pre>\n' + lines.join('\n') + '\n</pre>';
};
</script></body></html>
SCRIPT
} >frames.html
exits 0 timeout 1000 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$scratch/browser" --allow-file-access-from-files --enable-logging=stderr \
    --virtual-time-budget=20000 --dump-dom "file://$PWD/frames.html"
images=$(grep -c '<img ' $page)
for width in 1280 400; do
    has "$out" "(^|>)$width light over 0 images $images missing 0 rgb\(246, 247, 249\)$"
    has "$out" "(^|>)$width dark over 0 images $images missing 0 rgb\(15, 19, 23\)$"
done
lacks "$err" 'CONSOLE'
