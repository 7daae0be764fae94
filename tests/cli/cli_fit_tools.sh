#!/usr/bin/env bash
# cli_fit_tools.sh - check, grad, emit, new and mesh of `quern fit`.
. "$(dirname "$0")/lib.sh"

for kind in nist mesh bal sketch; do
    quern fit new $kind >$kind.fit
done

# Check: terms and their operations.
exits 0 quern fit check mesh.fit
has "$out" '^mesh.fit: 1875 parameters, 1587 of them free; 7008 rows of residuals$'
has "$out" '^spring +residual +1776 +3 +6 '
exits 0 quern fit check sketch.fit --json
has "$out" '"term": "h"'
has "$out" '"instances": 2'

# Grad: right derivatives pass; a kink at the start is reported as a difference.
for kind in nist mesh bal sketch; do
    for device in cpu sim; do
        exits 0 quern fit grad $kind.fit --backend $device --quiet
        has "$out" 'derivatives compared with differences: '
    done
    has "$out" '^gradient on sim:0 and on the CPU: difference .* limit 1e-10$'
done
printf 'fit 1;\nparam a = 0;\nresidual r { yield 1 + abs(a); }\n' >kink.fit
exits 4 quern fit grad kink.fit --backend cpu --quiet
has "$err" '^quern fit grad: the derivative in a is '

# Emit: a line per operation, for each target; cc and other compilers accept it.
for target in c opencl cuda wgsl; do
    for kernel in res jac grad; do
        exits 0 quern fit emit nist.fit --target $target --kernel $kernel
        has "$out" "^/\* fit_r_$kernel: 14 instances, [0-9]+ operations"
    done
done
exits 0 quern fit emit nist.fit --target wgsl --kernel res
has "$out" '^fn fit_r_res\('
has "$out" '^    let v[0-9]+ = '
exits 0 quern fit emit nist.fit --target cuda --kernel jac --precision f32
has "$out" '^    const real v[0-9]+ = '
exits 0 quern fit emit bal.fit --term scale -o scale.c
empty "$out"
has scale.c 'fit_scale_jac'
lacks scale.c 'fit_reproj_jac'

# Mesh: counts and pictures.
exits 0 quern make mesh icosphere 2 ball.obj --radius 3 --picture ball.png
[ "$(cat "$out")" = 'ball.obj: 162 vertices, 320 faces' ] || fail 'other counts'
[ "$(grep -c '^f ' ball.obj)" = 320 ] || fail 'not 320 faces'
[ -s ball.png ] || fail 'no picture'
exits 0 quern make mesh grid 4x2 sheets/sheet.ply --width 2
has "$out" '^sheets/sheet.ply: 15 vertices, 16 faces$'
exits 0 quern make mesh torus 12x8 torus.obj
has "$out" '^torus.obj: 96 vertices, 192 faces$'
printf 'fit 1;\nmesh M = obj("ball.obj");\nparam x[M.verts] : vec3 = M.pos;\n' >ball.fit
echo 'residual r over v in M.verts { yield x[v] - 2*normalize(M.pos[v]); }' >>ball.fit
exits 0 quern fit run ball.fit --backend cpu --quiet --report ball.json
has ball.json '"status": "converged_'
