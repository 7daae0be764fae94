"""Contexts: what owns devices, arrays and graphs.

A context is for one thread at a time; a lock makes that so. Handles of everything made in a
context are kept here with what their memory needs, so that closing it, or dropping objects in any
order, frees them in the order that the library wants.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes as c
import threading
import warnings
from typing import Any, Callable, Iterator, TYPE_CHECKING

from . import _structs as s
from ._closing import Closing
from ._lib import check_err, encode, lib
from .devices import Device, list_devices
from .errors import Error, FallbackWarning

if TYPE_CHECKING:
    import numpy.typing as npt

    from .buffers import Array
    from .graph import Graph, Kernel, Kernels

GRAPHS, TOOLS, BUFFERS, KERNELS = range(4)  # in the order of freeing

_FALLBACKS = {None: 0, "cpu": 1, "error": 2}


class Context(Closing):
    """Devices, caches and the router.

        with quern.Context("cpu") as ctx:
            x = ctx.array([1.0, 2.0], dtype="f4")

    `backend` is "auto", "cpu", "cuda:0", "opencl" or a list with commas; `fallback="error"` makes
    a device's failure an exception instead of a FallbackWarning. The rest is as in docs/engine.md.
    """

    def __init__(self, backend: str | None = None, *, route: str | None = None,
                 fallback: str | None = None, threads: int = 0, mem_budget: str | None = None,
                 log: str | None = None, cache_dir: str | None = None, fault: str | None = None):
        self._handle: int | None = None
        if fallback not in _FALLBACKS:
            raise ValueError(f"fallback={fallback!r}; it is None, 'cpu' or 'error'")
        options = s.Options(size=c.sizeof(s.Options), backend=encode(backend), route=encode(route), log=encode(log),
                            mem_budget=encode(mem_budget), cache_dir=encode(cache_dir),
                            fault=encode(fault), fallback=_FALLBACKS[fallback], threads=threads)
        handle, err = c.c_void_p(), s.Err()
        check_err(lib.qn_ctx_open(c.byref(options), c.byref(handle), c.byref(err)), err)
        self._handle = handle.value
        self._lock = threading.RLock()
        self._made: tuple[dict[int, tuple[Callable[..., Any], list[Any]]], ...] = ({}, {}, {}, {})
        self._told: dict[tuple[bytes, bytes], int] = {}
        self._tell_fallbacks(stacklevel=3)  # a device that does not open

    # Life.

    def close(self) -> None:
        """Frees everything that was made in the context. A second time does nothing."""
        if self._handle is None:
            return
        with self._lock:
            for kind in self._made:
                while kind:
                    handle, (free, _keep) = kind.popitem()
                    free(handle)
            lib.qn_ctx_close(self._handle)
            self._handle = None

    def __enter__(self) -> Context:
        self.handle
        return self

    def __repr__(self) -> str:
        if self._handle is None:
            return "<quern.Context, closed>"
        return f"<quern.Context on {', '.join(device.id for device in self.devices)}>"

    @property
    def handle(self) -> int:
        """The address of the qn_ctx."""
        if self._handle is None:
            raise Error("usage", "the context is closed")
        return self._handle

    # What is made in it.

    def _adopt(self, kind: int, handle: int, free: Callable[..., Any],
               keep: list[Any] | None = None) -> int:
        """Takes over a handle; `keep` lives as long as it does."""
        self._made[kind][handle] = (free, keep if keep is not None else [])
        return handle

    def _drop(self, kind: int, handle: int | None) -> None:
        if handle is None or self._handle is None:
            return
        with self._lock:
            free, _keep = self._made[kind].pop(handle, (None, None))
            if free:
                free(handle)

    def _call(self, call: Callable[..., Any], *arguments: Any) -> None:
        """Makes a call that can fail; adds the error that such calls take last."""
        err = s.Err()
        with self._lock:
            self.handle
            status = call(*arguments, c.byref(err))
            check_err(status, err)
            self._tell_fallbacks()

    def _tell_fallbacks(self, stacklevel: int = 4) -> None:
        entry = s.Fallback()
        for i in range(lib.qn_ctx_fallback_count(self.handle)):
            lib.qn_ctx_fallback_get(self.handle, i, c.byref(entry))
            key = (entry.stage, entry.reason)
            new = entry.count - self._told.get(key, 0)
            self._told[key] = entry.count
            if new:
                warnings.warn(f"{entry.stage.decode()} failed: {entry.text.decode()}"
                              f"{f' (x{new})' if new > 1 else ''}; the CPU did it",
                              FallbackWarning, stacklevel=stacklevel)

    # Asking.

    @property
    def devices(self) -> list[Device]:
        """All devices, the CPU first."""
        return list_devices(self.handle)

    def device_number(self, device: str) -> int:
        """The place of "cuda:0", or of the first of "cuda"."""
        for i, found in enumerate(self.devices):
            if device in (found.id, found.id.split(":")[0]):
                return i
        raise ValueError(f"no device {device!r}; there are "
                         f"{', '.join(found.id for found in self.devices)}")

    @property
    def transfers(self) -> dict[str, int]:
        """Copies between host and devices so far: counts, bytes, and those that were not needed."""
        count = lib.qn_ctx_transfers(self.handle)
        return {name: getattr(count, name) for name, _ in count._fields_}

    def sync(self) -> None:
        """Waits for everything that was submitted."""
        self._call(lib.qn_ctx_sync, self.handle)

    # Making.

    def array(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None, *, name: str = "array",
              copy: bool = True) -> Array:
        """An array with the content of `data`: anything NumPy or DLPack understands.

        With `copy=False`, `data` is a NumPy array in C order whose memory becomes the host's copy:
        results appear in it when Array.numpy() is called.
        """
        from .buffers import Array

        return Array.of(self, data, dtype, name, copy)

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike = "f4", *,
              name: str = "array") -> Array:
        """An array of zeros. Nothing is copied to a device for it until a stage reads it."""
        from .buffers import Array

        return Array(self, shape, dtype, name)

    def kernels(self, text: str, *, name: str = "kernels", defines: str | None = None) -> Kernels:
        """Kernels from text in the dialect of docs/kernels.md, as attributes by their names."""
        from .graph import Kernels

        return Kernels(self, text, name, defines)

    def graph(self, name: str = "graph") -> Graph:
        """A graph without stages."""
        from .graph import Graph

        return Graph(self, name)

    def run(self, kernel: Kernel | str, *arguments: Any,
            over: int | tuple[int, ...] | None = None) -> None:
        """Runs one kernel, now. What runs more than once is better a graph."""
        with self.graph("run") as graph:
            graph.stage(kernel, *arguments, over=over)
            graph.run()
            graph.wait()


# Contexts nobody asked for.

_default: Context | None = None
_default_lock = threading.Lock()


def default_context() -> Context:
    """The context of calls that are given none; opened by the first of them."""
    global _default
    with _default_lock:
        if _default is None or _default._handle is None:
            _default = Context()
            atexit.register(_default.close)
        return _default


@contextlib.contextmanager
def context_for(ctx: Context | None, backend: str | None) -> Iterator[Context]:
    """The context a call is given, one of its own for `backend`, or the default."""
    if ctx is not None and backend is not None:
        raise ValueError("ctx and backend; it is one or the other")
    if backend is None:
        yield ctx if ctx is not None else default_context()
        return
    with Context(backend) as own:
        yield own


class Tool(Closing):
    """What stays on a device until it is closed, in a context that is given or its own."""

    def __init__(self, ctx: Context | None, backend: str | None):
        self._handle: int | None = None
        self._own = Context(backend) if backend is not None and ctx is None else None
        with context_for(ctx or self._own, None) as used:
            self.ctx = used

    def close(self) -> None:
        """Frees it, and the context if that was made for it."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self.ctx._drop(TOOLS, handle)
        if self._own is not None:
            self._own.close()
