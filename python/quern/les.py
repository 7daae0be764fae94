"""2-D turbulence: flows that stay on the device, and whole runs (docs/les.md)."""

from __future__ import annotations

import ctypes as c
import json
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import _structs as s
from ._lib import address_of, lib
from ._options import OptionTable
from .context import TOOLS, Context, Tool, context_for
from .errors import Error

_OPTIONS = OptionTable("qn_les")
_ARRAYS = {"ic": "ic_field", "forcing": "forcing_field", "phases": "phase_field"}


def _options_of(settings: dict[str, Any]) -> Any:
    """Keyword arguments as options; fields have separate members there."""
    options: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, np.ndarray):
            if name not in _ARRAYS:
                raise TypeError(f"{name} does not take an array; these do: {', '.join(_ARRAYS)}")
            if value.ndim not in (2, 3) or value.shape[-1] != value.shape[-2]:
                raise Error("input", f"{name}: an array of shape {value.shape} is no square field")
            name = _ARRAYS[name]
        options[name] = value
    return _OPTIONS.make(options)


class Flow(Tool):
    """A flow on a device: stepped, inspected, stepped again.

        flow = quern.les.Flow(n=128, ic="taylor_green")
        flow.step(100)
        omega = flow.vorticity()

    Settings are the options of `quern les run`; `ic` and `forcing` may be arrays.
    """

    def __init__(self, *, ctx: Context | None = None, backend: str | None = None,
                 **settings: Any):
        super().__init__(ctx, backend)
        handle = c.c_void_p()
        options = _options_of(settings)
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
        """Makes `n` steps. Raises an Error when the flow becomes NaN or infinite."""
        self.ctx._call(lib.qn_les_step, self.handle, n)

    def vorticity(self) -> np.ndarray:
        """The field: (n, n), or (ensemble, n, n) when there are several members."""
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

    def inspect(self) -> dict[str, float]:
        """step, time, dt, energy, enstrophy, palinstrophy and max_vorticity of member 0."""
        state = s.LesState()
        self.ctx._call(lib.qn_les_inspect, self.handle, c.byref(state))
        return {name: getattr(state, name) for name, _ in state._fields_}

    def look(self) -> dict[str, float]:
        """The former name of inspect()."""
        warnings.warn("Flow.look() is now Flow.inspect()", DeprecationWarning, stacklevel=2)
        return self.inspect()


# Whole runs.


@dataclass
class Result:
    """The results of `quern les run`."""

    steps: np.ndarray  # of the snapshots
    omega: np.ndarray  # (steps, n, n): vorticity of the flow
    decoded: np.ndarray  # (steps, n, n): decoded from the learned operator; empty without it
    lowpass: np.ndarray  # the low-pass part of the decoded fields
    series: np.ndarray  # records: step, time, energy, enstrophy, ...
    spectrum: np.ndarray  # records: k, start, end
    metrics: dict[str, Any]  # metrics["les"] describes the run
    encoded: dict[str, np.ndarray] = field(default_factory=dict)  # z, A, mu, scale, anchors


def run(*, ctx: Context | None = None, backend: str | None = None,
        out: str | Path | None = None, **settings: Any) -> Result:
    """A whole run: flow, encoded frames, learned operator, rollout, errors.

    Settings are the options of `quern les run` (n=64, steps=100, observer="metrics", ...); `ic`,
    `forcing` and `phases` may be arrays. The files of the command are written when `out` names a
    folder for them.
    """
    settings.setdefault("observer", "snapshots")
    settings.setdefault("video", "none")
    if out is not None:
        settings["out"] = out
    options = _options_of(settings)
    handle = c.c_void_p()
    with context_for(ctx, backend) as used:
        used._call(lib.qn_les_run, used.handle, c.byref(options), c.byref(handle))
        try:
            return _result_of(address_of(handle))
        finally:
            lib.qn_les_result_free(handle)


def _array(handle: int, name: str) -> np.ndarray:
    """A copy of an array of the result, as records when it is a table; empty when there is none."""
    found = lib.qn_les_result_array(handle, name.encode())
    if not found:
        return np.empty(0)
    array = found.contents
    shape, dtype = array.dims[:array.n_dims], np.dtype(array.type.decode())
    n_bytes = int(np.prod(shape)) * dtype.itemsize
    values = np.frombuffer(c.string_at(array.data, n_bytes), dtype).reshape(shape).copy()
    if not array.columns:
        return values
    columns = [(column, dtype) for column in array.columns.decode().split(",")]
    return values.view(columns).reshape(shape[0])


def _result_of(handle: int) -> Result:
    encoded = {name: _array(handle, name) for name in ("z", "A", "mu", "scale", "anchors")
               if lib.qn_les_result_array(handle, name.encode())}
    return Result(steps=_array(handle, "steps").astype("i8"), omega=_array(handle, "omega"),
                  decoded=_array(handle, "decoded"), lowpass=_array(handle, "lowpass"),
                  series=_array(handle, "series"), spectrum=_array(handle, "spectrum"),
                  metrics=json.loads(lib.qn_les_result_metrics(handle)), encoded=encoded)
