#!/usr/bin/env bash
# cli_les_netcdf.sh - flow.nc of `quern les run --format netcdf`: its names and units, its values, and those of a
# run that was killed or goes on; what happens without the library and where files cannot be written.
# test: long, cost 12, no-cache
. "$(dirname "$0")/lib.sh"

has_fftw || { echo "skipped: this build has no FFTW"; exit 77; }
les() {
    quern les run --progress off --quiet --backend cpu --n 32 --stride 20 --k-cut 5 --k-mid 8 \
        --observer snapshots --video none "$@"
}

# Without the library: one sentence, before anything is made.
QUERN_NETCDF_LIB=/no/netcdf refused 3 'format: needs NetCDF, which cannot be loaded \(/no/netcdf.*; install libnetcdf-dev' \
    les --steps 20 --format netcdf --out none
QUERN_NETCDF_LIB=libm.so.6 refused 3 'format: needs NetCDF, .*it has no nc_create' \
    les --steps 20 --format netcdf --out none
[ ! -e none ] || fail "a folder was made"
refused 2 'format: netcdf stores the fields of snapshots: add --observer snapshots' les --steps 20 --format netcdf --observer metrics --out none

# Files that cannot be written: one sentence, what is finished stays, and --resume goes on.
(
    ulimit -f 80
    exits 1 les --steps 300 --checkpoint-every 20 --what sim --out full
    has "$err" '^quern les run: cannot write full/run.unfinished/.*; what is finished is kept: repeat the command with --resume$'
    lines "$err" 1
)
exits 0 les --steps 300 --checkpoint-every 20 --what sim --resume --out full
exits 0 les --steps 300 --checkpoint-every 20 --what sim --out free
for file in free/*.npy free/*.png free/*.csv; do
    cmp -s "$file" "full/${file#free/}" || fail "$file differs"
done

quern version --verbose | grep '^  NetCDF  *found' >/dev/null || { echo "skipped: no libnetcdf"; exit 77; }

# One file in place of those of the fields; both; a run that goes on; one that is killed.
exits 0 les --steps 100 --format netcdf --out one
! compgen -G 'one/les_*_t*.npy' >/dev/null || fail "fields are in other files, too"
exits 0 les --steps 100 --format both --ensemble 2 --precision f64 --mean-u 0.5 --out both
exits 0 les --steps 60 --format both --ensemble 2 --precision f64 --mean-u 0.5 --checkpoint-every 25 --out more
exits 0 les --steps 100 --format both --ensemble 2 --precision f64 --mean-u 0.5 --resume --out more
refused 4 '.* it has "format=both", this one has "format=npy"' \
    les --steps 120 --ensemble 2 --precision f64 --mean-u 0.5 --resume --out more
QUERN_FAULT=sim.launch_us=0,sim.gbps=100000,device_lost@300*1 exits 0 quern les run --progress off --quiet --n 32 \
    --stride 20 --k-cut 5 --k-mid 8 --observer snapshots --video none --steps 100 --format netcdf --ensemble 2 \
    --precision f64 --mean-u 0.5 --backend sim --out lost
has "$err" '^\[GPU\] les.run failed: .* CPU fallback\.$'
long() { les --n 64 --steps 3000 --format netcdf --what sim "$@"; }
long --checkpoint-every 100 --out killed >/dev/null 2>&1 &
while ! grep -q ' fact checkpoint ' killed/run.journal 2>/dev/null; do sleep 0.01; done
kill -KILL "$(sed -n 's/.* owner //p' killed/run.journal)"
wait $! 2>/dev/null || true
[ ! -e killed/flow.nc ] || fail "the run was over before it was killed"
exits 0 long --resume --out killed
exits 0 long --out long
[ ! -e killed/run.unfinished ] || fail "scratch files were left"

python=
for found in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! $found -c 'import netCDF4, numpy, xarray' 2>/dev/null || python=$found
done
[ -n "$python" ] || { echo "skipped: no Python with netCDF4 and xarray (scripts/setup --tests)"; exit 77; }
$python - <<'PY' || fail "wrong values"
import json
import numpy as np, xarray as xr
from netCDF4 import Dataset

def same(a, b):
    with Dataset(a) as a, Dataset(b) as b:
        assert a.variables.keys() == b.variables.keys()
        for name in a.variables:
            x, y = (np.asarray(file[name][:]) for file in (a, b))
            assert x.dtype == y.dtype and x.tobytes() == y.tobytes(), name
            assert a[name].__dict__ == b[name].__dict__

same("both/flow.nc", "more/flow.nc")
same("both/flow.nc", "lost/flow.nc")
same("killed/flow.nc", "long/flow.nc")
one, both = xr.open_dataset("one/flow.nc"), xr.open_dataset("both/flow.nc")
assert one.vorticity.dims == ("time", "y", "x") and one.spectra.dims == ("time", "wavenumber")
assert both.vorticity.dims == ("time", "member", "y", "x") and both.energy.dims == ("time", "member")
assert one.vorticity.dtype == "f4" and both.vorticity.dtype == "f8"
assert one.step.values.tolist() == [0, 20, 40, 60, 80, 100]
series = np.genfromtxt("one/les_series.csv", delimiter=",", names=True)
times = dict(zip(series["step"], series["time"]))
assert np.allclose(one.time, [times[step] for step in one.step.values]) and one.time[-1] > one.time[0] == 0
assert one.x[-1] == 31 * 2 * np.pi / 32
assert one.attrs["Conventions"].startswith("CF-") and json.loads(one.attrs["configuration"])["N"] == 32
assert one.attrs["run_ts"] == json.load(open("one/les_metrics.json"))["les"]["run_ts"]
units = {"vorticity": "s-1", "streamfunction": "m2 s-1", "u": "m s-1", "v": "m s-1", "x": "m", "time": "s"}
assert all(one[name].attrs["units"] == unit for name, unit in units.items())
for k, step in enumerate(both.step.values):
    assert np.array_equal(both.vorticity[k], np.load(f"both/les_omega_t{step:06d}.npy"))
    assert np.array_equal(both.decoded[k], np.load(f"both/les_full_t{step:06d}.npy"))
    assert np.array_equal(both.lowpass[k], np.load(f"both/les_lp_t{step:06d}.npy"))
# What follows from the vorticity, by another way.
k = np.fft.fftfreq(32, 1 / 32)
kx, ky = k[None, :], k[:, None]
omega = np.fft.fft2(both.vorticity.values)
k2 = kx**2 + ky**2
psi = omega / np.where(k2 == 0, 1, k2)
psi[..., 0, 0] = 0
back = lambda h: np.fft.ifft2(h).real
assert np.allclose(both.streamfunction, back(psi), atol=1e-12)
assert np.allclose(both.u, back(1j * ky * psi) + 0.5, atol=1e-12)
assert np.allclose(both.v, back(-1j * kx * psi), atol=1e-12)
energy = 0.5 * ((both.u - 0.5)**2 + both.v**2).mean(("y", "x"))
assert np.allclose(both.energy, energy, rtol=1e-10) and np.allclose(both.spectra.sum("wavenumber"), energy, rtol=1e-10)
assert np.allclose(both.enstrophy, 0.5 * (both.vorticity**2).mean(("y", "x")), rtol=1e-10)
PY
if command -v ncdump >/dev/null; then
    exits 0 ncdump -h one/flow.nc
    has "$out" 'vorticity:standard_name = "atmosphere_relative_vorticity" ;'
fi
