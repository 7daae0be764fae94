"""Arrays that know where their valid copies are."""

from __future__ import annotations

import contextlib
import ctypes as c
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from ._lib import address_of, encode, lib
from .context import BUFFERS, Context

if TYPE_CHECKING:
    import numpy.typing as npt

_READ, _UPDATE, _DISCARD = range(3)
_ACCESS = {"read": _READ, "update": _UPDATE, "discard": _DISCARD}
_HOST = (1, 0)  # the CPU in DLPack
_HOST_KINDS = (1, 3, 11)  # memory of the CPU: plain, pinned by CUDA, pinned by ROCm


def _shape_of(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(side < 1 for side in shape):
        raise ValueError(f"an array of shape {shape} has no elements")
    return tuple(int(side) for side in shape)


def _dtype_of(dtype: npt.DTypeLike) -> np.dtype:
    dtype = np.dtype(dtype)
    if dtype.hasobject or not dtype.isnative:
        raise TypeError(f"dtype {dtype}: arrays hold plain numbers in native byte order")
    return dtype


class Array:
    """An array of a context. Its content is copied only where a stage or a call needs it and has a
    stale copy."""

    def __init__(self, ctx: Context, shape: int | tuple[int, ...], dtype: npt.DTypeLike = "f4",
                 name: str = "array", _wrapped: np.ndarray | None = None):
        self._handle: int | None = None
        self.ctx = ctx
        self.shape = _shape_of(shape)
        self.dtype = _dtype_of(dtype)
        self.name = name
        self._wrapped = _wrapped
        self._lent: set[int] = set()
        handle = c.c_void_p()
        if _wrapped is None:
            ctx._call(lib.qn_buf_new, ctx.handle, encode(name), self.nbytes, c.byref(handle))
        else:
            ctx._call(lib.qn_buf_wrap, ctx.handle, encode(name), _wrapped.ctypes.data, self.nbytes,
                      c.byref(handle))
        self._handle = ctx._adopt(BUFFERS, address_of(handle), lib.qn_buf_free, [_wrapped])

    @classmethod
    def _part_of(cls, ctx: Context, handle: int, shape: tuple[int, ...], dtype: npt.DTypeLike,
                 name: str) -> Any:
        """All of a buffer that the library made, which stays there as long as the array."""
        array = cls.__new__(cls)
        array._handle, array._wrapped, array._lent = None, None, set()
        array.ctx, array.shape, array.dtype = ctx, _shape_of(shape), _dtype_of(dtype)
        array.name = name
        view = c.c_void_p()
        ctx._call(lib.qn_buf_view, handle, encode(name), 0, array.nbytes, c.byref(view))
        array._handle = ctx._adopt(BUFFERS, address_of(view), lib.qn_buf_free)
        return array

    @classmethod
    def of(cls, ctx: Context, data: Any, dtype: npt.DTypeLike | None, name: str,
           copy: bool) -> Array:
        """An array with the content of `data` (Context.array)."""
        if not copy:
            if not isinstance(data, np.ndarray) or not data.flags.c_contiguous \
                    or not data.flags.writeable or (dtype and np.dtype(dtype) != data.dtype):
                raise TypeError("copy=False wants a writeable NumPy array in C order, "
                                "of the wanted dtype")
            return cls(ctx, data.shape, data.dtype, name, data)
        if not isinstance(data, (np.ndarray, Array)) and hasattr(data, "__dlpack__"):
            if tuple(data.__dlpack_device__())[0] not in _HOST_KINDS:
                raise TypeError("the data is on a GPU: copy it to the host first, or make an array "
                                "with ctx.zeros() and write to it there: "
                                "cupy.asarray(array)[...] = data")
            data = np.from_dlpack(data)
        data = np.ascontiguousarray(data, dtype)
        array = cls(ctx, np.shape(data), data.dtype, name)
        array.write(data)
        return array

    @property
    def handle(self) -> int:
        """The address of the qn_buf."""
        self.ctx.handle
        if self._handle is None:
            raise ValueError(f"array {self.name} is closed")
        return self._handle

    def close(self) -> None:
        """Frees the memory now; graphs that use the array keep it until they are closed."""
        handle, self._handle = self._handle, None
        if handle is not None and self.ctx._handle is not None:
            with self.ctx._lock:
                for device in self._lent:
                    lib.qn_buf_give_back(handle, device)
        self._lent = set()
        self.ctx._drop(BUFFERS, handle)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<quern.Array {self.name}, {self.dtype} {self.shape}>"

    def numpy(self) -> np.ndarray:
        """The content, after waiting for runs that write it: a copy, or for an array made with
        copy=False the NumPy array it was made from."""
        if self._wrapped is not None:
            host = c.c_void_p()
            self.ctx._call(lib.qn_buf_host, self.handle, _READ, c.byref(host))
            return self._wrapped
        result = np.empty(self.shape, self.dtype)
        self.ctx._call(lib.qn_buf_read, self.handle, 0, result.ctypes.data, self.nbytes)
        return result

    def view(self, access: str = "read") -> np.ndarray:
        """The host copy itself, without another copy, after waiting for runs that write it. From a
        device it is fetched first. It shows the array until a stage writes that; then ask again.
        With "update" it may be written to, and all other copies become stale. The memory is there
        until the array or its context is closed."""
        if access not in _ACCESS:
            raise ValueError(f"access={access!r}; it is 'read', 'update' or 'discard'")
        address = self._hold(0, _ACCESS[access])
        memory = (c.c_char * self.nbytes).from_address(address)
        memory._array = self  # which lives as long as the view
        view = np.frombuffer(memory, self.dtype).reshape(self.shape)
        view.flags.writeable = access != "read"
        return view

    def write(self, data: npt.ArrayLike) -> None:
        """Replaces the content. `data` has the same shape or broadcasts to it."""
        data = np.asarray(data)
        if not np.can_cast(data.dtype, self.dtype, "same_kind"):
            raise TypeError(f"{data.dtype} for an array of {self.dtype}")
        data = np.ascontiguousarray(np.broadcast_to(data, self.shape), self.dtype)
        self.ctx._call(lib.qn_buf_write, self.handle, 0, data.ctypes.data, self.nbytes)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        content = self.numpy()
        return content if dtype is None else content.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        return self.numpy()[key]

    @property
    def transfers(self) -> dict[str, int]:
        """Copies of this array between host and devices so far."""
        self.ctx.handle
        count = lib.qn_buf_transfers(self.handle)
        return {name: getattr(count, name) for name, _ in count._fields_}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HOST

    def __dlpack__(self, **options: Any) -> Any:
        """The content for other libraries, on the host."""
        return self.numpy().__dlpack__(**options)

    @contextlib.contextmanager
    def lend(self, device: str, access: str = "update") -> Iterator[int]:
        """The address of the array on a device, for another library, while the block lasts.

        `access` is "read", "update" (all other copies become stale) or "discard" (the same, and
        the old content may be lost). The other library must finish before the block ends. Devices
        whose memory has no addresses, such as those of OpenCL, raise an Error.
        """
        if access not in _ACCESS:
            raise ValueError(f"access={access!r}; it is 'read', 'update' or 'discard'")
        number, address = self.ctx.device_number(device), c.c_void_p()
        self.ctx._call(lib.qn_buf_lend, self.handle, number, _ACCESS[access], c.byref(address))
        try:
            yield address_of(address)
        finally:
            if self._handle is not None and self.ctx._handle is not None:
                with self.ctx._lock:
                    lib.qn_buf_give_back(self._handle, number)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """For CuPy, Numba and PyTorch: the array on the first CUDA device. It stays there until it
        is closed. The other library may write to it, so all other copies become stale. Let that
        library finish (torch.cuda.synchronize()) before quern uses the array, and ask again after
        stages of quern have used it."""
        for number, device in enumerate(self.ctx.devices):
            if device.id.startswith("cuda:"):
                break
        else:
            raise AttributeError("the context has no CUDA device")
        return {"shape": self.shape, "typestr": self.dtype.str, "version": 3,
                "data": (self._hold(number, _UPDATE), False), "strides": None, "stream": None}

    def _hold(self, number: int, access: int) -> int:
        """The address on a device, where the array then stays until it is closed."""
        address = c.c_void_p()
        self.ctx._call(lib.qn_buf_lend, self.handle, number, access, c.byref(address))
        if number in self._lent:
            with self.ctx._lock:
                lib.qn_buf_give_back(self.handle, number)
        self._lent.add(number)
        return address_of(address)
