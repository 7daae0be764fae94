"""The structs of the C headers. _lib.py compares their layout with the library's."""

from __future__ import annotations

import ctypes as c
from typing import Any

i64, u64, size_t = c.c_int64, c.c_uint64, c.c_size_t
text, handle = c.c_char_p, c.c_void_p
floats = c.POINTER(c.c_float)
doubles = c.POINTER(c.c_double)


def _fields(kind: Any, names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class Err(c.Structure):
    c_name = "qn_err"
    _fields_ = [("status", c.c_int), ("text", c.c_char * 480)]


class Options(c.Structure):
    c_name = "qn_options"
    _fields_ = ([("size", size_t)]
                + _fields(text, "backend route mem_budget log cache_dir fault explain_route")
                + _fields(c.c_int, "fallback threads op_priority")
                + _fields(c.c_double, "verify_pct"))


class DeviceInfo(c.Structure):
    c_name = "qn_device_info"
    _fields_ = ([("name", c.c_char * 128), ("vendor", c.c_char * 64), ("driver", c.c_char * 64),
                 ("arch", c.c_char * 32), ("kind", c.c_int)]
                + _fields(u64, "mem_total mem_free max_alloc")
                + [("max_group", c.c_uint32), ("max_grid", c.c_uint32 * 3)]
                + _fields(c.c_uint32, "local_mem units align")
                + _fields(c.c_uint8, "has_f64 has_async_copy has_graph_replay unified_memory "
                                     "has_exact_f32"))


class TransferCount(c.Structure):
    c_name = "qn_transfer_count"
    _fields_ = _fields(u64, "h2d_count h2d_bytes d2h_count d2h_bytes d2d_count d2d_bytes elided")


class Range(c.Structure):
    c_name = "qn_range"
    _fields_ = _fields(i64, "x0 x1 y0 y1 z0 z1")


class Arg(c.Structure):
    c_name = "qn_arg"
    _fields_ = [("buf", handle), ("offset", size_t), ("value", handle), ("bytes", size_t)]


class GraphStats(c.Structure):
    c_name = "qn_graph_stats"
    _fields_ = (_fields(u64, "runs captures replays submissions crossings")
                + [("transfers", TransferCount)] + _fields(c.c_int, "n_stages n_temps")
                + _fields(size_t, "temp_bytes temp_bytes_shared") + _fields(c.c_int, "n_fused"))


class ArgInfo(c.Structure):
    c_name = "qn_arg_info"
    _fields_ = [("name", text), ("type", text), ("size", c.c_uint16), ("mode", c.c_uint8)]


class KernelInfo(c.Structure):
    c_name = "qn_kernel_info"
    _fields_ = ([("name", text)] + _fields(c.c_uint8, "form n_args folds unroll")
                + [("lanes", c.c_int), ("points", c.c_uint32), ("args", c.POINTER(ArgInfo)),
                   ("cpu", handle), ("module", handle)])


class Fallback(c.Structure):
    c_name = "qn_fallback"
    _fields_ = _fields(text, "stage reason text") + [("count", u64)]


class SolweigGrid(c.Structure):
    c_name = "qn_sw_grid"
    _fields_ = (_fields(i64, "rows cols")
                + [("pixel_size", c.c_double), ("was_smoothed", c.c_int)])


class Weather(c.Structure):
    c_name = "qn_sw_weather_step"
    _fields_ = ([("minutes", i64)]
                + [(name, c.c_double) for name in ("ta", "rh", "ws", "pressure_hpa", "global",
                                                   "direct", "diffuse")])


class SolweigStep(c.Structure):
    c_name = "qn_sw_step"
    _fields_ = ([("minutes", i64)]
                + _fields(c.c_double, "ta rh ws global direct diffuse diffuse_fraction clearness "
                                      "sun_altitude sun_azimuth tmrt_mean utci_mean sun_fraction")
                + [("n_valid", i64), ("is_day", c.c_int)])


class LesSize(c.Structure):
    c_name = "qn_les_size"
    _fields_ = _fields(c.c_int, "n ensemble is_f64 n_shells")


class LesState(c.Structure):
    c_name = "qn_les_state"
    _fields_ = [("step", i64)] + _fields(c.c_double, "time dt energy enstrophy palinstrophy "
                                                     "max_vorticity")


class LesArray(c.Structure):
    c_name = "qn_les_array"
    _fields_ = (_fields(text, "name type columns")
                + [("n_dims", c.c_int), ("dims", i64 * 4), ("data", handle)])


class FitFile(c.Structure):
    c_name = "qn_fit_file"
    _fields_ = [("name", text), ("data", c.c_char_p), ("bytes", size_t)]


class FitColumn(c.Structure):
    c_name = "qn_fit_column"
    _fields_ = [("file", text), ("name", text), ("data", c.c_void_p), ("count", c.c_int64),
                ("stride", c.c_int64), ("type", c.c_int)]


class FitParameter(c.Structure):
    c_name = "qn_fit_parameter"
    _fields_ = [("name", text), ("count", c.c_uint32), ("dim", c.c_uint32), ("values", doubles),
                ("start", doubles), ("deviations", doubles)]


class FitProgress(c.Structure):
    c_name = "qn_fit_progress"
    _fields_ = ([("solver", text)]
                + _fields(c.c_int, "solve iteration max_iterations is_accepted linear_iterations")
                + _fields(c.c_double, "cost gradient_max step_norm seconds"))


FitCall = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(FitProgress))


class FitCallback(c.Structure):
    c_name = "qn_fit_callback"
    _fields_ = [("call", FitCall), ("user", c.c_void_p)]


class AbiEntry(c.Structure):
    """An entry of the library's table of layouts."""

    _fields_ = [("type", text), ("member", text), ("offset", size_t), ("size", size_t)]


ALL: list[Any] = [value for value in list(globals().values())
                  if isinstance(value, type) and issubclass(value, c.Structure)
                  and hasattr(value, "c_name")]
