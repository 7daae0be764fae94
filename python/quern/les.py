"""Two-dimensional turbulence: flows that stay on the device, and whole runs (docs/les.md)."""

from __future__ import annotations

import contextlib
import csv
import ctypes as c
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import _structs as s
from ._lib import address_of, lib
from ._options import OptionTable
from .context import TOOLS, Context, Tool, context_for

_OPTIONS = OptionTable("qn_les")
_ARRAYS = {"ic": "ic_file", "forcing": "forcing_file"}


def _options_of(settings: dict[str, Any], folder: Path) -> Any:
    """Keyword arguments as options: arrays become files in `folder`."""
    options: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, np.ndarray):
            if name not in _ARRAYS:
                raise TypeError(f"{name} is no array; arrays are {', '.join(_ARRAYS)}")
            path = folder / f"{name}.npy"
            np.save(path, np.ascontiguousarray(value))
            name, value = _ARRAYS[name], path
        options[name] = value
    return _OPTIONS.make(options)


class Flow(Tool):
    """A flow on a device: stepped, looked at, stepped on.

        flow = quern.les.Flow(n=128, ic="taylor_green")
        flow.step(100)
        omega = flow.vorticity()

    Settings are the options of `quern les run`; `ic` and `forcing` may be arrays.
    """

    def __init__(self, *, ctx: Context | None = None, backend: str | None = None,
                 **settings: Any):
        super().__init__(ctx, backend)
        handle = c.c_void_p()
        with tempfile.TemporaryDirectory(prefix="quern-les-") as folder:
            options = _options_of(settings, Path(folder))
            self.ctx._call(lib.qn_les_new, self.ctx.handle, c.byref(options), c.byref(handle))
        self._handle = self.ctx._adopt(TOOLS, address_of(handle), lib.qn_les_free)
        size = s.LesSize()
        lib.qn_les_get_size(self._handle, c.byref(size))
        self.n: int = size.n
        self.ensemble: int = size.ensemble
        self.dtype = np.dtype("f8" if size.is_f64 else "f4")
        self._n_shells = size.n_shells

    @property
    def handle(self) -> int:
        """The address of the qn_les."""
        self.ctx.handle
        if self._handle is None:
            raise ValueError("the flow is closed")
        return self._handle

    def step(self, n: int = 1) -> None:
        """Makes `n` steps. Raises an Error when cells became not finite."""
        self.ctx._call(lib.qn_les_step, self.handle, n)

    def vorticity(self) -> np.ndarray:
        """The field, (n, n), or (ensemble, n, n) of several members."""
        shape = (self.n, self.n) if self.ensemble == 1 else (self.ensemble, self.n, self.n)
        result = np.empty(shape, self.dtype)
        self.ctx._call(lib.qn_les_vorticity, self.handle, result.ctypes.data, result.nbytes)
        return result

    def spectrum(self, member: int = 0) -> np.ndarray:
        """Energy by wavenumber 0, 1, 2, ..."""
        result = np.empty(self._n_shells, "f8")
        self.ctx._call(lib.qn_les_spectrum, self.handle, member, result.ctypes.data,
                           result.nbytes)
        return result

    def look(self) -> dict[str, float]:
        """step, time, dt, energy, enstrophy, palinstrophy and max_vorticity of member 0."""
        now = s.LesNow()
        self.ctx._call(lib.qn_les_look, self.handle, c.byref(now))
        return {name: getattr(now, name) for name, _ in now._fields_}


# Whole runs.


@dataclass
class Result:
    """What `quern les run` found."""

    steps: np.ndarray  # of the snapshots
    omega: np.ndarray  # (steps, n, n): the flow
    decoded: np.ndarray  # (steps, n, n): what the learned operator says; empty without it
    lowpass: np.ndarray  # its low-pass part
    series: np.ndarray  # records: step, time, energy, enstrophy, ...
    spectrum: np.ndarray  # records: k, start, end
    metrics: dict[str, Any]  # les_<time>_metrics.json; metrics["les"] is the run
    encoded: dict[str, np.ndarray] = field(default_factory=dict)  # z, A, mu, scale, anchors


def run(*, ctx: Context | None = None, backend: str | None = None,
        out: str | Path | None = None, **settings: Any) -> Result:
    """The whole command: flow, encoded frames, learned operator, rollout, errors.

    Settings are the options of `quern les run` (n=64, steps=100, observer="metrics", ...), with
    `ic` and `forcing` arrays where they are given as such. Its files go to `out`, or to a folder
    that is gone afterwards.
    """
    settings.setdefault("observer", "snapshots")
    settings.setdefault("video", "none")
    stamp = c.create_string_buffer(24)
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quern-les-")))
        folder = Path(out) if out is not None else scratch / "out"
        options = _options_of({**settings, "out": folder}, scratch)
        used = stack.enter_context(context_for(ctx, backend))
        used._call(lib.qn_les_run_files, used.handle, c.byref(options), stamp)
        return _read(folder, f"les_{stamp.value.decode()}_")


def _table(path: Path) -> np.ndarray:
    """A CSV file of numbers as records."""
    if not path.is_file():
        return np.empty(0)
    with path.open(newline="") as file:
        head, *rows = list(csv.reader(file))
    return np.array([tuple(map(float, row)) for row in rows], [(name, "f8") for name in head])


def _fields(folder: Path, prefix: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The fields of one kind, and their steps."""
    files = {int(path.stem.rsplit("_t", 1)[1]): path
             for path in folder.glob(f"{prefix}{kind}_t*.npy")}
    steps = sorted(files)
    return np.array(steps, "i8"), np.array([np.load(files[step]) for step in steps])


def _read(folder: Path, prefix: str) -> Result:
    steps, omega = _fields(folder, prefix, "omega")
    encoded = {name: np.load(folder / f"{name}.npy")
               for name in ("z", "A", "mu", "scale", "anchors")
               if (folder / f"{name}.npy").is_file()}
    return Result(steps=steps, omega=omega, decoded=_fields(folder, prefix, "full")[1],
                  lowpass=_fields(folder, prefix, "lp")[1],
                  series=_table(folder / f"{prefix}series.csv"),
                  spectrum=_table(folder / f"{prefix}spectrum.csv"),
                  metrics=json.loads((folder / f"{prefix}metrics.json").read_text()),
                  encoded=encoded)
