"""Sky view, shadows and heat stress of a city: NumPy arrays in, NumPy arrays out (docs/solweig.md).

A layer is an array, or the name of a .tif or .npy file. Keywords are the options of the commands
`quern solweig svf | shadow | walls | run`, written with _ instead of -.
"""

from __future__ import annotations

import contextlib
import ctypes as c
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Union

import numpy as np

from . import _structs as s
from ._lib import address_of, encode, lib
from ._options import ARRAY, OptionTable
from .context import Context, context_for

if TYPE_CHECKING:
    import numpy.typing as npt

    Layer = Union[npt.ArrayLike, str, os.PathLike[str]]
    WeatherLike = Union[str, os.PathLike[str], Iterable[Union[str, os.PathLike[str]]],
                        Mapping[str, npt.ArrayLike]]

_SIDES = ("", "N", "E", "S", "W")
MAP_NAMES = tuple(f"svf{side}{kind}" for kind in ("", "veg", "aveg") for side in _SIDES)
MATRIX_NAMES = ("buildings", "vegetation", "vegetation_before_buildings")
OUTPUTS = ("tmrt", "utci", "pet", "shadow", "kdown", "kup", "ldown", "lup")

_LAYER, _SVF, _SHADOW, _WALL, _RUN = (OptionTable(f"qn_sw_{name}") for name in
                                      ("layer", "svf", "shadow", "wall", "run"))
_ARRAYS = tuple(name for name, row in _LAYER.rows.items() if row.kind == ARRAY)
_WAS = {"fixed": "corrected", "parity": "reference"}


# Layers.


def _grid(name: str, layer: npt.ArrayLike) -> np.ndarray:
    array = np.asarray(layer)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; a layer has rows and columns")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} is of dtype {array.dtype}; layers are numbers")
    return np.ascontiguousarray(array, "f4")


def _layers_of(dsm: Layer, options: dict[str, Any], own: OptionTable) -> tuple[Any, Any]:
    """The shape of the DSM (None if it is a file), and the layers, which it takes out of `options`.
    The remaining ones must be options of `own`."""
    for was, now in _WAS.items():
        if was in options:
            warnings.warn(f"{was} is now called {now}", DeprecationWarning, stacklevel=3)
            options[now] = options.pop(was)
    unknown = [name for name in options if name not in _LAYER.rows and name not in own.rows]
    if unknown:
        known = [*_ARRAYS[1:], *(name for table in (_LAYER, own) for name in table.rows
                                 if name not in _ARRAYS and not name.endswith("_file"))]
        raise TypeError(f"unknown option {unknown[0]!r}; there are {', '.join(known)}")
    given = {"dsm": dsm, **{name: options.pop(name) for name in list(options)
                            if name in _LAYER.rows}}
    layers: dict[str, Any] = {}
    shape = None
    for name, value in given.items():
        if value is None:
            continue
        if name in _ARRAYS and isinstance(value, (str, os.PathLike)):
            name = f"{name}_file"
        elif name in _ARRAYS:
            value = _grid(name, value)
            if shape is not None and value.shape != shape:
                raise ValueError(f"{name} of {value.shape[0]} x {value.shape[1]} pixels on a dsm "
                                 f"of {shape[0]} x {shape[1]}")
            shape = value.shape
            layers.update(rows=shape[0], cols=shape[1])
        layers[name] = value
    return shape if "dsm" in layers else None, _LAYER.make(layers)


def _values(options: dict[str, Any]) -> dict[str, Any]:
    """Options without those that are None. The library takes patches as a word."""
    given = {name: value for name, value in options.items() if value is not None}
    if "patches" in given:
        given["patches"] = str(given["patches"] or 153)
    return given


def _needs_array(shape: Any, what: str) -> None:
    if shape is None:
        raise ValueError(f"{what} has the shape of the dsm, so the dsm must be an array")


# Maps.


@dataclass
class SkyView:
    """Sky view factors. `view["svfN"]` is one of the maps in `names`; `svf` is that of the whole
    sky."""

    maps: np.ndarray  # (15, rows, cols), in the order of MAP_NAMES
    patches: int
    matrices: np.ndarray | None  # (3, rows, cols, bytes), in the order of MATRIX_NAMES

    names = MAP_NAMES

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in MAP_NAMES:
            raise KeyError(f"no map {name!r}; there are {', '.join(MAP_NAMES)}")
        return np.asarray(self.maps[MAP_NAMES.index(name)])

    @property
    def svf(self) -> np.ndarray:
        """Fraction of the sky that each pixel sees past buildings, 0 to 1."""
        return np.asarray(self.maps[0])

    def visible(self, matrix: str = "buildings") -> np.ndarray:
        """Which patches each pixel sees, as booleans (rows, cols, patches)."""
        if self.matrices is None:
            raise ValueError("there are no matrices; call svf(..., matrices=True)")
        bits = self.matrices[MATRIX_NAMES.index(matrix)]
        return np.unpackbits(bits, axis=2, count=self.patches, bitorder="little").astype(bool)


def svf(dsm: npt.ArrayLike, *, matrices: bool = False, ctx: Context | None = None,
        backend: str | None = None, **options: Any) -> SkyView:
    """Sky view factors of a surface.

    `dsm` has the heights of ground and buildings in metres, row 0 in the north, NaN where there
    are no data. Further layers are dem, cdsm and tdsm (ground, canopy top and bottom). Options
    such as pixel_size, patches, tile, dsm_relative are those of the command.
    """
    shape, layers = _layers_of(dsm, options, _SVF)
    _needs_array(shape, "a sky view")
    own = _SVF.make(_values(options))
    patches = (145, 153, 305, 609)[own.patches]
    maps = np.empty((len(MAP_NAMES), *shape), "f4")
    bits = np.empty((3, *shape, (patches + 7) // 8), "u1") if matrices else None
    with context_for(ctx, backend) as used:
        used._call(lib.qn_sw_svf, used.handle, c.byref(layers), c.byref(own),
                   maps.ctypes.data, None if bits is None else bits.ctypes.data, None)
    return SkyView(maps, patches, bits)


def shadow(dsm: npt.ArrayLike, *, ctx: Context | None = None, backend: str | None = None,
           **options: Any) -> np.ndarray:
    """The shadow at one time: 1 in the sun, 0 behind a building, in between below trees.

    The sun is given by `azimuth` and `altitude`, or by `at`, `latitude`, `longitude` and
    `utc_offset`.
    """
    shape, layers = _layers_of(dsm, options, _SHADOW)
    _needs_array(shape, "a shadow")
    own = _SHADOW.make(_values(options))
    result = np.empty(shape, "f4")
    with context_for(ctx, backend) as used:
        used._call(lib.qn_sw_shadow, used.handle, c.byref(layers), c.byref(own),
                   result.ctypes.data, None)
    return result


def walls(dsm: npt.ArrayLike, *, ctx: Context | None = None, backend: str | None = None,
          **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Heights of walls in metres, 0 where there is none, and the degrees they face."""
    shape, layers = _layers_of(dsm, options, _WALL)
    _needs_array(shape, "a map of walls")
    own = _WALL.make(_values(options))
    height, aspect = np.empty(shape, "f4"), np.empty(shape, "f4")
    with context_for(ctx, backend) as used:
        used._call(lib.qn_sw_walls, used.handle, c.byref(layers), c.byref(own),
                   height.ctypes.data, aspect.ctypes.data, None)
    return height, aspect


# Runs.


class _Handle:
    """A result of the library. It is freed with the last array that uses its memory."""

    def __init__(self, handle: int):
        self.handle = handle

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            lib.qn_sw_result_free(self.handle)


class _Plane:
    """Memory of a result in the form NumPy takes. Its arrays keep it alive, and it keeps the
    result alive."""

    def __init__(self, owner: _Handle, pointer: Any, shape: tuple[int, ...]):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": "<f4",
                                    "data": (c.addressof(pointer.contents), False)}


@dataclass
class Result:
    """Results of a run. `result["tmrt"]` is an array (times, rows, cols); `steps` has the figures
    of each time."""

    times: np.ndarray  # datetime64[m], local
    steps: np.ndarray  # records: ta, sun_altitude, tmrt_mean, utci_mean, sun_fraction, ...
    outputs: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.outputs:
            raise KeyError(f"no output {name!r}; asked for: {', '.join(self.outputs) or 'none'}")
        return self.outputs[name]


_WEATHER = {"ta": np.nan, "rh": np.nan, "ws": 1.0, "pressure": np.nan, "global": np.nan,
            "direct": np.nan, "diffuse": np.nan}


def _weather_steps(weather: Mapping[str, Any]) -> np.ndarray:
    """Columns of weather as records of the C struct."""
    unknown = set(weather) - set(_WEATHER) - {"time"}
    missing = [name for name in ("time", "ta", "rh", "global") if name not in weather]
    if unknown or missing:
        raise ValueError(f"weather has {'no ' + missing[0] if missing else 'unknown columns'}; "
                         f"columns are time, {', '.join(_WEATHER)}")
    time = np.atleast_1d(np.asarray(weather["time"], "datetime64[m]"))
    steps = np.empty(time.shape, np.dtype(s.Weather))
    if time.ndim != 1 or np.isnat(time).any():
        raise ValueError("weather: time is a column of dates and times")
    steps["minutes"] = time.astype("i8")
    for name, default in _WEATHER.items():
        column = np.atleast_1d(np.asarray(weather.get(name, default), "f8"))
        if column.shape not in (time.shape, (1,)):
            raise ValueError(f"weather: {column.shape} values of {name} for {time.shape} times")
        steps["pressure_hpa" if name == "pressure" else name] = column
    return steps


def run(dsm: Layer, weather: WeatherLike, *, outputs: str | Iterable[str] = "tmrt",
        site: tuple[float, float, float] | tuple[float, float, float, float] | None = None,
        start: str | None = None, end: str | None = None, ctx: Context | None = None,
        backend: str | None = None, **options: Any) -> Result:
    """How hot it feels across a city, for every time step of the weather.

    `weather` is a mapping of columns - time (local, the end of each interval), ta in degrees C, rh
    in %, global in W/m2, and where known ws, pressure (hPa), direct, diffuse - or the name of an
    .epw file, or names of UMEP text files. `site` is (latitude, longitude, hours ahead of UTC[,
    metres above the sea]); an .epw file has it. `outputs` are names of OUTPUTS. Layers are those
    of svf(), and landcover, wall_height with wall_aspect, albedo, emissivity. `start` and `end` are
    --from and --to of the command; the other options have its names. With `out`, the files of
    `quern solweig run` are written to that folder too.
    """
    names = outputs.split(",") if isinstance(outputs, str) else list(outputs)
    names = [] if names == ["none"] else names
    shape, layers = _layers_of(dsm, options, _RUN)
    own = _RUN.make(_values({**options, "from": start, "to": end,
                             "outputs": ",".join(names) or "none"}))
    if site is not None:
        own.latitude, own.longitude, own.utc_offset = site[:3]
        own.altitude = site[3] if len(site) > 3 else 0
    if isinstance(weather, Mapping):
        steps = _weather_steps(weather)
        if site is None:
            raise ValueError("weather in columns has no place; give "
                             "site=(latitude, longitude, hours ahead of UTC)")
        own.weather = steps.ctypes.data_as(c.POINTER(s.Weather))
        own.n_weather = len(steps)
    else:
        _RUN._set_many(own, _RUN.rows["weather_files"], weather)
    made = c.c_void_p()
    with context_for(ctx, backend) as used:
        used._call(lib.qn_sw_run, used.handle, c.byref(layers), c.byref(own), c.byref(made))
    return _result_of(_Handle(address_of(made)), names, shape)


def _result_of(owner: _Handle, names: list[str], shape: tuple[int, int] | None) -> Result:
    n = lib.qn_sw_result_n_steps(owner.handle)
    table = c.string_at(lib.qn_sw_result_steps(owner.handle), n * c.sizeof(s.SolweigStep))
    steps = np.frombuffer(table, np.dtype(s.SolweigStep))
    if shape is None:
        grid = lib.qn_sw_result_report(owner.handle).contents
        shape = (grid.rows, grid.cols)
    planes = {name: np.asarray(_Plane(owner, lib.qn_sw_result_plane(owner.handle,
                                                                         encode(name)),
                                      (n, *shape)))
              for name in names}
    return Result(steps["minutes"].astype("datetime64[m]"), steps, planes)
