#!/usr/bin/env bash
# check_layers.sh [ROOT] - the tree is the architecture, and this script holds it to that.
#
# 1. src: a file includes its own folder or one after it in cli, lab, domain, engine, hal, kernel,
#    util; besides that <quern/...> and the system.
# 2. Kernel texts (src/kernel/*.c but the expander) include dialect.h and headers of parameter
#    structs, nothing else: three compilers read them.
# 3. Public headers include only <quern/...> and the system.
# 4. No source file is longer than 800 lines.
#
# Prints file:line: what is wrong; exit 1 when anything is.
set -euo pipefail

root=${1:-$(dirname "$0")/..}
cd "$root"

sources() {
    find "$@" -type f \( -name '*.c' -o -name '*.h' \) 2>/dev/null | LC_ALL=C sort
}

layers() {
    local files
    mapfile -t files < <(sources src)
    [ ${#files[@]} -gt 0 ] || return 0
    awk '
        BEGIN {
            n = split("cli lab domain engine hal kernel util", name, " ")
            for (i = 1; i <= n; i++) rank[name[i]] = i
        }
        FNR == 1 {
            split(FILENAME, part, "/")
            own = part[2]
            if (!(own in rank)) {
                printf "%s:1: folder src/%s is in no layer\n", FILENAME, own
                own = ""
            }
        }
        own != "" && /^[ \t]*#[ \t]*include[ \t]*"/ {
            split($0, quoted, "\"")
            file = quoted[2]
            slash = index(file, "/")
            if (slash == 0) next                      # its own folder
            target = substr(file, 1, slash - 1)
            if (target == "..") {
                printf "%s:%d: \"%s\" climbs out of its folder; write it relative to src\n", FILENAME, FNR, file
            } else if (!(target in rank)) {
                printf "%s:%d: \"%s\" is in no layer; public headers are <quern/...>\n", FILENAME, FNR, file
            } else if (rank[target] < rank[own]) {
                printf "%s:%d: %s may not include %s (\"%s\"): %s comes before it\n", \
                       FILENAME, FNR, own, target, file, target
            }
        }' "${files[@]}"
}

kernel_texts() {
    local files
    mapfile -t files < <(sources src/kernel | grep '\.c$' | grep -v '/expand[a-z_]*\.c$')
    [ ${#files[@]} -gt 0 ] || return 0
    awk '
        /^[ \t]*#[ \t]*include/ {
            if ($0 !~ /"[a-z0-9_]+\.h"/ || $0 ~ /"expand[a-z_]*\.h"/)
                printf "%s:%d: a kernel text includes dialect.h and parameter headers only: %s\n", \
                       FILENAME, FNR, $0
        }' "${files[@]}"
}

public_headers() {
    local files
    mapfile -t files < <(sources include)
    [ ${#files[@]} -gt 0 ] || return 0
    awk '/^[ \t]*#[ \t]*include[ \t]*"/ {
            printf "%s:%d: a public header includes <quern/...> and the system only: %s\n", FILENAME, FNR, $0
        }' "${files[@]}"
}

lengths() {
    local files
    mapfile -t files < <(sources src include tests tools bench examples)
    [ ${#files[@]} -gt 0 ] || return 0
    awk 'FNR == 801 { printf "%s:801: longer than 800 lines; look for the seam\n", FILENAME }' \
        "${files[@]}"
}

found=$(layers; kernel_texts; public_headers; lengths)
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    printf 'check_layers: %d problems\n' "$(printf '%s\n' "$found" | wc -l)" >&2
    exit 1
fi
