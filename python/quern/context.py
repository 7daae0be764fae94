"""Contexts own devices, arrays and graphs.

A lock lets only one thread at a time use a context. A context holds the handles of all objects made
in it, with everything that must live as long as they do. The library can thus free them in the
order it needs, in whatever order Python drops the objects.
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

GRAPHS, TOOLS, BUFFERS, KERNELS = range(4)  # the order in which they are freed

_FALLBACKS = {None: 0, "cpu": 1, "error": 2}


class Context(Closing):
    """Devices, caches and the router that places work on them.

        with quern.Context("cpu") as ctx:
            x = ctx.array([1.0, 2.0], dtype="f4")

    `backend` is "auto", "cpu", "cuda:0", "opencl" or several of them, separated by commas.
    With `fallback="error"` a device that fails raises an Error instead of a FallbackWarning.
    docs/engine.md describes the other options.
    """

    def __init__(self, backend: str | None = None, *, route: str | None = None,
                 fallback: str | None = None, threads: int = 0, mem_budget: str | None = None,
                 log: str | None = None, cache_dir: str | None = None, fault: str | None = None):
        self._handle: int | None = None
        if fallback not in _FALLBACKS:
            raise ValueError(f"fallback={fallback!r}; it is None, 'cpu' or 'error'")
        options = s.Options(size=c.sizeof(s.Options), backend=encode(backend),
                            route=encode(route), log=encode(log),
                            mem_budget=encode(mem_budget), cache_dir=encode(cache_dir),
                            fault=encode(fault), fallback=_FALLBACKS[fallback], threads=threads)
        handle, err = c.c_void_p(), s.Err()
        check_err(lib.qn_ctx_open(c.byref(options), c.byref(handle), c.byref(err)), err)
        self._handle = handle.value
        self._lock = threading.RLock()
        self._made: tuple[dict[int, tuple[Callable[..., Any], list[Any]]], ...] = ({}, {}, {}, {})
        self._warned: dict[tuple[bytes, bytes], int] = {}
        self._warn_of_fallbacks(stacklevel=3)  # a device that cannot be opened

    def close(self) -> None:
        """Frees everything that was made in the context. A second call does nothing."""
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
        """Calls a function that can fail. Adds the qn_err that such functions take last."""
        err = s.Err()
        with self._lock:
            self.handle
            status = call(*arguments, c.byref(err))
            check_err(status, err)
            self._warn_of_fallbacks()

    def _warn_of_fallbacks(self, stacklevel: int = 4) -> None:
        entry = s.Fallback()
        for i in range(lib.qn_ctx_fallback_count(self.handle)):
            lib.qn_ctx_fallback_get(self.handle, i, c.byref(entry))
            key = (entry.stage, entry.reason)
            new = entry.count - self._warned.get(key, 0)
            self._warned[key] = entry.count
            if new:
                warnings.warn(f"{entry.stage.decode()} failed: {entry.text.decode()}"
                              f"{f' (x{new})' if new > 1 else ''}; the CPU did it",
                              FallbackWarning, stacklevel=stacklevel)

    @property
    def devices(self) -> list[Device]:
        """All devices, the CPU first."""
        return list_devices(self.handle)

    def device_number(self, device: str) -> int:
        """The index of "cuda:0", or of the first device of "cuda"."""
        for i, found in enumerate(self.devices):
            if device in (found.id, found.id.split(":")[0]):
                return i
        raise ValueError(f"no device {device!r}; there are "
                         f"{', '.join(found.id for found in self.devices)}")

    @property
    def transfers(self) -> dict[str, int]:
        """Copies between host and devices so far: counts, bytes, and how many were not needed."""
        count = lib.qn_ctx_transfers(self.handle)
        return {name: getattr(count, name) for name, _ in count._fields_}

    def sync(self) -> None:
        """Waits for everything that was submitted."""
        self._call(lib.qn_ctx_sync, self.handle)

    def array(self, data: npt.ArrayLike, dtype: npt.DTypeLike | None = None, *, name: str = "array",
              copy: bool = True) -> Array:
        """An array with the content of `data`, which is anything NumPy or DLPack understands.

        With `copy=False`, `data` is a NumPy array in C order, and its memory becomes the copy on
        the host: results appear in it when Array.numpy() is called.
        """
        from .buffers import Array

        return Array.of(self, data, dtype, name, copy)

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike = "f4", *,
              name: str = "array") -> Array:
        """An array of zeros. It takes no copy to a device until a stage reads it."""
        from .buffers import Array

        return Array(self, shape, dtype, name)

    def kernels(self, text: str, *, name: str = "kernels", defines: str | None = None) -> Kernels:
        """Kernels from text in the dialect of docs/kernels.md, as attributes with their names."""
        from .graph import Kernels

        return Kernels(self, text, name, defines)

    def graph(self, name: str = "graph") -> Graph:
        """A graph without stages."""
        from .graph import Graph

        return Graph(self, name)

    def run(self, kernel: Kernel | str, *arguments: Any,
            over: int | tuple[int, ...] | None = None) -> None:
        """Runs one kernel and waits. For work that runs more than once, make a graph."""
        with self.graph("run") as graph:
            graph.stage(kernel, *arguments, over=over)
            graph.run()
            graph.wait()


# The default context.

_default: Context | None = None
_default_lock = threading.Lock()


def default_context() -> Context:
    """The context of calls that name none. The first such call opens it."""
    global _default
    with _default_lock:
        if _default is None or _default._handle is None:
            _default = Context()
            atexit.register(_default.close)
        return _default


@contextlib.contextmanager
def context_for(ctx: Context | None, backend: str | None) -> Iterator[Context]:
    """The caller's context, a new one for `backend`, or the default context."""
    if ctx is not None and backend is not None:
        raise ValueError("give ctx or backend, not both")
    if backend is None:
        yield ctx if ctx is not None else default_context()
        return
    with Context(backend) as own:
        yield own


class Tool(Closing):
    """Base of objects that stay on a device until closed, in the caller's context or their own."""

    def __init__(self, ctx: Context | None, backend: str | None):
        self._handle: int | None = None
        self._own = Context(backend) if backend is not None and ctx is None else None
        with context_for(ctx or self._own, None) as used:
            self.ctx = used

    def close(self) -> None:
        """Frees the object, and its context if it has one of its own."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self.ctx._drop(TOOLS, handle)
        if self._own is not None:
            self._own.close()
