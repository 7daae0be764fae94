#!/usr/bin/env bash
# les_peers.sh PACK PEERS [GOLDEN [OUT]] - a step of the flow by quern, torch and jax in one call on one GPU,
# f32, flux form; then ensembles, the learned operator, and whole runs beside the CPU. PACK: from
# scripts/pack. PEERS: folder of peer_les_torch.py and peer_les_jax.py. GOLDEN: reference arrays, with which
# the peers are checked first; may be empty. OUT gets the files. Prints a table in Markdown; exits with 1 if a
# bar is missed. PEERS=off: quern alone, and no table.
set -euo pipefail
usage='usage: les_peers.sh PACK PEERS [GOLDEN [OUT]]'
pack=${1:?$usage}
peers=${2:?$usage}
check=(${3:+--check "$3"})
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$pack/lib
# NVIDIA's OpenCL shows the same hardware again.
export QUERN_HIDE=${QUERN_HIDE-opencl}
quern=$pack/quern
if [ $# -ge 4 ]; then
    out=$4
    mkdir -p "$out"
else
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi
{
    echo "quern $("$quern" --version | cut -d' ' -f2), $(date -u +%Y-%m-%d)"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
} >"$out/conditions.txt"
sizes=256,512,1024,2048,4096

"$quern" les bench --backend cuda --sizes $sizes --out "$out/own" >&2
"$quern" les bench --backend cuda --sizes $sizes --fft vkfft --out "$out/library" >&2
"$quern" les bench --backend cuda --sizes 256 --ensemble 64 --out "$out/members" >&2
"$quern" les bench --backend cuda --sizes 256,512,1024,2048 --precision f64 --out "$out/double" >&2
"$quern" les bench --backend cuda --features 328 | tee "$out/rollout.txt" >&2
"$quern" les bench --backend cuda --sizes 512 --steps 1000 --table --out "$out/whole" >&2
[ "${PEERS:-on}" = on ] || exit 0
python3 "$peers/peer_les_torch.py" --sizes $sizes --dtype f32 --form flux --min-time 0.2 \
    "${check[@]}" --json "$out/torch.json" >&2
python3 "$peers/peer_les_jax.py" --sizes $sizes --dtype f32 --form flux --min-time 0.2 \
    "${check[@]}" --json "$out/jax.json" >&2 || echo "jax: did not run" >&2
python3 "$here/les_table.py" "$out"
