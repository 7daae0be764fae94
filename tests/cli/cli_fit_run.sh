#!/usr/bin/env bash
# cli_fit_run.sh - `quern fit run`: results, reports, pictures, devices, starts of --set.
# test: cost 23
. "$(dirname "$0")/lib.sh"

common=(--backend cpu --quiet)
for kind in nist mesh bal sketch; do
    exits 0 quern fit new $kind
    cp "$out" $kind.fit
done

# A curve: the printed output.
exits 0 quern fit run nist.fit --memory-map none.md "${common[@]}"
has none.md '^The engine was asked for none'
lacks "$out" '^files:'
has "$out" '^nist.fit: 14 rows, 2 free parameters, 1 group of 14 terms$'
has "$out" '^converged_(cost|parameters|gradient): '
has "$out" '^b1 +238\.9421291[0-9]* +2\.70700[0-9]+ +500$'
has "$out" '^b2 +0\.00055015643[0-9]* +7\.26686[0-9]*e-06 +0\.0001$'
has "$out" '^residual standard deviation 0\.101878[0-9]*, 12 degrees of freedom$'
empty "$err"

# Starts: several --set, lists, constants; unknown names are refused.
exits 0 quern fit run nist.fit --set b1=250 --set b2=0.0005 "${common[@]}"
has "$out" '^b1 +238\.9421291[0-9]* +2\.70700[0-9]+ +250$'
exits 0 quern fit run nist.fit --set b1=250,b2=0.0005 "${common[@]}"
has "$out" '^b2 .* +0\.0005$'
exits 0 quern fit run mesh.fit --set high=0.1 --out high "${common[@]}"
has "$out" '^x\[0\]\.z +0\.1 +fixed +0\.1$'
refused 2 'b3 is neither a constant nor a parameter of one number in nist.fit$' \
    quern fit run nist.fit --set b3=1 "${common[@]}"
refused 2 "set: 'b1' is not NAME=VALUE$" quern fit run nist.fit --set b1 "${common[@]}"
refused 2 "set: 'much' is not a number$" quern fit run nist.fit --set b1=much "${common[@]}"
refused 2 "set: 'nan' is not a number$" quern fit run nist.fit --set b1=nan "${common[@]}"

# Files.
exits 0 quern fit run mesh.fit --out made/films --report made/r.json --report made/r.html \
    --stats made/s.json --picture made/film.png "${common[@]}"
has "$out" '^files: made/films/film.obj, made/r.json, made/r.html, made/s.json, made/film.png$'
[ "$(grep -c '^v ' made/films/film.obj)" = 625 ] || fail 'not 625 vertices'
[ "$(grep -c '^f ' made/films/film.obj)" = 1152 ] || fail 'not 1152 faces'
has made/r.json '"status": "converged_cost"'
has made/r.json '"name": "spring"'
has made/r.json '"history": \['
has made/r.json '"device": "cpu:0"'
has made/r.json '"evaluate_seconds": [0-9.]*[1-9]'
has made/s.json '"signature": "[0-9a-f]{64}"'
has made/s.json '"operations": '
has made/s.json '"dispatches": '
has made/s.json '"accumulation": "gather"'
with() { # OPTIONS: the film with these
    sed "s/solve lm {/solve lm { $1/" mesh.fit
}
with 'linear_solver = pcg; batch_size = 500; speculate = 1;' >parts.fit
exits 0 quern fit run parts.fit --out made --report made/p.json --stats made/ps.json --backend sim
has made/ps.json '"batch_size": 500'
has made/ps.json '"dispatches": 4' # of 1776 springs and of 1680 folds
has made/p.json '"speculated": [1-9]'
has made/p.json '"waits": [1-9]'
has made/ps.json '"waits": [1-9]'
lacks made/p.json 'evaluate_seconds|linear_seconds|"rank"' # nothing measures them on a device
QUERN_FAULT='copy_d2h:fit.scalars@3*1' exits 0 quern fit run parts.fit --out made --backend sim
has "$err" '^\[GPU\] fit.solve failed: download of fit.scalars: .*\. CPU fallback\.$'
has made/r.html '<svg'
has made/r.html 'the mesh before and after'
lacks made/r.html 'http'
[ "$(head -c 8 made/film.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail 'no PNG'
exits 0 quern fit run sketch.fit --out made "${common[@]}"
[ "$(head -1 made/corners.csv)" = p_0,p_1 ] || fail 'no names of columns'
lines made/corners.csv 5
sed 's/film\.obj/film.ply/' mesh.fit >ply.fit
exits 0 quern fit run ply.fit --out made "${common[@]}"
[ "$(head -1 made/film.ply)" = ply ] || fail 'no PLY'
left=$(find . -name '*.tmp*' -o -name '.*' -type f)
[ -z "$left" ] || fail "left behind: $left"

# Cameras, by elimination.
exits 0 quern fit run bal.fit --out made "${common[@]}"
has "$out" '^lm, schur on cpu:0 in f64'
lines made/points.csv 9

# Several solves, one after the other; gradients, bounds, fixed parameters.
cat >two.fit <<'FIT'
fit 1;
table T(x, y) = { 0 1; 1 3.1; 2 4.9; 3 7.2 };
param a = 0;
param b = 10;
param c = 0.25 fixed;
residual r over i in T { yield a*i.x + b + c - i.y; }
solve lbfgs { max_iterations = 100; }
solve lm { }
FIT
exits 0 quern fit run two.fit --report two.json "${common[@]}"
has "$out" '^lbfgs on cpu:0'
has "$out" '^lm, dense_qr on cpu:0'
has "$out" '^c +0\.25 +fixed +0\.25$'
has two.json '"earlier": \['
sed '/lbfgs/d; s/param a = 0/param a = 0 lower 0 upper 1.5/' two.fit >box.fit
exits 0 quern fit run box.fit "${common[@]}"
has "$out" '^a +1\.5 '

# Energies over rings: a sphere that unrolls, from a known value.
cat - "$test_dir/covariance.fit" >unroll.fit <<'FIT'
fit 1;
mesh M = icosphere(1, 1.0);
param x[M.verts] : vec3 = M.pos;
FIT
cat >>unroll.fit <<'FIT'
solve lbfgs { max_iterations = 100; gradient_tolerance = 1e-3; }
FIT
exits 0 quern fit run unroll.fit "${common[@]}"
has "$out" '^cost (0\.[01][0-9]*|[0-9.]+e-[0-9]+), from 12\.3190256964; '

# Devices: the same film on each; if a device lacks the solver, the CPU solves, and a line says so.
exits 0 quern fit run mesh.fit --backend sim --quiet --memory-map map.md --out made
has map.md '^\| fit.x \| 1 \| 15000 \| 15000 \| fit\.[a-z.]+ \| fit\.[a-z.]+ \| sim:0 \| 1 \| 1 \|$'
has "$out" '^lm, pcg on sim:0 in f64'
has "$out" '^cost 2\.6092'
exits 0 quern fit run mesh.fit --backend sim --precision f32 --quiet --out made
has "$out" '^lm, pcg on sim:0 in f32'
has "$out" '^cost 2\.609'
exits 0 quern fit run nist.fit --backend sim --quiet
has "$err" '^\[GPU\] fit.solve failed: .*pcg\. CPU fallback\.$'
has "$out" '^b1 +238\.9421291'
exits 3 quern fit run nist.fit --backend sim --quiet --fallback error

# Sums by atomic additions, which have no fixed order: noted in the report.
with 'accumulate = atomic;' >atomic.fit
exits 0 quern fit run atomic.fit --backend sim --quiet --out made --report atomic.json
has "$out" '^cost 2\.6092'
has atomic.json '"accumulation": "atomic"'
has atomic.json '"reproducible": false'
has atomic.json '"products": [1-9]'
with 'accumulate = any;' >any.fit
exits 6 quern fit run any.fit --quiet
has "$err" 'accumulate = any; it is one of auto, gather, owner, atomic'

# A Jacobian stored in f32, or not stored: the same film, and the report says which.
with 'linear_solver = pcg; storage = f32;' >rounded.fit
exits 0 quern fit run rounded.fit --backend cpu --quiet --out made --report r.json --stats s.json
has "$out" '^cost 2\.6092'
for file in r.json s.json; do
    has $file '"jacobian": "stored"'
    has $file '"storage": "f32"'
    has $file '"jacobian_bytes": [1-9]'
done
with 'jacobian = free;' >free.fit
exits 0 quern fit run free.fit --backend cpu --quiet --out made --report r.json
has "$out" '^cost 2\.6092'
has r.json '"jacobian": "free"'
has r.json '"linear_solver": "pcg"'
has r.json '"jacobian_bytes": 0'
with 'storage = f32; jacobian = free;' >both.fit
exits 6 quern fit run both.fit --quiet
has "$err" 'storage = f32 says how a Jacobian is stored, and jacobian = free stores none'

# An interrupt ends an endless solve, with everything written.
cat >endless.fit <<'FIT'
fit 1;
mesh M = icosphere(4, 1.0);
param x[M.verts] : vec3 = M.pos;
residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - 1; }
solve adam { max_iterations = 100000000; function_tolerance = 0; gradient_tolerance = 0; }
solve lm { }
write x to "stopped.obj";
FIT
# (background jobs of a script ignore interrupts unless that is changed)
last='quern fit run endless.fit'
env --default-signal=INT quern fit run endless.fit --report stopped.json --backend cpu --progress on \
    >"$out" 2>"$err" &
pid=$!
until grep -q ' 0 % ' "$err" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done # it solves
kill -INT $pid
code=0
wait $pid || code=$?
[ $code = 1 ] || fail "exit code $code, expected 1"
has "$err" '^quern fit run: not converged: user_stop: stopped by the caller after [0-9]+ iterations$'
has stopped.json '"status": "user_stop"'
[ "$(grep -c '^v ' out/stopped.obj)" = 2562 ] || fail 'not 2562 vertices'
