#!/bin/bash
# quern-embed: its output for a kernel file in two precisions, and its refusals.
set -eu
embed=${QUERN_BUILD_DIR:-$(dirname "$1")}/quern-embed
root=${QUERN_SOURCE_DIR:-$(dirname "$0")/../..}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "cli_embed: $*" >&2; exit 1; }
has() { grep -qF -- "$2" "$1" || fail "$(basename "$1") lacks: $2"; }
lacks() { ! grep -qF -- "$2" "$1" || fail "$(basename "$1") has: $2"; }
refuses() { # message, arguments of quern-embed
    local want=$1
    shift
    if "$embed" "$@" >"$work/log" 2>&1; then fail "accepted: $*"; fi
    has "$work/log" "$want"
}

mkdir -p "$work/src/kernel" "$work/gen/kernel"
cp "$root/src/kernel/dialect.h" "$root/src/kernel/types.h" "$work/src/kernel/"
cd "$work/src/kernel"
cat >pair.h <<'TEXT'
#ifndef PAIR_H
#define PAIR_H
#include "kernel/types.h"
typedef struct { double step; i32 n, more; } pair_par;
QN_PAR_SIZE(pair_par, 16);
#endif
TEXT
echo 'FN real twice(real x) { return x + x; }' >helper.h
cat >pair.c <<'TEXT'
/* pair.c - a file in two precisions. */
PRECISIONS
#include "dialect.h"
#include "pair.h"
#include "helper.h"
#include "pair.h"

MAP(grow, UNROLL(2), VAL(pair_par, p), VAL(real, by), VAL(i64, k), INOUT(real, x))
{
    x[GI] = twice(x[GI]) * by + (real)(p.step * p.n) + R(k);
}
TEXT
gen=$work/gen/kernel
"$embed" kernel pair.c "$gen/pair.gen.c" "$gen/pair.gen.h"

has "$gen/pair.gen.c" 'const qn_kernel_module qn_module_pair_f32 = {'
has "$gen/pair.gen.c" '.name = "pair_f32", .defines = "REAL=float"'
has "$gen/pair.gen.c" '{ "by", "float", sizeof(real), QN_ARG_VAL },'
has "$gen/pair.gen.c" '.name = "grow_f32", .form = QN_FORM_MAP, .n_args = 4, .folds = 1, .unroll = 2,'
has "$gen/pair_f64.gen.c" '.name = "pair_f64", .defines = "REAL=double"'
has "$gen/pair_f64.gen.c" '.name = "grow_f64", .form = QN_FORM_MAP'
has "$gen/pair.gen.h" 'stage_grow_f64(qn_graph *qn_g, const char *qn_stage, qn_range qn_over, pair_par p, double by, int64_t k, qn_buf *x, qn_err *qn_e)'
# Host code gets the header of parameter structs, not the one of device functions.
has "$gen/pair.gen.h" '#include "kernel/pair.h"'
lacks "$gen/pair.gen.h" 'helper.h'
# The embedded text has each header once and the lines of the file around it. It is compressed.
"$embed" text pair.c >"$work/text"
[ "$(grep -c 'double step' "$work/text")" = 1 ] || fail "pair.h is not inlined once"
has "$work/text" '#line 1 "helper.h"'
has "$work/text" '#line 6 "pair.c"'
lacks "$work/text" '#include'
has "$gen/pair.gen.c" '.packed = { qn_text, sizeof qn_text }'
lacks "$gen/pair.gen.c" 'double step'

"$embed" table "$gen/modules.gen.c" dialect.h pair.c
has "$gen/modules.gen.c" '&qn_module_pair_f64,'

# Both forms, the table and the launchers are C that a program can use.
cat >"$work/use.c" <<'TEXT'
#include "kernel/pair.gen.h"
#include <stdio.h>
int main(void)
{
    double x[3] = { 1, 2, 3 }, by = 3;
    double *data = x;
    int64_t k = 100;
    pair_par p = { .step = 0.5, .n = 4 };
    void *args[] = { &p, &by, &k, &data };
    qn_span span = { 1, 3, 0, 1, 0, 1 };
    qn_kernel_builtin("grow_f64")->cpu(&span, args);
    printf("%g %g %g %d\n", x[0], x[1], x[2], qn_kernel_builtin("grow_f64")->args[0].size);
    return stage_grow_f32 == NULL;
}
qn_status qn_graph_stage(qn_graph *g, const char *n, const qn_kernel_info *k, qn_range r,
                         const qn_arg *a, qn_err *e)
{
    (void)g; (void)n; (void)k; (void)r; (void)a; (void)e;
    return QN_OK;
}
TEXT
${CC:-cc} -std=gnu11 -O1 -fopenmp-simd -I"$root/include" -I"$work/src" -I"$work/gen" -I"$root/src" \
    -o "$work/use" "$work/use.c" "$gen"/*.c -lm
got=$("$work/use")
[ "$got" = "1 114 120 16" ] || fail "the f64 kernel gave: $got"

cp pair.c again.c
refuses 'again.c:8: another file has a kernel grow too' table "$gen/m.c" dialect.h pair.c again.c
echo '/* nothing */' >empty.c
refuses 'empty.c has no kernel' kernel empty.c "$gen/e.gen.c" "$gen/e.gen.h"
printf '\nMAP(a, REF(float, x))\n{\n}\n' >bad.c
refuses "bad.c:2: kernel a: unknown mode 'REF'" kernel bad.c "$gen/b.gen.c" "$gen/b.gen.h"
printf '#include "missing.h"\nMAP(a, IN(float, x))\n{\n}\n' >lost.c
refuses 'missing.h' kernel lost.c "$gen/l.gen.c" "$gen/l.gen.h"
refuses 'cannot open nowhere.c' kernel nowhere.c "$gen/n.gen.c" "$gen/n.gen.h"
refuses 'usage: quern-embed kernel' kernel pair.c
# With NVRTC, a text that it refuses stops the build and shows its log.
if ! "$embed" kernel pair.c "$gen/pair.gen.c" "$gen/pair.gen.h" | grep 'no NVRTC' >/dev/null; then
    printf 'MAP(a, OUT(float, x))\n{\n    x[gx] = nothing;\n}\n' >wrong.c
    refuses 'wrong.c(3): error: identifier "nothing" is undefined' \
        kernel wrong.c "$gen/w.gen.c" "$gen/w.gen.h"
fi
