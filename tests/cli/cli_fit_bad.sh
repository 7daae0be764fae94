#!/usr/bin/env bash
# cli_fit_bad.sh - `quern fit` with wrong input: texts, data, folders, and points without derivatives.
. "$(dirname "$0")/lib.sh"

common=(--backend cpu --quiet)
quern fit new nist >nist.fit
quern fit new mesh >mesh.fit

# Files that are missing, or of the wrong kind.
refused 6 'cannot open none.fit: ' quern fit run none.fit "${common[@]}"
mkdir folder
refused 6 'cannot read folder: it is a folder$' quern fit run folder "${common[@]}"
printf '\377\376\000\001' >bytes.fit
exits 6 quern fit run bytes.fit "${common[@]}"
: >empty.fit
exits 6 quern fit run empty.fit "${common[@]}"
printf 'fit 1;\ntable T = nist("none.dat");\nparam b = 1;\nresidual r over i in T { yield b - i.y; }\n' \
    >data.fit
exits 6 quern fit run data.fit "${common[@]}"
has "$err" '^data.fit:2:[0-9]+: .*none.dat'
echo 'no numbers here' >bad.dat
sed 's/none.dat/bad.dat/' data.fit >bad.fit
exits 6 quern fit run bad.fit "${common[@]}"
has "$err" 'bad.dat'
sed 's/none.dat/..\/bad.dat/' data.fit >up.fit
exits 6 quern fit run up.fit "${common[@]}"

# A text with faults: all of them at once, each with its position.
cat >faults.fit <<'FIT'
fit 1;
param a = 1;
residual r { yield a - bb; }
residual s { yield sine(a); }
FIT
exits 6 quern fit run faults.fit "${common[@]}"
has "$err" '^faults.fit:3:24: '
has "$err" '^faults.fit:4:20: '
exits 6 quern fit check faults.fit
sed 's/solve lm {.*/solve lm { max_iterations = many; /; s/yield a - bb/yield a/' nist.fit >word.fit
exits 6 quern fit run word.fit "${common[@]}"
has "$err" 'max_iterations'
sed 's/dense_qr/dense_qx/' nist.fit >solver.fit
refused 6 'solve: linear_solver = dense_qx; it is one of ' quern fit run solver.fit "${common[@]}"
sed 's/max_iterations = 500/max_iterations = -1/' nist.fit >negative.fit
refused 6 'solve: max_iterations is -1; ' quern fit run negative.fit "${common[@]}"
printf 'fit 1;\nparam a = 1;\nenergy e { yield a^2; }\nsolve lm { }\n' >energy.fit
refused 6 'e is an energy: least squares need residuals; ' quern fit run energy.fit "${common[@]}"

printf 'fit 1;\nparam a = 1 lower 0;\nresidual r { yield a; }\nsolve lbfgs { }\n' >bounds.fit
refused 6 'lbfgs takes no bounds; ' quern fit run bounds.fit "${common[@]}"

# Command lines.
refused 2 'FILE.fit is missing$' quern fit run
refused 2 "unknown option --reprot; did you mean --report\?$" quern fit run nist.fit --reprot r.json
refused 2 "report: 'r.txt' does not end in .json or .html$" quern fit run nist.fit --report r.txt
refused 2 "--precision: 'f16' is not one of f64, f32$" quern fit run nist.fit --precision f16
refused 2 "picture: nist.fit moves no vertices of a mesh$" \
    quern fit run nist.fit --picture p.png "${common[@]}"
refused 2 "'curve' is not one of nist, mesh, bal, sketch$" quern fit new curve
refused 2 "'cube' is not one of icosphere, grid, torus$" quern make mesh cube 1 c.obj
refused 2 "'c.stl' does not end in .obj or .ply$" quern make mesh icosphere 1 c.stl
refused 2 "'x' is not a level such as 3$" quern make mesh icosphere x c.obj
refused 2 "--term: nist.fit has no term none$" quern fit emit nist.fit --term none
refused 2 'give a program, or --golden DIR$' quern fit check
refused 2 "'opps' is no part; did you mean ops\?$" quern fit check --golden . --part opps
exits 6 quern fit check --golden folder --backend cpu --quiet
has "$err" 'nothing was compared'

# Files that cannot be written are reported before anything is solved, and leave nothing.
: >file
refused 1 '.*file' quern fit run mesh.fit --out file/under "${common[@]}"
refused 1 '.*file' quern fit run nist.fit --report file/r.json "${common[@]}"
if [ "$(id -u)" != 0 ]; then
    mkdir closed
    chmod a-w closed
    refused 1 '.*closed' quern fit run mesh.fit --out closed "${common[@]}"
fi
[ -z "$(find . -name '*.obj')" ] || fail 'a mesh of a run that failed'

# Not converged: exit 1, with all files.
sed 's/max_iterations = 500/max_iterations = 3/' nist.fit >short.fit
exits 1 quern fit run short.fit --report short.json "${common[@]}"
has "$err" '^quern fit run: not converged: max_iterations: 3 iterations are the limit'
has short.json '"status": "max_iterations"'

# Points without derivatives: a status and a sentence, and never a parameter that is not a number.
finite() {
    lacks "$1" '"values": \[[^]]*null'
    sed '1,/^PARAMETER/d' "$out" >table
    lacks table '(nan|inf)'
}
cat >coincident.fit <<'FIT'
fit 1;
table P(x0, y0) = { 0 0; 0 0; 1 1 };
set s(a -> P, b -> P) = { (0,1), (1,2), (0,2) };
param p[P] : vec2 = [x0, y0];
residual d over l in s { yield length(p[l.b]-p[l.a]) - 1; }
solve lm { }
FIT
exits 0 quern fit run coincident.fit --report c.json "${common[@]}"
finite c.json
sed 's/length(p\[l.b\]-p\[l.a\])/sqrt(sqr_distance(p[l.b],p[l.a]))/' coincident.fit >strict.fit
exits 1 quern fit run strict.fit --report c.json "${common[@]}"
has "$err" 'non_finite: at the start row 0 of d is not finite'
finite c.json
printf 'v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 4\n' >flat.obj
cat >flat.fit <<'FIT'
fit 1;
mesh M = obj("flat.obj");
param x[M.verts] : vec3 = M.pos;
residual a over f in M.faces { yield tri_area(x[f.a], x[f.b], x[f.c]) - 1; }
residual n over f in M.faces { yield tri_normal(x[f.a], x[f.b], x[f.c]) - [0,0,1]; }
solve lm { }
write x to "flat_out.obj";
FIT
exits 0 quern fit run flat.fit --report c.json "${common[@]}"
finite c.json
lacks flat_out.obj 'nan'
cat >behind.fit <<'FIT'
fit 1;
table P(x, y, z, u, v) = { 1 1 0 1 1; 1 1 2 0.5 0.5; 1 0 -1 2 2 };
param p[P] : vec3 = [x, y, z];
residual r over o in P { let q = p[o]; yield q.x/q.z - o.u, q.y/q.z - o.v; }
solve lm { }
FIT
exits 1 quern fit run behind.fit --report c.json "${common[@]}"
has "$err" 'non_finite: at the start row 0 of r is not finite'
finite c.json
cat >singular.fit <<'FIT'
fit 1;
table T(x, y) = { 1 1; 2 2; 3 3.1; 4 4 };
param a = 1;
param b = 1;
param c = 0;
residual r over i in T { yield i.y - (a + b)*i.x; }
solve lm { }
FIT
for solver in dense_qr dense_cholesky sparse_cholesky pcg; do
    sed "s/solve lm { }/solve lm { linear_solver = $solver; }/" singular.fit >one.fit
    exits 0 quern fit run one.fit --report c.json "${common[@]}"
    finite c.json
    has "$out" 'no standard deviations: '
done
sed "s/solve lm { }/solve gauss_newton { linear_solver = dense_cholesky; }/" singular.fit >gauss.fit
exits 1 quern fit run gauss.fit --report c.json "${common[@]}"
has "$err" 'linear_failure: '
finite c.json
for solver in lm lbfgs adam; do
    printf 'fit 1;\nparam a = -1;\nresidual r { yield log(a); }\nsolve %s { }\n' $solver >log.fit
    exits 1 quern fit run log.fit --report c.json "${common[@]}"
    has "$err" 'non_finite: '
    finite c.json
done
