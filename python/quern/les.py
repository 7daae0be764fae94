"""2-D turbulence: flows that stay on the device, and whole runs (docs/les.md)."""

from __future__ import annotations

import ctypes as c
import json
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator

import numpy as np

from . import _structs as s
from ._lib import address_of, encode, lib
from ._options import OptionTable
from .buffers import Array
from .context import TOOLS, Context, Tool, context_for
from .errors import Error

if TYPE_CHECKING:
    import numpy.typing as npt

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


_QUANTITIES = {"vorticity": 0, "streamfunction": 1, "u": 2, "v": 3, "forcing": 4}
_LEAST_CALL_S, _MOST_CALL_S = 0.05, 0.2  # of steps, between two looks at signals
_MANY = 16  # steps that are one submission


class Field(Array):
    """A field of a flow where it lies, for other libraries: DLPack shares the host's memory, and
    `__cuda_array_interface__` that of a CUDA device. Flow.field() brings it up to date; what was
    written to it becomes part of the flow by Flow.set_vorticity(field) or Flow.set_forcing(field).
    """

    def __dlpack__(self, **options: Any) -> Any:
        """The memory on the host, not a copy; other copies become stale, for it may be changed."""
        return self.view("update").__dlpack__(**options)


class Flow(Tool):
    """A flow on a device: stepped, inspected, changed, stepped again.

        flow = quern.les.Flow(n=128, ic="taylor_green")
        for state in flow.steps(100, every=20):
            print(state["time"], state["energy"])
        omega = flow.vorticity()

    Settings are the options of `quern les run`; `ic` and `forcing` may be arrays. When the device
    fails, the flow continues on the CPU, with a FallbackWarning.
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
        self.length: float = options.L
        self.dtype = np.dtype("f8" if size.is_f64 else "f4")
        self._n_shells = size.n_shells
        self._chunk = _MANY
        self._fields: dict[str, Field] = {}

    @property
    def handle(self) -> int:
        """The address of the qn_les."""
        self.ctx.handle
        if self._handle is None:
            raise ValueError("the flow is closed")
        return self._handle

    # Steps.

    def step(self, n: int = 1) -> None:
        """Makes `n` steps. Raises an Error when the flow becomes NaN or infinite. Ctrl-C ends them
        after a part of the steps; the flow stays good."""
        while True:
            chunk = min(n, self._chunk)
            start = time.perf_counter()
            self.ctx._call(lib.qn_les_step, self.handle, chunk)
            took, n = time.perf_counter() - start, n - chunk
            if chunk == self._chunk and took < _LEAST_CALL_S:
                self._chunk *= 2
            elif took > _MOST_CALL_S and self._chunk > _MANY:
                self._chunk //= 2
            if n <= 0:
                return

    def steps(self, n: int, every: int = 1) -> Iterator[dict[str, float]]:
        """Makes `n` steps, and gives inspect() after every `every` of them and after the last."""
        if every < 1:
            raise ValueError(f"every={every}: a number from 1")
        while n > 0:
            self.step(min(every, n))
            n -= every
            yield self.inspect()

    def run(self, n: int, callback: Callable[[Flow], Any] | None = None, every: int = 1) -> None:
        """Makes `n` steps, and calls `callback` with the flow after every `every` of them and after
        the last. It may read the flow and change it."""
        if callback is None:
            return self.step(n)
        for _ in self.steps(n, every):
            callback(self)

    # Fields.

    def _shape(self, name: str) -> tuple[int, ...]:
        one = self.ensemble == 1 or name == "forcing"
        return (self.n, self.n) if one else (self.ensemble, self.n, self.n)

    def _get(self, name: str) -> np.ndarray:
        result = np.empty(self._shape(name), self.dtype)
        self.ctx._call(lib.qn_les_get, self.handle, _QUANTITIES[name], result.ctypes.data,
                       result.nbytes)
        return result

    def _set(self, name: str, values: npt.ArrayLike | Field) -> None:
        if isinstance(values, Field):
            if values is not self._fields.get(name):
                raise ValueError(f"this is not the field {name!r} of this flow")
            self.ctx._call(lib.qn_les_apply, self.handle, _QUANTITIES[name])
            return
        values = np.ascontiguousarray(values, "f8")
        if values.shape not in ((self.n, self.n), self._shape(name)):
            raise ValueError(f"{name}: an array of shape {values.shape}, not {self._shape(name)}")
        self.ctx._call(lib.qn_les_set, self.handle, _QUANTITIES[name], values.ctypes.data,
                       values.size)

    def vorticity(self) -> np.ndarray:
        """The field: (n, n), or (ensemble, n, n) when there are several members."""
        return self._get("vorticity")

    def streamfunction(self) -> np.ndarray:
        """The field whose derivatives are the velocities: u along y, -v along x."""
        return self._get("streamfunction")

    def velocity(self) -> tuple[np.ndarray, np.ndarray]:
        """The fields u, along x, and v, with the uniform flow of mean_u and mean_v."""
        return self._get("u"), self._get("v")

    def forcing(self) -> np.ndarray:
        """What set_forcing() or forcing="static" has given: (n, n); else zeros."""
        return self._get("forcing")

    def set_vorticity(self, values: npt.ArrayLike | Field) -> None:
        """Replaces the vorticity: (n, n) for all members, or one field for each. Time goes on."""
        self._set("vorticity", values)

    def set_forcing(self, values: npt.ArrayLike | Field) -> None:
        """Sets what is added to the change of the vorticity in time, (n, n), until it is set again.
        It takes the place of the forcing of the settings."""
        self._set("forcing", values)

    def field(self, name: str) -> Field:
        """A field as it is now, where it lies: "vorticity", "streamfunction", "u", "v", "forcing".
        The same Field each time; the next call overwrites it."""
        if name not in _QUANTITIES:
            raise ValueError(f"no field {name!r}; there are {', '.join(_QUANTITIES)}")
        handle = c.c_void_p()
        self.ctx._call(lib.qn_les_buffer, self.handle, _QUANTITIES[name], c.byref(handle))
        if name not in self._fields:
            self._fields[name] = Field._part_of(self.ctx, address_of(handle), self._shape(name),
                                                self.dtype, name)
        return self._fields[name]

    def to_xarray(self) -> Any:
        """Vorticity, stream function and velocities as an xarray.Dataset, with coordinates."""
        import xarray

        across = np.arange(self.n) * self.length / self.n
        dims = ("y", "x") if self.ensemble == 1 else ("member", "y", "x")
        u, v = self.velocity()
        fields = {"vorticity": self.vorticity(), "streamfunction": self.streamfunction(),
                  "u": u, "v": v}
        coords = {"y": across, "x": across}
        if self.ensemble > 1:
            coords["member"] = np.arange(self.ensemble)
        state = self.inspect()
        return xarray.Dataset({name: (dims, values) for name, values in fields.items()}, coords,
                              {"step": state["step"], "time": state["time"]})

    # Files.

    def save(self, path: str | Path) -> None:
        """Writes step, time, vorticity and forcing to a file."""
        self.ctx._call(lib.qn_les_save, self.handle, encode(path))

    def load(self, path: str | Path) -> None:
        """Takes the state of a file of save(), or the .checkpoint of a whole run, of the same grid,
        precision and members."""
        self.ctx._call(lib.qn_les_restore, self.handle, encode(path))

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
