#!/usr/bin/env bash
# cli_fit_kernels.sh - kernels of a program: values computed again instead of kept, and strict_fp.
# test: quick-opencl
. "$(dirname "$0")/lib.sh"

export QUERN_CACHE_DIR=$scratch/cache QUERN_PROFILE=0
devices=(sim)
! quern devices | grep '^opencl:0' >/dev/null || devices+=(opencl:0)

cat >start.txt <<'END'
fit 1;
mesh M = icosphere(0, 1.0);
param x[M.verts] : vec3 = M.pos +
  0.1*[sin(7*M.pos.x + 2*M.pos.y), sin(5*M.pos.y + M.pos.z), cos(9*M.pos.z + M.pos.x)];
END
rings() { # rings of five faces, far from round
    cat start.txt "$test_dir/covariance.fit" - <<'END'
solve lbfgs { max_iterations = 2; }
write x to "x.csv";
END
}
springs() { # OPTIONS
    cat start.txt - <<END
residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - 0.9; }
solve lbfgs { max_iterations = 5; accumulate = gather; $1 }
write x to "x.csv";
END
}
rings >ring.fit
springs '' >strict.fit
springs 'strict_fp = 0;' >loose.fit
number() { sed -n "s/.*\"$2\": \([0-9.e+-]*\),*\$/\1/p" "$1" | head -1; }

for device in "${devices[@]}"; do
    run=(--backend "$device" --fallback error --quiet --report r.json --stats s.json)

    # A limit of all values, and of half of them: the same bits.
    exits 1 quern fit run ring.fit "${run[@]}" --out kept
    has s.json '"operations_repeated": 0'
    exits 1 env QUERN_FIT_LIVE=50 quern fit run ring.fit "${run[@]}" --out again
    has s.json '"operations_repeated": [1-9]'
    has s.json '"peak_live": [1-5][0-9],'
    has s.json '"peak_live_kept": 10[0-9],'
    cmp kept/x.csv again/x.csv || fail 'values computed again changed the result'

    # Contraction: separate kernels, noted in the report, the same result except for its last bits.
    exits 1 quern fit run strict.fit "${run[@]}" --out strict
    has r.json '"strict_fp": true'
    lacks "$out" '^note: .*strict_fp'
    [ "$(number s.json kernels_compiled)" != 0.0 ] || fail 'nothing was compiled'
    cp r.json strict.json
    exits 1 quern fit run loose.fit "${run[@]}" --out loose
    has "$out" '^note: .*strict_fp = 0: bits may differ between backends$'
    has r.json '"strict_fp": false'
    has r.json '"note": ".*bits may differ between backends"'
    [ "$(number s.json kernels_compiled)" = 1.0 ] || fail 'the strict kernel served'
    awk -v a="$(number strict.json final_cost)" -v b="$(number r.json final_cost)" \
        'BEGIN { d = a - b; exit !(a > 0 && d < 1e-9 * a && -d < 1e-9 * a) }' ||
        fail 'another cost without strict_fp'
    exits 1 quern fit run strict.fit "${run[@]}" --out once-more
    [ "$(number s.json kernels_compiled)" = 0.0 ] || fail 'compiled again'
    cmp strict/x.csv once-more/x.csv || fail 'strict results changed'
done

springs 'strict_fp = 3;' >three.fit
exits 6 quern fit run three.fit --quiet
has "$err" 'strict_fp is 3; it must be from 0 to 1'

# Text for CUDA repeats itself, for others it does not.
sed 's/icosphere(0/icosphere(1/' ring.fit >rings.fit
exits 0 quern fit emit rings.fit --target cuda --kernel grad
has "$out" 'x\[FIT_SAME\(b[0-9]+\)'
has "$out" 'at most [0-9]+ values alive; [0-9]+ without [0-9]+ repeated operations'
exits 0 quern fit emit rings.fit --target opencl --kernel grad
lacks "$out" 'FIT_SAME'
