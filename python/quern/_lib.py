"""Loads libquern, checks that it fits this package, and declares its functions."""

from __future__ import annotations

import ctypes as c
import ctypes.util
import itertools
import os
from pathlib import Path

from . import _structs as s
from .errors import Error

VERSION = "0.1.0"

_P = c.POINTER
_err = _P(s.Err)
_out = _P(c.c_void_p)

# The result type of each function, then its arguments. A qn_status is an `int`; functions that can fail
# take a qn_err last.
_CALLS = {
    "qn_status_name": (c.c_char_p, c.c_int),
    "qn_ctx_open": (c.c_int, _P(s.Options), _out, _err),
    "qn_ctx_close": (None, s.handle),
    "qn_ctx_sync": (c.c_int, s.handle, _err),
    "qn_device_count": (c.c_int, s.handle),
    "qn_device_id": (c.c_char_p, s.handle, c.c_int),
    "qn_device_get": (_P(s.DeviceInfo), s.handle, c.c_int),
    "qn_ctx_transfers": (s.TransferCount, s.handle),
    "qn_ctx_fallback_count": (c.c_int, s.handle),
    "qn_ctx_fallback_get": (None, s.handle, c.c_int, _P(s.Fallback)),
    "qn_buf_new": (c.c_int, s.handle, c.c_char_p, c.c_size_t, _out, _err),
    "qn_buf_wrap": (c.c_int, s.handle, c.c_char_p, c.c_void_p, c.c_size_t, _out, _err),
    "qn_buf_free": (None, s.handle),
    "qn_buf_read": (c.c_int, s.handle, c.c_size_t, c.c_void_p, c.c_size_t, _err),
    "qn_buf_write": (c.c_int, s.handle, c.c_size_t, c.c_void_p, c.c_size_t, _err),
    "qn_buf_host": (c.c_int, s.handle, c.c_int, _out, _err),
    "qn_buf_lend": (c.c_int, s.handle, c.c_int, c.c_int, _out, _err),
    "qn_buf_give_back": (None, s.handle, c.c_int),
    "qn_buf_transfers": (s.TransferCount, s.handle),
    "qn_kernels_new": (c.c_int, c.c_char_p, c.c_char_p, _out, _err),
    "qn_kernels_with": (c.c_int, s.handle, c.c_char_p, _out, _err),
    "qn_kernels_free": (None, s.handle),
    "qn_kernels_find": (_P(s.KernelInfo), s.handle, c.c_char_p),
    "qn_kernel_builtin": (_P(s.KernelInfo), c.c_char_p),
    "qn_graph_new": (c.c_int, s.handle, c.c_char_p, _out, _err),
    "qn_graph_free": (None, s.handle),
    "qn_graph_stage": (c.c_int, s.handle, c.c_char_p, _P(s.KernelInfo), s.Range, _P(s.Arg), _err),
    "qn_graph_output": (c.c_int, s.handle, s.handle, _err),
    "qn_graph_pin": (c.c_int, s.handle, c.c_int, c.c_char_p, _err),
    "qn_graph_set": (c.c_int, s.handle, c.c_int, c.c_int, c.c_void_p, _err),
    "qn_graph_run": (c.c_int, s.handle, _err),
    "qn_graph_wait": (c.c_int, s.handle, _err),
    "qn_graph_get_stats": (s.GraphStats, s.handle),
    "qn_graph_stage_device": (c.c_char_p, s.handle, c.c_int),
    "qn_arc_new": (c.c_int, s.handle, c.c_void_p, _out, _err),
    "qn_arc_free": (None, s.handle),
    "qn_arc_ask": (c.c_char_p, s.handle, c.c_char_p),
    "qn_sw_svf": (c.c_int, s.handle, c.c_void_p, c.c_void_p, c.c_void_p, c.c_void_p,
                       c.c_void_p, _err),
    "qn_sw_shadow": (c.c_int, s.handle, c.c_void_p, c.c_void_p, c.c_void_p, c.c_void_p, _err),
    "qn_sw_walls": (c.c_int, s.handle, c.c_void_p, c.c_void_p, c.c_void_p, c.c_void_p,
                         c.c_void_p, _err),
    "qn_sw_run": (c.c_int, s.handle, c.c_void_p, c.c_void_p, _out, _err),
    "qn_sw_result_free": (None, s.handle),
    "qn_sw_result_n_steps": (c.c_size_t, s.handle),
    "qn_sw_result_steps": (_P(s.SolweigStep), s.handle),
    "qn_sw_result_report": (_P(s.SolweigGrid), s.handle),
    "qn_sw_result_plane": (s.floats, s.handle, c.c_char_p),
    "qn_les_new": (c.c_int, s.handle, c.c_void_p, _out, _err),
    "qn_les_free": (None, s.handle),
    "qn_les_get_size": (None, s.handle, _P(s.LesSize)),
    "qn_les_step": (c.c_int, s.handle, c.c_int, _err),
    "qn_les_vorticity": (c.c_int, s.handle, c.c_void_p, c.c_size_t, _err),
    "qn_les_spectrum": (c.c_int, s.handle, c.c_int, c.c_void_p, c.c_size_t, _err),
    "qn_les_inspect": (c.c_int, s.handle, _P(s.LesState), _err),
    "qn_les_run": (c.c_int, s.handle, c.c_void_p, _out, _err),
    "qn_les_result_free": (None, s.handle),
    "qn_les_result_array": (_P(s.LesArray), s.handle, c.c_char_p),
    "qn_les_result_metrics": (c.c_char_p, s.handle),
    "qn_fit_solve_program": (c.c_int, s.handle, c.c_char_p, c.c_void_p, _out, _out, _err),
    "qn_fit_solution_free": (None, s.handle),
    "qn_fit_faults_free": (None, c.c_void_p),
    "qn_fit_solution_n_parameters": (c.c_int, s.handle),
    "qn_fit_solution_parameter": (None, s.handle, c.c_int, _P(s.FitParameter)),
    "qn_fit_solution_is_converged": (c.c_int, s.handle),
    "qn_fit_solution_report": (c.c_char_p, s.handle),
}


def _candidates() -> list[str]:
    """Paths where the library may be, in the order in which they are tried."""
    here = Path(__file__).resolve().parent
    given = os.environ.get("QUERN_LIBRARY")
    if given:
        return [given]
    files = [here / "libquern.so", here.parents[1] / "build" / "libquern.so"]
    found = [str(path) for path in files if path.is_file()]
    installed = ctypes.util.find_library("quern")
    return found + ([installed] if installed else [])


def _check_version(lib: c.CDLL, path: str) -> None:
    try:
        lib.qn_version.restype = c.c_char_p
        version = lib.qn_version().decode()
    except AttributeError:
        raise ImportError(f"{path} is not libquern") from None
    if version != VERSION:
        raise ImportError(f"{path} is quern {version}; this package is for {VERSION}")


def abi_table(lib: c.CDLL) -> dict[tuple[str, str], tuple[int, int]]:
    """Offset and size of every public struct and member, as the library was compiled."""
    try:
        table = lib.qn_abi_table
    except AttributeError:
        raise ImportError(f"{lib._name}: the library has no table of its structs") from None
    table.restype = c.POINTER(s.AbiEntry)
    entries = {}
    for number in itertools.count():
        at = table(number)
        if not at:
            return entries
        for i in itertools.count():
            if not at[i].type:
                break
            entries[at[i].type.decode(), at[i].member.decode()] = (at[i].offset, at[i].size)


def abi_differences(entries: dict[tuple[str, str], tuple[int, int]]) -> list[str]:
    """Where the structs of this package and those of the library differ."""
    own: dict[tuple[str, str], tuple[int, int]] = {}
    for struct in s.ALL:
        own[struct.c_name, ""] = (0, c.sizeof(struct))
        for field in struct._fields_:
            place = getattr(struct, field[0])
            own[struct.c_name, field[0]] = (place.offset, place.size)
    return [f"{kind}.{member or '(size)'}: {own.get((kind, member))} here, "
            f"{entries.get((kind, member))} in the library"
            for kind, member in sorted(own.keys() | entries.keys())
            if own.get((kind, member)) != entries.get((kind, member))]


def _load() -> c.CDLL:
    paths = _candidates()
    if not paths:
        raise ImportError("there is no libquern.so: install the package with pip, "
                          "or set QUERN_LIBRARY")
    lib = c.CDLL(paths[0])
    _check_version(lib, paths[0])
    differences = abi_differences(abi_table(lib))
    if differences:
        raise ImportError(f"{paths[0]} was built from other headers: {differences[0]}")
    for name, (result, *arguments) in _CALLS.items():
        call = getattr(lib, name)
        call.restype, call.argtypes = result, arguments
    return lib


lib = _load()


def check_err(status: int, err: s.Err, faults: str | None = None) -> None:
    """Raises the Error of a call that failed."""
    if status:
        raise Error(lib.qn_status_name(status).decode(), err.text.decode(errors="replace"), faults)


def address_of(handle: c.c_void_p) -> int:
    """The address that a successful call left in `handle`."""
    return handle.value or 0


def encode(value: str | os.PathLike[str] | None) -> bytes | None:
    """A text in the form that C takes."""
    if value is None:
        return None
    data = os.fspath(value).encode() if not isinstance(value, bytes) else value
    if b"\0" in data:
        raise ValueError("the text has a NUL character in it")
    return data
