#!/usr/bin/env bash
# check_layers.sh [ROOT] - checks that the tree follows the architecture.
#
# 1. src: a file includes its own folder or one after it in cli, lab, domain, engine, hal, kernel,
#    util; besides that <quern/...> and the system.
# 2. Kernel texts (src/kernel/*.c but the expander, src/lab/kernel/*.c) include dialect.h and headers of parameter
#    structs, nothing else: three compilers read them.
# 3. Public headers and examples include only <quern/...> and the system; examples/workload/src is
#    part of a tree like this one.
# 4. Every function of a public header is marked QN_API.
# 5. Files outside src/engine include engine/engine.h and no other header of the engine.
# 6. Folders of src do not include each other in a cycle, at any depth.
# 7. No source file is longer than 800 lines.
# 8. Every function that docs/architecture.md names as `file:function` is defined in that file.
#
# Prints file:line: what is wrong; exits with 1 if anything is.
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
    mapfile -t files < <(sources src/kernel src/lab/kernel | grep '\.c$' | grep -v '/expand[a-z_]*\.c$')
    [ ${#files[@]} -gt 0 ] || return 0
    awk '
        /^[ \t]*#[ \t]*include/ {
            if ($0 !~ /"[a-z0-9_]+\.h"/ || $0 ~ /"expand[a-z_]*\.h"/)
                printf "%s:%d: a kernel text includes dialect.h and parameter headers only: %s\n", \
                       FILENAME, FNR, $0
        }' "${files[@]}"
}

public_files() {
    local files
    mapfile -t files < <(sources include examples | grep -v '^examples/workload/src/')
    [ ${#files[@]} -gt 0 ] || return 0
    awk '/^[ \t]*#[ \t]*include[ \t]*"/ {
            printf "%s:%d: includes <quern/...> and the system only: %s\n", FILENAME, FNR, $0
        }' "${files[@]}"
}

# A declaration outside braces and comments that has a parenthesis declares a function.
exported() {
    local files
    mapfile -t files < <(sources include)
    [ ${#files[@]} -gt 0 ] || return 0
    awk '
        FNR == 1 { comment = macro = depth = 0; text = "" }
        {
            line = $0
            if (comment) {
                if (!sub(/^.*\*\//, "", line)) next
                comment = 0
            }
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
            sub(/\/\/.*$/, "", line)
            if (sub(/\/\*.*$/, "", line)) comment = 1
            if (macro || line ~ /^[ \t]*#/) {
                macro = line ~ /\\[ \t]*$/
                next
            }
            if (line ~ /^extern "C" \{/ || (!depth && line ~ /^\}[ \t]*$/)) next
            if (!depth && text == "") start = FNR
            n = length(line)
            for (i = 1; i <= n; i++) {
                c = substr(line, i, 1)
                if (c == "{") depth++
                else if (c == "}") {
                    depth--
                    if (!depth && text ~ /^[ \t]*static /) text = ""
                } else if (!depth && c == ";") {
                    if (text ~ /\(/ && text !~ /^[ \t]*(QN_API|typedef|static) /) {
                        gsub(/[ \t]+/, " ", text)
                        printf "%s:%d: a function without QN_API: %s\n", FILENAME, start, text
                    }
                    text = ""
                    start = FNR
                } else if (!depth) text = text c
            }
            if (text ~ /^[ \t]*$/) text = ""
            else text = text " "
        }' "${files[@]}"
}

engine_door() {
    local files
    mapfile -t files < <(sources src | grep -v '^src/engine/')
    [ ${#files[@]} -gt 0 ] || return 0
    awk '
        /^[ \t]*#[ \t]*include[ \t]*"engine\// {
            split($0, quoted, "\"")
            if (quoted[2] != "engine/engine.h")
                printf "%s:%d: \"%s\" is private to the engine; include engine/engine.h\n", \
                       FILENAME, FNR, quoted[2]
        }' "${files[@]}"
}

cycles() {
    local files
    mapfile -t files < <(sources src)
    [ ${#files[@]} -gt 0 ] || return 0
    awk '
        FNR == 1 {
            own = FILENAME
            sub(/^src\//, "", own)
            sub(/\/[^\/]*$/, "", own)
        }
        /^[ \t]*#[ \t]*include[ \t]*"/ {
            split($0, quoted, "\"")
            target = quoted[2]
            if (!sub(/\/[^\/]*$/, "", target) || target == own) next
            from[++n_edges] = own
            to[n_edges] = target
            where[n_edges] = FILENAME ":" FNR ": \"" quoted[2] "\""
            reach[own, target] = folder[own] = folder[target] = 1
        }
        END {
            for (k in folder)
                for (i in folder)
                    if ((i, k) in reach)
                        for (j in folder)
                            if ((k, j) in reach) reach[i, j] = 1
            for (e = 1; e <= n_edges; e++)
                if ((to[e], from[e]) in reach)
                    printf "%s is part of a cycle: %s and %s include each other\n", where[e], from[e], to[e]
        }' "${files[@]}"
}

lengths() {
    local files
    mapfile -t files < <(sources src include tests tools bench examples)
    [ ${#files[@]} -gt 0 ] || return 0
    awk 'FNR == 801 { printf "%s:801: longer than 800 lines; look for the seam\n", FILENAME }' \
        "${files[@]}"
}

architecture() {
    local page=docs/architecture.md line name file function
    [ -f $page ] || return 0
    while IFS=: read -r line name; do
        file=${name%:*} function=${name##*:}
        grep -qsE "^((MAP|GROUP|TEAM)\(|[a-z].*[ *])$function[(,]" "$file" ||
            echo "$page:$line: $file has no function $function"
    done < <(grep -noE '`src/[^`:]+:[a-z0-9_]+`' $page | tr -d '`')
}

found=$(layers; kernel_texts; public_files; exported; engine_door; cycles; lengths; architecture)
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    printf 'check_layers: %d problems\n' "$(printf '%s\n' "$found" | wc -l)" >&2
    exit 1
fi
printf 'check_layers: ok\n'
