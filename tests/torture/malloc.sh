#!/usr/bin/env bash
# malloc.sh QUERN MALLOC.so [SAMPLES [CASE...]] - makes allocations of every command fail, one per run:
# for every chain of callers the first and the last one, or SAMPLES of them. A run must end with 5 and leave
# no file half-written, or with 0 and the output of a run in which nothing failed. Runs on the simulated
# device have faults of the device as well, at every place that QUERN_FAULT knows.
# test: long, cost 40
set -uo pipefail
export LC_ALL=C

quern=$(realpath "${1:?usage: $0 QUERN MALLOC.so [SAMPLES [CASE...]]}")
shim=$(realpath "$2")
samples=${3:-1000000}
shift 2
[ $# = 0 ] || shift
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # runs bring their files to the disk, thousands of times
top=$(mktemp -d "${TMPDIR:-/tmp}/quern-malloc.XXXXXX")
trap 'rm -rf "$top"' EXIT
cd "$top" || exit 1
export OCL_ICD_VENDORS=/nonexistent OMP_NUM_THREADS=1 QUERN_CACHE_DIR=$top/cache QUERN_THREADS=1
export in=$top/in

# Input of the cases.
prepare() {
    local hour="2006 207 %d 0 0 0 0 0 0 2 60 %d -999 0 %d 0 0 0 0 0 0 -999 -999 0\n" name

    mkdir in && cd in || exit 1
    quern make town --size 32 --relief 8 --out city
    printf "$hour" 6 18 190 13 27 800 >day.txt
    printf 'name,row,col\nyard,20,30\n' >pois.csv
    printf 'id,op,n,seed,arg\n1,vadd,20000,7,\n2,merkle,1024,9,\n' >batch.csv
    printf 'id,op,n,seed,arg\n1,saxpy,5000,3,2\n2,sum,9000,4,\n' >few.csv
    seq 3000 >numbers.txt
    quern make programs --programs 4 --grids 2 --out made
    echo '{"train":[{"input":[[1,2]],"output":[[2,1]]}],"test":[]}' >turn.json
    printf 'def solve_turn(I):\n    O = vmirror(I)\n    return O\n' >turn.py
    printf '%s\n' '{"format":"quern-arc-cases-1","cases":[{"op":"add","args":[1,2],"out":3}]}' >cases.json
    for name in mesh sketch nist bal; do
        "$quern" fit new $name >$name.fit || exit 1
    done
    quern scan --backends cpu,cpu1 --sizes 1000,10000 --samples 5 -o a
    quern tasks run --scenario Uniform-32k --backend cpu --metrics first/metrics.json
    quern $flow --backend cpu --out flow
    quern solweig run $city --backend cpu --out hot
    cd ..
}

quern() {
    "$quern" "$@" >>"$top/prepare.log" 2>&1 || { cat "$top/prepare.log"; exit 1; }
}

city="--dsm $in/city/dsm.npy --cdsm $in/city/cdsm.npy --weather $in/day.txt --lat 57.7 --lon 12 --utc 1 --patches 145"
flow='les run --n 16 --steps 20 --stride 10 --k-cut 3 --k-mid 6 --pairs 8 --observer snapshots'

# NAME  COMMAND. A case whose name ends with -sim has faults of the device, too.
cases() {
    cat <<'END'
devices         devices -v
devices-json    devices --json --backend sim
version         version --verbose
completion      completion bash
man             man --out man
cache-stat      cache stat
cache-list      cache list
cache-clear     cache clear
make-town       make town --size 24 --relief 5 --out city
make-mesh       make mesh icosphere 2 ball.obj --picture ball.png
make-programs   make programs --programs 3 --grids 2 --out made
tasks-run       tasks run $in/batch.csv -o result.csv --backend cpu --metrics metrics.json --memory-map map.md
tasks-sim       tasks run $in/few.csv -o result.csv --backend sim --verify-sample 100
tasks-many      tasks run --scenario Mixed-Adjacent-Buckets --devices sim,cpu --metrics metrics.prom
tasks-pipe-sim  tasks pipe --tasks 4 --rounds 1 --csv pipe.csv --backend sim
tasks-hash-sim  tasks hash $in/numbers.txt --chunk 1024 --backend sim
tasks-bench     tasks bench --scenario Uniform-32k --samples 5 --csv b.csv --md b.md --backend cpu
scan            scan --op vadd --sizes 1000,10000 --samples 5 --backends cpu,cpu1 -o first
compare         compare $in/a.csv $in/a.csv -o ab
compare-runs    compare $in/hot $in/hot
calibrate       calibrate --quick --backend cpu
route-show      route show vadd --backend cpu
route-eval      route eval --scenario Uniform-32k --samples 5 --warmup 5 --backend cpu
bench-ops       bench ops --backend cpu --op vadd --sizes 1000 --samples 3
bench-graph     bench graph --backend cpu --stages 5 --samples 5 -o b.json
bench-pool      bench pool --backend cpu --samples 5
bench-kernels   bench kernels --backend cpu --modules vector
bench-fft       bench fft --backend cpu --sizes 64 --batch 1 --precision f32 --samples 5
selftest        selftest --backend cpu
report          report $in/first $in/hot $in/flow -o all.html
svf             solweig svf --dsm $in/city/dsm.npy --cdsm $in/city/cdsm.npy --out view --backend cpu
shadow          solweig shadow --dsm $in/city/dsm.npy --azimuth 135 --altitude 30 -o m.png --backend cpu
shadow-npy      solweig shadow --dsm $in/city/dsm.npy --at 2006-07-26T11:30Z --lat 57.7 --lon 12 -o j.npy --backend cpu
walls           solweig walls --dsm $in/city/dsm.npy --out walls --backend cpu
solweig         solweig run $city --backend cpu --outputs tmrt,utci,shadow --maps 13 --pois $in/pois.csv --out hot
solweig-tiles   solweig run $city --backend cpu --tile 16 --out hot
solweig-sim     solweig run $city --backend sim --out hot
solweig-bench   solweig bench --size 32 --relief 8 --steps 1 --samples 1 --backend cpu
solweig-check   solweig check --list
les             $flow --out flow --backend cpu --metrics metrics.json
les-pair        $flow --ensemble 2 --precision f64 --checkpoint-every 10 --out flow --backend cpu
les-again       $flow --kernel-only $in/flow --out again --backend cpu
les-sim         $flow --out flow --backend sim
les-check       les check V9 --backend cpu
les-bench       les bench --sizes 16 --samples 3 --backend cpu --out figures
arc             arc run $in/made/solvers.py --tasks $in/made/tasks --match all --backend cpu -o r.json
arc-sim         arc run $in/turn.py --tasks $in/turn.json --check --backend sim
arc-check       arc check --cases $in/cases.json --backend cpu
arc-dis         arc dis $in/turn.py
arc-ops         arc ops
arc-show        arc show $in/turn.json -o turn.png
arc-bench       arc bench $in/turn.py --tasks $in/turn.json --samples 1 --backend cpu
arc-serve       arc serve --backend cpu <$in/lines
fit-mesh        fit run $in/mesh.fit --out films --picture f.png --report f.html --backend cpu
fit-nist        fit run $in/nist.fit --report c.html --backend cpu
fit-sim         fit run $in/sketch.fit --out s --backend sim
fit-check       fit check $in/mesh.fit
fit-emit        fit emit $in/sketch.fit --target cuda --kernel grad
fit-grad        fit grad $in/bal.fit --backend cpu
fit-new         fit new mesh
fit-bench       fit bench B1 --n 100 --backend cpu
END
}

# Trials. Each runs in the folder `work`; its output goes to `out` beside it.

# trial_run COMMAND: runs it with settings in the environment; returns its exit code.
trial_run() {
    rm -rf work
    mkdir work
    (cd work && export LD_PRELOAD=$shim && eval "exec \$quern --quiet --progress off $1" >../out 2>../log </dev/null)
}

# NAME SUM of the output and of each file. `classes` says which files, or which numbers of a file, are ignored:
# measurements differ each time, and metrics report the failure.
state() {
    {
        echo out
        find work -type f ! -path '*.unfinished/*' ! -name '*.partial*' | sort
    } | while read -r file; do
        name=$(sed -E 's/_2[0-9]*T[0-9]*Z//g' <<<"$file")
        class=${classes[$name]:-exact}
        case $name,$case in
        *metrics.json,* | */metrics.*,* | */map.md,* | */run.journal,* | */run_metadata.json,* | */report.*,*) class=any ;;
        *.png,* | *.qnc,*) class=any ;; # libpng does without some filters; checkpoints have times
        */result.csv,*) class=times ;;
        *,tasks-pipe-sim | out,tasks-many) class=any ;; # what takes how long, and who does it
        esac
        case $case in
        scan | calibrate | route-* | *bench*) [ "$class" = exact ] || class=any ;;
        esac
        # If a run reports what it did without, its results may say so too. tests/unit/tools compares values.
        [ $class = times ] || ! grep -Eqi 'CPU fallback|out of (host )?memory|no memory|cannot allocate' log out || class=any
        case $class in
        exact) sum=$(LC_ALL=C sed -E 's/2[0-9]{7}T[0-9]{6}Z//g' "$file" | sha256sum) ;;
        masked) sum=$(sed -E 's/[0-9][-+.0-9a-f]*( |[kMGT])*/N/g' "$file" | sha256sum) ;;
        times) sum=$(cut -d, -f1-3,8 "$file" | sha256sum) ;;
        any) [ -s "$file" ] || [ "$file" = out ] && sum=any || sum=empty ;;
        esac
        echo "$name $class ${sum%% *}"
    done
}

# Fills `classes` by running a case until nothing differs between runs.
classify() {
    local round name

    for ((round = 0; round < (samples < 100 ? 3 : 6); round++)); do
        MALLOC_AT=-1 trial_run "$1" || { cat log; echo "malloc: $case fails without any fault"; exit 1; }
        state >now
        if [ $round -gt 0 ]; then
            while read -r name; do
                case ${classes[$name]:-exact} in
                exact) classes[$name]=masked ;;
                masked) classes[$name]=any ;;
                esac
            done < <(diff right now | awk '/^[<>]/ { print $2 }' | sort -u)
            state >now
        fi
        mv now right
    done
}

bad() {
    {
        echo "malloc: $case, $way $n: $*"
        sed 's/^/    /' log | tail -5
        [ ! -s trace ] || addr2line -fpse "$quern" $(cat trace) 2>/dev/null | head -8 | sed 's/^/      /'
    } | tee -a "$top/failed.log"
    echo bad >>"$top/failed"
}

# Whether a run with a failure ended in an allowed way.
judge() {
    local code=$1 differing

    state >now
    case $way,$code in
    *,0)
        differing=$(grep -vxFf right now | grep -v ' any any$')
        { [ -z "$differing" ] && [ "$(wc -l <right)" = "$(wc -l <now)" ]; } ||
            bad "ended with 0, but gave something else: $(head -3 <<<"$differing" | tr '\n' ' ')" ;;
    malloc,5 | [!m]*,[1356])
        differing=$(grep -vxFf right now | grep -v '^out \| any any$')
        [ -z "$differing" ] || bad "left a file that is not whole: $(head -3 <<<"$differing" | tr '\n' ' ')" ;;
    *,4) [[ $case = selftest || $case = *-check ]] || bad "exit code $code" ;; # a check says that it failed
    *,142) bad "did not end" ;;
    *) bad "exit code $code" ;;
    esac
}

trial() {
    local code=0

    : >trace
    case $way in
    malloc) MALLOC_AT=$n MALLOC_TRACE=$PWD/trace trial_run "$1" || code=$? ;;
    *) MALLOC_AT=-1 QUERN_FAULT="$way@$n*1" trial_run "$1" || code=$? ;;
    esac
    judge $code
    [ $way = malloc ] || grep -Eq 'CPU fallback|injected' log || [ $n -lt 3 ]
}

# All trials of a case.
run_case() {
    local case=$1 command=$2 way=none n numbers step
    local -A classes=()

    mkdir "case-$case" && cd "case-$case" || exit 1
    classify "$command"
    way=malloc
    MALLOC_COUNT=$PWD/count trial_run "$command"
    numbers=$(tail -n +2 count | tr ' ' '\n' | sort -nu)
    step=$(($(wc -l <<<"$numbers") / samples + 1))
    for n in $(awk -v step=$step 'NR % step == step - 1 || step == 1' <<<"$numbers"); do
        trial "$command"
    done
    echo "malloc: $case: $(wc -l <<<"$numbers") of $(head -1 count) allocations, every ${step}th"
    case $case in
    *-sim)
        for way in compile alloc launch copy_h2d copy_d2h timeout device_lost; do
            n=1
            while [ $n -le 400 ] && trial "$command"; do
                n=$((n + 1 + n / (samples < 100 ? 1 : 10)))
            done
        done ;;
    esac
    cd .. && rm -rf "case-$case"
}

(prepare) || exit 1
printf '%s\n' '{"id":1,"programs":"def solve_a(I):\n    return vmirror(I)\n"}' '{"stats":true}' >in/lines
: >failed
jobs=$(nproc)
while read -r name command; do
    [ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
    run_case "$name" "$command" &
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
done < <(cases)
wait
if [ -s failed ]; then
    echo "malloc: $(wc -l <failed) findings"
    exit 1
fi
