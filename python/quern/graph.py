"""Kernels from text, and graphs of stages that run them."""

from __future__ import annotations

import contextlib
import ctypes as c
from typing import Any, Iterator, NamedTuple

import numpy as np

from . import _structs as s
from ._closing import Closing
from ._lib import address_of, encode, lib
from .buffers import Array
from .context import GRAPHS, KERNELS, Context

_VAL, _IN, _OUT, _INOUT = range(4)
_MAP = 0
_MAX_AXIS = 1 << 30

# NumPy's names for the types of the dialect.
_DTYPES = {"float": "f4", "double": "f8", "i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2",
           "i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8"}


class _Argument(NamedTuple):
    """One argument of a head. It is a copy, because the head is freed with its context."""

    name: str
    type: str
    size: int  # 0: not known before compilation
    mode: int


class Kernel:
    """One kernel: its name and its arguments."""

    def __init__(self, info: Any, module: Kernels | None):
        head = info.contents
        self._info = info
        self._module = module
        self._form: int = head.form
        self.name: str = head.name.decode()
        self._args = [_Argument(head.args[i].name.decode(), head.args[i].type.decode(),
                                head.args[i].size, head.args[i].mode) for i in range(head.n_args)]

    @property
    def arguments(self) -> list[str]:
        """As in the head: "VAL(float, a)", "IN(float, x)", ..."""
        modes = ("VAL", "IN", "OUT", "INOUT")
        return [f"{modes[a.mode]}({a.type}, {a.name})" for a in self._args]

    def __repr__(self) -> str:
        return f"<quern.Kernel {self.name}({', '.join(self.arguments)})>"


class Kernels:
    """The kernels of a text, as `kernels.saxpy` or `kernels["saxpy"]`."""

    def __init__(self, ctx: Context, text: str, name: str = "kernels",
                 defines: str | None = None):
        self._handle: int | None = None
        self._users = 0
        self.ctx = ctx
        self.name = name
        handle = c.c_void_p()
        ctx._call(lib.qn_kernels_new, encode(name), encode(text), c.byref(handle))
        plain = ctx._adopt(KERNELS, address_of(handle), lib.qn_kernels_free)
        if defines:
            try:
                ctx._call(lib.qn_kernels_with, plain, encode(defines), c.byref(handle))
            finally:
                ctx._drop(KERNELS, plain)
            plain = ctx._adopt(KERNELS, address_of(handle), lib.qn_kernels_free)
        self._handle = plain

    def __repr__(self) -> str:
        return f"<quern.Kernels {self.name}>"

    def __getitem__(self, name: str) -> Kernel:
        self.ctx.handle
        info = lib.qn_kernels_find(self._handle, encode(name))
        if not info:
            raise KeyError(f"no kernel {name!r} in this text")
        return Kernel(info, self)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    # A module must outlive the graphs that use it, in whatever order Python drops them.
    def _retain(self) -> None:
        self._users += 1

    def _release(self) -> None:
        self._users -= 1
        if self._users < 0:
            self.ctx._drop(KERNELS, self._handle)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self._release()


def builtin(name: str) -> Kernel:
    """A kernel that comes with the library, such as "saxpy"."""
    info = lib.qn_kernel_builtin(encode(name))
    if not info:
        raise ValueError(f"there is no built-in kernel {name!r}")
    return Kernel(info, None)


# Arguments.


def _value_of(info: _Argument, value: Any) -> np.ndarray:
    """A value in the form in which a kernel gets it."""
    kind, name = info.type, info.name
    if kind in _DTYPES:
        dtype = np.dtype(_DTYPES[kind])
        number = np.asarray(value)
        if number.ndim or number.dtype.kind not in "biuf":
            raise TypeError(f"argument {name} is a number of type {kind}, not {value!r}")
        if dtype.kind != "f" and (number.dtype.kind == "f"
                                  or not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max):
            raise ValueError(f"argument {name}: {value!r} does not fit {kind}")
        return number.astype(dtype).reshape(1)
    data = np.frombuffer(value, "u1") if isinstance(value, (bytes, bytearray)) \
        else np.ascontiguousarray(value)
    if info.size and data.nbytes != info.size:
        raise ValueError(f"argument {name}: {data.nbytes} bytes for a {kind} of {info.size}")
    if not data.nbytes:
        raise ValueError(f"argument {name}: no bytes for a {kind}")
    return data


def _buffer_of(ctx: Context, info: _Argument, value: Any) -> Array:
    kind, name = info.type, info.name
    if not isinstance(value, Array):
        raise TypeError(f"argument {name} is an array of the context (ctx.array), "
                        f"not {type(value).__name__}")
    if value.ctx is not ctx:
        raise ValueError(f"argument {name}: array {value.name} is of another context")
    if kind in _DTYPES and value.dtype != np.dtype(_DTYPES[kind]):
        raise TypeError(f"argument {name} is an array of {kind}, not of {value.dtype}")
    return value


def _range_of(over: int | tuple[int, ...]) -> s.Range:
    sides = (over,) if isinstance(over, (int, np.integer)) else tuple(over)
    if not 1 <= len(sides) <= 3 or any(side < 1 for side in sides):
        raise ValueError(f"over={over!r}: one to three sides of at least 1, x first")
    x, y, z = (tuple(int(side) for side in sides) + (1, 1))[:3]
    return s.Range(0, x, 0, y, 0, z)


def _default_over(kernel: Kernel, arrays: list[tuple[int, Array]]) -> int:
    if kernel._form != _MAP:
        raise ValueError(f"kernel {kernel.name}: groups and teams have no default range; "
                         "give over=")
    for mode in (_OUT, _INOUT):
        for found, array in arrays:
            if found == mode:
                return array.size
    raise ValueError(f"kernel {kernel.name} writes no array; give over=")


def _check_over(kernel: Kernel, span: s.Range, arrays: list[tuple[int, Array]]) -> None:
    """OUT writes one element per point, so there may not be more points than elements."""
    points = span.x1 * span.y1 * span.z1
    for mode, array in arrays:
        if kernel._form == _MAP and mode == _OUT and points > array.size:
            raise ValueError(f"kernel {kernel.name}: {points} points, but array {array.name} "
                             f"has {array.size} elements")


# Graphs.


class Graph(Closing):
    """Stages in program order. A graph is built once and run many times. From the second run on,
    the recorded submission is replayed, and only stale data is copied."""

    def __init__(self, ctx: Context, name: str = "graph"):
        self._handle: int | None = None
        self.ctx = ctx
        self.name = name
        self._arrays: list[Array] = []
        self._modules: list[Kernels] = []
        self._stages: list[Kernel] = []
        self._sizes: list[list[int]] = []  # bytes of each value of each stage
        self._keep: list[Any] = []
        handle = c.c_void_p()
        ctx._call(lib.qn_graph_new, ctx.handle, encode(name), c.byref(handle))
        self._handle = ctx._adopt(GRAPHS, address_of(handle), lib.qn_graph_free, self._keep)

    @property
    def handle(self) -> int:
        """The address of the qn_graph."""
        self.ctx.handle
        if self._handle is None:
            raise ValueError(f"graph {self.name} is closed")
        return self._handle

    def close(self) -> None:
        """Waits for a run in progress, then frees the graph."""
        handle, self._handle = self._handle, None
        self.ctx._drop(GRAPHS, handle)
        modules, self._modules, self._arrays = self._modules, [], []
        for module in modules:
            module._release()

    def __len__(self) -> int:
        return len(self._stages)

    def stage(self, kernel: Kernel | str, *arguments: Any,
              over: int | tuple[int, ...] | None = None, name: str | None = None,
              device: str | None = None) -> int:
        """Adds a stage and returns its number.

        `kernel` is one of ctx.kernels(text), or the name of a built-in one. Arguments are those of
        its head: arrays of the context, numbers, and bytes or NumPy records for structs. `over` is
        the range, (x, y, z) with x varying fastest; the default for a MAP is the elements of the
        array it writes. Indices inside a kernel are not checked: as in C, an index outside its
        array does harm. `device` pins the stage.
        """
        kernel = builtin(kernel) if isinstance(kernel, str) else kernel
        if kernel._module is not None and kernel._module.ctx is not self.ctx:
            raise ValueError(f"kernel {kernel.name} is of another context")
        if len(arguments) != len(kernel._args):
            raise TypeError(f"kernel {kernel.name} has {len(kernel._args)} arguments "
                            f"({', '.join(kernel.arguments)}), not {len(arguments)}")
        packed = (s.Arg * (len(arguments) + 1))()
        arrays, values = [], []
        for i, (info, given) in enumerate(zip(kernel._args, arguments)):
            if info.mode == _VAL:
                values.append(_value_of(info, given))
                packed[i] = s.Arg(None, 0, values[-1].ctypes.data, values[-1].nbytes)
            else:
                arrays.append((info.mode, _buffer_of(self.ctx, info, given)))
                packed[i] = s.Arg(arrays[-1][1].handle, 0, None, 0)
        span = _range_of(over if over is not None else _default_over(kernel, arrays))
        _check_over(kernel, span, arrays)
        self.ctx._call(lib.qn_graph_stage, self.handle, encode(name or kernel.name), kernel._info,
                       span, packed)
        self._note(kernel, [array for _, array in arrays])
        self._sizes.append([packed[i].bytes for i in range(len(arguments))])
        if device is not None:
            self.ctx._call(lib.qn_graph_pin, self.handle, len(self._stages) - 1, encode(device))
        return len(self._stages) - 1

    def _note(self, kernel: Kernel, arrays: list[Array]) -> None:
        self._stages.append(kernel)
        self._arrays += arrays
        self._keep += [array._wrapped for array in arrays if array._wrapped is not None]
        if kernel._module is not None and kernel._module not in self._modules:
            kernel._module._retain()
            self._modules.append(kernel._module)

    def output(self, array: Array) -> None:
        """Every run downloads `array` when it ends, before it is requested."""
        if array.ctx is not self.ctx:
            raise ValueError(f"array {array.name} is of another context")
        self.ctx._call(lib.qn_graph_output, self.handle, array.handle)
        self._arrays.append(array)

    def set(self, stage: int, argument: int | str, value: Any) -> None:
        """Replaces a value of a stage; a recorded run is updated in place."""
        if not 0 <= stage < len(self._stages):
            raise IndexError(f"stage {stage} of {len(self._stages)}")
        infos = self._stages[stage]._args
        names = [info.name for info in infos]
        number = names.index(argument) if isinstance(argument, str) else argument
        if not 0 <= number < len(infos) or infos[number].mode != _VAL:
            raise ValueError(f"argument {argument!r} of stage {stage} is not a value")
        data = _value_of(infos[number], value)
        if data.nbytes != self._sizes[stage][number]:
            raise ValueError(f"argument {argument!r} of stage {stage}: {data.nbytes} bytes, "
                             f"it was added with {self._sizes[stage][number]}")
        self.ctx._call(lib.qn_graph_set, self.handle, stage, number, data.ctypes.data)

    def run(self, times: int = 1) -> None:
        """Submits the whole graph `times` times, without waiting for the device."""
        for _ in range(times):
            self.ctx._call(lib.qn_graph_run, self.handle)

    def wait(self) -> None:
        """Waits for the last run. Raises an Error if it failed."""
        self.ctx._call(lib.qn_graph_wait, self.handle)

    @property
    def stats(self) -> dict[str, int]:
        """Counts of runs, replays, submissions and so on: the members of qn_graph_stats."""
        stats = lib.qn_graph_get_stats(self.handle)
        return {name: getattr(stats, name) for name, kind in stats._fields_
                if kind is not s.TransferCount}

    @property
    def stage_devices(self) -> list[str | None]:
        """The device that ran each stage last."""
        found = [lib.qn_graph_stage_device(self.handle, i) for i in range(len(self._stages))]
        return [device.decode() if device else None for device in found]

    def __iter__(self) -> Iterator[Kernel]:
        return iter(list(self._stages))
