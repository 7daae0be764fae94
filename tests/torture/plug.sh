#!/usr/bin/env bash
# plug.sh QUERN PLUG.so TOOL [SAMPLES [WAY...]] - interrupts runs of TOOL: solweig, les, or tools, which
# is all others that write files. Runs are interrupted at every call that changes their folder, or at
# SAMPLES of them for each case and way; plug.c has the ways. Three more: `moment` kills runs at SAMPLES
# random moments; `power` cuts the power of a real disk then, which is an image behind a loop device
# and needs root; `files` lets runs open few files. Then they are resumed, or repeated where the tool
# cannot resume. In the way `stop` a second run is started in the same folder meanwhile.
#
# Files that have their names must be complete after the interruption, and an error must say what has
# happened. At the end the files must equal those of an uninterrupted run, byte for byte, with no
# others beside them. A run that ends with 0 in spite of everything must have them too.
set -uo pipefail
export LC_ALL=C

usage="usage: $0 QUERN PLUG.so TOOL [SAMPLES [WAY...]]"
command=$(realpath "${1:?$usage}")
plug=$(realpath "${2:?$usage}")
tool=${3:?$usage} samples=${4:-1000000}
ways="${*:5}"
[ -n "$ways" ] || ways='kill cut names full eio stop'
memory=/dev/shm # the disk that is tested is plug.c's; this one may be fast
[ -w $memory ] || memory=/tmp
top=$(mktemp -d "${TMPDIR:-$memory}/quern-plug.XXXXXX")
disks=$top
trap 'drop_disks; rm -rf "$top" "$disks"' EXIT
cd "$top" || exit 1
export QUERN_CHECKPOINT_S=0 OMP_NUM_THREADS=1 QUERN_CACHE_DIR=$top/cache

for fd in $(ls /proc/$$/fd); do # only 0 to 2 and the script's own: `files` counts
    [ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-"
done

how= # to run the command: exec, or seconds until it is killed
quern() {
    case $how in
    '') "$command" "$@" ;;
    exec) exec "$command" "$@" ;;
    *)
        "$command" "$@" &
        sleep "$how"
        kill -KILL $!
        wait $! ;;
    esac
}

# Disks. With --direct-io the image has the state of the disk.

make_disks() {
    disks=$(mktemp -d "${TMPDIR:-/tmp}/quern-disks.XXXXXX")
    truncate -s 32M "$disks/empty" && mkfs.ext4 -q -F "$disks/empty" && mkdir "$disks/at" &&
        mount_image "$disks/empty" "$disks/at" && rmdir "$disks/at/lost+found" && unmount "$disks/at"
}

mount_image() {
    local loop

    loop=$(flock "$disks" losetup -f --show --direct-io=on "$1") && mount "$loop" "$2"
}

unmount() {
    local loop

    loop=$(findmnt -no SOURCE "$1") && umount "$1" && losetup -d "$loop"
}

drop_disks() {
    local at

    for at in "$top"/share*/work "$disks"/at; do ! mountpoint -q "$at" || unmount "$at"; done
}

# Tools: the input of their cases, the cases, and one run of a case into a folder.

place=(--lat 57.7 --lon 12 --utc 1)

make_city() {
    quern make town --size 48 --relief 12 --out city >make.log || exit 1
    city=(--dsm "$top"/city/dsm.npy --cdsm "$top"/city/cdsm.npy --backend cpu --quiet --progress off)
}

prepare_solweig() {
    local hour="2006 207 %d 0 0 0 0 0 0 2 60 %d -999 0 %d 0 0 0 0 0 0 -999 -999 0\n"

    make_city
    printf "$hour" 6 18 190 13 27 800 20 22 60 >day.txt
    printf 'name,row,col\nyard,20,30\n' >pois.csv
    quern solweig svf "${city[@]}" --patches 145 --out view >make.log || exit 1
}

cases_solweig='one one-maps tiles tiles-maps tiles-svf one-npy tiles-npy'

run_solweig() {
    local options=(--outputs tmrt) gdal=${QUERN_GDAL_LIB:-}

    case $1 in
    *-maps) options=(--outputs tmrt,utci,shadow --maps 13 --pois "$top"/pois.csv) ;;&
    *-svf) options+=(--svf "$top"/view) ;;&
    *-npy) gdal=/nonexistent ;;&
    tiles*) options+=(--tile 20) ;;
    esac
    shift
    QUERN_GDAL_LIB=$gdal quern solweig run "${city[@]}" --weather "$top"/day.txt "${place[@]}" --patches 145 \
        "${options[@]}" "$@"
}

prepare_les() { :; }

cases_les='plain pair'

run_les() {
    local options=(--observer snapshots) threads=1

    [ "$1" = plain ] || options+=(--ensemble 2 --precision f64)
    shift
    [[ " $* " != *' --resume '* ]] || threads=2
    OMP_NUM_THREADS=$threads quern les run --n 16 --k-cut 3 --k-mid 5 --pairs 4 --steps 40 --stride 10 \
        --hash-every 10 --checkpoint-every 10 --backend cpu --quiet --progress off "${options[@]}" "$@"
}

prepare_tools() {
    make_city
    quern fit new mesh >ball.fit || exit 1
    echo '{"train":[{"input":[[1,2]],"output":[[2,1]]}],"test":[]}' >turn.json
    printf 'def solve_turn(I):\n    O = vmirror(I)\n    return O\n' >solvers.py
    printf 'id,op,n,seed,arg\n1,vadd,2000,7,\n2,merkle,64,9,\n' >batch.csv
    quern tasks run batch.csv --backend cpu --metrics metrics/metrics.json >make.log 2>&1 || exit 1
}

cases_tools='svf shadow fit arc tasks scan report'

# Given as CASE --out FOLDER [--resume].
run_tools() {
    LD_PRELOAD='' mkdir -p "$3"
    case $1 in
    svf) quern solweig svf "${city[@]}" --out "$3" ;;
    shadow) quern solweig shadow "${city[@]}" --azimuth 135 --altitude 30 -o "$3"/morning.tif ;;
    fit) quern fit run "$top"/ball.fit --backend cpu --out "$3" --picture "$3"/ball.png --stats "$3"/stats.json ;;
    arc) quern arc run "$top"/solvers.py --tasks "$top"/turn.json --backend cpu -o "$3"/results.jsonl \
        --trace "$3"/trace --digest "$3"/digest ;;
    tasks) quern tasks run "$top"/batch.csv --backend cpu -o "$3"/batch.csv ;;
    scan) quern scan --op vadd --sizes 1000 --backends cpu --samples 5 --warmup 1 -o "$3"/report ;;
    report) quern report "$top"/metrics -o "$3"/report.html ;;
    esac
}

# Comparing: a line for each file, with its checksum unless it tells times of the run.

listing() {
    (
        cd "$1" && find . -type f | sort | while read -r file; do
            case $file in
            */run.journal | */run_metadata.json | */report.* | */stats.json | *_metrics.json)
                [ -s "$file" ] && sum=- || sum=empty ;;
            */batch.csv) sum=$(cut -d, -f1-8 "$file" | sha256sum) ;; # the last one is a time
            *) sum=$(sha256sum <"$file") ;;
            esac
            printf '%s %s\n' "${file/les_2*Z_/les_}" "$sum"
        done
    )
}

# Trials. Each has a folder of its own, with the run's folder `o` in `work`.

# interrupted WAY N COMMAND...: runs it; returns its exit code. `moment` is in thousandths of the run's duration.
interrupted() {
    local way=$1 n=$2

    shift 2
    export OMP_NUM_THREADS=$((1 + n % 3))
    case $way in
    moment) (how=$((us * n / 1000))e-6; "$@") >../log 2>&1; return ;;
    power)
        (how=exec; "$@") >../log 2>&1 &
        {
            sleep $((us * n / 2000))e-6
            [ $((n % 3)) != 0 ] || { kill -STOP $!; sync -f .; kill -CONT $!; }
            sleep $((us * n / 2000))e-6
            kill -STOP $!
            [ $((n % 3)) != 1 ] || { touch other && sync other; } # names reach the disk, content does not
            cp --sparse=always "$image" "$image.cut"
            kill -KILL $!
            wait $!
        } 2>/dev/null
        return ;;
    files) (ulimit -n "$n"; how=exec; "$@") >../log 2>&1; return ;;
    esac
    rm -rf ../shadow
    mkdir ../shadow
    PLUG_DIR=$PWD PLUG_SHADOW=$PWD/../shadow PLUG_MODE=$way PLUG_AT=$n LD_PRELOAD=$plug \
        "$@" >../log 2>&1
}

# The state of the disk after `way`.
cut_power() {
    case $1 in
    cut | names)
        cp -rL ../shadow/root ../disk && cd .. && rm -rf work && mv disk work && cd work || exit 1 ;;
    power)
        cd .. && unmount work && mv "$image.cut" "$image" && mount_image "$image" work && cd work || exit 1 ;;
    esac
}

bad() {
    echo "plug: $tool $case, $way at $n, resumed as $folder: $*"
    sed 's/^/    /' ../log
    echo bad >>"$top/failed"
}

# One of five ways to say where the run's folder is; the last one moves it.
spelling() {
    case $(($1 % 5)) in
    0) folder=o ;;
    1) folder=./o ;;
    2) folder=o/ ;;
    3) folder=$PWD/o ;;
    4)
        folder=p
        [ ! -d o ] || mv o p ;;
    esac
}

# check_end CODE: an interrupted run ends by the signal, or with an error that says why.
check_end() {
    case $way,$1 in
    moment,137 | power,137 | kill,137 | cut,137 | names,137) ;;
    full,[1-6]) grep -q 'No space left on device' ../log || bad "the message does not say what happened" ;;
    eio,[1-6]) grep -q 'Input/output error' ../log || bad "the message does not say what happened" ;;
    files,[1-6] | files,127) grep -q 'Too many open files' ../log || bad "the message does not say what happened" ;;
    *) bad "exit code $1" ;;
    esac
}

# Files that have their names are complete.
check_whole() {
    [ -d o ] || return 0
    ! listing o | grep -Ev 'run\.journal|run\.unfinished/|\.partial' | grep -vxFf "$top/$case.list" >../log ||
        bad "a file is there that is not whole"
}

# begin_work, end_work: an empty folder for a trial.
begin_work() {
    image=$disks/$(basename "$PWD")
    rm -rf work disk
    mkdir work
    [ "$1" != power ] || { cp --sparse=always "$disks/empty" "$image" && mount_image "$image" work || exit 1; }
    cd work || exit 1
}

end_work() {
    cd ..
    ! mountpoint -q work || unmount work
}

trial() {
    local case=$1 way=$2 n=$3 folder=o code=0 image

    begin_work "$way"
    interrupted "$way" "$n" "run_$tool" "$case" --out o || code=$?
    [ $code,$way != 0,power ] || cut_power power
    if [ $code = 0 ]; then # the run has fewer calls, or this one did not matter
        listing o | grep -v run.unfinished/ | cmp -s - "$top/$case.list" || bad "ended with 0, but files differ"
        [ -d o/run.unfinished ] || { end_work; return; } # which could not be removed; the next run does it
    fi
    if [ $code != 0 ]; then
        echo "$way" >>../interrupted
        check_end $code
        cut_power "$way"
    fi
    check_whole
    spelling "$n"
    if [ $((n % 2)) = 1 ]; then # and once more, on the way
        code=0
        interrupted "$way" $((n % 37 + 1)) "run_$tool" "$case" --out "$folder" --resume || code=$?
        [ $code = 0 ] || check_end $code
        [ $code = 0 ] || cut_power "$way"
    fi
    export OMP_NUM_THREADS=$((1 + (n + 1) % 3))
    if ! "run_$tool" "$case" --out "$folder" --resume >../log 2>&1; then
        bad "the run cannot be resumed"
    elif ! listing "$folder" | diff "$top/$case.list" - >../log; then
        bad "files differ from those of an uninterrupted run"
    fi
    end_work
}

# Another run begins in the folder while the first one stands still.
trial_of_two() {
    local case=$1 way=stop n=$2 folder=o first code=0 second=0 refusal

    rm -rf work
    mkdir work
    cd work || exit 1
    (how=exec; PLUG_DIR=$PWD PLUG_MODE=stop PLUG_AT=$n LD_PRELOAD=$plug "run_$tool" "$case" --out o) >../log 2>&1 &
    first=$!
    until grep -q '^State:.[TZ]' /proc/$first/status; do sleep 0.01; done 2>/dev/null
    "run_$tool" "$case" --out o >../second 2>&1 || second=$?
    refusal="another run, process $first, is writing|another process is writing"
    grep -q owner o/run.journal 2>/dev/null || refusal+='|another run is writing' # it is about to say who
    kill -CONT $first 2>/dev/null
    wait $first || code=$?
    echo stop >>../interrupted
    [ $code = 0 ] || bad "exit code $code of the first"
    cp ../second ../log
    [ $second = 0 ] || { [ $second = 1 ] && grep -Eq "$refusal" ../log; } ||
        bad "exit code $second of the second, while process $first runs"
    listing o | diff "$top/$case.list" - >../log || bad "files differ from those of one run"
    cd ..
}

# Calls of the whole run, as plug.so counts them, and how long it takes.
measure() {
    local start image

    begin_work plain
    PLUG_DIR=$PWD PLUG_COUNT=$top/calls LD_PRELOAD=$plug "run_$tool" "$1" --out o >../log 2>&1 ||
        { cat ../log; echo "plug: $tool $1 fails"; exit 1; }
    listing o >"../$1.list"
    end_work
    calls=$(cat calls)
    case $ways in
    *power*) begin_work power ;;
    *) begin_work plain ;;
    esac
    start=${EPOCHREALTIME/./}
    "run_$tool" "$1" --out o >../log 2>&1
    us=$((${EPOCHREALTIME/./} - start))
    end_work
}

# Every `of`th trial of a case.
share() {
    local case=$1 first=$2 of=$3 i=0 way n list
    local step=$((calls > samples ? calls / samples : 1))

    mkdir -p "share$first"
    cd "share$first" || exit 1
    for way in $ways; do
        case $way in
        moment | power) list=$(for ((n = 0; n < samples; n++)); do echo $((RANDOM % 1000)); done) ;;
        files) list=$(seq 4 $((samples < 36 ? 36 / samples : 1)) 40) ;;
        *) list=$(seq $((1 + i % step)) $step "$calls") ;;
        esac
        for n in $list; do
            [ $((i++ % of)) = "$first" ] || continue
            case $way in
            stop) trial_of_two "$case" "$n" ;;
            *) trial "$case" "$way" "$n" ;;
            esac
        done
    done
}

case $ways in
*power*) make_disks || { echo "plug: skipped: no disks in images"; exit 77; } ;;
esac
"prepare_$tool"
: >failed
cases=cases_$tool
jobs=$(nproc)
for case in ${!cases}; do
    measure "$case"
    [ "$calls" -gt 4 ] || { echo "plug: only $calls calls of $tool $case were seen"; exit 1; }
    for ((job = 0; job < jobs; job++)); do
        share "$case" "$job" "$jobs" &
    done
    wait
    echo "plug: $tool $case: up to $samples of $calls calls, interrupted and resumed:" \
        "$(cat share*/interrupted 2>/dev/null | sort | uniq -c | tr -s ' \n' ' ')"
    rm -f share*/interrupted
done
if [ -s failed ]; then
    echo "plug: $(wc -l <failed) findings"
    exit 1
fi
