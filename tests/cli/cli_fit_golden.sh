#!/usr/bin/env bash
# cli_fit_golden.sh - reference values on the CPU and a device; examples and NIST sets as users run
# them.
# test: long, cost 22
. "$(dirname "$0")/lib.sh"

golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/fit
[ -r "$golden/nist/nist.json" ] || { echo "skipped: no golden data in $golden"; exit 77; }
common=(--backend cpu --quiet)

# Everything on the CPU, operations and meshes on the simulated device.
exits 0 quern fit check --golden "$golden" "${common[@]}"
for part in ops composites nist mgh bal mesh examples; do
    has "$out" "^$part +[0-9]+ findings of [0-9]+ values: [0-9]+ ok, 0 out of bounds, "
done
exits 0 quern fit check --golden "$golden" --part ops,composites,bal --backend sim --quiet
exits 0 quern fit check --golden "$golden" --part ops -v "${common[@]}"
has "$out" '^ops +sqrt: '
mkdir -p wrong/golden
sed 's/"value":2.449309742605783/"value":2.449309742605784/' "$golden/golden/ops.json" \
    >wrong/golden/ops.json
exits 4 quern fit check --golden wrong --part ops "${common[@]}"
has "$out" '^ops +neg: .* OUT$'

# Examples.
cp "$golden"/examples/*.fit .
exits 0 quern fit run springs.fit --out made "${common[@]}"
has "$out" '^cost 0\.0069602[45][0-9]*, from 0\.0543317145'
[ "$(grep -c '^v ' made/out.obj)" = 642 ] || fail 'not 642 vertices'
exits 0 quern fit run misra1a.fit --data "$golden/nist" "${common[@]}"
has "$out" '^b1 +238\.9421291'
exits 0 quern fit run sketch.fit "${common[@]}"
has "$out" '^p\[2\]\.x +(4|3\.99999999[0-9]*|4\.00000000[0-9]*) '
exits 0 quern fit run bal.fit --data "$golden/bal" "${common[@]}"
has "$out" '^cost 1416\.77'

# NIST sets with starts on the command line; x1 and x2, and a logarithm of the measurements.
fit_set() { # NAME RESPONSE MODEL WANT START...
    local name=$1 response=$2 model=$3 want=$4 k=1 sets=()
    shift 4
    {
        printf 'fit 1;\ntable T = nist("%s.dat");\n' "$name"
        for start in "$@"; do
            printf 'param b%d = 1;\n' $k
            sets+=(--set "b$k=$start")
            k=$((k + 1))
        done
        printf 'residual r over i in T { yield %s - (%s); }\n' "$response" "$model"
        echo 'solve lm { max_iterations = 500; function_tolerance = 1e-18;'
        echo '           parameter_tolerance = 1e-14; linear_solver = dense_qr; }'
    } >"$name.fit"
    exits 0 quern fit run "$name.fit" --data "$golden/nist" "${sets[@]}" "${common[@]}"
    has "$out" "$want"
}
fit_set Nelson 'log(i.y)' 'b1 - b2*i.x1*exp(-b3*i.x2)' '^b1 +2\.590683602' 2 0.0001 -0.01
fit_set Chwirut2 i.y 'exp(-b1*i.x)/(b2 + b3*i.x)' '^b1 +0\.16657666[56]' 0.1 0.01 0.02
fit_set MGH10 i.y 'b1*exp(b2/(i.x + b3))' '^b2 +6181\.3463' 2 400000 25000
fit_set Rat43 i.y 'b1/(1 + exp(b2 - b3*i.x))^(1/b4)' '^b1 +699\.64151' 100 10 1 1
fit_set ENSO i.y \
    'b1 + b2*cos(2*pi*i.x/12) + b3*sin(2*pi*i.x/12) + b5*cos(2*pi*i.x/b4) + b6*sin(2*pi*i.x/b4) + b8*cos(2*pi*i.x/b7) + b9*sin(2*pi*i.x/b7)' \
    '^b1 +10\.51074' 11 3 0.5 40 -0.7 -1.3 25 -0.3 1.4
